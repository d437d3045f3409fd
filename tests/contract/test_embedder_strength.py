"""The strength of an embedder, on every backend: kept by its identity, and with the store."""

from collections.abc import AsyncIterator

import pytest

from recollect import NotFoundError, UsageError
from recollect.lifecycle.store_copy import copy_store
from recollect.memory.facade import Recollect
from recollect.recall.strength import stored_strength, stored_strengths
from recollect.recall.vector_backlog import Embedding
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock, SeededIds
from tests.harness.judging_embedders import ADA, TALK, JudgingEmbedder, question, said, sample
from tests.harness.store_opener import Opener

STRONG = JudgingEmbedder(knows=True, noise=1.2)


@pytest.fixture
async def memory(open_empty: Opener) -> AsyncIterator[Recollect]:
    """Return a memory with a talk that a strong embedder knows."""
    store = open_empty(FrozenClock(), SeededIds(1))
    async with Recollect(store, embedder=STRONG, worker=False) as memory:
        await memory.append(ADA, TALK, said())
        yield memory


async def test_what_helps_is_in_force_at_once_and_kept(memory: Recollect) -> None:
    """Recall ranks with it, and one who opens the store later finds it."""
    found = await memory.tune(sample())
    again = Embedding(memory.store, STRONG)
    (kept,) = await stored_strengths(memory.store)

    assert found.is_kept
    assert found.strength > 1
    assert found.after > found.before + 0.1
    assert (kept.embedder, kept.strength, kept.questions) == (STRONG.identity, found.strength, 40)
    assert found.strength == memory.strength == await again.learn_strength()
    best = (await memory.recall(ADA, question(3), limit=1)).entries[0]
    assert best.strength == found.strength
    assert abs(sum(best.signals.values()) - best.score) < 1e-4


async def test_another_embedder_does_not_inherit_it(memory: Recollect) -> None:
    """Nor is it lost for the first, who may come back."""
    found = await memory.tune(sample())
    await memory.reembed(JudgingEmbedder(knows=False, name="other"))
    other = memory.strength
    await memory.undo_reembed()

    assert (other, memory.strength) == (1.0, found.strength)


async def test_it_can_be_forgotten(memory: Recollect) -> None:
    """Then the embedder weighs what it declares, or 1; once is enough."""
    await memory.tune(sample())
    await memory.forget_strength()

    assert memory.strength == 1.0
    assert await stored_strength(memory.store, STRONG.identity) is None
    with pytest.raises(NotFoundError, match="nothing to forget"):
        await memory.forget_strength()


async def test_a_copy_takes_it_along(memory: Recollect) -> None:
    """As it does with everything that a store keeps."""
    found = await memory.tune(sample())
    async with open_store("memory:") as other:
        await copy_store(memory.store, other)
        kept = await stored_strength(other, STRONG.identity)

    assert kept is not None
    assert (kept.strength, kept.after) == (found.strength, round(found.after, 4))


async def test_an_embedder_that_fails_leaves_nothing_half_kept(memory: Recollect) -> None:
    """Whatever was measured until then."""
    embedder = JudgingEmbedder(knows=True, noise=1.2, name="tired")
    await memory.reembed(embedder)
    embedder.fails_after = 12

    with pytest.raises(Exception, match="the judge is asleep"):
        await memory.tune(sample())

    assert await stored_strengths(memory.store) == []
    assert memory.strength == 1.0


async def test_no_import_writes_one(memory: Recollect) -> None:
    """The scope is the store's own."""
    await memory.tune(sample())
    records = await memory.store.archive(("recollect:embedders",))

    with pytest.raises(UsageError, match="which an import cannot write"):
        await memory.import_records(list(records))
