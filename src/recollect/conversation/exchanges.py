"""Exchanges: a user's message and the answer to it, stored and found as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, Message, NewMessage, Role, Scope

METADATA_KEY: Final = "exchange"
"""The metadata key of a message's exchange id, and of the chain's keys in its text."""
_KEY_OF_ROLE: Final = {"user": "input", "assistant": "output"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with metadata; stands in for LangChain's class if that is not installed."""

    page_content: str
    metadata: JsonObject = field(default_factory=dict)


def exchange_of(inputs: Mapping[str, object], outputs: Mapping[str, object]) -> list[NewMessage]:
    """
    Return the messages of one exchange: the user's for the inputs, the model's for the outputs.

    A side without text has no message.

    Raises:
        UsageError: Neither side has text.
    """
    id_ = uuid4().hex
    sides = [_side("user", inputs, id_), _side("assistant", outputs, id_)]
    found = [each for each in sides if each.text.strip()]
    if not found:
        msg = f"the exchange {dict(inputs)!r} → {dict(outputs)!r} has no text: nothing was saved"
        raise UsageError(msg)
    return found


def _side(role: Role, values: Mapping[str, object], id_: str) -> NewMessage:
    keys = list(values)
    text = str(values[keys[0]]) if len(keys) == 1 else _lines(values)
    return NewMessage(role=role, text=text, metadata={METADATA_KEY: {"id": id_, "keys": keys}})


def _lines(values: Mapping[str, object]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in values.items())


def text_of(exchange: Sequence[Message]) -> str:
    """Return an exchange as one text, with a line per input and output of the chain."""
    return "\n".join(_text_of_side(each) for each in exchange)


def _text_of_side(message: Message) -> str:
    kept = message.metadata.get(METADATA_KEY)
    keys = kept.get("keys") if isinstance(kept, Mapping) else None
    if not isinstance(keys, list):
        keys = [_KEY_OF_ROLE.get(message.role, message.role)]
    return message.text if len(keys) > 1 else f"{keys[0]}: {message.text}"


async def exchange_around(memory: Recollect, scope: Scope, found: Message) -> tuple[Message, ...]:
    """Return the exchange of a message: the question and its answer, or the message alone."""
    page = await memory.messages(scope, found.thread, after=max(found.position - 2, 0), limit=3)
    return exchange_among(page.rows, found)


def exchange_among(neighbours: Sequence[Message], found: Message) -> tuple[Message, ...]:
    """Return *found* with the message of its exchange among *neighbours*, in order."""
    before = [each for each in neighbours if each.position < found.position]
    after = [each for each in neighbours if each.position > found.position]
    if found.role == "user" and after and _belong(found, after[0]):
        return found, after[0]
    if found.role == "assistant" and before and _belong(before[-1], found):
        return before[-1], found
    return (found,)


def _belong(question: Message, answer: Message) -> bool:
    """Return True if *answer* belongs to the exchange of *question*, the message before it."""
    one, other = _id_of(question), _id_of(answer)
    if one or other:
        return one == other
    return question.role == "user" and answer.role == "assistant"


def _id_of(message: Message) -> object:
    kept = message.metadata.get(METADATA_KEY)
    return kept.get("id") if isinstance(kept, Mapping) else None
