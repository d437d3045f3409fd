"""The text of a memory file: its lines with numbers, and the places of a passage in it."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.errors import UsageError
from recollect.records import Memory


def content_of(file: Memory) -> str:
    """Return the text of a file, "" if a program wrote something else."""
    content = file.value.get("content")
    return content if isinstance(content, str) else ""


def places_of(content: str, old: str) -> list[int]:
    """Return where a passage begins in a text, each time that it occurs."""
    if not old:
        raise UsageError("old_str is empty: give the text that is to be replaced")
    places = []
    place = content.find(old)
    while place >= 0:
        places.append(place)
        place = content.find(old, place + 1)
    return places


def numbered(lines: Sequence[str], first: int) -> str:
    """Return lines with their numbers, from *first*."""
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))
