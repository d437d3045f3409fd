"""The names of the tools that are no memory type's, which no type may have."""

from __future__ import annotations

from typing import Final

PATCH: Final = "patch_memory"
END: Final = "end_memory"
NOTHING: Final = "remember_nothing"
RESERVED: Final = frozenset({PATCH, END, NOTHING})
