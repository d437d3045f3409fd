"""`StrictSerializer`: restricts the types that reading a checkpoint may create."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import is_dataclass
from enum import Enum
from threading import Lock
from types import ModuleType
from typing import Any, Final, TypeAlias

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.checkpoint.serde.jsonplus import (
    EXT_DELTA_SNAPSHOT,
    EXT_METHOD_SINGLE_ARG,
    EXT_NUMPY_ARRAY,
    JsonPlusSerializer,
)

import recollect.messages.message_types
import recollect.recall.results
import recollect.recall.signals
import recollect.records
from recollect.errors import StoreCorruptError, UsageError
from recollect.integrations.langgraph.schema_types import TypeName

AllowedType: TypeAlias = type | TypeName
"""A class, or the pair of its module's name and its own."""

_KINDS: Final = frozenset({"null", "bytes", "bytearray", "json", "msgpack"})
_refused: ContextVar[list[str] | None] = ContextVar("refused", default=None)
_OTHERS: Final = {
    "langchain_core.agents": ("AgentAction", "AgentActionMessageLog", "AgentFinish", "AgentStep"),
    "langchain_core.chat_history": ("InMemoryChatMessageHistory",),
    "langchain_core.documents.base": ("BaseMedia", "Blob"),
    "langchain_core.outputs.chat_generation": ("ChatGeneration", "ChatGenerationChunk"),
    "langchain_core.outputs.chat_result": ("ChatResult",),
    "langchain_core.outputs.generation": ("Generation", "GenerationChunk"),
    "langchain_core.outputs.llm_result": ("LLMResult",),
    "langchain_core.outputs.run_info": ("RunInfo",),
    "langchain_core.prompt_values": (
        "ChatPromptValue",
        "ChatPromptValueConcrete",
        "ImagePromptValue",
        "StringPromptValue",
    ),
    "langchain_community.graphs.graph_document": ("GraphDocument", "Node", "Relationship"),
    "langgraph.store.base": (
        "ListNamespacesOp",
        "MatchCondition",
        "PutOp",
        "SearchItem",
        "SearchOp",
    ),
    "langgraph.types": ("StateUpdate",),
    "pydantic.types": ("SecretBytes", "SecretStr"),
}
_OURS: Final = (
    recollect.records,
    recollect.recall.results,
    recollect.recall.signals,
    recollect.messages.message_types,
)


def _types_in(allow: Iterable[AllowedType]) -> tuple[AllowedType, ...]:
    """Return the types in a list; raise `UsageError` for anything else, such as a lone class."""
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
    LangGraph's serializer, always in its strict mode.

    Otherwise anyone who can write into the database could have any function called, by naming it
    in a checkpoint. Only these types are read: those of LangGraph, LangChain and this package,
    those in the states of the graphs that use the saver, and those allowed by name. Any other type
    raises an error when it is written, as LangGraph would silently return its bare content at the
    next turn. The old JSON format is read as plain data; pickles are not read at all.
    """

    def __init__(self, allow: Iterable[AllowedType] = ()) -> None:
        types = (*KNOWN_TYPES, *_types_in(allow))
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=types)
        self._turn = Lock()
        self._found: set[TypeName] = set()

    def with_msgpack_allowlist(
        self, extra_allowlist: Iterable[tuple[str, ...] | type]
    ) -> StrictSerializer:
        """
        Allow more types, and return this serializer itself.

        LangGraph returns a copy, but the saver that the program holds would not get its types.
        """
        extra = [*extra_allowlist]
        with self._turn:
            wider = super().with_msgpack_allowlist(extra)
            if wider is not self:
                vars(self).update(vars(wider))
        return self

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """
        Serialise *obj*.

        Raises:
            UsageError: *obj* contains a type that could not be created again.
            TypeError: *obj* contains a value that cannot be serialised.
        """
        kind, content = super().dumps_typed(obj)
        if kind == "msgpack":
            names, methods = named_in(content)
            self._check_readable(names, methods)
        return kind, content

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """
        Deserialise *data*.

        Raises:
            UsageError: *data* names a type that is not allowed.
            StoreCorruptError: *data* is of an unknown kind.
        """
        kind, content = data
        if kind not in _KINDS:
            msg = f"a checkpoint has the unknown kind {kind!r}: delete its thread"
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
            raise UsageError(
                f"a checkpoint names {', '.join(sorted(set(refused)))}, which is not allowed: if "
                "it is a type of your graph's state, give it to checkpointer(…, allow=[TheType])"
            )
        return value

    def _check_readable(self, names: set[TypeName], methods: set[tuple[str, str, str]]) -> None:
        """Raise for a type that `loads_typed` would refuse, or could not find again."""
        allowed: Any = self._allowed_msgpack_modules
        for module, name, method in sorted(methods - SAFE_MSGPACK_METHODS):
            raise UsageError(_unwritable(module, name, f"it is read by its method {method!r}"))
        for each in sorted(names - SAFE_MSGPACK_TYPES - self._found):
            if each not in allowed:
                raise UsageError(_unwritable(*each, "no schema of the graph's state names it"))
            if not hasattr(sys.modules.get(each[0]), each[1]):
                why = "it is not at the top level of its module, where it is looked up"
                raise UsageError(_unwritable(*each, why, can_allow=False))
            self._found.add(each)


def named_in(content: bytes) -> tuple[set[TypeName], set[tuple[str, str, str]]]:
    """Return the types and methods that a serialised value names, without creating anything."""
    names: set[TypeName] = set()
    methods: set[tuple[str, str, str]] = set()

    def note(code: int, data: bytes) -> None:
        if code == EXT_NUMPY_ARRAY:
            return
        found = ormsgpack.unpackb(data, ext_hook=note, option=ormsgpack.OPT_NON_STR_KEYS)
        if code == EXT_METHOD_SINGLE_ARG:
            methods.add((found[0], found[1], found[3]))
        elif code != EXT_DELTA_SNAPSHOT:
            names.add((found[0], found[1]))

    ormsgpack.unpackb(content, ext_hook=note, option=ormsgpack.OPT_NON_STR_KEYS)
    return names, methods


def _unwritable(module: str, name: str, why: str, *, can_allow: bool = True) -> str:
    way = (
        f"name it there, or give it to checkpointer(…, allow=[{name}])"
        if can_allow
        else ("define it there")
    )
    return (
        f"a checkpoint would hold {module}.{name}, which could not be read again: {why}; {way}, "
        f"or store plain data instead"
    )


def _note(event: SerdeEvent) -> None:
    refused = _refused.get()
    if refused is not None and event["kind"] in {"msgpack_blocked", "msgpack_method_blocked"}:
        refused.append(f"{event['module']}.{event['name']}")


register_serde_event_listener(_note)


def _data_types_of(module: ModuleType) -> set[tuple[str, str]]:
    return {
        (module.__name__, name)
        for name, each in vars(module).items()
        if isinstance(each, type)
        and each.__module__ == module.__name__
        and not name.startswith("_")
        and (is_dataclass(each) or issubclass(each, Enum | tuple))
    }


KNOWN_TYPES: Final = frozenset(
    {(module, name) for module, names in _OTHERS.items() for name in names}.union(
        *map(_data_types_of, _OURS)
    )
)
"""Pairs of module and name; all are data types, whose creation has no side effect."""
