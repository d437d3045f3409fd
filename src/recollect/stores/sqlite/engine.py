"""Reject SQLite libraries with known data-loss bugs; pure."""

from __future__ import annotations

from typing import Final, TypeAlias

from recollect.errors import StoreVersionError

EngineVersion: TypeAlias = tuple[int, int, int]

FIXED_IN: Final[EngineVersion] = (3, 51, 3)
"""The first version without the race of checkpoints and commits that loses commits in WAL mode."""

_FIXED_BRANCHES: Final[tuple[EngineVersion, ...]] = ((3, 50, 7), (3, 44, 6))
"""Older branches, each from the version on to which the fix was ported."""


def check_engine(version: EngineVersion) -> None:
    """
    Reject a SQLite library whose WAL can lose commits (3.7.0 to 3.51.2), or that has no WAL.

    The branches 3.50 and 3.44 are fixed from 3.50.7 and 3.44.6 on.

    Raises:
        StoreVersionError: The library is one of these.

    >>> check_engine((3, 51, 3))
    >>> check_engine((3, 50, 8))
    """
    if version >= FIXED_IN:
        return
    if any(version[:2] == fixed[:2] and version >= fixed for fixed in _FIXED_BRANCHES):
        return
    written = ".".join(map(str, version))
    raise StoreVersionError(
        f"SQLite {written} can lose commits when several connections share a file in WAL mode "
        "(3.7.0 to 3.51.2, except 3.50.7+ and 3.44.6+): install apsw 3.51.3 or newer"
    )


def version_of(text: str) -> EngineVersion:
    """
    Return the version in the text that the library gives for it.

    >>> version_of("3.54.1")
    (3, 54, 1)
    """
    major, minor, patch, *_ = [int(part) for part in text.split(".")] + [0, 0]
    return major, minor, patch
