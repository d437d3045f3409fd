"""Synchronous standbys, and a primary that changes: what is acknowledged survives the primary."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from recollect.errors import StoreReadOnlyError
from recollect.records import NewMessage
from recollect.stores.postgres import scope_rows, unit_runner
from recollect.stores.postgres.location import location_of
from recollect.stores.postgres.store import PostgresStore
from tests.harness.installed_servers import require_programs
from tests.harness.postgres_server import PostgresServer

SCOPE = ("users", "ada")
HELLO = NewMessage(role="user", text="hello")
WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
CUT_OFF = WAITING.replace("pid", "pg_terminate_backend(pid)", 1)
HELD_S = 1.0
ANSWER_S_MAX = 30.0


class Pair:
    """A primary with one standby."""

    def __init__(self, primary: PostgresServer, standby: PostgresServer) -> None:
        self.primary = primary
        self.standby = standby
        self.url = primary.database("memory")

    @property
    def both(self) -> str:
        """The address that names both servers."""
        folders = f"{self.primary.folder},{self.standby.folder}"
        return f"postgresql://postgres@/memory?host={folders}"

    def demote(self) -> None:
        """Make the standby the primary, and let the old one take no more writes."""
        self.primary.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        self.primary.execute("SELECT pg_reload_conf()")
        self.standby.execute("SELECT pg_promote()")


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Yield two servers, the second one a copy of the first that follows it."""
    binaries = require_programs()
    primary = PostgresServer(binaries)
    try:
        primary.start()
        primary.make_database("memory")
        standby = PostgresServer(binaries, upstream=primary.url())
        try:
            standby.start()
            yield Pair(primary, standby)
        finally:
            standby.remove()
    finally:
        primary.remove()


async def until(holds: Callable[[], object]) -> None:
    """Wait until *holds* says something true."""
    async with asyncio.timeout(ANSWER_S_MAX):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - a server is asked
            await asyncio.sleep(0.02)


async def promised_early(pair: Pair) -> bool:
    """
    Append under a key while the standby is away, and end the session that waits for it.

    Returns:
        Whether the append was acknowledged all the same, by what its repetition found.
    """
    async with PostgresStore(pair.url) as store:
        await store.append(SCOPE, "talk", [HELLO], idempotency_key="first")
        pair.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        pair.primary.execute("SELECT pg_reload_conf()")
        await asyncio.to_thread(pair.standby.stop)
        append = asyncio.create_task(store.append(SCOPE, "talk", [HELLO], idempotency_key="second"))
        await until(lambda: pair.primary.execute(WAITING))
        pair.primary.execute(CUT_OFF)
        done, _ = await asyncio.wait([append], timeout=HELD_S)
        await asyncio.to_thread(pair.standby.start)
        async with asyncio.timeout(ANSWER_S_MAX):
            (kept,) = await append
            assert 2 == len((await store.messages(SCOPE, "talk")).rows)
        assert "hello" == kept.text
        return bool(done)


def test_a_repeated_write_waits_for_the_standby(pair: Pair) -> None:
    """A commit that was cut off in its wait is seen, but not promised before the standby has it."""
    assert not asyncio.run(promised_early(pair))


def test_a_repetition_that_does_not_wait_is_noticed(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the scope is not locked, and what is found there is promised at once."""
    monkeypatch.setattr(scope_rows, "_LOCKED", "")

    assert asyncio.run(promised_early(pair))


async def written_after_demotion(pair: Pair) -> str:
    """Return what the new primary has, after a store of both has lost the right to write to one."""
    async with PostgresStore(pair.both) as store:
        await store.append(SCOPE, "talk", [HELLO])
        await asyncio.to_thread(pair.demote)
        await until(lambda: pair.standby.execute("SELECT 1 WHERE NOT pg_is_in_recovery()"))
        await store.append(SCOPE, "talk", [NewMessage(role="user", text="again")])
    ((text,),) = pair.standby.execute(
        "SELECT string_agg(text, ' ' ORDER BY position) FROM recollect.message", "memory"
    )
    return str(text)


def test_a_demoted_server_that_keeps_its_connections_is_left(pair: Pair) -> None:
    """Writes go to the new primary, without the caller hearing of the old one."""
    assert "hello again" == asyncio.run(written_after_demotion(pair))


def test_a_store_that_keeps_its_connections_is_stuck(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a demoted server is taken for one that may not be written, for good."""
    monkeypatch.setattr(unit_runner, "READ_ONLY", "no such state")

    with pytest.raises(StoreReadOnlyError, match="name the primary"):
        asyncio.run(written_after_demotion(pair))


def test_of_several_servers_the_one_that_takes_writes_is_asked(pair: Pair) -> None:
    """A standby that stands first in the address is passed over, without any parameter."""
    folders = f"{pair.standby.folder},{pair.primary.folder}"

    async def write() -> int:
        async with PostgresStore(f"postgresql://postgres@/memory?host={folders}") as store:
            return len(await store.append(SCOPE, "talk", [HELLO]))

    assert 1 == asyncio.run(write())


def test_an_address_of_several_servers_is_shown_with_their_ports() -> None:
    """Each host beside its port; a single port is that of all."""
    url = "postgresql://memory@pg0:5432,pg1:6432/memory"
    one_port = "postgresql://pg0,pg1/memory?port=6432"

    assert "postgresql://pg0:5432,pg1:6432/memory" == location_of(url).name
    assert "postgresql://pg0:6432,pg1:6432/memory" == location_of(one_port).name
    assert "read-write" == location_of(url).parameters["target_session_attrs"]
    assert (
        "any" == location_of(f"{url}?target_session_attrs=any").parameters["target_session_attrs"]
    )
    assert "target_session_attrs" not in location_of("postgresql://pg0/memory").parameters
