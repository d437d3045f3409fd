"""The stamp of a SQLite store's settings: what others change, and who reads meanwhile."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from recollect.errors import StaleReadError, VersionConflictError
from recollect.records import NewMessage, PutMemory, Scope
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord
from recollect.stores.plans.preconditions import changes_settings
from recollect.stores.sqlite import writer
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.sqlite.writer import Stamps
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

pytestmark = pytest.mark.anyio

ADA: Scope = ("users", "ada")
SAID = [NewMessage(role="user", text="hello")]
ROUNDS = 60
TRIES_MAX = 30


def setting(city: str, expected: int | None = None) -> PutSideRecord:
    """Return what writes the one setting that these tests read."""
    return PutSideRecord(kind=SCOPE_SETTINGS, key="home", value={"city": city}, expected=expected)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


async def test_messages_and_notes_leave_the_stamp_as_it_is(file: str) -> None:
    """So that what is read for each of them is read once."""
    async with SQLiteStore(file) as store:
        await store.apply(ADA, [setting("Oslo")])
        first = store.settings_stamp()
        for _ in range(3):
            note = PutMemory(type="Note", key="tea", value={"content": "Ada drinks tea"})
            await store.acting("key", stamp=first).append(ADA, "talk", SAID, writes=[note])

        assert first is not None
        assert first == store.settings_stamp()


async def test_a_stamp_that_nobody_renewed_is_not_told(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others changed meanwhile was not looked for."""
    async with SQLiteStore(file) as store:
        assert store.settings_stamp() is None
        await store.append(ADA, "talk", SAID)
        assert store.settings_stamp() is not None

        monkeypatch.setattr(writer, "STAMP_S", -1.0)

        assert store.settings_stamp() is None


async def test_what_another_connection_changed_is_noticed(file: str) -> None:
    """A change under the stamp of before is refused, and the next stamp is another."""
    async with SQLiteStore(file) as store, SQLiteStore(file) as other:
        await store.apply(ADA, [setting("Oslo")])
        stamp = store.settings_stamp()
        assert stamp is not None
        await other.apply(ADA, [setting("Rome")])

        with pytest.raises(StaleReadError):
            await store.acting("key", stamp=stamp).append(ADA, "talk", SAID)

        assert store.settings_stamp() not in {None, stamp}
        assert await store.thread(ADA, "talk") is None


async def test_a_change_that_is_taken_back_leaves_no_stamp_that_misleads(file: str) -> None:
    """The setting is what it was, under whichever stamp."""
    async with SQLiteStore(file) as store:
        await store.apply(ADA, [setting("Oslo")])
        with pytest.raises(VersionConflictError):
            await store.apply(ADA, [setting("Rome"), setting("Bonn", expected=7)])
        stamp = store.settings_stamp()
        seen = await store.side_record(ADA, SCOPE_SETTINGS, "home")
        assert seen is not None

        await store.acting("key", stamp=stamp).apply(ADA, [setting("Kiel", expected=seen.version)])

        found = await store.side_record(ADA, SCOPE_SETTINGS, "home")
        assert found is not None
        assert {"city": "Kiel"} == found.value


def _blind(self: Stamps, _connection: apsw.Connection) -> None:
    """Begin as `Stamps.begin`, but see nobody else."""
    self._looked_at_s = timer_s()


def _early(self: Stamps, effect: Effect) -> None:
    """Note as `Stamps.note`, but tell it before the transaction has ended."""
    if changes_settings(effect):
        self.present += 1
        self.end()


def _never(self: Stamps, effect: Effect) -> None:
    """Note nothing."""


async def change_again_and_again(store: SQLiteStore) -> None:
    """Change the setting, a moment apart."""
    choose = Random(7)  # noqa: S311 (repeatable)
    for number in range(ROUNDS):
        await store.apply(ADA, [setting(str(number))])
        await asyncio.sleep(choose.random() / 1_000)


async def change_what_was_read(store: SQLiteStore, found: Counter[str]) -> None:
    """Change the setting under stamps; count what was read as good, as stale, or as old."""
    for number in range(4 * ROUNDS):
        stamp = store.settings_stamp()
        seen = await store.side_record(ADA, SCOPE_SETTINGS, "home")
        await asyncio.sleep(0)
        change = setting(f"under {number}", expected=seen.version if seen else 0)
        try:
            await store.acting("key", stamp=-1 if stamp is None else stamp).apply(ADA, [change])
        except StaleReadError:
            found["stale"] += 1
        except VersionConflictError:
            found["old"] += 1
        else:
            found["good"] += 1


async def read_under_stamps(file: str) -> Counter[str]:
    """
    Change a setting through two stores, and the same under stamps; return what became of these.

    What was read was old if its version was not the current one where a change was carried out
    under its stamp.
    """
    found: Counter[str] = Counter()
    async with SQLiteStore(file) as store, SQLiteStore(file) as other:
        await store.apply(ADA, [setting("Oslo")])
        async with asyncio.TaskGroup() as group:
            for each in (store, other):
                group.create_task(change_again_and_again(each))
            for _ in range(4):
                group.create_task(change_what_was_read(store, found))
    return found


async def test_no_read_under_a_stamp_is_old(file: str) -> None:
    """Whoever changes the setting meanwhile, through this store or another."""
    found = await read_under_stamps(file)

    assert found["old"] == 0
    assert found["good"] > 0
    assert found["stale"] > 0


@pytest.mark.parametrize(
    ("name", "mutant"), [("begin", _blind), ("note", _never), ("note", _early)]
)
async def test_a_stamp_that_misleads_is_noticed(
    file: str, monkeypatch: pytest.MonkeyPatch, name: str, mutant: Callable[..., None]
) -> None:
    """The check above fails for a store that does not see others, or tells too little or early."""
    monkeypatch.setattr(Stamps, name, mutant)

    for _ in range(TRIES_MAX):  # it is a race
        found = await read_under_stamps(file)
        if found["old"]:
            break

    assert found["old"] > 0
