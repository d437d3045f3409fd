"""The part that the reports of all imports share: the first threads of the import."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from recollect.records import Json, Scope
from recollect.server.http.scope_access import Reach

THREADS_MAX: Final = 20
"""Maximum threads that a report names, to be linked; the count covers all."""


def first_threads(reach: Reach, threads: Iterable[tuple[Scope, str]]) -> list[Json]:
    """Return the first ``THREADS_MAX`` threads, their scopes relative to that of the request."""
    return [
        {"scope": reach.relative(scope), "id": thread}
        for scope, thread in islice(threads, THREADS_MAX)
    ]
