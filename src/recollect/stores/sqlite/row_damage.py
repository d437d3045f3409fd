"""Errors that reading a damaged row raises, turned into one that names the row."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from recollect.errors import RecollectError
from recollect.stores.sqlite.checksums import DamagedRowError

UNREADABLE: Final = (
    DamagedRowError, ArithmeticError, LookupError, TypeError, ValueError, struct.error
)  # fmt: skip
"""The errors that reading a damaged row raises."""


@contextmanager
def decoding(connection: apsw.Connection) -> Iterator[None]:
    """
    Turn an error of the block that a damaged row caused into one that names the row.

    Raises:
        DamagedRowError: The block raised an error, and a row cannot be decoded.
    """
    try:
        yield
    except RecollectError:
        raise
    except UNREADABLE as error:
        from recollect.stores.sqlite.examination import cause_of

        found = None if isinstance(error, DamagedRowError) else cause_of(error, connection)
        if found is None:
            raise
        raise DamagedRowError(found) from error
