"""Check the paths of memory files, and list a directory of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from recollect.errors import LimitError, UsageError

ROOT: Final = "/memories"
PATH_CHARACTERS_MAX: Final = 200
"""Characters of a path below the root, at most: the path, possibly numbered, is a memory's key."""
DEPTH: Final = 2
"""Levels of directories in a listing."""
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f\\\\\ud800-\udfff]")
_UNITS: Final = ("B", "K", "M", "G")


def checked_path(path: object) -> str:
    """
    Return a path relative to ``/memories``, ``""`` for the directory itself.

    >>> checked_path("/memories/notes//cat.md"), checked_path("/memories/")
    ('notes/cat.md', '')

    Raises:
        UsageError: It is outside ``/memories``, or has a part that could lead outside.
        LimitError: It is longer than ``PATH_CHARACTERS_MAX``.
    """
    if not isinstance(path, str) or not _is_safe(path):
        raise UsageError(
            f"The path {path!r} is not accepted: it must be /memories or start with /memories/, "
            "without '..', backslashes or control characters, also where these are encoded"
        )
    relative = "/".join(each for each in path.split("/")[2:] if each not in ("", "."))
    if len(relative) > PATH_CHARACTERS_MAX:
        raise LimitError(
            "characters of a memory file's path",
            len(relative),
            PATH_CHARACTERS_MAX,
            "PATH_CHARACTERS_MAX",
        )
    return relative


def _is_safe(path: str) -> bool:
    decoded = path
    # Decode repeatedly: ".." may be percent-encoded several times.
    while (once := unquote(decoded)) != decoded:
        decoded = once
    return (
        f"{path}/".startswith(f"{ROOT}/")
        and path.count("/") == decoded.count("/")
        and ".." not in decoded.split("/")
        and not _UNSAFE.search(decoded)
    )


def full_path(relative: str) -> str:
    """Return the absolute path, as a model writes it."""
    return f"{ROOT}/{relative}" if relative else ROOT


def is_within(path: str, directory: str) -> bool:
    """
    Return True if *path* is below *directory*; both are relative to the root.

    >>> is_within("a/b", "a"), is_within("ab", "a"), is_within("a", "")
    (True, False, True)
    """
    return bool(path) and (not directory or path.startswith(f"{directory}/"))


def listing(directory: str, sizes: Mapping[str, int]) -> str:
    """Return the listing of a directory; *sizes* are the bytes of its files by relative path."""
    below = {tuple(_parts_below(directory, each)): size for each, size in sizes.items()}
    totals: dict[tuple[str, ...], int] = {}
    for parts, size in below.items():
        for depth in range(len(parts) + 1):
            place = parts[:depth]
            totals[place] = totals.get(place, 0) + size
    shown = full_path(directory)
    head = f"Here're the files and directories up to {DEPTH} levels deep in {shown}"
    lines = [f"{head}, excluding hidden items:", f"{_size(totals.get((), 0))}\t{shown}"]
    for place, total in sorted(totals.items()):
        if 0 < len(place) <= DEPTH and not any(each.startswith(".") for each in place):
            end = "" if place in below else "/"
            lines.append(f"{_size(total)}\t{shown}/{'/'.join(place)}{end}")
    return "\n".join(lines)


def _parts_below(directory: str, path: str) -> list[str]:
    return path.removeprefix(f"{directory}/" if directory else "").split("/")


def _size(count: int) -> str:
    """
    Return a number of bytes with its unit.

    >>> _size(18), _size(1536), _size(4096)
    ('18B', '1.5K', '4K')
    """
    at = min(max(count.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    size = count / 1024**at
    return f"{size:.0f}{_UNITS[at]}" if size == int(size) else f"{size:.1f}{_UNITS[at]}"
