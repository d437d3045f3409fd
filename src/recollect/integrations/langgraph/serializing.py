"""What a stored checkpoint may make when it is read: known types, and none that it names itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from recollect.errors import StoreCorruptError, UsageError

AllowedType: TypeAlias = type | tuple[str, str]
"""A class, or the names of its module and of itself."""

_KINDS: Final = frozenset({"null", "bytes", "bytearray", "json", "msgpack"})
_refused: ContextVar[list[str] | None] = ContextVar("refused", default=None)


def _types_in(allow: Iterable[AllowedType]) -> tuple[AllowedType, ...]:
    """Return the types of a list; a text, a class or a pair alone is no list of them."""
    given: object = allow
    is_list = isinstance(given, Iterable) and not isinstance(given, str | type)
    found = tuple(allow) if is_list else ()
    if not is_list or not all(map(_is_type, found)):
        msg = f"allow={allow!r}: give a list of classes or (module, name), as in allow=[TheType]"
        raise UsageError(msg)
    return found


def _is_type(given: object) -> bool:
    if isinstance(given, tuple):
        return len(given) == 2 and all(isinstance(each, str) for each in given)
    return isinstance(given, type)


class StrictSerializer(JsonPlusSerializer):
    """
    LangGraph's serializer, in its strict mode, whatever the environment says.

    Whoever can write into the database could otherwise have any function called, by naming it
    in a checkpoint. What LangGraph and LangChain keep themselves is read; another type only if
    it is allowed by name. One that is not is an error: LangGraph would give its bare content.
    What was written in the old JSON form stays data; what was pickled is not read at all.
    """

    def __init__(self, allow: Iterable[AllowedType] = ()) -> None:
        types = _types_in(allow)
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=types or None)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """
        Return what *data* keeps.

        Raises:
            UsageError: It names a type that is not allowed.
            StoreCorruptError: It is of a kind that nothing here has written.
        """
        kind, content = data
        if kind not in _KINDS:
            msg = f"a checkpoint is of the kind {kind!r}, which is not read: delete its thread"
            raise StoreCorruptError(msg)
        if kind == "json":
            return json.loads(content)
        refused: list[str] = []
        before = _refused.set(refused)
        try:
            value = super().loads_typed(data)
        finally:
            _refused.reset(before)
        if refused:
            msg = (
                f"a checkpoint names {', '.join(sorted(set(refused)))}, which may not be made when "
                "it is read: if that is a type of your graph's state, give it to "
                "checkpointer(…, allow=[TheType])"
            )
            raise UsageError(msg)
        return value


def _note(event: SerdeEvent) -> None:
    refused = _refused.get()
    if refused is not None and event["kind"] in {"msgpack_blocked", "msgpack_method_blocked"}:
        refused.append(f"{event['module']}.{event['name']}")


register_serde_event_listener(_note)
