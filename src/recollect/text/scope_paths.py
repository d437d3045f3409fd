"""Scopes as people write them: segments with slashes between them."""

from __future__ import annotations

import re
from typing import Final

from recollect.records import Scope

ESCAPED: Final = re.compile(r"%(2F|25)", re.IGNORECASE)
"""A slash or a percent sign within a segment, as a written scope has it."""


def written_scope(scope: Scope) -> str:
    """
    Return *scope* in the form of ``--scope``, in which messages and errors name it.

    >>> written_scope(("demo", "mira"))
    'demo/mira'
    >>> written_scope(("a/b", "50%"))
    'a%2Fb/50%'
    """
    return "/".join(
        ESCAPED.sub(lambda match: f"%25{match[1]}", segment).replace("/", "%2F")
        for segment in scope
    )
