"""
The sources of a receipt: the names of what its formation read and wrote.

A receipt quotes the prompt and the answer. An erase blanks the receipts that may repeat what it
removes, and no others; one without its sources may repeat anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from recollect.records import Json

READ: Final = "read"
"""Field of a receipt with the messages and versions of memories that it may repeat, by thread."""
EXAMINED: Final = "examined"
"""
Field of a consolidation's receipt with the groups that it examined, and those before it.

They are keyed digests, which reveal nothing without the store's secret, so that an erase may leave
them: or what a person took back would be merged again after an erase of something else.
"""
_DIGEST: Final = re.compile("[0-9a-f]{32}")


def examined_in(receipt: Mapping[str, Json]) -> list[str]:
    """Return the examined groups that a receipt lists; what is no digest is left out."""
    found = receipt.get(EXAMINED)
    listed = found if isinstance(found, list) else []
    return [each for each in listed if isinstance(each, str) and _DIGEST.fullmatch(each)]


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
