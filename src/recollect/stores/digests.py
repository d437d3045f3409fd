"""Digests that recognise a text, a request or an erased name without storing it."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

from recollect.text.json_text import json_writer

_write_request: Final = json_writer(json.JSONEncoder(sort_keys=True, default=repr))
_write_names: Final = json_writer(json.JSONEncoder())


def text_hash(text: str) -> bytes:
    """Return the hash of a text by which a vector is known to belong to it."""
    return blake2b(text.encode(), digest_size=16).digest()


def request_digest(*parts: object) -> bytes:
    """Return a digest of a request made of plain values, to recognise its repetition."""
    encoded = _write_request(parts)
    return blake2b(encoded.encode(), digest_size=16).digest()


def keyed_digest(key: bytes, *names: object) -> bytes:
    """Return a digest of *names*, which reveals nothing without *key*."""
    return blake2b(_write_names(names).encode(), digest_size=16, key=key).digest()
