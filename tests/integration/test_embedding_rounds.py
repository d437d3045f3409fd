"""Rounds of the embedding task: after a write its scope alone, all scopes only now and then."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import recollect
from recollect import Debounce, FormationSettings, NewMessage, Recollect
from recollect.recall import vector_backlog
from recollect.recall.vector_backlog import Embedding
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.embedding_backlog import Unembedded
from recollect.testing import HashedEmbedder

pytestmark = pytest.mark.anyio

APPENDS = 20
TALK = [NewMessage(role="user", text="I moved to Porto in spring")]


async def looks_at_all_scopes(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often all scopes are looked at while a process appends, one after the other."""
    looks = 0
    async with Recollect(open_store("memory:"), embedder=HashedEmbedder()) as memory:
        look = memory.store.unembedded_scopes

        async def counted(embedder: str, limit: int = 100) -> Sequence[int]:
            nonlocal looks
            looks += 1
            return await look(embedder, limit)

        monkeypatch.setattr(memory.store, "unembedded_scopes", counted)
        for number in range(APPENDS):
            scope = ("users", str(number))
            await memory.append(scope, "t", TALK)
            embedding = memory._runtime.embedding
            assert embedding is not None
            assert await embedding.caught_up(scope, 10)
    return looks


async def test_a_write_does_not_look_at_all_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    """That look takes time by the number of scopes: 14 ms among 100,000."""
    monkeypatch.setattr(vector_backlog, "SWEEP_S", 600.0)

    assert await looks_at_all_scopes(monkeypatch) <= 1


async def test_what_the_worker_forms_gets_its_vector_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody waits for the next look at all scopes to find a new memory by its meaning."""
    monkeypatch.setattr(vector_backlog, "SWEEP_S", 600.0)
    embedder, formed, scope = HashedEmbedder(), anyio.Event(), ("users", "ada")
    async with recollect.open(
        "memory:",
        embedder=embedder,
        model="rules",
        formation=FormationSettings(debounce=Debounce(quiet_s=0)),
        notice=lambda _scope, _result: formed.set(),
    ) as memory:
        await memory.append(scope, "t", [NewMessage(role="user", text="I live in Turku.")])
        with anyio.fail_after(10):
            await formed.wait()
            while await memory.store.unembedded_scopes(embedder.identity):  # noqa: ASYNC110
                await anyio.sleep(0.01)


async def test_a_look_after_every_write_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant looks at all scopes in each round."""
    monkeypatch.setattr(vector_backlog, "SWEEP_S", 0.0)

    assert await looks_at_all_scopes(monkeypatch) >= APPENDS


async def test_a_write_of_another_process_gets_its_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next look at all scopes finds it, without a write of this process."""
    monkeypatch.setattr(vector_backlog, "SWEEP_S", 0.05)
    embedder, scope = HashedEmbedder(), ("users", "ada")
    async with (
        Recollect(open_store(tmp_path / "m.db"), embedder=embedder) as memory,
        open_store(tmp_path / "m.db") as other,
    ):
        await memory.append(("users", "bob"), "t", TALK)
        await memory.settled(("users", "bob"))
        await other.append(scope, "t", TALK)
        with anyio.fail_after(10):
            while await memory.store.unembedded_scopes(embedder.identity):  # noqa: ASYNC110
                await anyio.sleep(0.01)


async def test_more_scopes_than_one_look_returns_are_all_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look that is full is followed by another one at once."""
    monkeypatch.setattr(vector_backlog, "SWEPT_MAX", 3)
    embedder = HashedEmbedder()
    async with open_store("memory:") as store:
        scopes: list[Scope] = [("users", str(number)) for number in range(10)]
        for scope in scopes:
            await store.append(scope, "t", TALK)
        embedding = Embedding(store, embedder)
        rounds = 0
        while await embedding.work_once():
            rounds += 1

        assert [] == list(await store.unembedded_scopes(embedder.identity))
        assert rounds < len(scopes)


async def batches_of_a_burst(monkeypatch: pytest.MonkeyPatch, *, wait_s: float) -> int:
    """Append one after the other, then wait for the vectors; return how many batches were read."""
    scope = ("users", "ada")
    async with Recollect(open_store("memory:"), embedder=HashedEmbedder()) as memory:
        embedding = memory._runtime.embedding
        assert embedding is not None
        batches = 0
        embed = embedding._embed

        async def counted(batch: Unembedded) -> None:
            nonlocal batches
            batches += 1
            await embed(batch)

        monkeypatch.setattr(embedding, "_embed", counted)
        for _ in range(APPENDS):
            await memory.append(scope, "t", TALK)
            await anyio.sleep(0.002)
        assert await embedding.caught_up(scope, wait_s)
    return batches


async def test_writes_in_a_row_are_embedded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_backlog, "GATHER_S", 0.2)

    assert await batches_of_a_burst(monkeypatch, wait_s=10) <= APPENDS // 4


async def test_a_batch_for_every_write_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant gathers nothing."""
    monkeypatch.setattr(vector_backlog, "GATHER_BELOW", 0)

    assert await batches_of_a_burst(monkeypatch, wait_s=10) > APPENDS // 4


async def test_a_search_does_not_wait_until_writes_are_gathered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_backlog, "GATHER_S", 600.0)

    assert await batches_of_a_burst(monkeypatch, wait_s=10) <= APPENDS // 4
