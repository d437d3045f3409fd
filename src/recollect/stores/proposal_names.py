"""Keys of proposals: which memory a waiting change would change."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

PROPOSED_CHARACTERS_MAX: Final = 200
"""Characters of a proposal's key for its target; version and digest need the rest of 256."""
_DIGEST_BYTES: Final = 10


def target_name(key: str) -> str:
    """Return *key* as proposals have it: if it is too long, its beginning and a digest."""
    if len(key) <= PROPOSED_CHARACTERS_MAX:
        return key
    digest = blake2b(key.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{key[: PROPOSED_CHARACTERS_MAX - 1 - len(digest)]}~{digest}"


def proposed_for(key: str) -> tuple[str, int] | None:
    """
    Return the key and version of the memory for which a proposal with *key* was made.

    A long key is returned shortened, as the proposal has it: `is_named` knows it again.

    >>> proposed_for("User~3~5f1c"), proposed_for("User")
    (('User', 3), None)
    """
    name, _, rest = key.rpartition("~")
    name, _, version = name.rpartition("~")
    return (name, int(version)) if rest and name and version.isdecimal() else None


def is_shortened(name: str) -> bool:
    """Return True if the key in a proposal's name may be a shortened key of a memory."""
    return len(name) == PROPOSED_CHARACTERS_MAX


def is_named(name: str, key: str) -> bool:
    """Return True if a proposal that is named for *name* is for the memory with this *key*."""
    return name == target_name(key)
