"""Read all entries of a scope in blocks of joined columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from recollect.stores.rows import EntryBlock, VectorBlock

BLOCKS_FROM: Final = 500
"""A scope with no more entries than this is read faster row by row."""
BLOCK_ROWS: Final = 8_192
_FIRST: Final = -1
"""Before every number that places an entry in its table."""

ReadOne: TypeAlias = Callable[[str, tuple[object, ...]], tuple[Any, ...]]
"""Returns the one row of a named statement with these values."""


def entry_blocks(
    read: ReadOne, name: Literal["message_block", "memory_block"], scope_id: int
) -> tuple[list[EntryBlock], int]:
    """Return all entries of a table in a scope, and how many there are."""
    blocks, total = list[EntryBlock](), 0
    after = _FIRST, _FIRST
    while True:
        count, *columns = read(name, (scope_id, *after, BLOCK_ROWS))
        if count:
            blocks.append(EntryBlock(*columns))
            after = _place_of_last(blocks[-1], name)
        total += count
        if count < BLOCK_ROWS:
            return blocks, total


def _place_of_last(block: EntryBlock, name: str) -> tuple[int, int]:
    if name == "message_block":
        return _last(block.thread), _last(block.position)
    return _last(block.seq), _last(block.uid)


def vector_blocks(read: ReadOne, scope_id: int, embedder: str) -> list[VectorBlock]:
    """Return all vectors of a scope by *embedder*."""
    blocks = list[VectorBlock]()
    after, count = _FIRST, BLOCK_ROWS
    while count == BLOCK_ROWS:
        count, *columns = read("vector_block", (scope_id, after, embedder, BLOCK_ROWS))
        if count:
            blocks.append(VectorBlock(*columns))
            after = _last(blocks[-1].uid)
    return blocks


def _last(numbers: str) -> int:
    return int(numbers.rpartition(",")[2])
