"""Names of the tools that belong to no memory type; no type may use them."""

from __future__ import annotations

from typing import Final

PATCH: Final = "patch_memory"
END: Final = "end_memory"
NOTHING: Final = "remember_nothing"
RESERVED: Final = frozenset({PATCH, END, NOTHING})
