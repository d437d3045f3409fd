"""
The sources of a receipt: the names of what its formation read and wrote.

A receipt quotes the prompt and the answer. An erase blanks the receipts that may repeat what it
removes, and no others; one without its sources may repeat anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from recollect.records import Json

READ: Final = "read"
"""Field of a receipt with the messages and versions of memories that it may repeat, by thread."""


def names_by_thread(names: Iterable[tuple[str, str]]) -> dict[str, list[Json]]:
    """Return (thread, message) pairs by thread, each once, in order."""
    found: dict[str, list[Json]] = {}
    for thread, message in dict.fromkeys(names):
        found.setdefault(thread, []).append(message)
    return found


def sources_of(receipt: Mapping[str, Json]) -> set[tuple[str, str]] | None:
    """
    Return the names in the sources of a receipt; ``None`` if it has none, or they are malformed.

    >>> sorted(sources_of({"read": {"talk": ["m1", "m2"]}}) or ())
    [('talk', 'm1'), ('talk', 'm2')]
    """
    read = receipt.get(READ)
    if not isinstance(read, Mapping):
        return None
    found: set[tuple[str, str]] = set()
    for thread, names in read.items():
        if not isinstance(names, list):
            return None
        found |= {(thread, str(each)) for each in names}
    return found
