"""Tokens that confirm an erasure, bound to the memory as it was shown to the user."""

from __future__ import annotations

import hashlib
import hmac
import json

from recollect.records import Memory

_MAC_BYTES = 16


def token_for(secret: bytes, thread: str, memory: Memory, position: int) -> str:
    """Return the token to erase *memory* as it is; *position* is that of the newest message."""
    # A memory that was erased and stored again has the same key and version: bind the token to
    # its time and text as well.
    kept = [memory.version, memory.created_at.isoformat(), memory.text]
    about = [list(memory.scope), thread, memory.type, memory.key, *kept, position]
    said = json.dumps(about, ensure_ascii=False).encode()
    return f"{position}.{hmac.digest(secret, said, hashlib.sha256)[:_MAC_BYTES].hex()}"


def position_of(secret: bytes, thread: str, memory: Memory, token: str) -> int | None:
    """Return the position in a *token*; ``None`` if it is invalid for *memory* as it is."""
    given = token.partition(".")[0]
    if not (given.isascii() and given.isdecimal() and len(given) < len("9" * 17)):
        return None
    expected = token_for(secret, thread, memory, int(given))
    is_right = hmac.compare_digest(expected.encode(), token.encode("utf-8", "replace"))
    return int(given) if is_right else None
