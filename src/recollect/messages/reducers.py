"""Reducers of message lists: append, replace or remove messages."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeGuard, TypeVar, cast

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import AnyMessage, changed, kind_of, whole

REMOVE_ALL_MESSAGES: Final = "__remove_all__"
"""The id of a `RemoveMessage` that removes everything before it."""

Messages: TypeAlias = Sequence[MessageLike] | MessageLike
"""A list of messages, or one; a tuple is one, written as (role, text)."""
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
    Return the messages *left* changed by *right*, as LangGraph's reducer of this name does.

    A message of *right* whose id is in *left* takes its place; any other is appended. A
    `RemoveMessage` removes the one with its id, unless a later message of *right* brings that id
    again; one with `REMOVE_ALL_MESSAGES` removes all before it. Messages without an id get one;
    neither list, nor a message in it, is changed.

    Args:
        left: One message or a list; anything that `coerced` takes.
        missing_ok: Let a removal pass that finds nothing, and carry out the removals that follow
            `REMOVE_ALL_MESSAGES`, which otherwise are left in the list as they are.
        new_id: Where ids come from.

    Raises:
        UsageError: A removal names an id that is not there.
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
    """Keep the items from place *start* (inclusive) to *end* (exclusive); negative from the end."""

    start: int | None = None
    end: int | None = None


def _is_place(given: object) -> TypeGuard[int | None]:
    return given is None or type(given) is int


def keep_range(
    existing: Sequence[ItemT], update: Sequence[ItemT] | Keep | Mapping[str, object]
) -> list[ItemT]:
    """
    Return any list after *update*: more items, or the part of it that is kept.

    A part is a `Keep`, or ``{"type": "keep", "from": -5, "to": None}``.

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
    msg = (
        f"an update of a list is more items, a Keep, or {{'type': 'keep', 'from': …, 'to': …}} "
        f"with whole numbers, not {update!r}"
    )
    raise UsageError(msg)
