"""Memory types: what kinds of things are remembered, and in which form."""

from __future__ import annotations

from recollect.formation.types.builtin import (
    BUILTIN_TYPES,
    DEFAULT_TYPES,
    ENTITY,
    EXAMPLE,
    FACT,
    INSTRUCTIONS,
    ITEM,
    NOTE,
    SUMMARY,
    USER,
)
from recollect.formation.types.loader import TypeSource, load_types
from recollect.formation.types.memory_type import MemoryType, UpdateMode, check_types_change

__all__ = [
    "BUILTIN_TYPES",
    "DEFAULT_TYPES",
    "ENTITY",
    "EXAMPLE",
    "FACT",
    "INSTRUCTIONS",
    "ITEM",
    "NOTE",
    "SUMMARY",
    "USER",
    "MemoryType",
    "TypeSource",
    "UpdateMode",
    "check_types_change",
    "load_types",
]
