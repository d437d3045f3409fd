"""Versions on the wire: ETag, If-Match and If-None-Match."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Depends, Header

from recollect.errors import UsageError

IfMatch = Annotated[
    str | None,
    Header(max_length=100, description='The version that was read: `"3"`, as the ETag gave it.'),
]
IfNoneMatch = Annotated[
    str | None, Header(max_length=100, description="`*`: only if there is none yet.")
]
_TAG: Final = re.compile(r'"([0-9]{1,15})"')
_ANY: Final = "*"


def etag_of(version: int) -> str:
    """
    Return the tag of a version.

    >>> etag_of(3)
    '"3"'
    """
    return f'"{version}"'


def expected_version(if_match: str | None, if_none_match: str | None = None) -> int | None:
    """
    Return the version that a request expects: 0 for a new memory, ``None`` for any version.

    >>> expected_version('"3"'), expected_version(None, "*"), expected_version(None)
    (3, 0, None)
    """
    if if_none_match is not None:
        if if_none_match.strip() != _ANY or if_match is not None:
            raise UsageError("If-None-Match must be '*' (create only), and excludes If-Match")
        return 0
    if if_match is None:
        return None
    found = _TAG.fullmatch(if_match.strip())
    if found is None or int(found[1]) < 1:
        msg = f'If-Match is one ETag, a version in quotation marks such as "3"; not {if_match!r}'
        raise UsageError(msg)
    return int(found[1])


async def _expected(if_match: IfMatch = None) -> int | None:
    return expected_version(if_match)


Expected = Annotated[int | None, Depends(_expected)]
"""The version in the request's If-Match, ``None`` for any."""
