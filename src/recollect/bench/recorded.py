"""Recorded facts as a model: what a language model once wrote, given as answers to requests."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from recollect.bench.conversations import Fields, Message, read_fields
from recollect.bench.datasets import Dataset
from recollect.formation.citing import cited_words
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Usage
from recollect.recall.budget import estimated_tokens
from recollect.testing.rulemodel import shown_in, tokens_of

FACTS_FILE = "facts.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A sentence that a language model wrote about *subject*, and the messages that it cites."""

    session: str
    subject: str
    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The messages of one session of a conversation, and the facts that were recorded of them."""

    conversation: str
    id: str
    messages: tuple[Message, ...]
    facts: tuple[Fact, ...]

    @property
    def began(self) -> datetime:
        """Return when its first message was said."""
        return self.messages[0].time


def read_sessions(dataset: Dataset, data: Path) -> list[Session]:
    """
    Return the sessions of *dataset* below *data*, with their recorded facts, in order.

    Raises:
        UsageError: There is no file of facts.
    """
    folder = dataset.find_folder(data)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for row in read_fields(folder, FACTS_FILE):
        facts[row.text("session_id")].append(_fact(row))
    sessions = []
    for conversation in dataset.conversations(folder):
        by_session: dict[str, list[Message]] = defaultdict(list)
        for message in conversation.messages:
            by_session[message.session_id].append(message)
        sessions += [
            Session(
                conversation=conversation.conversation_id,
                id=id_,
                messages=tuple(messages),
                facts=tuple(facts[id_]),
            )
            for id_, messages in by_session.items()
        ]
    return sessions


def _fact(row: Fields) -> Fact:
    return Fact(
        session=row.text("session_id"),
        subject=row.text("subject"),
        text=row.text("text"),
        evidence=row.texts("evidence"),
    )


@dataclass(slots=True)
class Spent:
    """What a system asked of its model."""

    formations: int = 0
    calls: int = 0
    tokens: int = 0

    def add(self, tokens: int) -> None:
        """Note one request of so many tokens."""
        self.calls += 1
        self.tokens += tokens


@dataclass(slots=True)
class RecordedModel:
    """A `Model` that answers a formation with the facts recorded of the present *session*."""

    identity: str = "recorded/1"
    session: Session | None = None
    spent: Spent = field(default_factory=Spent)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return a note for each fact; what was found fault with is let go."""
        tokens = tokens_of(request)
        self.spent.add(tokens)
        calls = self._calls(request) if len(request.turns) == 1 else ()
        nothing = (ToolCall(name="remember_nothing", arguments="{}"),)
        return ModelAnswer(calls=calls or nothing, usage=Usage(input_tokens=tokens))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield nothing: it only forms."""
        for turn in request.turns[:0]:
            yield turn.text

    def _calls(self, request: ModelRequest) -> tuple[ToolCall, ...]:
        if self.session is None:
            return ()
        numbers = {words: number for number, _, words in shown_in(request).new}
        said = {message.message_id: message.text for message in self.session.messages}
        return tuple(
            _note(fact, [(numbers[said[id_]], said[id_]) for id_ in cited])
            for fact in self.session.facts
            if (cited := [id_ for id_ in fact.evidence if said.get(id_) in numbers])
        )


def _note(fact: Fact, cited: Sequence[tuple[int, str]]) -> ToolCall:
    arguments = {
        "value": {"context": fact.subject, "content": fact.text},
        "because": [cited_words(number, words) for number, words in cited],
    }
    return ToolCall(name="Note", arguments=json.dumps(arguments, ensure_ascii=False))


def counted(texts: Sequence[str], tools: object) -> int:
    """Return about how many tokens the texts and tool definitions of one request cost."""
    written = json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
    return sum(map(estimated_tokens, texts)) + estimated_tokens(written)
