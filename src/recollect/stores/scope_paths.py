"""Encode scopes as bytes that sort in the order of their segments; pure."""

from __future__ import annotations

from recollect.records import Scope


def stored_path(segments: Scope) -> bytes:
    r"""
    Return *segments* in UTF-8, each ended by a zero byte.

    No segment contains one, and UTF-8 sorts like its code points, so these bytes compare as the
    tuples do. Half a surrogate pair, which no scope can have, is encoded as well, so that looking
    it up finds nothing instead of failing.

    >>> stored_path(("users", "ada"))
    b'users\x00ada\x00'
    """
    return b"".join(segment.encode("utf-8", "surrogatepass") + b"\0" for segment in segments)


def segments_of(path: bytes) -> Scope:
    r"""
    Return the segments that *path* stores.

    >>> segments_of(b"users\x00ada\x00")
    ('users', 'ada')
    """
    return tuple(path[:-1].decode().split("\0"))


def range_of(scope: Scope) -> tuple[bytes, bytes]:
    r"""
    Return the path of exactly *scope*, and the end after it.

    >>> range_of(("users",))
    (b'users\x00', b'users\x00\x00')
    """
    first = stored_path(scope)
    return first, first + b"\0"


def range_below(prefix: Scope) -> tuple[bytes, bytes]:
    r"""
    Return the first path of *prefix* and everything below it, and the end after the last.

    >>> range_below(("users",))
    (b'users\x00', b'users\x01')
    """
    first = stored_path(prefix)
    # Only paths that begin with the first sort between the two; UTF-8 never contains 0xFF.
    return first, (first[:-1] + b"\x01" if first else b"\xff")
