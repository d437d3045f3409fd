"""A real server on this machine, over a store of its own, and clients with keys to it."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from pydantic import TypeAdapter

from recollect.server.http.api_operations import OPERATIONS
from recollect.server.http.openapi import operations
from recollect.server.testing import Served, serving
from tests.harness.installed_servers import require_empty_database, require_redis

Connect = Callable[..., httpx.Client]
Fresh = Callable[[str], str]
DATABASES = {"served": 8, "starting": 9}


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    """Return what gives the address of an empty store, of the kind that a test asks for."""
    kind = getattr(request, "param", "memory")

    def fresh(name: str) -> str:
        if kind == "redis":
            return require_redis().emptied(DATABASES[name])
        if kind == "postgres":
            return require_empty_database(name)
        return "memory:" if kind == "memory" else str(tmp_path_factory.mktemp(name) / "memory.db")

    return fresh


@pytest.fixture(scope="module")
def served(store: Fresh) -> Iterator[Served]:
    """Run one service for the tests of a module, over one store of each kind."""
    with serving(store=store("served")) as found:
        yield found


DOCUMENTED: dict[str, Any] = {}
"""What a service told of its routes; it is the same for all."""


@cache
def pattern_of(path: str) -> re.Pattern[str]:
    """Return what the addresses of a route look like."""
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))


def operation_of(request: httpx.Request) -> tuple[str, str, Mapping[str, Any]] | None:
    """Return method, path and description of the operation that a request means."""
    path = request.url.raw_path.partition(b"?")[0].decode()
    for method, route, operation in operations(DOCUMENTED):
        if method == request.method.lower() and pattern_of(route).fullmatch(path):
            return method, route, operation
    return None


def hold_to_document(answer: httpx.Response) -> None:
    """Fail where an answer has another status, or another form, than is documented."""
    found = operation_of(answer.request)
    if found is None:
        return
    method, route, operation = found
    documented = operation["responses"]
    assert str(answer.status_code) in documented, (method, route, answer.status_code)
    form = OPERATIONS[method, route].answer
    if form is not None and answer.is_success:
        TypeAdapter(form).validate_json(answer.read(), strict=True)


@pytest.fixture
def connect() -> Iterator[Connect]:
    """
    Return what makes a client of a service: with its first key, another one, or "".

    Whatever a test is about, each answer is held to what the service documents.
    """
    with ExitStack() as stack:

        def made(
            served: Served, key: str | None = None, *, is_held: bool = True, **headers: str
        ) -> httpx.Client:
            chosen = served.key if key is None else key
            sent = {"x-api-key": chosen} if chosen else {}
            if not DOCUMENTED:
                DOCUMENTED.update(served.app.openapi())
            client = httpx.Client(
                base_url=served.url,
                headers={**sent, **headers},
                timeout=30.0,
                event_hooks={"response": [hold_to_document] if is_held else []},
            )
            stack.callback(client.close)
            return client

        yield made


@pytest.fixture
def client(served: Served, connect: Connect) -> httpx.Client:
    """Return a client with the first key."""
    return connect(served)


@pytest.fixture
def new_key(connect: Connect) -> Callable[..., str]:
    """Return what makes a key with some permissions, bound below the scope of the first."""

    def made(served: Served, *permissions: str, scope: tuple[str, ...] = (), **more: Any) -> str:
        body = {"name": "made", "scope": scope, "permissions": permissions, **more}
        answer = connect(served).post("/v1/keys", json=body)
        assert 201 == answer.status_code, answer.text
        return str(answer.json()["key"])

    return made


@pytest.fixture
def starting(monkeypatch: pytest.MonkeyPatch, store: Fresh) -> Iterator[Callable[..., Served]]:
    """Return what starts a service with settings; all end with the test."""
    for name in [each for each in os.environ if each.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    with ExitStack() as stack:

        def start(**settings: Any) -> Served:
            return stack.enter_context(serving(store=store("starting"), **settings))

        yield start


@pytest.fixture
def graph_client() -> Iterator[Callable[..., SyncLangGraphClient]]:
    """Return what makes LangGraph's client of a service: with its first key, or another one."""
    with ExitStack() as stack:

        def made(served: Served, key: str | None = None) -> SyncLangGraphClient:
            chosen = served.key if key is None else key
            client = get_sync_client(url=served.url, api_key=chosen)
            return stack.enter_context(client)

        yield made
