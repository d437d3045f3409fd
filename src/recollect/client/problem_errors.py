"""Convert the service's problems to the library's exceptions, by their stable codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final

from recollect.errors import AccessError, RecollectError, StoreUnavailableError, UsageError

_REQUEST_ID: Final = "x-request-id"
# Codes of the service that no exception class has.
_OURS: Final[Mapping[str, type[RecollectError]]] = {
    **dict.fromkeys(("timeout", "slow", "not_ready"), StoreUnavailableError),
    **dict.fromkeys(("origin", "host"), AccessError),
}


def classes() -> dict[str, type[RecollectError]]:
    """Return the exception class of each code."""
    return {each.code: each for each in _all_of(RecollectError)}


def _all_of(class_: type[RecollectError]) -> Iterator[type[RecollectError]]:
    yield class_
    for each in class_.__subclasses__():
        # A foreign subclass that inherits the code must not replace ours.
        if "code" in vars(each):
            yield from _all_of(each)


def error_of(status: int, problem: object, headers: Mapping[str, str]) -> RecollectError:
    """
    Return the exception for a problem response.

    Exceptions with structured facts (`LimitError`, `VersionConflictError` …) are built from these.
    If a problem lacks them, the nearest base class without facts is used.
    """
    fields: Mapping[str, object] = problem if isinstance(problem, Mapping) else {}
    code, detail = str(fields.get("code", "")), str(fields.get("detail", f"status {status}"))
    class_ = classes().get(code) or _OURS.get(code) or _by_status(status)
    facts = fields.get("facts")
    error = _build_error(class_, detail, facts if isinstance(facts, Mapping) else {})
    if _REQUEST_ID in headers:
        error.add_note(f"the service's log has it under request {headers[_REQUEST_ID]}")
    return error


def _build_error(
    class_: type[RecollectError], detail: str, facts: Mapping[str, object]
) -> RecollectError:
    if facts:
        try:
            return class_(*facts.values())
        except TypeError:  # a service of another version sends other facts
            pass
    plain = next(each for each in class_.__mro__ if "__init__" not in vars(each))
    return plain(detail) if issubclass(plain, RecollectError) else RecollectError(detail)


def _by_status(status: int) -> type[RecollectError]:
    if status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.BAD_GATEWAY}:
        return StoreUnavailableError
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return UsageError
    return RecollectError
