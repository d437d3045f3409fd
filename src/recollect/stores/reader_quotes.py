"""
Reader quotes: the part of a cause that an erase may have to take.

The reason for which a second reader holds a memory back may repeat any message or memory that it
was shown. Evidence does not name these, so an erase cannot tell whose words a reason repeats.
"""

from __future__ import annotations

from typing import Final

DENIED: Final = "a second reader finds that it was not said"
"""Why a memory waits: alone, or before a colon and the reader's own words."""


def without_reader_quote(cause: str) -> str:
    """
    Return a cause without the words of a second reader, which are the last in it.

    >>> without_reader_quote("a second reader finds that it was not said: it was a canoe")
    'a second reader finds that it was not said'
    >>> without_reader_quote("formed")
    'formed'
    """
    told, quote, _ = cause.partition(f"{DENIED}: ")
    return f"{told}{DENIED}" if quote else cause
