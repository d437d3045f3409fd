"""Handles: the short names by which the text of a context cites its sources."""

from __future__ import annotations

import hashlib
import json
from base64 import b32encode
from functools import lru_cache
from typing import Final

from recollect.records import Scope

_HANDLE_LENGTH: Final = 4


@lru_cache(maxsize=4_096)
def _letters_of(scope: Scope, source: str) -> str:
    digest = hashlib.blake2b(json.dumps((scope, source)).encode(), digest_size=20).digest()
    return b32encode(digest).decode().lower()


class Handles:
    """
    The short names of sources in one context: four letters and digits, more if two clash.

    A handle is a prefix of the source's hash, so that it is the same in every context, except where
    the context has another source with the same prefix.
    """

    def __init__(self) -> None:
        self._taken: dict[str, tuple[Scope, str]] = {}

    def of(self, scope: Scope, source: str) -> str:
        """Return the handle of a source, thread/message or type/key, of a scope."""
        name, every = (scope, source), _letters_of(scope, source)
        length = _HANDLE_LENGTH
        while self._taken.setdefault(every[:length], name) != name:
            length += 1
        return every[:length]
