"""LangGraph's own client, sync and async, uses our service as its store, unchanged."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import StoreClient, SyncLangGraphClient
from langgraph_sdk.errors import (
    AuthenticationError,
    BadRequestError,
    PermissionDeniedError,
    UnprocessableEntityError,
)

from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
GraphClient = Callable[..., SyncLangGraphClient]
ADA = ("users", "ada")


def note(content: str) -> dict[str, str]:
    """Return the value of a Note."""
    return {"context": "always", "content": content}


def test_the_sync_client_puts_gets_finds_lists_and_deletes(
    served: Served, graph_client: GraphClient
) -> None:
    """get_item gives the item; a missing one is None, as is a deleted one."""
    store = graph_client(served).store

    store.put_item(ADA, key="tea", value={"text": "Ada drinks green tea"})
    item = store.get_item(ADA, key="tea")
    missing = store.get_item(ADA, key="coffee")
    found = store.search_items(("users",), query="What does she drink?")["items"]
    listed = store.list_namespaces(prefix=["users"])["namespaces"]
    store.delete_item(ADA, key="tea")

    assert {"text": "Ada drinks green tea"} == item["value"]
    assert (["users", "ada"], "tea") == (item["namespace"], item["key"])
    assert str(item["created_at"]).endswith("+00:00")
    assert missing is None
    assert ["tea"] == [each["key"] for each in found]
    assert found[0]["score"] is not None
    assert ["users", "ada"] in listed
    assert store.get_item(ADA, key="tea") is None


def test_the_async_client_does_the_same(served: Served) -> None:
    """The awaited methods give what the others give; filters and pages add up."""

    async def story() -> tuple[Any, ...]:
        async with get_client(url=served.url, api_key=served.key) as client:
            return await told(client.store)

    async def told(store: StoreClient) -> tuple[Any, ...]:
        for number in range(5):
            await store.put_item(["pages", "a"], key=f"k{number}", value={"n": number}, index=False)
        first = await store.search_items(["pages"], limit=2)
        rest = await store.search_items(["pages"], limit=9, offset=2)
        large = await store.search_items(["pages"], filter={"n": {"$gte": 3}})
        await store.put_item(["pages", "b"], key="short", value={}, ttl=5)
        gone = await store.get_item(["pages", "b"], key="long")
        await store.delete_item(["pages", "a"], key="k0")
        deep = await store.list_namespaces(prefix=["pages"], max_depth=1)
        return first, rest, large, gone, deep

    first, rest, large, gone, deep = asyncio.run(story())

    keys = [each["key"] for each in (*first["items"], *rest["items"])]
    assert ["k4", "k3", "k2", "k1", "k0"] == keys
    assert all(each["score"] is None for each in first["items"])
    assert {"k3", "k4"} == {each["key"] for each in large["items"]}
    assert gone is None
    assert [["pages"]] == deep["namespaces"]


@pytest.mark.parametrize(
    ("expected", "status", "act"),
    [
        (BadRequestError, 400, lambda store: store.put_item([], key="k", value={})),
        (BadRequestError, 400, lambda store: store.put_item(["langgraph"], key="k", value={})),
        (BadRequestError, 400, lambda store: store.get_item(["a"], key="")),
        (
            BadRequestError,
            400,
            lambda store: store.search_items(["a"], filter={"n": {"$near": 1}}),
        ),
        (UnprocessableEntityError, 422, lambda store: store.get_item([], key="k")),
        (UnprocessableEntityError, 422, lambda store: store.search_items(["a.b"])),
        (UnprocessableEntityError, 422, lambda store: store.put_item(["a"], key="k", value=[])),
    ],
)
def test_what_is_not_allowed_is_an_error_of_the_client(
    served: Served,
    expected: type[Exception],
    status: int,
    act: Callable[[Any], Any],
    graph_client: GraphClient,
) -> None:
    """Each refusal has the status of LangGraph's server, and a sentence."""
    store = graph_client(served).store

    with pytest.raises(expected) as caught:
        act(store)

    assert status == caught.value.status_code  # type: ignore[attr-defined]
    assert len(str(caught.value)) > 10


def test_what_langgraphs_server_does_wrong_is_right_here(
    served: Served, connect: Connect, graph_client: GraphClient
) -> None:
    """A null prefix is the root, limit 0 is 10, reading makes no namespace, updating no birth."""
    client = connect(served)
    store = graph_client(served).store

    whole = client.post("/store/items/search", json={"namespace_prefix": None, "limit": 0})
    store.get_item(["phantom"], key="k")
    store.search_items(["phantom"])
    store.put_item(["born"], key="k", value={"n": 1})
    before = store.get_item(["born"], key="k")
    store.put_item(["born"], key="k", value={"n": 2})
    after = store.get_item(["born"], key="k")

    assert 200 == whole.status_code
    assert [] == store.list_namespaces(prefix=["phantom"])["namespaces"]
    assert before["created_at"] == after["created_at"]


def test_what_was_formed_is_found_as_items(
    served: Served, connect: Connect, graph_client: GraphClient
) -> None:
    """A memory of a type is an item in the namespace of its type; it can be revised and deleted."""
    client = connect(served)
    scope = {"scope": "will"}
    client.put("/v1/memories/User/User", params=scope, json={"value": {"user_name": "Will"}})
    client.put("/v1/memories/Note/n1", params=scope, json={"value": note("Will likes to hike.")})
    store = graph_client(served).store

    profile = store.get_item(["will", "User"], key="User")
    found = store.search_items(["will"], query="Who likes to hike?")["items"]
    notes = store.search_items(["will", "Note"])["items"]
    listed = store.list_namespaces(prefix=["will"])["namespaces"]
    store.put_item(["will", "User"], key="User", value={"user_name": "William"})
    with pytest.raises(UnprocessableEntityError):
        store.put_item(["will", "User"], key="User", value={"age": "old"})
    store.delete_item(["will", "Note"], key="n1")

    assert {"user_name": "Will"} == profile["value"]
    assert "n1" == found[0]["key"]
    assert {"User", "Note"} == {each["namespace"][-1] for each in found}
    assert ["n1"] == [each["key"] for each in notes]
    assert [["will", "Note"], ["will", "User"]] == listed
    kept = client.get("/v1/memories/User/User", params=scope).json()
    assert ({"user_name": "William"}, 2) == (kept["value"], kept["version"])
    assert 404 == client.get("/v1/memories/Note/n1", params=scope).status_code


FAVORITES = {
    "name": "favorite_locations",
    "description": "A place that the user likes",
    "update_mode": "insert",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "additionalProperties": False,
    },
}


def test_types_of_a_scope_below_are_shown(
    served: Served, connect: Connect, graph_client: GraphClient
) -> None:
    """A type that was set for one scope below the key's is a namespace there, and in no other."""
    client, store = connect(served), graph_client(served).store
    will = ["typed", "will"]
    scope = {"scope": will}
    client.put("/v1/types", params=scope, json={"types": [FAVORITES]}).raise_for_status()
    for key in "ab":
        value = {"value": {"name": f"place {key}"}}
        client.put(f"/v1/memories/favorite_locations/{key}", params=scope, json=value)
    namespace = [*will, "favorite_locations"]

    item = store.get_item(namespace, "a")
    wide = [
        sorted(each["key"] for each in store.search_items(prefix, query=query)["items"])
        for prefix in (["typed"], will, namespace)
        for query in (None, "place")
    ]
    listed = store.list_namespaces(prefix=["typed"])["namespaces"]
    store.put_item(namespace, key="a", value={"name": "Oslo"})
    with pytest.raises(UnprocessableEntityError, match="not a valid favorite_locations"):
        store.put_item(namespace, key="a", value={"town": "Oslo"})
    store.delete_item(namespace, key="b")

    revised = client.get("/v1/memories/favorite_locations/a", params=scope).json()
    assert {"name": "place a"} == item["value"]
    assert [["a", "b"]] * 6 == wide
    assert [namespace] == listed
    assert {"name": "Oslo"} == revised["value"]
    assert 404 == client.get("/v1/memories/favorite_locations/b", params=scope).status_code
    assert store.get_item(["typed", "bob", "favorite_locations"], "a") is None


def test_a_key_sees_nothing_beside_or_above_its_scope(
    served: Served, new_key: Callable[..., str], graph_client: GraphClient
) -> None:
    """The key's own scope is the root of the store; searching below needs the permission."""
    store = graph_client(served).store
    store.put_item(["tenants", "a"], key="k", value={"secret": "heliotrope"})
    b = new_key(served, "read", "write", "below", scope=("tenants", "b"))
    within = new_key(served, "read", "write", scope=("tenants", "a"))

    other = graph_client(served, b).store
    own = graph_client(served, within).store

    assert [] == other.search_items([], query="secret heliotrope")["items"]
    assert [] == other.list_namespaces()["namespaces"]
    assert other.get_item(["tenants", "a"], key="k") is None
    with pytest.raises(PermissionDeniedError):
        own.search_items([])
    with pytest.raises(AuthenticationError):
        graph_client(served, "wrong").store.search_items([])


def test_a_key_that_may_only_read_writes_nothing(
    served: Served, new_key: Callable[..., str], graph_client: GraphClient
) -> None:
    """put_item, delete_item and new threads need the permission to write."""
    client = graph_client(served, new_key(served, "read"))

    for act in (
        lambda: client.store.put_item(["a"], key="k", value={}),
        lambda: client.store.delete_item(["a"], key="k"),
        client.threads.create,
    ):
        with pytest.raises(PermissionDeniedError):
            act()
