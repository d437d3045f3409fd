"""Reducers of message lists, which append, replace or remove messages."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeGuard, TypeVar, cast

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import AnyMessage, changed, kind_of, whole

REMOVE_ALL_MESSAGES: Final = "__remove_all__"
"""The id of a `RemoveMessage` that removes all messages before it."""

Messages: TypeAlias = Sequence[MessageLike] | MessageLike
"""A list of messages, or one message; a tuple is one message, (role, text)."""
ItemT = TypeVar("ItemT")


def _uuid() -> str:
    return str(uuid.uuid4())


def add_messages(
    left: Messages,
    right: Messages,
    *,
    missing_ok: bool = False,
    new_id: Callable[[], str] = _uuid,
) -> list[AnyMessage]:
    """
    Return the messages *left* updated by *right*, like LangGraph's reducer of this name.

    A message of *right* whose id is in *left* replaces that one; any other is appended. A
    `RemoveMessage` removes the message with its id, unless a later message of *right* has that id
    again; one with `REMOVE_ALL_MESSAGES` removes all messages before it. Messages without an id get
    one. Neither list, nor a message in it, is changed.

    Args:
        left: A list, or one message, in any form that `coerced` accepts.
        missing_ok: Ignore removals of unknown ids, and apply removals after
            `REMOVE_ALL_MESSAGES`, which otherwise stay in the list.
        new_id: Returns a new id.

    Raises:
        UsageError: A removal names an unknown id.
    """
    old, new = _identified(left, new_id), _identified(right, new_id)
    last_sweep = max((place for place, each in enumerate(new) if _sweeps(each)), default=None)
    if last_sweep is not None:
        old, new = [], new[last_sweep + 1 :]
        if not missing_ok:
            return new
    return _merged(old, new, missing_ok=missing_ok)


def _merged(old: list[AnyMessage], new: list[AnyMessage], *, missing_ok: bool) -> list[AnyMessage]:
    merged = list(old)
    place_of = {each.id: place for place, each in enumerate(merged)}
    removed: set[str | None] = set()
    for message in new:
        is_removal = kind_of(message) == "remove"
        if (place := place_of.get(message.id)) is not None:
            if is_removal:
                removed.add(message.id)
            else:
                removed.discard(message.id)
                merged[place] = message
        elif not is_removal:
            place_of[message.id] = len(merged)
            merged.append(message)
        elif not missing_ok:
            msg = f"Attempting to delete a message with an ID that doesn't exist ('{message.id}')"
            raise UsageError(msg)
    return [each for each in merged if each.id not in removed]


def _identified(likes: Messages, new_id: Callable[[], str]) -> list[AnyMessage]:
    listed = cast("list[MessageLike]", likes if isinstance(likes, list) else [likes])
    messages = [whole(each) for each in coerced_all(listed)]
    return [each if each.id is not None else changed(each, id=new_id()) for each in messages]


def _sweeps(message: AnyMessage) -> bool:
    return kind_of(message) == "remove" and message.id == REMOVE_ALL_MESSAGES


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the items from index *start* to *end*, exclusive; negative ones count from the end."""

    start: int | None = None
    end: int | None = None


def _is_place(given: object) -> TypeGuard[int | None]:
    return given is None or type(given) is int


def keep_range(
    existing: Sequence[ItemT], update: Sequence[ItemT] | Keep | Mapping[str, object]
) -> list[ItemT]:
    """
    Return *existing* extended by the items of *update*, or cut to the range that it keeps.

    A range is a `Keep`, or ``{"type": "keep", "from": -5, "to": None}``.

    >>> keep_range(["a", "b", "c"], {"type": "keep", "from": -2})
    ['b', 'c']

    Raises:
        UsageError: *update* is neither.
    """
    if isinstance(update, Keep):
        return list(existing[update.start : update.end])
    if isinstance(update, Mapping):
        start, end = update.get("from"), update.get("to")
        is_keep = update.get("type") == "keep" and update.keys() <= {"type", "from", "to"}
        if is_keep and _is_place(start) and _is_place(end):
            return list(existing[start:end])
    elif not isinstance(update, str | bytes):
        return [*existing, *update]
    raise UsageError(
        f"an update of a list is more items, a Keep, or {{'type': 'keep', 'from': …, 'to': …}} "
        f"with integers, not {update!r}"
    )
