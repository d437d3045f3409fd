"""Extract questions with their answers from a conversation; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from recollect.formation.grounding.foreign_text import without_recalled
from recollect.records import Evidence, EvidenceMap, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkExchange:
    """A question and its answer, with their messages as evidence, by field of an example."""

    asked: str
    answered: str
    evidence: EvidenceMap


def exchanges_in(messages: Iterable[Message]) -> Iterator[TalkExchange]:
    """
    Yield each question of a conversation with its answer, in order.

    A question is the user's last message before the assistant speaks, an answer the assistant's
    last message before the user speaks again; messages between, such as tool results, are skipped.
    Each is one message, so that erasing it removes the example. Questions without an answer, and
    messages without text, are skipped.
    """
    spoken = [each for each in messages if each.role in {"user", "assistant"} and _words(each)]
    asked: Message | None = None
    for role, run in groupby(spoken, key=lambda each: each.role):
        *_, last = run
        if role == "user":
            asked = last
        elif asked is not None:
            evidence = {"/input": (_evidence_of(asked),), "/output": (_evidence_of(last),)}
            yield TalkExchange(asked=_words(asked), answered=_words(last), evidence=evidence)


def _words(message: Message) -> str:
    """Return the text of a message without the context blocks that recall inserted."""
    return without_recalled(message.text).strip()


def _evidence_of(message: Message) -> Evidence:
    return Evidence(thread=message.thread, message=message.id)
