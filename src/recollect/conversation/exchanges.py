"""Turns as documents: what recall finds is a message, what a prompt wants is the exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, Message, NewMessage, Role, Scope

METADATA_KEY: Final = "exchange"
"""Where the metadata of a message name its exchange, and the chain's keys of its text."""
_KEY_OF_ROLE: Final = {"user": "input", "assistant": "output"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with what is known of it; what LangChain calls so, where that is not installed."""

    page_content: str
    metadata: JsonObject = field(default_factory=dict)


def exchange_of(inputs: Mapping[str, object], outputs: Mapping[str, object]) -> list[NewMessage]:
    """
    Return the messages of one exchange: a person's for the inputs, the model's for the outputs.

    A side with nothing to say has no message.

    Raises:
        UsageError: Neither side says anything.
    """
    id_ = uuid4().hex
    sides = [_side("user", inputs, id_), _side("assistant", outputs, id_)]
    found = [each for each in sides if each.text.strip()]
    if not found:
        msg = f"the exchange {dict(inputs)!r} → {dict(outputs)!r} has no text: nothing was kept"
        raise UsageError(msg)
    return found


def _side(role: Role, values: Mapping[str, object], id_: str) -> NewMessage:
    keys = list(values)
    text = str(values[keys[0]]) if len(keys) == 1 else _lines(values)
    return NewMessage(role=role, text=text, metadata={METADATA_KEY: {"id": id_, "keys": keys}})


def _lines(values: Mapping[str, object]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in values.items())


def text_of(exchange: Sequence[Message]) -> str:
    """Return an exchange as one text: a line for each of the chain's inputs and outputs."""
    return "\n".join(_text_of_side(each) for each in exchange)


def _text_of_side(message: Message) -> str:
    kept = message.metadata.get(METADATA_KEY)
    keys = kept.get("keys") if isinstance(kept, Mapping) else None
    if not isinstance(keys, list):
        keys = [_KEY_OF_ROLE.get(message.role, message.role)]
    return message.text if len(keys) > 1 else f"{keys[0]}: {message.text}"


async def exchange_around(memory: Recollect, scope: Scope, found: Message) -> tuple[Message, ...]:
    """Return the exchange that a message is part of: with its answer, or with what it answers."""
    page = await memory.messages(scope, found.thread, after=max(found.position - 2, 0), limit=3)
    return exchange_among(page.rows, found)


def exchange_among(neighbours: Sequence[Message], found: Message) -> tuple[Message, ...]:
    """Return *found* and the one of its *neighbours* that belongs to the same exchange."""
    before = [each for each in neighbours if each.position < found.position]
    after = [each for each in neighbours if each.position > found.position]
    if found.role == "user" and after and _belong(found, after[0]):
        return found, after[0]
    if found.role == "assistant" and before and _belong(before[-1], found):
        return before[-1], found
    return (found,)


def _belong(question: Message, answer: Message) -> bool:
    """Return True if *answer* is one to *question*, which stands before it."""
    one, other = _id_of(question), _id_of(answer)
    if one or other:
        return one == other
    return question.role == "user" and answer.role == "assistant"


def _id_of(message: Message) -> object:
    kept = message.metadata.get(METADATA_KEY)
    return kept.get("id") if isinstance(kept, Mapping) else None
