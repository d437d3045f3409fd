"""A client and a service of different versions: it works, or one error says what to upgrade."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from recollect import EraseScope, EraseThread, __version__
from recollect.client import SyncClient
from recollect.errors import NotFoundError, RecollectError, ServiceVersionError, UsageError
from recollect.server.testing import Served
from tests.harness.versioned_service import (
    Changing,
    Lacking,
    answering,
    lacks,
    lacks_nothing,
    newer,
    same,
    version_of,
    without,
)

NOTE = {"context": "always", "content": "Ada likes owls"}
NEXT, BEFORE = "9.9.9", "0.0.1"
Connect = Callable[..., httpx.Client]


@contextmanager
def client_of(
    served: Served, version: str | None, lacking: Lacking = lacks_nothing, changing: Changing = same
) -> Iterator[SyncClient]:
    """Yield a client of this version at the service of another."""
    with (
        version_of(served.url, version, lacking, changing) as url,
        SyncClient(url, served.key, retries=0) as client,
    ):
        yield client


def test_a_service_tells_its_version_with_everything(served: Served, connect: Connect) -> None:
    """Refusals, too, and to who has no key; and pages of other origins may read it."""
    anonymous = connect(served, "")
    answers = [
        connect(served).get("/v1/me"),
        anonymous.get("/v1/me"),
        connect(served).get("/v1/none"),
        anonymous.get("/health/live"),
    ]

    assert [200, 401, 404, 200] == [each.status_code for each in answers]
    assert {__version__} == {each.headers["recollect-version"] for each in answers}


def test_pages_of_other_origins_may_read_the_version(
    starting: Callable[..., Served], connect: Connect
) -> None:
    served = starting(origins=["https://app.example.org"])
    answer = connect(served).get("/v1/me", headers={"origin": "https://app.example.org"})

    assert "recollect-version" in answer.headers["access-control-expose-headers"]


def test_an_older_client_is_served(served: Served, connect: Connect) -> None:
    """It sends the fields that there were at first, and reads those."""
    client = connect(served, **{"user-agent": f"recollect-client/{BEFORE}"})
    scope = {"scope": "old-client"}
    said = {"messages": [{"role": "user", "text": "My boat is called Penelope"}]}
    kept = client.post("/v1/threads/t/messages", params=scope, json=said)
    found = client.post("/v1/recall", params=scope, json={"query": "boat"})
    told = client.post("/v1/context", params=scope, json={"query": "boat"})
    put = client.put("/v1/memories/Note/x", params=scope, json={"value": NOTE})

    assert [201, 200, 200] == [each.status_code for each in (kept, found, told)]
    assert put.is_success
    assert "Penelope" in found.json()["entries"][0]["text"]
    assert "Penelope" in told.json()["text"]


def test_an_older_client_reads_a_newer_service(served: Served) -> None:
    """Whatever was added to each object of its answers."""
    scope = ("newer-service",)
    with client_of(served, NEXT, changing=newer) as client:
        client.append(scope, "t", ["My boat is called Penelope"], idempotency_key="k")
        put = client.put(scope, "Note", "x", NOTE, expected=0)
        found = [each.text for each in client.recall(scope, "boat").entries]
        assert "Penelope" in str(client.context(scope, "boat"))
        assert "My boat is called Penelope" in found
        assert ["Note"] == [each.type for each in client.memories(scope).rows]
        assert [1] == [each.version for each in client.history(scope, "Note", "x")]
        assert ["t"] == [each.id for each in client.threads(scope).rows]
        assert scope in client.scopes().rows
        assert client.me().permissions
        assert "ok" == client.health().status
        client.erase(scope, EraseThread(thread="t"))
        assert 1 == len(client.receipts(scope))
        client.erase(scope, EraseScope())

    assert NOTE == put.value


def asking(client: SyncClient) -> list[Callable[[], object]]:
    """Return one call of each kind: a list, one that may be missing, a write, a recall."""
    scope = ("none",)
    return [
        lambda: client.memories(scope),
        lambda: client.get(scope, "Note", "x"),
        lambda: client.history(scope, "Note", "x"),
        lambda: client.delete(scope, "Note", "x"),
        lambda: client.put(scope, "Note", "x", NOTE),
        lambda: client.recall(scope, "boat"),
    ]


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        (BEFORE, "upgrade the service, or install the client of version 0.0.1"),
        (NEXT, "upgrade the client"),
    ],
)
def test_a_route_that_is_missing_is_told(served: Served, version: str, advice: str) -> None:
    """It is not taken for something that is not stored: each call says who is to be upgraded."""
    with client_of(served, version, lacks("")) as client:
        for call in asking(client):
            with pytest.raises(ServiceVersionError) as error:
                call()
            told = str(error.value)
            assert "the service has no " in told
            assert f"it is version {version}, this client {__version__}; {advice}" in told
            assert (version, __version__) == (error.value.service, error.value.client)
            assert not isinstance(error.value, NotFoundError)


def test_a_field_that_an_older_service_does_not_know_is_told(served: Served) -> None:
    """By its name; nothing was written."""
    scope = ("unknown-field",)
    with client_of(served, BEFORE, lacks("GET /v1/none", "source", "below")) as client:
        with pytest.raises(ServiceVersionError, match=r"does not know body/source of POST"):
            client.remember(scope, "Ada likes owls", trust="agent", source="me")
        client.remember(scope, "Ada likes foxes")
        with pytest.raises(ServiceVersionError, match=r"body/below.*upgrade the service"):
            client.recall(scope, "owls", below=True)
        assert ["Ada likes foxes"] == [
            each.value["content"] for each in client.memories(scope).rows
        ]


def test_a_field_that_an_older_service_does_not_give_is_told(served: Served) -> None:
    """In place of Python's own words of a key."""
    scope = ("missing-field",)
    with client_of(served, BEFORE, changing=without("reranker", "said_at", "threads")) as client:
        client.append(scope, "t", ["My boat is called Penelope"])
        calls: list[tuple[str, Callable[[], object]]] = [
            ("reranker", lambda: client.recall(scope, "boat")),
            ("said_at", lambda: client.put(scope, "Note", "x", NOTE)),
            ("threads", lambda: client.threads(scope)),
        ]
        for name, call in calls:
            with pytest.raises(ServiceVersionError, match=f"has no '{name}': it is version 0.0.1"):
                call()


def test_the_same_version_is_not_blamed(served: Served) -> None:
    """A path that is wrong stays that; a wrong value is no matter of versions."""
    with (
        client_of(served, __version__, lacks("GET /v1/threads")) as client,
        pytest.raises(UsageError, match="no such path") as error,
    ):
        client.threads(("same",))
    assert UsageError is type(error.value)
    with (
        client_of(served, BEFORE) as client,
        pytest.raises(UsageError, match="limit") as refused,
    ):
        client.recall(("same",), "boat", limit=10_000_000)
    assert not isinstance(refused.value, ServiceVersionError)
    with (
        client_of(served, __version__, changing=without("threads")) as client,
        pytest.raises(RecollectError, match=f"both version {__version__}"),
    ):
        client.threads(("same",))


@pytest.mark.parametrize("status", [200, 404, 405])
@pytest.mark.parametrize(
    ("kind", "text"),
    [("text/html", "<html>Welcome</html>"), ("application/json", json.dumps(["other"]))],
)
def test_what_is_no_service_of_ours_is_told(status: int, kind: str, text: str) -> None:
    """A page of a proxy, or another program at that address."""
    with answering(status, kind, text) as url, SyncClient(url, retries=0) as client:
        calls: list[Any] = [lambda: client.threads("ada"), lambda: client.get("ada", "Note", "x")]
        for call in calls:
            with pytest.raises(
                UsageError, match="not from a Recollect service: check the client's address"
            ):
                call()
