"""
Locate unused space in the pages of a SQLite file; pure.

Page numbers count from 0 here. Source: https://sqlite.org/fileformat2.html, sections 1.3
(file header), 1.5 (free pages) and 1.6 (pages of rows and keys).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, unpack_from
from typing import Final

PAGES_MAX: Final = 1 << 25
"""
Pages of a file, at most, for which the first byte of a page shows its kind.

Overflow and free pages begin with a page number. Up to this one, its first byte is less than the
kind of any b-tree page.
"""

# Kind, first free block, number of cells, start of the cell content, free fragments.
_PAGE_HEADER: Final = Struct(">BHHHB")
_HEADER_BYTES: Final = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
"""Length of a b-tree page's header, by its kind."""
_FILE_HEADER_BYTES: Final = 100
_FIRST_TRUNK_AT: Final = 32
"""Offset in the file header of the number of the first trunk page of the free list."""
_CONTENT_AT_64_KIB: Final = 65_536
"""Stored as 0, as it does not fit into two bytes."""


def gap_of(page: bytes, number: int) -> range:
    """
    Return the unused range of a b-tree page: between the cell pointers and the cells.

    It is empty for other kinds of page and for malformed ones.

    >>> page = bytes([0x0D, 0, 0, 0, 1, 0, 14, 0, 0, 14, 7, 7, 7, 7, 1, 1])
    >>> gap_of(page, number=3)
    range(10, 14)
    """
    at = 0 if number else _FILE_HEADER_BYTES
    kind, _, cells, content, _ = _PAGE_HEADER.unpack_from(page, at)
    if kind not in _HEADER_BYTES:
        return range(0)
    start = at + _HEADER_BYTES[kind] + 2 * cells
    end = content or _CONTENT_AT_64_KIB
    return range(start, end) if start <= end <= len(page) else range(0)


def page_size(header: bytes) -> int:
    r"""
    Return the page size in bytes, from the file header.

    >>> page_size(bytes(16) + b"\x10\x00"), page_size(bytes(16) + b"\x00\x01")
    (4096, 65536)
    """
    size = int.from_bytes(header[16:18], "big")
    return _CONTENT_AT_64_KIB if size == 1 else size


def free_pages(read_page: Callable[[int], bytes]) -> frozenset[int]:
    """
    Return the free pages without content, leaving out those that list them (trunk pages).

    Args:
        read_page: Returns a page by its number.
    """
    free: set[int] = set()
    (trunk,) = unpack_from(">I", read_page(0), _FIRST_TRUNK_AT)
    while trunk:
        page = read_page(trunk - 1)
        trunk, count = unpack_from(">II", page)
        free.update(listed - 1 for listed in unpack_from(f">{count}I", page, 8))
    return frozenset(free)
