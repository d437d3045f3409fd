"""The store works on every PostgreSQL that it says it works on, as far as there is one here."""

import asyncio
from datetime import timedelta

import pytest

from recollect.records import NewMessage, PutMemory
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.formation import Formed
from recollect.stores.postgres.connections import connect
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.migrations import differences
from recollect.stores.postgres.store import PostgresStore
from recollect.testing import FrozenClock
from tests.harness.postgres_server import PostgresServer, find_binaries

ADA = ("users", "ada")


async def use(url: str) -> list[str]:
    """Keep, form, erase and clean something; return the messages that are left."""
    async with PostgresStore(url, clock=FrozenClock()) as store:
        said = [NewMessage(role="user", text=f"words {n}", id=f"m{n}") for n in range(3)]
        await store.append(ADA, "talk", said, debounce=Debounce(quiet_s=0))
        lease = await store.claim("worker")
        assert lease is not None
        write = PutMemory(
            type="Fact", key="k", value={"n": 1}, expires_at=lease.until + timedelta(1)
        )
        await store.commit(lease, [write], Formed(watermarks={"talk": 3}))
        await store.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
        assert await store.clean()
        return [each.id for each in (await store.messages(ADA, "talk")).rows]


@pytest.mark.prove
@pytest.mark.parametrize("version", [15, 16, 17])
def test_an_older_server_serves(version: int) -> None:
    """An older server gets the same schema, and keeps the same."""
    binaries = find_binaries(version)
    if binaries is None:
        pytest.skip(f"no PostgreSQL {version} here")
    server = PostgresServer(binaries)
    try:
        server.start()
        url = server.make_database("memory")

        assert ["m0", "m2"] == asyncio.run(use(url))
        with connect(location_of(url)) as connection:
            assert [] == differences(connection)
    finally:
        server.remove()


@pytest.mark.parametrize("version", [15, 18])
def test_an_owner_who_may_only_make_roles_opens_a_store(version: int) -> None:
    """Administrators of managed services are no superusers: they use the role that they made."""
    binaries = find_binaries(version)
    if binaries is None:
        pytest.skip(f"no PostgreSQL {version} here")
    server = PostgresServer(binaries)
    try:
        server.start()
        server.execute("CREATE ROLE owner LOGIN CREATEROLE")
        server.execute("CREATE DATABASE memory OWNER owner")

        assert ["m0", "m2"] == asyncio.run(use(server.url("memory", user="owner")))
    finally:
        server.remove()
