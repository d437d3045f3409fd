"""The types of a graph's state, as its schemas and channels name them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from functools import wraps
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_TYPES
from langgraph.pregel import Pregel
from pydantic import BaseModel
from pydantic.v1 import BaseModel as OldBaseModel
from typing_extensions import is_typeddict

from recollect.integrations.langgraph.message_channel import AnySaver

TypeName: TypeAlias = tuple[str, str]
"""The module and the name of a class."""

_HOOK: Final = "_apply_checkpointer_allowlist"
CompiledGraph: TypeAlias = Pregel[Any, Any, Any, Any]
_names: Final[WeakKeyDictionary[CompiledGraph, frozenset[TypeName]]] = WeakKeyDictionary()


def type_names_of(graph: CompiledGraph) -> frozenset[TypeName]:
    """
    Return the data types that the state of *graph* may hold, by its schemas and channels.

    These are pydantic models, dataclasses, named tuples and enums, and those in their fields;
    not those that LangGraph reads in any case.
    """
    return type_names_in([*_schemas_of(graph), *_channel_types_of(graph)])


def type_names_in(schemas: Iterable[object]) -> frozenset[TypeName]:
    """Return the data types that *schemas* name, and those in their fields."""
    found: set[TypeName] = set()
    seen: list[object] = []
    waiting = [*schemas]
    while waiting:
        each = waiting.pop()
        if any(each is known for known in seen):
            continue
        seen.append(each)
        if _is_data_type(each):
            name = each.__module__, each.__name__  # type: ignore[attr-defined]
            if name in SAFE_MSGPACK_TYPES:
                continue  # messages and the like, with all that is in them
            found.add(name)
        waiting += _within(each)
    return frozenset(found)


def derive_for(kind: type[AnySaver]) -> None:
    """
    Register the types of every graph's state with savers of *kind*.

    LangGraph does that itself only if its strict mode was set in the environment before it was
    imported. With older versions use `checkpointer(…, allow=…)`.
    """
    own = getattr(Pregel, _HOOK, None)
    if own is None:
        return

    @wraps(own)
    def tell(graph: CompiledGraph, saver: object) -> Any:
        if isinstance(saver, kind):
            saver = saver.with_allowlist(_remembered_names_of(graph))
        return own(graph, saver)

    setattr(Pregel, _HOOK, tell)


def _remembered_names_of(graph: CompiledGraph) -> frozenset[TypeName]:
    """Return `type_names_of`, looked up once a graph."""
    found = _names.get(graph)
    if found is None:
        found = _names[graph] = type_names_of(graph)
    return found


def _schemas_of(graph: CompiledGraph) -> Iterator[object]:
    builder = getattr(graph, "builder", None)
    if builder is None:  # of the functional API: its channels alone
        return
    yield from (builder.state_schema, builder.input_schema, builder.output_schema)
    for node in builder.nodes.values():
        yield node.input_schema
    for branches in builder.branches.values():
        for branch in branches.values():
            yield branch.input_schema


def _channel_types_of(graph: CompiledGraph) -> Iterator[object]:
    for channel in graph.channels.values():
        yield getattr(channel, "ValueType", None)
        yield getattr(channel, "UpdateType", None)


def _is_data_type(given: object) -> bool:
    if not isinstance(given, type):
        return False
    is_named_tuple = issubclass(given, tuple) and hasattr(given, "_fields")
    is_model = issubclass(given, BaseModel | OldBaseModel | Enum)
    return is_named_tuple or is_model or dataclasses.is_dataclass(given)


def _within(given: object) -> list[object]:
    """Return the component types of a type."""
    if isinstance(given, TypeVar):
        return [given.__bound__, *given.__constraints__]
    inner = [*get_args(given), get_origin(given)]
    # Of a NewType, and of an alias made with the statement ``type``.
    inner += [getattr(given, "__supertype__", None), getattr(given, "__value__", None)]
    if _is_data_type(given) or is_typeddict(given):
        inner += _field_types(given)
    return [each for each in inner if each is not None]


def _field_types(given: object) -> list[object]:
    found: list[object] = []
    if isinstance(given, type) and issubclass(given, BaseModel):
        # Of a generic model the hints name the parameter, and the fields what stands for it.
        found += [each.annotation for each in given.model_fields.values()]
        found.append(given.__pydantic_generic_metadata__["origin"])
    with suppress(NameError, TypeError):  # one names what cannot be found
        found += get_type_hints(given).values()
    return found
