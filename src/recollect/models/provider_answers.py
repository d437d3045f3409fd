"""Detect invalid answers of a provider: web pages, other JSON, and interrupted streams."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.errors import ModelError, ModelUnavailableError
from recollect.providers.provider_errors import page_title
from recollect.records import JsonObject


def plain_answer(said: object, identity: str) -> JsonObject:
    """
    Return the JSON object behind a client's object *said*, with only the fields that were sent.

    Raises:
        ModelError: *said* is a web page, or not an object; the error says what to check.
    """
    dump = getattr(said, "to_dict", None)
    if callable(dump):
        found = dump(warnings=False)
        if isinstance(found, Mapping):
            return found
    page = page_title(said) if isinstance(said, str) else None
    kind = "JSON that is no answer" if page is None else f"a web page ({page}) instead of JSON"
    msg = f"{identity} answered with {kind}: check the base URL, and proxies on the way to it"
    error = ModelError(msg)
    error.about = f"{identity} answered with no JSON of an answer"
    raise error


def check_stream(headers: Mapping[str, str], identity: str) -> None:
    """Raise a `ModelError` if *headers* announce a web page instead of a stream of events."""
    if headers.get("content-type", "").lower().startswith("text/html"):
        about = f"{identity} answered with a web page instead of a stream of events"
        error = ModelError(f"{about}: check the base URL, and proxies on the way to it")
        error.about = about
        raise error


def broken_off(identity: str) -> ModelUnavailableError:
    """Return the error for a stream that ended without the provider's end marker."""
    error = ModelUnavailableError(
        f"{identity} broke off its answer: the stream ended before the answer was complete; "
        "discard it and try again"
    )
    error.about = f"{identity} broke off its answer"
    return error
