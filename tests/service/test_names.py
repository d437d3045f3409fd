"""Any name that the library takes is one over HTTP, and none of them leads elsewhere."""

from collections.abc import Callable

import httpx
import pytest
from fastapi.routing import APIRoute

from recollect import NewMessage
from recollect.client import SyncClient
from recollect.server.http.query_params import NamedRoute
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
NAMES = (
    *("a/b", "/", "a/b/c/", "//", "../x", ".", "..", "a/messages", "a%2Fb", "a%2fb", "%", "%2e"),
    *("?#", "a&b=c", "a\\b", "*", " ", "a b", "ü/ß", "ᴬdmin", "ﬁ", "🦉/🦉", "'; --", "a:b", "~"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_same_over_http(served: Served, name: str) -> None:
    """A thread, a message, a type and a key are found by the name that they were given."""
    scope = ("named", name)
    with SyncClient(served.url, served.key) as client:
        client.append(scope, name, [NewMessage(role="user", text="hello", id=name)])
        client.put(scope, name, name, {"content": "x"})

        assert [name] == [each.id for each in client.messages(scope, name).rows]
        (thread,) = client.threads(scope).rows
        assert (name, scope) == (thread.id, thread.scope)
        memory = client.get(scope, name, name)
        assert memory is not None
        assert (name, name) == (memory.type, memory.key)
        assert client.remove(scope, name, [name])
        client.delete(scope, name, name)
        assert client.get(scope, name, name) is None


def test_names_do_not_run_into_each_other(served: Served) -> None:
    """A slash in a name, a written percent sign and two names are three things."""
    scope = ("apart",)
    with SyncClient(served.url, served.key) as client:
        for name in ("a/b", "a%2Fb", "a%252Fb"):
            client.append(scope, name, [NewMessage(role="user", text=name)])

        threads = [each.id for each in client.threads(scope).rows]
        told = {each: client.messages(scope, each).rows[0].text for each in threads}

    assert {name: name for name in ("a/b", "a%2Fb", "a%252Fb")} == told


@pytest.mark.parametrize("path", ["/v1/threads%2Ft/messages", "/v1/threads/t%2Fmessages"])
def test_a_slash_in_a_name_makes_no_other_route(client: httpx.Client, path: str) -> None:
    """What is one name to one route is not two to another: nothing is kept there."""
    answer = client.post(path, json={"messages": [{"role": "user", "text": "x"}]})

    assert answer.status_code in {404, 405}


@pytest.mark.parametrize(
    "path",
    [
        "/v1%2Fme",
        "/v1%2fthreads",
        "/v1/threads%2Ft",
        "/%2Fv1/threads/t",
        "/v1/threads/%2e%2e%2fme",
        "/x%2F..%2Fv1/threads/t",
    ],
)
def test_a_written_slash_opens_nothing(served: Served, connect: Connect, path: str) -> None:
    """Without a key nothing below /v1 is answered, however its path is written."""
    assert connect(served, "", is_held=False).get(path).status_code in {401, 404}


def test_routes_that_take_paths_as_decoded_are_caught(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: where a path is compared decoded, the name is not found."""
    client = connect(served)
    client.put("/v1/memories/Note/a%2Fb", json={"value": {"context": "x", "content": "y"}})
    before = client.get("/v1/memories/Note/a%2Fb").status_code
    monkeypatch.setattr(NamedRoute, "matches", APIRoute.matches)

    assert (200, 404) == (before, client.get("/v1/memories/Note/a%2Fb").status_code)
