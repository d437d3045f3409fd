"""Memory types: the schema of their documents, and how these change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Final, Literal, TypeAlias

from recollect.errors import UsageError
from recollect.records import Json, JsonObject, Role

UpdateMode: TypeAlias = Literal["patch", "insert"]
"""``patch``: one document (of each speaker), revised; ``insert``: a growing collection."""

TYPES_MAX: Final = 64
SCHEMA_BYTES_MAX: Final = 100_000
"""Largest size of a type's schema as JSON, its references written out."""
SCHEMA_DEPTH_MAX: Final = 24
DESCRIPTION_CHARACTERS_MAX: Final = 10_000
"""Longest description, and longest instructions, of a type."""
EXPIRES_S_MAX: Final = 100 * 366 * 86_400
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""The form of a memory type's name, which also names a model's tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryType:
    """
    A kind of memory: the schema of its documents, and how they change.

    *parameters* is the JSON Schema (2020-12) of one document, with references resolved.

    *single_valued* is for collections: a new memory that differs from an old one in these fields
    alone, of all required ones, ends the old one's validity, unless its boolean field *several* is
    true, which means that both can hold at once.

    *expires_after_s* is the lifetime of a memory after its formation, in seconds. *instructions*
    are added to the prompt. *roles* are the roles whose words may cause such a memory. Of a
    document larger than *section_bytes_max* the model is shown only the top-level fields related to
    the conversation. With *per_speaker*, each of several named users has their own document of a
    patched type; otherwise all contribute to one. A type with a *schedule*, a cron line in
    the settings' time zone, is formed at these times only, from everything said since; other types
    are formed when the conversation pauses.

    Create types with `load_types`, which validates them.

    >>> from recollect.formation.types import load_types
    >>> (trip,) = load_types(
    ...     [
    ...         {
    ...             "name": "Trip",
    ...             "description": "A journey that the user plans",
    ...             "update_mode": "insert",
    ...             "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    ...         }
    ...     ]
    ... )
    >>> trip.name, trip.update_mode, trip.roles
    ('Trip', 'insert', ('user',))
    """

    name: str
    description: str
    update_mode: UpdateMode
    parameters: JsonObject = field(hash=False)
    single_valued: tuple[str, ...] = ()
    several: str | None = None
    expires_after_s: float | None = None
    instructions: str = ""
    roles: tuple[Role, ...] = ("user",)
    section_bytes_max: int | None = None
    per_speaker: bool = True
    schedule: str | None = None

    def as_config(self) -> JsonObject:
        """Return it as `load_types` takes it, in plain JSON; what is at its default is left out."""
        config: dict[str, Json] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.default is MISSING or value != each.default:
                config[each.name] = list(value) if isinstance(value, tuple) else value
        return config


CONFIG_KEYS: Final = tuple(each.name for each in fields(MemoryType))
"""The keys of a type's configuration."""


def check_types_change(old: Sequence[MemoryType], new: Sequence[MemoryType]) -> None:
    """
    Reject *new* types that would read the memories of *old* ones in another way.

    A changed schema is no such thing: it holds for what is formed from now on. A document and a
    collection are kept under different keys, though, so that another `update_mode` needs another
    name.

    Raises:
        UsageError: A name that both have has changed its `update_mode`.
    """
    modes = {each.name: each.update_mode for each in old}
    for each in new:
        was = modes.get(each.name, each.update_mode)
        if was != each.update_mode:
            msg = (
                f"the memory type {each.name!r} has the update_mode {was!r}, not "
                f"{each.update_mode!r}: give the new type another name"
            )
            raise UsageError(msg)
