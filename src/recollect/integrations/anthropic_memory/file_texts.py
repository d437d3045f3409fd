"""Read the text of a memory file: its content, numbered lines, and occurrences of a passage."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.errors import UsageError
from recollect.records import Memory


def content_of(file: Memory) -> str:
    """Return the text of a file; ``""`` if another program wrote something else there."""
    content = file.value.get("content")
    return content if isinstance(content, str) else ""


def places_of(content: str, old: str) -> list[int]:
    """Return the index of each occurrence of *old* in *content*, overlapping ones included."""
    if not old:
        raise UsageError("old_str is empty: give the text to replace")
    places = []
    place = content.find(old)
    while place >= 0:
        places.append(place)
        place = content.find(old, place + 1)
    return places


def numbered(lines: Sequence[str], first: int) -> str:
    """Return lines with their numbers, from *first*."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))
