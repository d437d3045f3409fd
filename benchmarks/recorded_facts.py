"""A model that replays facts which a language model wrote once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from benchmarks.conversation_files import BenchmarkMessage, RowFields, locate, read_fields
from benchmarks.datasets import DATASETS, Dataset
from recollect.errors import UsageError
from recollect.formation.citations import CITATIONS_MAX, cited_words
from recollect.formation.prompt import on_one_line
from recollect.formation.prompt_texts import ENGLISH
from recollect.formation.rule_requests import shown_in
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Usage
from recollect.text.token_estimate import estimated_tokens
from tests.harness.request_tokens import tokens_of

QUOTE_CHARACTERS_MAX: Final = 500
"""Longest quote of a message, because an assistant's answer may be a page long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFact:
    """
    A fact that a language model wrote about *subject*, and the messages it cites.

    With *is_of_session* it cites all user messages of its session.
    """

    session: str
    subject: str
    text: str
    evidence: tuple[str, ...]
    is_of_session: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The messages of one session of a conversation, and the facts recorded from them."""

    conversation: str
    id: str
    messages: tuple[BenchmarkMessage, ...]
    facts: tuple[RecordedFact, ...]

    @property
    def began(self) -> datetime:
        """Return the time of its first message."""
        return self.messages[0].time


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecording:
    """
    Facts that a language model wrote about the conversations of *dataset*, in rows of *file*.

    *folders* are the names that its folder may have beside the set's own; without any, the
    file lies with the set's.
    """

    name: str
    dataset: Dataset
    file: str
    read: Callable[[RowFields], RecordedFact]
    folders: tuple[str, ...] = ()

    def find_folder(self, data: Path) -> Path:
        """
        Return the folder of the facts, searched for like that of the set.

        Raises:
            UsageError: There is none.
        """
        own = self.dataset.find_folder(data)
        places = [parent / name for parent in (data, own.parent) for name in self.folders]
        for folder in (*places, own):
            if locate(folder, self.file):
                return folder
        names = " or ".join(repr(name) for name in self.folders) or f"the folder of {self.name}"
        msg = f"{str(data)!r} has no {self.file!r} in {names}: give --data a folder that has"
        raise UsageError(msg)


def read_sessions(recording: FactRecording, data: Path) -> list[Session]:
    """
    Return the sessions that *recording* covers, with its facts, in order.

    Raises:
        UsageError: There is no file of facts.
    """
    facts: dict[str, list[RecordedFact]] = defaultdict(list)
    talks: set[str] = set()
    for row in read_fields(recording.find_folder(data), recording.file):
        facts[row.text("session_id")].append(recording.read(row))
        talks.add(row.text("conversation_id"))
    sessions = []
    for conversation in recording.dataset.conversations(recording.dataset.find_folder(data)):
        if conversation.conversation_id not in talks:
            continue
        by_session: dict[str, list[BenchmarkMessage]] = defaultdict(list)
        for message in conversation.messages:
            by_session[message.session_id].append(message)
        sessions += [
            Session(
                conversation=conversation.conversation_id,
                id=id_,
                messages=tuple(messages),
                facts=tuple(_cited(fact, messages) for fact in facts[id_]),
            )
            for id_, messages in by_session.items()
        ]
    return sessions


def _cited(fact: RecordedFact, messages: Sequence[BenchmarkMessage]) -> RecordedFact:
    """Return *fact* with the user's messages as evidence if it is about the whole session."""
    if not fact.is_of_session:
        return fact
    return replace(fact, evidence=tuple(m.message_id for m in messages if m.role == "user"))


def _read_fact(row: RowFields) -> RecordedFact:
    """Parse one fact of a ``facts.jsonl``."""
    return RecordedFact(
        session=row.text("session_id"),
        subject=row.text("subject"),
        text=row.text("text"),
        evidence=row.texts("evidence"),
    )


def _read_note(row: RowFields) -> RecordedFact:
    """Parse one section of a note of a ``notes.jsonl``."""
    return RecordedFact(
        session=row.text("session_id"),
        subject=row.optional_text("section") or row.text("note"),
        text=row.text("text"),
        evidence=row.texts("evidence"),
        is_of_session=row.optional_text("evidence_level") == "session",
    )


RECORDINGS: Final[Mapping[str, FactRecording]] = {
    each.name: each
    for each in (
        FactRecording(
            name="locomo", dataset=DATASETS["locomo"], file="facts.jsonl", read=_read_fact
        ),
        FactRecording(
            name="reme",
            dataset=DATASETS["longmemeval"],
            file="notes.jsonl",
            read=_read_note,
            folders=("recorded_reme_lme", "reme"),
        ),
    )
}
"""The recordings available for formation."""


@dataclass(slots=True)
class Spent:
    """The model usage of a system."""

    formations: int = 0
    calls: int = 0
    tokens: int = 0

    def add(self, tokens: int) -> None:
        """Record one request."""
        self.calls += 1
        self.tokens += tokens


@dataclass(slots=True)
class FactModel:
    """
    A `Model` that answers formation requests with the facts recorded for the current *session*.

    It drops faulty facts; with *insists* it repeats them unchanged, so that the formation has to
    decide. With *misquotes* it cites invented words. *offered* are the texts of its notes.
    """

    identity: str = "recorded/1"
    session: Session | None = None
    misquotes: bool = False
    insists: bool = False
    spent: Spent = field(default_factory=Spent)
    offered: list[str] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return a note for each fact, or the rejected ones again."""
        tokens = tokens_of(request)
        self.spent.add(tokens)
        if len(request.turns) == 1:
            calls = self._calls(request)
        else:
            calls = _said_again(request) if self.insists else ()
        nothing = (ToolCall(name="remember_nothing", arguments="{}"),)
        return ModelAnswer(calls=calls or nothing, usage=Usage(input_tokens=tokens))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield nothing: it only answers formation requests."""
        for turn in request.turns[:0]:
            yield turn.text

    def _calls(self, request: ModelRequest) -> tuple[ToolCall, ...]:
        if self.session is None:
            return ()
        numbers = {words: number for number, _, words in shown_in(request).new}
        said = {each.message_id: on_one_line(each.text) for each in self.session.messages}
        found = [
            (fact, cited)
            for fact in self.session.facts
            if (cited := [id_ for id_ in fact.evidence if said.get(id_) in numbers])
        ]
        self.offered += [fact.text for fact, _ in found]
        return tuple(
            _note(fact, [(numbers[said[id_]], self._quote(said[id_])) for id_ in cited])
            for fact, cited in found
        )

    def _quote(self, words: str) -> str:
        return "what nobody ever said" if self.misquotes else _shortened(words)


def _said_again(request: ModelRequest) -> tuple[ToolCall, ...]:
    """Return the calls of the last answer that were not stored."""
    kept = {
        turn.answers for turn in request.turns if turn.role == "tool" and turn.text == ENGLISH.kept
    }
    asked = [turn for turn in request.turns if turn.role == "assistant"][-1]
    return tuple(
        ToolCall(name=call.name, arguments=call.arguments)
        for call in asked.calls
        if call.id not in kept
    )


def _shortened(words: str) -> str:
    """Return the beginning of *words*, in whole words."""
    if len(words) <= QUOTE_CHARACTERS_MAX:
        return words
    return words[:QUOTE_CHARACTERS_MAX].rpartition(" ")[0] or words[:QUOTE_CHARACTERS_MAX]


def _note(fact: RecordedFact, cited: Sequence[tuple[int, str]]) -> ToolCall:
    arguments = {
        "value": {"context": fact.subject, "content": fact.text},
        "because": [cited_words(number, words) for number, words in cited[:CITATIONS_MAX]],
    }
    return ToolCall(name="Note", arguments=json.dumps(arguments, ensure_ascii=False))


def counted(texts: Sequence[str], tools: object) -> int:
    """Estimate the tokens of the texts and tool definitions of one request."""
    written = json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
    return sum(map(estimated_tokens, texts)) + estimated_tokens(written)
