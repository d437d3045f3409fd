"""Appends in a row read their key and their scope's types once, and rest on no old ones."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.memory.audit_access import AuditMethods
from recollect.records import JsonObject
from recollect.server.api_keys import Keys
from recollect.server.testing import ROOT_SCOPE, Served, serving
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
PATH = "/v1/threads/t/messages"
SAID = {"messages": [{"role": "user", "text": "hello"}]}
TYPE: JsonObject = {
    "name": "Trip",
    "description": "A journey.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


@pytest.fixture
def served(file: str) -> Iterator[Served]:
    with serving(store=file) as found:
        yield found


def elsewhere(file: str, work: Callable[[Store], Coroutine[Any, Any, None]]) -> None:
    """Do something with the store of a service as another process would."""

    async def do() -> None:
        async with open_store(file) as store:
            await work(store)

    asyncio.run(do())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys that were read from the store, as they are read."""
    found: list[str] = []
    read = Keys.principal

    async def principal(self: Keys, key: str) -> Any:
        found.append(key)
        return await read(self, key)

    monkeypatch.setattr(Keys, "principal", principal)
    return found


def warm(client: httpx.Client) -> None:
    """Append until the key is known from before: its use is noted at first."""
    for _ in range(4):
        assert 201 == client.post(PATH, json=SAID).status_code


def test_a_key_is_read_once_for_appends_in_a_row(
    served: Served, connect: Connect, asked: list[str]
) -> None:
    """Other requests, and appends after a while, read it."""
    client = connect(served)
    warm(client)
    asked.clear()

    assert 201 == client.post(PATH, json=SAID).status_code
    assert [] == asked

    assert 200 == client.get("/v1/threads").status_code
    assert [served.key] == asked


def _without_stamp(self: AuditMethods, actor: str, **_: Any) -> Any:
    """Act as *actor* whatever was read before: the mutant of the test below."""
    return _ACTING(self, actor)


_ACTING = AuditMethods.acting


def after_revocation(client: httpx.Client, file: str) -> httpx.Response:
    """Append with a key until it is known, revoke it elsewhere, and append once more."""
    warm(client)
    id_ = client.headers["x-api-key"].split("_")[1]
    elsewhere(file, lambda store: Keys(store).revoke(id_))
    return client.post("/v1/threads/after/messages", json=SAID)


def test_a_key_that_another_process_revoked_is_refused_at_once(
    served: Served, connect: Connect, new_key: NewKey, file: str
) -> None:
    """Even where it was good a moment ago, and nothing is kept."""
    answer = after_revocation(connect(served, new_key(served, "write")), file)

    assert (401, "unknown_key") == (answer.status_code, answer.json()["code"])
    assert 404 == connect(served).get("/v1/threads/after").status_code


def test_without_stamps_a_revoked_key_would_be_good(
    served: Served,
    connect: Connect,
    new_key: NewKey,
    file: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above notices it."""
    monkeypatch.setattr(AuditMethods, "acting", _without_stamp)

    answer = after_revocation(connect(served, new_key(served, "write")), file)

    assert 201 == answer.status_code


def test_a_revoked_key_is_told_so_whatever_it_sends(
    served: Served, connect: Connect, new_key: NewKey, file: str
) -> None:
    """Also with what is no good request to append, which is not carried out under a stamp."""
    key = new_key(served, "write", "read")
    client = connect(served, key)
    warm(client)
    elsewhere(file, lambda store: Keys(store).revoke(key.split("_")[1]))

    answer = client.post(PATH, json={"messages": []})

    assert (401, "unknown_key") == (answer.status_code, answer.json()["code"])


def test_a_key_that_the_service_revoked_is_refused_at_once(
    served: Served, connect: Connect, new_key: NewKey
) -> None:
    """It knows of it."""
    key = new_key(served, "write")
    client = connect(served, key)
    warm(client)
    id_ = key.split("_")[1]
    assert 204 == connect(served).delete(f"/v1/keys/{id_}").status_code

    assert 401 == client.post(PATH, json=SAID).status_code


def test_types_that_another_process_set_hold_at_once(
    served: Served, connect: Connect, file: str
) -> None:
    """The thread is formed by those of the moment in which its message was kept."""
    client = connect(served)
    warm(client)
    scope = ROOT_SCOPE
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [TYPE]})

    async def set_types(store: Store) -> None:
        await store.apply(scope, [put])

    elsewhere(file, set_types)

    assert 201 == client.post("/v1/threads/after/messages", json=SAID).status_code

    found = connect(served).get("/v1/threads/after").json()
    assert ["Trip"] == [each["name"] for each in found["settings"]["types"]]
