"""`GET /v1/review`: what waits, with what was said since, as the library returns it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import httpx

from recollect.client import SyncClient
from recollect.formation.review_records import LaterWords
from recollect.records import Evidence, Memory, NewMessage, PutMemory, Scope
from recollect.server.testing import Served

T = TypeVar("T")
CLO: Scope = ("users", "clo")
HOME = {"subject": "Clo", "predicate": "lives in", "object": "Oslo"}


def scoped(memory: Memory) -> Memory:
    """Return a memory without the scope of the key, and its evidence as lists."""
    evidence = {at: list(found) for at, found in memory.evidence.items()}
    return replace(memory, scope=CLO, evidence=evidence)


def test_the_client_returns_what_the_library_returns(served: Served) -> None:
    """With the message behind it, in the scope of the key."""
    memory = served.service.memory
    acme = ("acme", *CLO)

    loop = memory.loop
    assert loop is not None

    def behind(act: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(act, loop).result(30)

    with SyncClient(served.url, served.key) as client:
        client.append(CLO, "t", NewMessage(role="user", text="Clo moved to Rome.", id="m1"))
        waiting = PutMemory(type="Fact", key="waits", value=HOME, state="quarantined")
        cited = Evidence(thread="t", message="m1", quote="moved to Rome")
        behind(memory.apply(acme, [waiting]))
        later = {**HOME, "object": "Rome"}
        client.append(CLO, "t", NewMessage(role="user", text="Yes, she moved.", id="m2"))
        again = replace(cited, message="m2", quote="she moved")
        client.put(CLO, "Fact", "later", later, evidence={"/object": [cited, again]})
        (expected,) = behind(memory.review(acme)).rows
        (found,) = client.review(CLO).rows

    assert scoped(expected.memory) == scoped(found.memory)
    assert [("later", later, again, False)] == [told(each) for each in found.since]
    assert [told(each) for each in expected.since] == [told(each) for each in found.since]
    assert [each.said_at for each in expected.since] == [each.said_at for each in found.since]


def told(words: LaterWords) -> tuple[str, object, Evidence | None, bool]:
    return words.memory.key, words.value, words.evidence, words.ended


def test_a_cursor_of_another_listing_is_refused(served: Served) -> None:
    """As for every listing."""
    headers = {"x-api-key": served.key}
    with httpx.Client(base_url=served.url, headers=headers) as client:
        answer = client.get("/v1/review", params={"scope": CLO[0], "cursor": "x"})

    assert 400 <= answer.status_code < 500


def test_what_waits_below_is_listed_with_its_scope_for_a_key_that_may(
    served: Served, connect: Callable[..., httpx.Client], new_key: Callable[..., str]
) -> None:
    """Scope by scope and page by page; a scope whose name merely begins alike is none below."""
    memory = served.service.memory
    assert memory.loop is not None
    for scope in (("team",), ("team", "ada"), ("team", "bo"), ("teams",)):
        waiting = PutMemory(type="Fact", key="waits", value=HOME, state="quarantined")
        act = memory.apply(("acme", *scope), [waiting])
        asyncio.run_coroutine_threadsafe(act, memory.loop).result(30)
    asked: dict[str, Any] = {"scope": "team", "below": "true", "limit": 1}

    client, found, cursor = connect(served), list[list[str]](), None
    while cursor or not found:
        more: dict[str, Any] = {"cursor": cursor} if cursor else {}
        page = client.get("/v1/review", params={**asked, **more}).json()
        found += [each["scope"] for each in page["memories"]]
        cursor = page["cursor"]

    assert [["team"], ["team", "ada"], ["team", "bo"]] == found
    only_read = connect(served, new_key(served, "read"))
    assert 403 == only_read.get("/v1/review", params=asked).status_code
