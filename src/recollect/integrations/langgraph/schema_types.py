"""Find the data types of a graph's state in its schemas and channels."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from functools import wraps
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar, get_args, get_origin, get_type_hints
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
    Return the data types that the state of *graph* may hold, from its schemas and channels.

    These are pydantic models, dataclasses, named tuples and enums, and those in their fields,
    except the types that LangGraph always reads.
    """
    return type_names_in([*_schemas_of(graph), *_channel_types_of(graph)])


def type_names_in(schemas: Iterable[object]) -> frozenset[TypeName]:
    """Return the data types named by *schemas*, and those in their fields."""
    found: set[TypeName] = set()
    seen: list[object] = []
    waiting = [*schemas]
    while waiting:
        each = waiting.pop()
        if any(each is known for known in seen):
            continue
        seen.append(each)
        if _is_data_type(each):
            name = each.__module__, each.__name__
            if name in SAFE_MSGPACK_TYPES:
                continue  # LangGraph reads these, such as messages, with everything in them
            found.add(name)
        waiting += _within(each)
    return frozenset(found)


def derive_for(kind: type[AnySaver]) -> None:
    """
    Register the types of every graph's state with savers of *kind*.

    LangGraph registers them itself only if its strict mode was set in the environment before its
    import. With older versions use `checkpointer(…, allow=…)`.
    """
    own = getattr(Pregel, _HOOK, None)
    if own is None:
        return

    @wraps(own)
    def register(graph: CompiledGraph, saver: object) -> Any:
        if isinstance(saver, kind):
            saver = saver.with_allowlist(_remembered_names_of(graph))
        return own(graph, saver)

    setattr(Pregel, _HOOK, register)


def _remembered_names_of(graph: CompiledGraph) -> frozenset[TypeName]:
    found = _names.get(graph)
    if found is None:
        found = _names[graph] = type_names_of(graph)
    return found


def _schemas_of(graph: CompiledGraph) -> Iterator[object]:
    builder = getattr(graph, "builder", None)
    if builder is None:  # a graph of the functional API has channels only
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


def _is_data_type(given: object) -> TypeGuard[type]:
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
    # `__supertype__` belongs to a NewType, `__value__` to an alias of the ``type`` statement.
    inner += [getattr(given, "__supertype__", None), getattr(given, "__value__", None)]
    if _is_data_type(given) or is_typeddict(given):
        inner += _field_types(given)
    return [each for each in inner if each is not None]


def _field_types(given: object) -> list[object]:
    found: list[object] = []
    if isinstance(given, type) and issubclass(given, BaseModel):
        # A generic model's type hints name the type parameter; its fields have the actual type.
        found += [each.annotation for each in given.model_fields.values()]
        found.append(given.__pydantic_generic_metadata__["origin"])
    with suppress(NameError, TypeError):  # a hint may name a type that cannot be resolved
        found += get_type_hints(given).values()
    return found
