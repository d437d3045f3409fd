"""
Read all entries of a scope in blocks of joined columns.

SQLite joins each column of a block into one value, so that Python handles no value by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from recollect.stores.change_feed import EntryBlock, VectorBlock

BLOCKS_FROM: Final = 500
"""Read scopes with no more entries than this row by row, which is faster."""
BLOCK_ROWS: Final = 8_192
_FIRST: Final = -1
"""A number before the first one of every table's key."""

ReadOne: TypeAlias = Callable[[str, tuple[object, ...]], tuple[Any, ...]]
"""A function that returns the single row of a named statement with these parameters."""


def entry_blocks(
    read: ReadOne, name: Literal["message_block", "memory_block"], scope_id: int
) -> tuple[list[EntryBlock], int]:
    """Return the blocks of all entries of a table in a scope, and the number of entries."""
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
    """Return the key of a block's last row, after which the next block begins."""
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
