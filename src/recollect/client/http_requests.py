"""Send requests to a service of a version that the client knows; retry where that is safe."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import quote

from recollect import __version__
from recollect.errors import (
    AccessError,
    MissingExtraError,
    RecollectError,
    ServiceVersionError,
    StoreUnavailableError,
    UsageError,
)
from recollect.observability.logs import kind_of, package_logger
from recollect.records import ScopeLike
from recollect.stores.validation import check_scope

try:
    import httpx
except ImportError as error:
    raise MissingExtraError("client", "httpx") from error

T = TypeVar("T")
LOG: Final = package_logger("recollect.client")
RETRIES: Final = 3
FIRST_WAIT_S: Final = 0.2
"""Delay before the first retry, doubled before each further one."""
WAIT_S_MAX: Final = 30.0
"""Do not retry if the service asks for a longer delay."""
_REPEATED: Final = "the request had been made before, without an answer that counts"
_FOREIGN: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
"""With one of these and no problem document, another program has responded."""
_LATER: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
VERSION_HEADER: Final = "recollect-version"
"""Header of each response with the service's version."""
USER_AGENT: Final = f"recollect-client/{__version__}"
_NO_ROUTE: Final = frozenset({"no_path", "no_method"})
_UNKNOWN: Final = ("Extra inputs are not permitted", "there is no such parameter")
"""Messages of a service that does not know a field of the body or the query."""
_REQUEST_ID: Final = "x-request-id"
# Codes of the service that no exception class has.
_OURS: Final[Mapping[str, type[RecollectError]]] = {
    **dict.fromkeys(("timeout", "slow", "not_ready"), StoreUnavailableError),
    **dict.fromkeys(("origin", "host"), AccessError),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRequest:
    """
    A request to a route.

    *is_repeatable* is True if the request is idempotent: it only reads, or the service recognises a
    repetition by its key or its expected version.
    """

    method: str
    path: str
    scope: ScopeLike = ()
    query: Mapping[str, object] = field(default_factory=dict)
    json: object = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False
    is_patient: bool = False
    """Whether to wait for the response without a timeout."""

    @property
    def asked(self) -> str:
        """Method and path, as errors name them."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceResponse:
    """A response of the service."""

    asked: str
    status: int
    json: Any
    headers: Mapping[str, str]

    def read(self, parse: Callable[[Any], T]) -> T:
        """
        Parse the JSON with *parse*.

        Raises:
            ServiceVersionError: A service of another version does not send a field that is read.
        """
        try:
            return parse(self.json)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise unread_answer(self.asked, self.headers, error) from error


def open_http(url: str, key: str, timeout_s: float) -> httpx.AsyncClient:
    """
    Return an HTTP client for a service; the caller enters it.

    Raises:
        UsageError: The address or the key is invalid.
    """
    if not url.lower().startswith(("http://", "https://")):
        msg = f"the address {url!r} is not a service's: give one such as http://127.0.0.1:8300"
        raise UsageError(msg)
    if not (key.isascii() and key.isprintable()) or " " in key:
        msg = "the key has an invalid character: give it as it was printed, without spaces"
        raise UsageError(msg)
    headers = {"user-agent": USER_AGENT, **({"x-api-key": key} if key else {})}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout_s)


class HttpSender:
    """Sends requests over pooled connections to one service, with one key."""

    def __init__(
        self,
        web: httpx.AsyncClient,
        *,
        retries: int,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._web = web
        self._retries = retries
        self._sleep = sleep

    async def ask(self, request: ServiceRequest) -> ServiceResponse:
        """
        Send a request, with retries, and return the response.

        Raises:
            RecollectError: The error reported by the service.
            StoreUnavailableError: The service cannot be reached, or the connection broke: a write
                that cannot be retried may have happened.
        """
        attempt = -1
        while True:
            attempt += 1
            # A write that is not idempotent may have been carried out: never send it twice.
            is_last = attempt == self._retries or not request.is_repeatable
            try:
                response = await self._web.send(self._build(request))
            except httpx.TransportError as failed:
                if is_last or isinstance(failed, httpx.UnsupportedProtocol):
                    raise _unreachable(request, failed) from failed
                LOG.warning("retrying a request: %s", kind_of(failed))
                await self._sleep(_backoff(attempt))
                continue
            wait_s = _retry_delay(response, attempt)
            if wait_s is None or is_last or wait_s > WAIT_S_MAX:
                return _parse(request, response, is_repeated=attempt > 0)
            LOG.warning("retrying a request in %.1f s: %d", wait_s, response.status_code)
            await self._sleep(wait_s)

    async def lines(self, request: ServiceRequest) -> AsyncIterator[str]:
        """Yield the lines of a streamed response as they arrive; the request is not retried."""
        try:
            response = await self._web.send(self._build(request), stream=True)
            try:
                if response.is_error:
                    await response.aread()
                    raise _error_of(request, response)
                async for line in response.aiter_lines():
                    yield line
            finally:
                await response.aclose()
        except httpx.TransportError as failed:
            raise _unreachable(request, failed) from failed

    def _build(self, request: ServiceRequest) -> httpx.Request:
        # Scopes are relative to the key's own; the empty one is the key's own.
        scope = check_scope(request.scope) if request.scope != () else ()
        query = [("scope", each) for each in scope]
        query += [
            (name, _query_text(value)) for name, value in request.query.items() if value is not None
        ]
        patient = httpx.Timeout(self._web.timeout.connect, read=None)
        try:
            return self._web.build_request(
                request.method,
                request.path,
                params=tuple(query),
                json=request.json,
                content=request.content,
                headers=dict(request.headers),
                timeout=patient if request.is_patient else httpx.USE_CLIENT_DEFAULT,
            )
        except (TypeError, ValueError) as error:
            msg = f"the body of {request.method} {request.path} is not JSON: {error}"
            raise UsageError(msg) from error


def _query_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _backoff(attempt: int) -> float:
    """Return the pause before a retry: exponential, with jitter."""
    # The jitter spreads the retries of many clients after an outage.
    return FIRST_WAIT_S * float(2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


def _retry_delay(response: httpx.Response, attempt: int) -> float | None:
    """Return the delay before a retry; ``None`` if the response is final."""
    if response.status_code not in _LATER:
        return None
    asked = response.headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else _backoff(attempt)


def _parse(
    request: ServiceRequest, response: httpx.Response, *, is_repeated: bool
) -> ServiceResponse:
    if not response.is_success:
        failed = _error_of(request, response)
        if is_repeated:
            failed.add_note(_REPEATED)
        raise failed
    try:
        found = response.json() if response.content else None
    except ValueError as error:
        raise unread_answer(request.asked, response.headers) from error
    return ServiceResponse(
        asked=request.asked,
        status=response.status_code,
        json=found,
        headers=response.headers,
    )


def is_repeated(error: Exception) -> bool:
    """Return True if an error is the response to a retry."""
    return _REPEATED in getattr(error, "__notes__", ())


def _error_of(request: ServiceRequest, response: httpx.Response) -> Exception:
    try:
        problem: object = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping):
        if response.status_code in _FOREIGN and VERSION_HEADER not in response.headers:
            return unread_answer(request.asked, response.headers)
        problem = {}
    found = version_error(request.asked, problem, response.headers)
    return found or error_of(response.status_code, problem, response.headers)


def _unreachable(request: ServiceRequest, failed: httpx.TransportError) -> StoreUnavailableError:
    reason = str(failed) or type(failed).__name__
    unknown = "" if request.is_repeatable else "; the request may have been carried out"
    msg = f"the service cannot be reached ({reason}){unknown}: check that it runs, then try again"
    return StoreUnavailableError(msg)


def path_of(*parts: str) -> str:
    """
    Return the path of a route, with percent-encoded names.

    >>> path_of("threads", "Ada's", "messages"), path_of("threads", "a/b")
    ('/v1/threads/Ada%27s/messages', '/v1/threads/a%2Fb')

    Raises:
        UsageError: A name is empty.
    """
    if "" in parts:
        raise UsageError("a name is empty: give text of at least one character")
    return "/v1/" + "/".join(map(_quoted, parts))


def _quoted(name: str) -> str:
    # Proxies would resolve a name made of dots as a relative path segment.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


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
