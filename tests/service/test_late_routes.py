"""Routes that are imported with their first request, matched as if they had always been there."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recollect.server.http.mounts import LateRoutes
from recollect.server.testing import Served

REQUESTS = [
    ("GET", "/threads/none"),
    ("GET", "/threads/a%2Fb"),
    ("GET", "/threads"),
    ("PATCH", "/runs"),
    ("POST", "/assistants/search"),
    ("GET", "/store/none"),
    ("GET", "/compat/mem0/v1/ping/"),
    ("GET", "/compat/mem0"),
    ("PUT", "/compat/mem0/v1/none/"),
]
"""Requests that are answered, that name no such row, no such path, and no such method."""


def outcome(answer: httpx.Response) -> tuple[int, str, bytes]:
    """Return what a client sees, whichever request it was."""
    return answer.status_code, answer.headers.get("content-type", ""), answer.content


def late_in(served: Served) -> list[LateRoutes]:
    """Return the routes of a service that are not imported yet."""
    return [each for each in served.app.router.routes if isinstance(each, LateRoutes)]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
def test_the_first_request_is_answered_like_the_second(
    starting: Callable[..., Served], method: str, path: str
) -> None:
    """The first one imports the routes of its group alone; both are routed the same way."""
    served = starting()
    before = len(late_in(served))
    body: dict[str, Any] = {"json": {}} if method == "POST" else {}
    with httpx.Client(base_url=served.url, headers={"x-api-key": served.key}) as client:
        first, second = (outcome(client.request(method, path, **body)) for _ in range(2))

    assert first == second
    assert before - 1 == len(late_in(served))


def test_a_request_without_a_key_imports_nothing(starting: Callable[..., Served]) -> None:
    """It is refused before it reaches the routes."""
    served = starting()
    before = len(late_in(served))

    assert 401 == httpx.get(f"{served.url}/threads/none").status_code
    assert 404 == httpx.get(f"{served.url}/threadsx").status_code
    assert before == len(late_in(served)) > 0


def test_the_document_has_all_routes(starting: Callable[..., Served]) -> None:
    """The routes that only some clients need are described with the others."""
    served = starting()

    document = httpx.get(f"{served.url}/openapi.json").json()

    assert {"/v1/recall", "/threads/search", "/runs"} <= document["paths"].keys()
    assert [] == late_in(served)
