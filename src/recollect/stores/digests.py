"""Digests by which a text, a request or an erased name is recognised without being kept."""

from __future__ import annotations

import json
from hashlib import blake2b


def text_hash(text: str) -> bytes:
    """Return the hash by which a vector knows the text that it belongs to."""
    return blake2b(text.encode(), digest_size=16).digest()


def request_digest(*parts: object) -> bytes:
    """Return a digest of a request made of plain values, by which its repetition is recognised."""
    encoded = json.dumps(parts, sort_keys=True, default=repr)
    return blake2b(encoded.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def keyed_digest(key: bytes, *names: object) -> bytes:
    """Return a digest of *names* that tells nothing to whoever lacks *key*."""
    return blake2b(json.dumps(names).encode(), digest_size=16, key=key).digest()
