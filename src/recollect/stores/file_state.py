"""The state of a store's file: size, schema and damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FINDINGS_MAX: Final = 5
"""Findings of damage that are listed, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """
    A store's file: its size, the size of the files beside it, its schema version and its damage.

    *index_files* counts the index files among those beside it, and *index_bytes* is their size.
    *mismatched* lists the pages that do not match their checksums; *damage* describes other damage.
    """

    path: Path
    size_bytes: int
    beside_bytes: int
    index_files: int
    index_bytes: int
    schema: int
    has_page_checksums: bool
    mismatched: tuple[int, ...]
    damage: tuple[str, ...]


def described(pages: Sequence[int]) -> str:
    """
    Describe mismatched pages: how many, and the first of them.

    >>> described([4])
    '1 page (4) does not match its checksum'
    >>> described(range(7))
    '7 pages (0, 1, 2, 3, 4, …) do not match their checksums'
    """
    named = ", ".join(map(str, pages[:FINDINGS_MAX]))
    more = ", …" if len(pages) > FINDINGS_MAX else ""
    if len(pages) == 1:
        return f"1 page ({named}) does not match its checksum"
    return f"{len(pages)} pages ({named}{more}) do not match their checksums"
