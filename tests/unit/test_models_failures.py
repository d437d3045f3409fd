"""What strangers' errors mean: by status, code, kind and words, never by importing a client."""

import traceback
from collections.abc import Mapping
from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import (
    ModelDeniedError,
    ModelError,
    ModelNotFoundError,
    ModelUnavailableError,
    NotFoundError,
)
from recollect.providers.provider_errors import (
    RETRY_AFTER_S_MAX,
    cause_of,
    provider_call,
    read_failure,
    retry_after_s,
    status_of,
)
from recollect.providers.redaction import redacted, secrets_of

KEY = "mango-7731-kestrel"


class ClientError(Exception):
    """A client's error with whatever attributes the case needs."""

    def __init__(self, message: str = "It failed.", **facts: object) -> None:
        super().__init__(message)
        self.__dict__.update(facts)


class TransportError(Exception):
    """What httpx calls the root of its connection errors."""


class ReadError(TransportError):
    """One of them."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ClientError(status_code=429), ModelUnavailableError),
        (ClientError(status_code=408), ModelUnavailableError),
        (ClientError(status_code=529), ModelUnavailableError),
        (ClientError(code=503), ModelUnavailableError),
        (ClientError(response=SimpleNamespace(status_code=502)), ModelUnavailableError),
        (
            ClientError(response={"ResponseMetadata": {"HTTPStatusCode": 429}}),
            ModelUnavailableError,
        ),
        (ClientError(status_code=200, body={"error": {"type": "overloaded_error"}}),
         ModelUnavailableError),
        (TimeoutError(), ModelUnavailableError),
        (ConnectionResetError("reset by peer"), ModelUnavailableError),
        (ReadError("gone"), ModelUnavailableError),
        (RuntimeError("Event loop is closed"), ModelUnavailableError),
        (ClientError(status_code=401), ModelDeniedError),
        (ClientError(status_code=429, code="insufficient_quota"), ModelDeniedError),
        (ClientError(status_code=429, body={"error": {"code": "insufficient_quota"}}),
         ModelDeniedError),
        (ClientError("Your credit balance is too low", status_code=400), ModelDeniedError),
        (ClientError("Could not resolve authentication method."), ModelDeniedError),
        (ClientError(status_code=404), ModelNotFoundError),
        (ClientError(status_code=410), ModelNotFoundError),
        (ClientError(status_code=403, code="model_not_found"), ModelNotFoundError),
        (ClientError("The model m has been decommissioned", status_code=400), ModelNotFoundError),
        (ClientError("Too many tokens", status_code=400), ModelError),
        (ClientError("the road model was not foundational"), ModelError),
        (FileNotFoundError("no such file"), ModelError),
        (RecursionError(), ModelError),
    ],
)  # fmt: skip
def test_each_failure_is_of_the_kind_that_says_what_to_do(
    error: Exception, kind: type[ModelError]
) -> None:
    """Wait, mend the key, name another model, or none of these."""
    found = read_failure(error, "openai/m")

    assert kind is type(found)
    assert str(found).startswith("openai/m ")


@pytest.mark.parametrize("status", [True, 200, 302, 600, "404", None])
def test_only_a_status_of_failure_counts(status: object) -> None:
    """Whatever else stands in the attribute."""
    assert status_of(ClientError(status_code=status)) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "1e30"}, RETRY_AFTER_S_MAX),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            30,
        ),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_a_provider_may_say_how_long_to_wait(
    headers: Mapping[str, str], expected: float | None
) -> None:
    """In seconds, milliseconds or as a date; nonsense is not heeded."""
    assert expected == retry_after_s(headers)


@given(st.text(max_size=30))
def test_no_retry_after_is_too_much(said: str) -> None:
    """Whatever a provider says, the wait is within a day."""
    found = retry_after_s({"retry-after": said, "date": said})

    assert found is None or 0 <= found <= RETRY_AFTER_S_MAX


def test_the_wait_is_in_the_error() -> None:
    """Where the worker finds it."""
    response = SimpleNamespace(status_code=429, headers={"Retry-After": "7"})

    found = read_failure(ClientError(response=response), "openai/m")

    assert isinstance(found, ModelUnavailableError)
    assert 7 == found.retry_after_s


def test_each_cause_is_told_once() -> None:
    """Retries chain the same error again; httpx's says the status again, with a link."""

    class HTTPStatusError(Exception):
        """Named as httpx names it."""

    error = ClientError("Error code: 401", status_code=401)
    error.__cause__ = HTTPStatusError("Client error '401', for more see https://docs.invalid")
    error.__cause__.__cause__ = ReadError("cut")
    error.__cause__.__cause__.__cause__ = ReadError("cut")

    said = str(read_failure(error, "made/up"))

    assert said.endswith("ClientError: Error code: 401 <- ReadError: cut")


@pytest.mark.anyio
async def test_errors_of_ours_pass_as_they_are() -> None:
    """A callable that uses this library is not accused of its errors."""
    with pytest.raises(NotFoundError, match="no such thread"):
        async with provider_call("openai/m", timeout_s=5):
            raise NotFoundError("no such thread")


@pytest.mark.anyio
async def test_a_cancelled_caller_is_not_a_failure() -> None:
    """Only the deadline of the request itself becomes an error."""
    with anyio.move_on_after(0.01) as outer:
        async with provider_call("openai/m", timeout_s=60):
            await anyio.sleep_forever()

    assert outer.cancelled_caught


async def sleep_badly() -> None:
    """Turn a cancellation into another error."""
    try:
        await anyio.sleep_forever()
    except BaseException as error:
        raise ClientError("interrupted") from error


@pytest.mark.anyio
async def test_what_a_client_makes_of_the_deadline_is_the_deadline() -> None:
    """Some turn the cancellation into an error of their own."""
    with pytest.raises(ModelUnavailableError, match=r"within 0\.01 s"):
        async with provider_call("openai/m", timeout_s=0.01):
            await sleep_badly()


@pytest.mark.anyio
async def test_neither_error_nor_cause_shows_a_secret() -> None:
    """Nor what led to the cause; the cause stays the client's own error."""
    cause = ValueError(f"Illegal header value b'Bearer {KEY}'".encode())

    with pytest.raises(ModelError) as failure:
        async with provider_call("openai/m", timeout_s=5, secrets=[KEY]):
            raise ClientError(f"it sent {KEY}") from cause

    assert isinstance(failure.value.__cause__, ClientError)
    assert KEY not in "".join(traceback.format_exception(failure.value))


class StubbornError(Exception):
    """Says the key whatever its arguments are."""

    def __str__(self) -> str:
        return f"the key {KEY}"


def test_an_error_that_cannot_be_hidden_is_no_cause() -> None:
    """Better no cause than a key in a log."""
    assert cause_of(StubbornError(), [KEY]) is None


def test_keys_of_the_environment_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever passed them on; other variables are no secrets."""
    monkeypatch.setenv("EXAMPLE_API_KEY", KEY)
    monkeypatch.setenv("EXAMPLE_REGION", "north-7731")

    assert "*** in north-7731" == redacted(f"{KEY} in north-7731")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key sk-proj-abcdefghijklmnop0123 is wrong", "key *** is wrong"),
        ("sent Bearer abc.def", "sent Bearer ***"),
        ("at https://ada:pass@example.net/v1", "at https://***@example.net/v1"),
        (
            "the task-list-of-the-day-and-night is long",
            "the task-list-of-the-day-and-night is long",
        ),
        ("skylark and skeleton", "skylark and skeleton"),
    ],
)
def test_what_looks_like_a_key_is_hidden(text: str, expected: str) -> None:
    """And words are not."""
    assert expected == redacted(text)


def test_secrets_of_a_client_are_found() -> None:
    """Where pydantic marks them."""
    from pydantic import SecretStr

    client = SimpleNamespace(api_key=SecretStr(KEY), model="m", other=None)

    assert {KEY} == secrets_of(client)
