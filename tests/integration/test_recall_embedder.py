"""Recall beside an embedder that is late, fails, errs, is exchanged, or meets new people."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError, get_ident

import anyio
import numpy as np
import pytest

from recollect import NewMessage, Recall, Recollect, Where
from recollect.embedders.adapters import CallableEmbedder
from recollect.errors import EmbedderError
from recollect.ports import Embedder, Vector
from recollect.recall import recall_walk
from recollect.recall.candidates import Collection
from recollect.recall.query_analysis import AnalysedQuery
from recollect.recall.ranking import look_ahead
from recollect.recall.vector_backlog import Embedding
from recollect.records import Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import open_store
from recollect.testing import NOON, HashedEmbedder
from tests.harness.spelling_talk import ASKED, TALK

pytestmark = pytest.mark.anyio

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
WAIT_S = 20
"""Longer than anything here takes: whoever waits that long hangs."""

Vectors = Sequence[Vector | None]


def ids(found: Recall) -> list[str]:
    """Return what was found, best first."""
    return [entry.source.rpartition("/")[2] for entry in found.entries]


def with_dense(found: Recall) -> set[str]:
    """Return the entries in whose score meaning had a part."""
    named = zip(ids(found), found.entries, strict=True)
    return {id_ for id_, entry in named if "dense" in entry.signals}


class Troubled(HashedEmbedder):
    """An embedder in trouble, until it is relieved."""

    def __init__(self, trouble: Callable[[Vectors], Vectors]) -> None:
        super().__init__()
        self._trouble = trouble
        self.is_in_trouble = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors that are as they should be only without trouble."""
        found = super().embed(texts)
        return self._trouble(found) if self.is_in_trouble else found


def refuse(_: Vectors) -> Vectors:
    """Fail as an embedder should."""
    msg = "the model is away"
    raise EmbedderError(msg)


def crash(_: Vectors) -> Vectors:
    """Fail as a stranger's embedder does."""
    msg = "out of memory"
    raise RuntimeError(msg)


def give_one_more(found: Vectors) -> Vectors:
    """Give more vectors than there were texts."""
    return [*found, found[0]]


def give_one_less(found: Vectors) -> Vectors:
    """Give fewer vectors than there were texts."""
    return found[1:]


def give_longer(found: Vectors) -> Vectors:
    """Give vectors of other lengths than promised, each another."""
    return [
        vector if vector is None else np.append(vector, np.zeros(n + 1, np.float32))
        for n, vector in enumerate(found)
    ]


def give_nan(found: Vectors) -> Vectors:
    """Give vectors that are not numbers."""
    return [vector if vector is None else vector * np.float32(np.nan) for vector in found]


def give_zero(found: Vectors) -> Vectors:
    """Give vectors without a direction."""
    return [vector if vector is None else vector * np.float32(0) for vector in found]


# A vector without a direction is refused like any other that cannot be compared.
TROUBLES = [refuse, crash, give_one_more, give_one_less, give_longer, give_nan, give_zero]


async def settled_in_background(memory: Recollect, embedder: Embedder) -> None:
    """Wait until the background work has looked at everything."""
    with anyio.fail_after(WAIT_S):
        while await memory.store.unembedded_scopes(embedder.identity):  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def test_vectors_come_by_themselves() -> None:
    """Nobody has to wait for them, and nobody has to ask for them."""
    embedder = HashedEmbedder()
    async with Recollect(InProcessStore(), embedder=embedder) as memory:
        await memory.append(ADA, "talk", TALK)
        await settled_in_background(memory, embedder)

        found = await memory.recall(ADA, ASKED)

        assert ids(found)[0] == "m2"
        assert {"m1", "m2", "m3"} == with_dense(found)
        assert embedder.identity == found.embedder == memory.embedder


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_words_are_found_while_the_embedder_is_in_trouble(
    trouble: Callable[[Vectors], Vectors],
) -> None:
    """Keeping and finding by words need no embedder."""
    with anyio.fail_after(WAIT_S):
        async with Recollect(InProcessStore(), embedder=Troubled(trouble)) as memory:
            await memory.append(ADA, "talk", TALK)
            await anyio.wait_all_tasks_blocked()

            found = await memory.recall(ADA, "What is my boat called?")

            assert ids(found)[0] == "m3"
            assert all(np.isfinite(entry.score) for entry in found.entries)


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_the_trouble_is_shown_to_whoever_waits(
    trouble: Callable[[Vectors], Vectors],
) -> None:
    """As an error of the embedder, whatever went wrong in it."""
    with anyio.fail_after(WAIT_S):
        async with Recollect(InProcessStore(), embedder=Troubled(trouble)) as memory:
            await memory.append(ADA, "talk", TALK)

            with pytest.raises(EmbedderError):
                await memory.settled(ADA)


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_what_was_written_in_trouble_is_found_by_meaning_after_it(
    trouble: Callable[[Vectors], Vectors],
) -> None:
    """Nothing is lost, and nothing wrong was kept."""
    embedder = Troubled(trouble)
    with anyio.fail_after(WAIT_S):
        async with Recollect(InProcessStore(), embedder=embedder) as memory:
            await memory.append(ADA, "talk", TALK)
            await anyio.wait_all_tasks_blocked()

            embedder.is_in_trouble = False
            await memory.settled(ADA)

            found = await memory.recall(ADA, ASKED)
            assert ids(found)[0] == "m2"
            assert {"m1", "m2", "m3"} == with_dense(found)


def away(_: Sequence[str]) -> list[list[float]]:
    """Embed nothing: the service cannot be reached."""
    msg = "no route to host"
    raise OSError(msg)


async def test_a_service_that_is_away_from_the_beginning_does_not_stop_recall() -> None:
    """Not even its name is known then; words are."""
    async with Recollect(InProcessStore(), embedder=away) as memory:
        await memory.append(ADA, "talk", TALK)

        found = await memory.recall(ADA, "What is my boat called?")

        assert ids(found)[0] == "m3"
        assert found.embedder is None


class Service:
    """A remote embedder that may be away."""

    identity = "service/1"

    def __init__(self, *, is_away: bool) -> None:
        self.is_away = is_away

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed *texts*, if it can be reached."""
        if self.is_away:
            return away(texts)
        return [[] if v is None else v.tolist() for v in HashedEmbedder(64).embed(texts)]


async def test_a_service_that_comes_back_finds_the_vectors_it_made_before() -> None:
    """A search while it is away does not hide from later ones what was embedded earlier."""
    store = InProcessStore()
    service = Service(is_away=True)
    async with (
        Recollect(store, embedder=Service(is_away=False)) as earlier,
        Recollect(store, embedder=service) as memory,
    ):
        await earlier.append(ADA, "talk", TALK)
        await earlier.settled(ADA)
        assert with_dense(await memory.recall(ADA, ASKED)) == set()

        service.is_away = False

        found = await memory.recall(ADA, ASKED)
        assert {"m1", "m2", "m3"} == with_dense(found)
        assert ids(found)[0] == "m2"


async def test_scopes_below_are_found_while_it_is_away(tmp_path: Path) -> None:
    """By words, and what was written since as well."""
    async with Recollect(open_store(f"sqlite:///{tmp_path}/memory.db"), embedder=away) as memory:
        await memory.append(("team", "ada"), "talk", [NewMessage(role="user", text="I like tea")])
        before = await memory.recall(("team",), "who likes tea", below=True)
        await memory.append(("team", "bob"), "talk", [NewMessage(role="user", text="I like tea")])

        after = await memory.recall(("team",), "who likes tea", below=True)

    assert (1, 2) == (before.searched, after.searched)
    assert {("team", "ada"), ("team", "bob")} == {each.scope for each in after.entries}
    assert after.embedder is None


async def test_an_embedder_never_holds_up_the_loop() -> None:
    """It may take its time: every call of it is made on a thread of its own."""
    threads: set[int] = set()

    def embed(texts: Sequence[str]) -> list[list[float]]:
        threads.add(get_ident())
        return [[1.0, float(len(text))] for text in texts]

    async with Recollect(InProcessStore(), embedder=embed) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.recall(ADA, ASKED)
        await memory.settled(ADA)
        assert memory.embedder is not None

    assert threads
    assert get_ident() not in threads


class Squeamish(HashedEmbedder):
    """An embedder that fails at one text."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Fail if a text speaks of poison."""
        if any("poison" in text for text in texts):
            msg = "the model refused a text"
            raise EmbedderError(msg)
        return super().embed(texts)


async def test_a_text_that_cannot_be_embedded_holds_up_nobody_else() -> None:
    """Another scope's vectors come all the same."""
    store, embedder = InProcessStore(), Squeamish()
    await store.append(ADA, "talk", [NewMessage(role="user", text="poison")])
    await store.append(BOB, "talk", TALK)
    embedding = Embedding(store, embedder)

    for _ in range(2):  # the second round sees that only its own vectors are new
        with pytest.raises(EmbedderError):
            await embedding.work_once()

    feed = await store.changes(Cursor(scope=BOB), embedder=embedder.identity)
    assert [True] * len(TALK) == [entry.vector is not None for entry in feed.entries]


class Late(HashedEmbedder):
    """An embedder that answers questions at once, and embeds what is kept only when it may."""

    def __init__(self, dimensions: int = 256) -> None:
        super().__init__(dimensions)
        self.may_embed = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Reject texts of the talk until it may."""
        if not self.may_embed and any(each.text in texts for each in TALK):
            msg = "not yet"
            raise EmbedderError(msg)
        return super().embed(texts)


async def test_what_has_no_vector_yet_is_found_beside_what_has() -> None:
    """By its words, with the weights that hold without a model."""
    embedder = Late()
    async with Recollect(InProcessStore(), embedder=embedder) as memory:
        await memory.append(ADA, "other", [NewMessage(role="user", text="a quiet night", id="o1")])
        await memory.settled(ADA)
        await memory.append(ADA, "talk", TALK)

        found = await memory.recall(ADA, "What is my boat called at night?")

        assert ids(found)[0] == "m3"
        assert with_dense(found) <= {"o1"}


async def test_with_all_vectors_pending_answers_are_those_without_embedder() -> None:
    """The same order and the same scores."""
    store = InProcessStore()
    async with (
        Recollect(store, embedder=Late()) as memory,
        Recollect(store, embedder="none") as plain,
    ):
        await memory.append(ADA, "talk", TALK)

        for query in ("boat", "When did I move to Porto?", ASKED):
            pending, without = [await each.recall(ADA, query) for each in (memory, plain)]
            assert [(e.content, e.score) for e in without.entries] == [
                (e.content, e.score) for e in pending.entries
            ]


async def test_an_exchanged_embedder_never_meets_the_others_vectors(tmp_path: Path) -> None:
    """Each run uses the vectors of its own identity: others count as pending."""
    place = tmp_path / "memory.db"

    def opened(embedder: Embedder) -> Recollect:
        return Recollect(open_store(place, durability="relaxed"), embedder=embedder)

    first = HashedEmbedder(64)
    async with opened(first) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)

    second = Late(128)
    async with opened(second) as memory:
        before = await memory.recall(ADA, ASKED)
        second.may_embed = True
        await memory.settled(ADA)
        after = await memory.recall(ADA, ASKED)
        await memory.append(ADA, "new", [NewMessage(role="user", text="a grey owl", id="n1")])
        await memory.settled(ADA)

    again = Late(64)
    again.embed = lambda texts: (  # type: ignore[method-assign]
        refuse([]) if "a grey owl" in texts else HashedEmbedder(64).embed(texts)
    )
    async with opened(again) as memory:
        last = await memory.recall(ADA, ASKED)

    assert (set(), {"m1", "m2", "m3"}) == (with_dense(before), with_dense(after))
    assert second.identity == after.embedder
    assert {"m1", "m2", "m3"} == with_dense(last)
    assert first.identity == last.embedder


class Interrupting(HashedEmbedder):
    """An embedder during whose work somebody new begins to speak, each time another."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.memory: Recollect | None = None
        self.questions: list[str] = []
        self._names = list(names)
        self._loop = asyncio.get_running_loop()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Let the next person speak before a question is embedded."""
        (text, *_) = texts
        if text.endswith("?"):
            self.questions.append(text)
            if self._names and self.memory:
                name = self._names.pop(0)
                message = NewMessage(role="user", name=name, text="I paint boats", id=name)
                spoken = self.memory.append(ADA, "talk", [message])
                asyncio.run_coroutine_threadsafe(spoken, self._loop).result(WAIT_S)
        return super().embed(texts)


async def test_who_begins_to_speak_while_a_question_is_embedded_is_heard() -> None:
    """The question is embedded again without his name, and the search comes to an end."""
    embedder = Interrupting(["Carol", "Dave"])
    async with Recollect(InProcessStore(), embedder=embedder) as memory:
        await memory.append(ADA, "talk", TALK)
        embedder.memory = memory

        with anyio.fail_after(WAIT_S):
            found = await memory.recall(ADA, "What did Carol and Dave paint?")

        assert [
            "What did Carol and Dave paint?",
            "What did and Dave paint?",
            "What did and paint?",
        ] == embedder.questions
        assert {"Carol", "Dave"} < set(ids(found))


async def test_words_are_worked_out_beside_the_vector_where_nothing_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After an append it would be in vain: the search reads that first."""
    ahead: list[str] = []

    def noted(collection: Collection, question: AnalysedQuery) -> None:
        ahead.append(question.text)
        look_ahead(collection, question)

    monkeypatch.setattr(recall_walk, "look_ahead", noted)
    async with Recollect(InProcessStore(), embedder=HashedEmbedder()) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)
        await memory.recall(ADA, "Where do I live?")
        await memory.recall(ADA, "Where to?")
        await memory.append(ADA, "talk", [NewMessage(role="user", text="I like boats")])
        await memory.settled(ADA)
        await memory.recall(ADA, "Which boats?")
        await memory.recall(ADA, "What boats?")

    assert ["Where to?", "What boats?"] == ahead


class Meeting(HashedEmbedder):
    """An embedder that notes its texts, and gives two callers the time to meet in it."""

    def __init__(self, wait_s: float) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._meeting = Barrier(2, timeout=wait_s)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Wait a moment for another caller, and go on without."""
        self.texts += texts
        with suppress(BrokenBarrierError):
            self._meeting.wait()
        return super().embed(texts)


class Unshared:
    """The locks of batches, broken: each caller gets its own."""

    def setdefault(self, _: int, lock: anyio.Lock) -> anyio.Lock:
        """Return the lock that was just made."""
        return lock


async def embedded_by_two(*, is_mutant: bool = False) -> list[str]:
    """Return what is embedded while the background's work and `settle` run side by side."""
    async with Recollect(open_store("memory:"), embedder="none") as memory:
        await memory.append(ADA, "t", TALK)
        embedder = Meeting(WAIT_S if is_mutant else 0.2)
        embedding = Embedding(memory.store, embedder)
        if is_mutant:
            embedding._batches = Unshared()  # type: ignore[assignment]
        await asyncio.gather(embedding.work_once(), embedding.settle(ADA))
        return sorted(embedder.texts)


async def test_a_batch_is_embedded_once_by_whoever_comes_first() -> None:
    """By the background's work or by `settle`: the other waits, and finds nothing left."""
    assert await embedded_by_two() == sorted(each.text for each in TALK)


async def test_batches_without_a_common_lock_are_caught() -> None:
    """The mutant embeds the same batch twice."""
    assert await embedded_by_two(is_mutant=True) == sorted(2 * [each.text for each in TALK])


async def test_a_question_is_embedded_once() -> None:
    """Asked again, it has its vector already; without the names of who speaks from the start."""
    embedder = Interrupting([])
    async with Recollect(InProcessStore(), embedder=embedder) as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", name="Ada", text="A boat")])
        for _ in range(3):
            await memory.recall(ADA, "What did Ada paint?")

    assert "What did paint?" == embedder.questions[-1]
    assert len(embedder.questions) <= 2


@pytest.mark.parametrize("where", [Where(), Where(known_at=NOON)], ids=["now", "then"])
async def test_an_answer_by_words_alone_names_no_embedder(where: Where) -> None:
    """A question that the embedder does not understand, or about the past, has no vector."""
    async with Recollect(InProcessStore(), embedder=HashedEmbedder()) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)

        found = await memory.recall(ADA, "???" if where.known_at is None else "boat", where=where)

        assert found.embedder is None


async def test_a_text_that_is_not_understood_counts_as_looked_at() -> None:
    """It is scored by its words, and nobody waits for its vector."""
    async with Recollect(InProcessStore(), embedder=HashedEmbedder()) as memory:
        await memory.append(ADA, "talk", [*TALK, NewMessage(role="user", text="!!!", id="m4")])
        with anyio.fail_after(WAIT_S):
            await memory.settled(ADA)

        found = await memory.recall(ADA, ASKED)

        assert {"m1", "m2", "m3"} == with_dense(found)
        assert "m4" in ids(found)


async def test_a_callable_is_an_embedder() -> None:
    """Any function from texts to vectors will do."""
    hashed = HashedEmbedder(32)

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[] if v is None else [float(x) for x in v] for v in hashed.embed(texts)]

    async with Recollect(InProcessStore(), embedder=embed) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)

        found = await memory.recall(ADA, ASKED)

        assert ids(found)[0] == "m2"
        assert CallableEmbedder(embed).identity == found.embedder


async def test_langchains_embeddings_are_an_embedder() -> None:
    """A real one is used as it comes; what it finds like is its own affair."""
    embeddings = pytest.importorskip("langchain_core.embeddings")
    async with Recollect(
        InProcessStore(), embedder=embeddings.DeterministicFakeEmbedding(size=16)
    ) as memory:
        await memory.append(ADA, "talk", TALK)
        await memory.settled(ADA)

        found = await memory.recall(ADA, "My boat is called Kestrel")

        assert ids(found)[0] == "m3"
        assert {"m1", "m2", "m3"} == with_dense(found)
