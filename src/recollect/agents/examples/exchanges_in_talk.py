"""The exchanges of a talk: what a person asked, with the answer that it got; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from recollect.formation.grounding.foreign_text import without_recalled
from recollect.records import Evidence, EvidenceMap, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkExchange:
    """What was asked and answered, and in which messages, by the field of an example."""

    asked: str
    answered: str
    evidence: EvidenceMap


def exchanges_in(messages: Iterable[Message]) -> Iterator[TalkExchange]:
    """
    Yield each question of a talk with its answer, in order.

    A question is what the user says last before the assistant speaks, an answer what the assistant
    says last before the user speaks again: what is between, such as the results of tools, led to
    it. Each is one message, so that no words outlast their erase beside others. A question that has
    no answer is skipped, and so is what has no words.
    """
    spoken = [each for each in messages if each.role in {"user", "assistant"} and _words(each)]
    asked: Message | None = None
    for role, run in groupby(spoken, key=lambda each: each.role):
        *_, last = run
        if role == "user":
            asked = last
        elif asked is not None:
            evidence = {"/input": (_named(asked),), "/output": (_named(last),)}
            yield TalkExchange(asked=_words(asked), answered=_words(last), evidence=evidence)


def _words(message: Message) -> str:
    """Return the words of a message, without what recall had put into them."""
    return without_recalled(message.text).strip()


def _named(message: Message) -> Evidence:
    return Evidence(thread=message.thread, message=message.id)
