"""Errors of a client and a service of different versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect import __version__
from recollect.errors import RecollectError, ServiceVersionError, UsageError

VERSION_HEADER: Final = "recollect-version"
"""Header of each response with the service's version."""
USER_AGENT: Final = f"recollect-client/{__version__}"
_NO_ROUTE: Final = frozenset({"no_path", "no_method"})
_UNKNOWN: Final = ("Extra inputs are not permitted", "there is no such parameter")
"""Messages of a service that does not know a field of the body or the query."""


def version_error(
    asked: str, problem: Mapping[str, object], headers: Mapping[str, str]
) -> RecollectError | None:
    """
    Return the error if a service of another version lacks the route or a field of a request.

    ``None`` if the versions are the same, or the problem is another.
    """
    theirs = headers.get(VERSION_HEADER)
    if theirs is None or theirs == __version__:
        return None
    if problem.get("code") in _NO_ROUTE:
        return ServiceVersionError(f"the service has no {asked}", theirs, __version__)
    unknown = [name for name, message in _wrong_fields(problem) if message.startswith(_UNKNOWN)]
    if problem.get("code") != UsageError.code or not unknown:
        return None
    what = f"the service does not know {', '.join(unknown)} of {asked}"
    return ServiceVersionError(what, theirs, __version__)


def _wrong_fields(problem: Mapping[str, object]) -> list[tuple[str, str]]:
    errors = problem.get("errors")
    listed = errors if isinstance(errors, list) else []
    fields = [each for each in listed if isinstance(each, Mapping)]
    return [(str(each.get("path")), str(each.get("message"))) for each in fields]


def unread_answer(
    asked: str, headers: Mapping[str, str], error: Exception | None = None
) -> RecollectError:
    """Return the error of a response that this client cannot read."""
    theirs = headers.get(VERSION_HEADER)
    if theirs is None:
        msg = (
            f"the response to {asked} is not from a Recollect service: check the client's address, "
            "and any proxy before it"
        )
        return UsageError(msg)
    lacking = f"has no {error}" if isinstance(error, KeyError) else "cannot be read"
    what = f"the response to {asked} {lacking}"
    if theirs != __version__:
        return ServiceVersionError(what, theirs, __version__)
    return RecollectError(f"{what}, though service and client are both version {theirs}")
