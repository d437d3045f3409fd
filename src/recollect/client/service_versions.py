"""A client and a service of different versions: what the error says when they do not fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect import __version__
from recollect.errors import RecollectError, ServiceVersionError, UsageError

VERSION_HEADER: Final = "recollect-version"
"""In each response of a service: its version."""
USER_AGENT: Final = f"recollect-client/{__version__}"
_NO_ROUTE: Final = frozenset({"no_path", "no_method"})
_UNKNOWN: Final = ("Extra inputs are not permitted", "there is no such parameter")
"""How a service says that it does not know a field of the body, or of the query."""


def version_error(
    asked: str, problem: Mapping[str, object], headers: Mapping[str, str]
) -> RecollectError | None:
    """
    Return the error of a service that lacks what it was asked for, for it has another version.

    ``None`` where the versions are the same, or the problem is another.
    """
    theirs = headers.get(VERSION_HEADER)
    if theirs is None or theirs == __version__:
        return None
    if problem.get("code") in _NO_ROUTE:
        return ServiceVersionError(f"the service has no {asked}", theirs, __version__)
    unknown = [name for name, told in _wrong_fields(problem) if told.startswith(_UNKNOWN)]
    if problem.get("code") != UsageError.code or not unknown:
        return None
    what = f"the service does not know {', '.join(unknown)} of {asked}"
    return ServiceVersionError(what, theirs, __version__)


def _wrong_fields(problem: Mapping[str, object]) -> list[tuple[str, str]]:
    errors = problem.get("errors")
    listed = errors if isinstance(errors, list) else []
    told = [each for each in listed if isinstance(each, Mapping)]
    return [(str(each.get("path")), str(each.get("message"))) for each in told]


def unread_answer(
    asked: str, headers: Mapping[str, str], error: Exception | None = None
) -> RecollectError:
    """Return the error of an answer that is not what this client reads."""
    theirs = headers.get(VERSION_HEADER)
    if theirs is None:
        msg = (
            f"what answered {asked} is no Recollect service: see the client's address, and any "
            "proxy before it"
        )
        return UsageError(msg)
    lacking = f"has no {error}" if isinstance(error, KeyError) else "cannot be read"
    what = f"the answer to {asked} {lacking}"
    if theirs != __version__:
        return ServiceVersionError(what, theirs, __version__)
    return RecollectError(f"{what}, though service and client are both version {theirs}")
