"""Runs that are cancelled while they claim a scope: they leave no lease behind."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import StoreUnavailableError
from recollect.formation.config import FormationSettings
from recollect.memory.facade import Recollect
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.leases import Lease
from recollect.worker import former
from recollect.worker.lease_renewal import claim_or_release
from tests.harness.installed_servers import require_empty_database

ADA = ("users", "ada")
Act = Callable[[Recollect], Awaitable[Any]]


async def _form(memory: Recollect) -> object:
    worker = memory.worker
    assert worker is not None
    return await worker.run_once()


ACTS: dict[str, Act] = {
    "form what is due": _form,
    "form a scope": lambda memory: memory.form(ADA),
    "consolidate": lambda memory: memory.consolidate(ADA),
    "migrate a type": lambda memory: memory.migrate_type(ADA, "Note", "patch"),
}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store, of each kind."""
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return str(tmp_path / "claims.db")
    return require_empty_database()


def opened(url: str) -> Recollect:
    """Open a memory whose worker does not run by itself."""
    settings = FormationSettings(debounce=Debounce(quiet_s=0))
    return recollect.open(url, embedder="none", model="rules", worker=False, formation=settings)


async def prepare(memory: Recollect) -> None:
    """Store messages that wait, and memories that are alike."""
    for colour in ("red", "dark red"):
        await memory.remember(ADA, f"The boat in the harbour is {colour}.")
    await memory.append(ADA, "talk", "I live in Turku.")


async def cancelled(act: Awaitable[Any], at: asyncio.Event) -> None:
    """Cancel *act* once *at* is set."""
    task = asyncio.ensure_future(act)
    await asyncio.wait_for(at.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_a_run_cancelled_while_it_claims_leaves_no_lease(
    url: str, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claim is committed before its answer arrives: the scope is free again all the same."""
    async with opened(url) as memory:
        await prepare(memory)
        claimed = asyncio.Event()
        honest = type(memory.store).claim

        async def slow(*given: Any, **named: Any) -> Lease | None:
            lease = await honest(*given, **named)
            claimed.set()
            await asyncio.sleep(0.05)
            return lease

        monkeypatch.setattr(type(memory.store), "claim", slow)
        await cancelled(act(memory), claimed)
        monkeypatch.undo()

        assert await memory.store.claim("other", scope=ADA, idle=True) is not None


async def test_a_formation_cancelled_before_it_begins_leaves_no_lease(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a formation needs is imported under the lease, which takes tenths of a second."""
    async with opened(url) as memory:
        await prepare(memory)
        begun = asyncio.Event()

        async def slow(*_: str) -> None:
            begun.set()
            await asyncio.sleep(10)

        monkeypatch.setattr(former, "load_modules", slow)
        await cancelled(_form(memory), begun)

        assert await memory.store.claim("other", scope=ADA, idle=True) is not None


async def test_a_cancelled_claim_that_fails_is_a_cancelled_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The caller is cancelled, whatever the store answers later."""
    async with opened("memory:") as memory:
        begun = asyncio.Event()

        async def broken(*_: Any, **__: Any) -> None:
            begun.set()
            await asyncio.sleep(0)
            raise StoreUnavailableError("away")

        monkeypatch.setattr(memory.store, "claim", broken)
        await cancelled(claim_or_release(memory.store, "w", scope=ADA, idle=True), begun)
