"""Convert the errors of any provider's client to `ModelError`, without importing the client."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from math import isfinite
from typing import Any, Final

import anyio

from recollect.errors import (
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    RecollectError,
)
from recollect.providers.redaction import redacted, reveals_secret
from recollect.text.time_zones import with_zone

PAUSE_S_MAX: Final = 20.0
"""Longest pause that a client waits for before it asks again; a longer one is an error."""
REASON_CHARACTERS_MAX: Final = 400
RETRY_AFTER_S_MAX: Final = 86_400.0
CAUSES_MAX: Final = 10
_GONE: Final = frozenset({"model_not_found", "model_deprecated", "model_decommissioned"})
_DENIED: Final = frozenset(
    {
        *("insufficient_quota", "billing_hard_limit_reached", "billing_not_active"),
        *("billing_error", "invalid_api_key", "authentication_error", "permission_error"),
        *("account_deactivated", "permission_denied", "unauthenticated"),
    }
)
_BUSY: Final = frozenset(
    {
        *("overloaded_error", "rate_limit_error", "rate_limit_exceeded", "api_error"),
        *("server_error", "timeout_error", "resource_exhausted", "unavailable"),
    }
)
_AWAY: Final = frozenset(
    {
        *("APIConnectionError", "TransportError", "TimeoutException", "HTTPClientError"),
        *("ModelConnectionError", "ModelTimeoutError"),
    }
)
_WITHDRAWN: Final = re.compile(
    r"\bmodel\b.{0,200}?\b(?:not exist|not found|deprecated|decommissioned|retired|no longer)\b",
    re.IGNORECASE | re.DOTALL,
)
_WITHOUT_CREDIT: Final = re.compile(r"credit balance|exceeded your current quota", re.IGNORECASE)
# A key with a line break in it, and a client that found no key: waiting does not help.
_WITHOUT_KEY: Final = re.compile(
    r"illegal header value|api_key client option|authentication method|no api key|api key not",
    re.IGNORECASE,
)
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


@asynccontextmanager
async def provider_call(
    identity: str, *, timeout_s: float, secrets: Iterable[str] = (), allowed_s: float | None = None
) -> AsyncIterator[None]:
    """
    Run a client's code within a timeout, and raise all its errors as `ModelError`.

    Args:
        identity: The model's name, for messages.
        timeout_s: The most time inside the context.
        secrets: Keys to redact in messages, in addition to the environment's.
        allowed_s: The timeout to name in messages, if *timeout_s* is only what is left of it.

    Raises:
        ModelError: Of the subclass that `read_failure` chooses, with the client's error as cause.
    """
    allowed = timeout_s if allowed_s is None else allowed_s
    secrets = tuple(secrets)
    deadline = anyio.move_on_after(timeout_s)

    def read(error: Exception) -> ModelError:
        # Some clients turn the cancellation into an error of their own.
        late = deadline.cancel_called
        return _late(identity, allowed) if late else read_failure(error, identity, secrets)

    with translated_errors(read, secrets), deadline:
        yield
    if deadline.cancelled_caught:
        raise _late(identity, allowed)


@contextmanager
def translated_errors(
    read: Callable[[Exception], RecollectError], secrets: Iterable[str]
) -> Iterator[None]:
    """Run a client's code, and raise its errors as *read* converts them; ours pass unchanged."""
    try:
        yield
    except RecollectError:
        raise
    except Exception as error:  # noqa: BLE001  # a client's code can raise anything
        raise read(error) from cause_of(error, secrets)


def _late(identity: str, allowed_s: float) -> ModelError:
    advice = "allow more, or try later"
    late = ModelUnavailableError(
        f"{identity} gave no whole answer within {allowed_s:g} s; {advice}"
    )
    late.about = f"{identity} gave no whole answer within {allowed_s:g} s"
    return late


async def pieces_within(
    pieces: AsyncGenerator[str, None], identity: str, *, timeout_s: float, secrets: Iterable[str]
) -> AsyncGenerator[str, None]:
    """
    Yield *pieces*, within *timeout_s* of the model's time; the reader's time is not counted.

    Raises:
        ModelError: As for `provider_call`; earlier pieces have been yielded.
    """
    left = timeout_s
    async with aclosing(pieces):
        while True:
            began = anyio.current_time()
            async with provider_call(
                identity, timeout_s=left, secrets=secrets, allowed_s=timeout_s
            ):
                piece = await anext(pieces, None)
            left -= anyio.current_time() - began
            if piece is None:
                return
            yield piece


def read_failure(error: BaseException, identity: str, secrets: Iterable[str] = ()) -> ModelError:
    """Return *error* as the `ModelError` that tells a caller what to do, with secrets redacted."""
    status, codes = status_of(error), frozenset(_codes(error))
    words = _words_of(error)
    reason = redacted(_without_page(words, _headers(error)), secrets)[:REASON_CHARACTERS_MAX]
    number = "" if status is None else f" ({status})"
    kind = _kind(error, status, codes, words)
    found = _model_error(kind, identity, number, reason, _headers(error))
    found.about = f"{identity}{number}"
    return found


def _words_of(error: BaseException) -> str:
    causes = [each for each in _chain(error) if each is error or not _repeats_status(each)]
    return " <- ".join(dict.fromkeys(f"{type(each).__name__}: {each}" for each in causes))


def _repeats_status(cause: BaseException) -> bool:
    """Whether *cause* is httpx's, which says the status again and links to a page about it."""
    return type(cause).__name__ == "HTTPStatusError"


def page_title(text: str) -> str | None:
    """
    Return the title of a web page; ``None`` if *text* is not a web page.

    >>> page_title("<html><head><title>502 Bad Gateway</title></head></html>"), page_title("{}")
    ('502 Bad Gateway', None)
    """
    if _PAGE.search(text) is None:
        return None
    title = _TITLE.search(text)
    return " ".join(title[1].split()) if title else "without a title"


def _without_page(words: str, headers: Mapping[str, str]) -> str:
    """Return an error's *words* with the HTML of a web page replaced by its title."""
    found = _PAGE.search(words)
    if found is None and not headers.get("content-type", "").lower().startswith("text/html"):
        return words
    title = "" if found is None else f" ({page_title(words)})"
    advice = "check the base URL, and proxies on the way to it"
    said = words if found is None else words[: found.start()]
    return f"a web page{title} instead of JSON; {advice}; {said}"


def _model_error(
    kind: type[ModelError], identity: str, number: str, reason: str, headers: Mapping[str, str]
) -> ModelError:
    """Return an error of *kind* with advice, and the provider's words as the reason."""
    if kind is ModelUnavailableError:
        message = f"{identity} is busy, limited or away{number}: {reason}"
        return ModelUnavailableError(message, retry_after_s(headers))
    if kind is ModelDeniedError:
        advice = "check the key, its rights and its credit"
        return ModelDeniedError(f"{identity} refused{number}; {advice}: {reason}")
    if kind is ModelNotFoundError:
        advice = "name another model, or check the base URL"
        return ModelNotFoundError(
            f"{identity} does not exist, or not any more{number}; {advice}: {reason}"
        )
    return ModelError(f"{identity} failed{number}: {reason}")


def _kind(
    error: BaseException, status: int | None, codes: frozenset[str], words: str
) -> type[ModelError]:
    """Decide by the provider's own codes first, then by HTTP status, then by words."""
    verdicts: tuple[tuple[bool, type[ModelError]], ...] = (
        (bool(codes & _GONE), ModelNotFoundError),
        (bool(codes & _DENIED or _WITHOUT_CREDIT.search(words)), ModelDeniedError),
        (status in (404, 410), ModelNotFoundError),
        (status in (401, 402, 403), ModelDeniedError),
        (status in (408, 409, 425, 429) or (status or 0) >= 500, ModelUnavailableError),
        (bool(codes & _BUSY), ModelUnavailableError),
        (status in (None, 400, 422) and bool(_WITHDRAWN.search(words)), ModelNotFoundError),
        (status is None and bool(_WITHOUT_KEY.search(words)), ModelDeniedError),
        (status is None and any(map(_is_away, _chain(error))), ModelUnavailableError),
        # JSON that breaks off: the connection was cut without an error.
        (status is None and isinstance(error, JSONDecodeError), ModelUnavailableError),
    )
    return next((kind for holds, kind in verdicts if holds), ModelError)


def _is_away(error: BaseException) -> bool:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, RuntimeError) and "Event loop is closed" in str(error):
        return True  # a connection of an ended event loop; the next request opens a new one
    return isinstance(error, TimeoutError | ConnectionError) or not kinds.isdisjoint(_AWAY)


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status (400 to 599) in one of the attributes where clients put it."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # botocore
        found = response.get("ResponseMetadata")
        places: list[object] = [found.get("HTTPStatusCode") if isinstance(found, Mapping) else None]
    else:
        places = [
            *(getattr(error, name, None) for name in ("status_code", "status", "code")),
            getattr(response, "status_code", None),
        ]
    return next((each for each in places if isinstance(each, int) and 400 <= each <= 599), None)


def _codes(error: BaseException) -> Iterator[str]:
    """Yield the provider's error codes, in lower case, from attributes and the body."""
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    for field in ("code", "type", "status"):
        found = [getattr(error, field, None)]
        found += [each.get(field) for each in (body, inner) if isinstance(each, Mapping)]
        yield from (each.lower() for each in found if isinstance(each, str))


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None or not hasattr(headers, "items"):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """
    Return the delay that a provider requests (RFC 9110, 10.2.3); ``None`` if it requests none.

    A date is relative to the response's own ``date``. Invalid values are ignored, and so are values
    above `RETRY_AFTER_S_MAX`.

    >>> retry_after_s({"retry-after": "7"}), retry_after_s({"retry-after-ms": "1500"})
    (7.0, 1.5)
    >>> retry_after_s({"retry-after": "soon"}), retry_after_s({"retry-after": "1e999"})
    (None, None)
    """
    asked = _seconds(headers.get("retry-after-ms", ""))
    if asked is not None:
        asked /= 1_000
    else:
        said = headers.get("retry-after", "")
        asked = _seconds(said)
        if asked is None:
            until, now = _moment(said), _moment(headers.get("date", ""))
            asked = (until - (now or datetime.now(UTC))).total_seconds() if until else None
    return None if asked is None else min(max(asked, 0.0), RETRY_AFTER_S_MAX)


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return with_zone(moment)


def cause_of(error: BaseException, secrets: Iterable[str]) -> BaseException | None:
    """
    Return *error* for use as a cause, with the secrets in its texts redacted.

    Clients quote what they sent, e.g. a header with a key, and a logged error shows its causes.
    ``None`` is returned for an error whose text cannot be redacted.
    """
    secrets = tuple(secrets)
    for each in _chain(error):
        each.args = tuple(
            redacted(part, secrets)
            if isinstance(part, str)
            else redacted(part.decode("utf-8", "replace"), secrets)
            if isinstance(part, bytes)
            else part
            for part in each.args
        )
        if reveals_secret(f"{each} {each!r} {getattr(each, '__notes__', '')}", secrets):
            return None
    return error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and its causes, latest first."""
    each: BaseException | None = error
    for _ in range(CAUSES_MAX):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def refuse_long_pause(response: Any) -> None:
    """
    Tell the client not to retry *response* if it asks for a pause longer than ``PAUSE_S_MAX``.

    The clients of OpenAI and Anthropic wait up to two minutes. The caller's timeout would end
    first, and hide that the provider is busy and for how long. It is a hook of the HTTP client.
    """
    asked = retry_after_s(response.headers)
    if asked is not None and asked > PAUSE_S_MAX:
        response.headers["x-should-retry"] = "false"  # the header by which a server says so


async def refuse_long_pause_async(response: Any) -> None:
    """Do the same as `refuse_long_pause`, as a hook of an asynchronous client."""
    refuse_long_pause(response)
