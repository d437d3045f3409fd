"""The prompt of a chatbot: the remembered context and the conversation so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Final

from recollect.ports import TokenCounter, Turn
from recollect.recall.context import Context
from recollect.recall.results import Recalled
from recollect.records import Message
from recollect.text.searchable import message_text

NOTHING_KNOWN: Final = "Nothing is remembered yet."


def filled(template: str, values: Mapping[str, str]) -> str:
    """
    Return *template* with each ``{name}`` replaced by its value; doubled braces are literal.

    Values are never treated as templates.

    >>> filled("It is {time}. {{x}}", {"time": "noon"})
    'It is noon. {x}'
    """
    parts = Formatter().parse(template)
    return "".join(
        before + (values[name] if name is not None else "") for before, name, _, _ in parts
    )


def newest_within(
    messages: Sequence[Message], *, budget_tokens: int, count: TokenCounter
) -> tuple[Message, ...]:
    """
    Return the newest of *messages* that fit in *budget_tokens*, beginning with a user's message.

    The last one is always included, however long. Messages of other roles are left out.
    """
    shown: list[Message] = []
    left = budget_tokens
    for message in reversed(messages):
        if message.role not in {"user", "assistant"}:
            continue
        left -= count(_words_of(message))
        if left < 0 and shown:
            break
        shown.append(message)
    while len(shown) > 1 and shown[-1].role != "user":
        shown.pop()
    return tuple(reversed(shown))


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Return *messages* of a user and an assistant as turns."""
    return tuple(
        Turn(role="user" if each.role == "user" else "assistant", text=_words_of(each))
        for each in messages
    )


def _words_of(message: Message) -> str:
    return message_text(message.text, None, message.content)


def recalled_in(context: Context) -> tuple[Recalled, ...]:
    """Return the documents and entries of a context as recall results, documents first."""
    documents = (each.memory for each in context.profile)
    return (
        *(Recalled(scope=each.scope, content=each, score=0.0, signals={}) for each in documents),
        *(each.entry for each in context.entries),
    )
