"""How a memory says that it is: every background task shows its last success and error."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import anyio
import pytest

import recollect
from recollect import EraseThread, NewMessage, Recollect
from recollect.errors import (
    EmbedderError,
    ModelDeniedError,
    StoreClosedError,
    StoreUnavailableError,
)
from recollect.formation.rule_model import RuleModel
from recollect.memory.formation_control import require_open
from recollect.memory.health import CLEANING
from recollect.memory.runtime import MERGING
from recollect.observability.health import Health, TaskHealth
from recollect.ports import Vector
from recollect.recall.vector_backlog import EMBEDDING
from recollect.records import Scope
from recollect.testing import HashedEmbedder
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.loop import SCHEDULES
from recollect.worker.worker_options import FORMATION

ADA: Scope = ("users", "ada")
SECRET = "heliotrope"
WAIT_S = 20


def said(text: str) -> list[NewMessage]:
    """Return one message of a user."""
    return [NewMessage(role="user", text=text)]


def task(health: Health, name: str) -> TaskHealth:
    """Return a task that has to be there."""
    found = health.task(name)
    assert found is not None, [each.name for each in health.tasks]
    return found


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds."""
    with anyio.fail_after(WAIT_S):
        while not await holds():  # noqa: ASYNC110 (nothing tells of it)
            await anyio.sleep(0.02)


def refusing() -> ScriptedModel:
    """Return a model whose key is refused, with an error that quotes what was said."""
    return ScriptedModel(lambda request: ModelDeniedError(f"401: {request.turns[-1].text}"))


async def test_a_refused_key_is_seen_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Formation is failing, says why, when it is tried again and what waits, without a word."""
    async with recollect.open("memory:", model=refusing(), embedder="none") as memory:
        await memory.append(ADA, "t", said(f"I like {SECRET}"))
        (result,) = await memory.form(ADA)
        health = await memory.health()

    forming = task(health, FORMATION)
    assert ("postponed", "degraded") == (result.end, health.status)
    assert ("failing", 1, 1) == (forming.state, forming.failures, forming.backlog)
    assert forming.last_error is not None
    assert "ModelDeniedError" == forming.last_error.type
    assert "key is invalid" in forming.last_error.text
    assert forming.retry_at is not None
    assert forming.retry_at > forming.last_error.at
    (line,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert line.name == "recollect.worker"
    assert "ModelDeniedError" in line.getMessage()
    assert SECRET not in repr(health) + caplog.text


async def test_a_worker_that_works_is_healthy() -> None:
    """All tasks of this process are listed, and each one's last success."""
    async with recollect.open("memory:", model=RuleModel(), embedder=HashedEmbedder()) as memory:
        await memory.append(ADA, "t", said("I moved to Oslo"))
        await memory.form(ADA)
        await memory.settled(ADA)
        health = await memory.health()
        again = await memory.acting("a key").health()

    assert ("ok", "ok") == (health.status, health.store.state)
    assert health.store.latency_ms is not None
    assert 0 < health.store.latency_ms < 5_000
    assert {FORMATION, SCHEDULES, EMBEDDING, MERGING} <= {each.name for each in health.tasks}
    assert {"running"} == {each.state for each in health.tasks}
    assert task(health, FORMATION).last_success is not None
    assert (0, 0) == (task(health, FORMATION).backlog, task(health, EMBEDDING).backlog)
    assert {each.name for each in again.tasks} == {each.name for each in health.tasks}


async def test_messages_that_are_given_up_are_an_error(caplog: pytest.LogCaptureFixture) -> None:
    """That a message is left out of memory for good is logged at ERROR, without its words."""
    answers = ScriptedModel(lambda _: "this is no call")
    async with recollect.open("memory:", model=answers, embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", said(f"I like {SECRET}"))
        ends: list[str] = []
        while "dead" not in ends:
            ends += [each.end for each in await memory.form(ADA)]

    errors = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert ["recollect.worker"] == [each.name for each in errors]
    assert "given up" in errors[0].getMessage()
    assert SECRET not in caplog.text


class Moody(HashedEmbedder):
    """An embedder that fails while it is told to."""

    is_failing = True

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed, or fail with an error that quotes a text."""
        if self.is_failing:
            raise EmbedderError(f"cannot embed {texts}")
        return super().embed(texts)


@pytest.fixture
async def moody(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Recollect, Moody]]:
    """Yield a memory whose embedder fails."""
    monkeypatch.setattr("recollect.recall.vector_backlog.RETRY_S", 0.02)
    embedder = Moody()
    async with recollect.open("memory:", embedder=embedder) as memory:
        yield memory, embedder


async def test_an_embedder_that_fails_is_seen_until_it_works(
    moody: tuple[Recollect, Moody], caplog: pytest.LogCaptureFixture
) -> None:
    """What waits for a vector is counted; the error stays visible after the success."""
    caplog.set_level(logging.INFO)
    memory, embedder = moody
    await memory.append(ADA, "t", said(f"I like {SECRET}"))

    async def is_failing() -> bool:
        return task(await memory.health(), EMBEDDING).failures > 2

    await until(is_failing)
    failing = task(await memory.health(), EMBEDDING)
    assert ("failing", 1) == (failing.state, failing.backlog)
    warned = [each for each in caplog.records if each.levelno == logging.WARNING]
    assert 1 == len(warned), [each.getMessage() for each in warned]
    embedder.is_failing = False
    await memory.settled(ADA)

    async def works() -> bool:
        return (await memory.health()).status == "ok"

    await until(works)
    mended = task(await memory.health(), EMBEDDING)
    assert ("running", 0, 0) == (mended.state, mended.failures, mended.backlog)
    assert mended.last_error is not None
    assert "works again after" in caplog.text
    assert SECRET not in caplog.text


async def test_a_recall_by_words_alone_is_a_failure_of_the_embedder(
    moody: tuple[Recollect, Moody], caplog: pytest.LogCaptureFixture
) -> None:
    """The fallback is taken and logged, and seen until a query is embedded again."""
    memory, embedder = moody
    embedder.is_failing = False
    await memory.append(ADA, "t", said(f"I like {SECRET}"))
    await memory.settled(ADA)
    embedder.is_failing = True

    found = await memory.recall(ADA, SECRET)

    assert (1, None) == (len(found.entries), found.embedder)
    assert "embedding failed for a query: EmbedderError" in caplog.text
    assert "degraded" == (await memory.health()).status
    embedder.is_failing = False
    await memory.recall(ADA, f"{SECRET} again")
    assert "ok" == (await memory.health()).status
    assert SECRET not in caplog.text


async def test_work_that_asked_the_embedder_nothing_ends_no_failure(
    moody: tuple[Recollect, Moody], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round whose entries another process embedded meanwhile says nothing of a failed query."""
    memory, embedder = moody
    embedder.is_failing = False
    await memory.append(ADA, "t", said(f"I like {SECRET}"))
    await memory.settled(ADA)
    embedder.is_failing = True
    await memory.recall(ADA, SECRET)
    rounds, scope_id = 0, await memory.store.scope_id(ADA)

    async def scope_without_work(*_: object) -> Sequence[int | None]:
        nonlocal rounds
        rounds += 1
        return [scope_id] if rounds < 5 else []

    monkeypatch.setattr(memory.store, "unembedded_scopes", scope_without_work)
    monkeypatch.setattr("recollect.recall.vector_backlog.SWEEP_S", 0.0)
    await memory.append(("users", "bob"), "t", said("wake up"))

    async def has_looked() -> bool:
        return rounds > 4

    await until(has_looked)
    assert "degraded" == (await memory.health()).status


async def test_bytes_that_cannot_be_removed_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An erase succeeds; that its bytes are still there is told, and how many erases wait."""
    async with recollect.open("memory:", embedder="none") as memory:

        async def fail() -> None:
            raise StoreUnavailableError(SECRET)

        await memory.append(ADA, "t", said("hello"))
        monkeypatch.setattr(memory.store, "_clean", fail)
        receipt = await memory.erase(ADA, EraseThread(thread="t"))
        cleaning = task(await memory.health(), CLEANING)
        monkeypatch.undo()
        await memory.clean()
        mended = task(await memory.health(), CLEANING)

    assert receipt.clean_at is None
    assert ("failing", 1) == (cleaning.state, cleaning.backlog)
    assert ("running", 0) == (mended.state, mended.backlog)


async def test_a_store_that_is_away_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says so, and raises nothing."""
    async with recollect.open("memory:", embedder="none") as memory:

        async def fail(*_: object) -> None:
            raise StoreUnavailableError(SECRET)

        monkeypatch.setattr(memory.store, "_read", fail)
        health = await memory.health()

    assert ("down", "unavailable", None) == (
        health.status,
        health.store.state,
        health.store.latency_ms,
    )
    assert SECRET not in repr(health)


async def test_a_store_that_does_not_answer_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer in time is one too."""
    monkeypatch.setattr("recollect.memory.health.ANSWER_S", 0.01)
    async with recollect.open("memory:", embedder="none") as memory:

        async def hang(*_: object) -> None:
            await anyio.sleep_forever()

        monkeypatch.setattr(memory.store, "_read", hang)
        health = await memory.health()

    assert ("down", "timeout") == (health.status, health.store.state)


async def test_a_worker_that_loses_its_store_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that fails is a failure of formation until the store answers again."""
    async with recollect.open("memory:", model=RuleModel(), embedder="none") as memory:
        real = memory.store._transact

        async def fail(*_: object) -> None:
            raise StoreUnavailableError("away")

        monkeypatch.setattr(memory.store, "_transact", fail)
        assert memory.worker is not None
        memory.worker.wake()

        async def fails() -> bool:
            found = (await memory.health()).task(FORMATION)
            return found is not None and found.state == "failing"

        await until(fails)
        monkeypatch.setattr(memory.store, "_transact", real)
        memory.worker.wake()

        async def works() -> bool:
            return (await memory.health()).status == "ok"

        await until(works)


async def test_a_closed_memory_has_no_health() -> None:
    """What is closed is down, and says how."""
    async with recollect.open("memory:", embedder="none") as memory:
        pass

    assert "closed" == (await memory.health()).store.state
    with pytest.raises(StoreClosedError):
        await memory.scopes()


def test_the_face_without_await_has_it_too() -> None:
    """`SyncRecollect` answers the same record."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        assert "ok" == memory.health().status
        assert [MERGING] == [each.name for each in memory.tasks.health()]


async def test_an_error_that_ends_a_task_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What nobody expected ends the memory as before, and says which task it was."""
    monkeypatch.setattr("recollect.memory.runtime.MERGE_EVERY_S", 0.01)
    memory = recollect.open("memory:", embedder="none")

    def fail() -> int:
        raise ZeroDivisionError(SECRET)

    async def recall_and_wait() -> None:
        async with memory:
            await memory.recall(("users", "ada"), "what is merged?")  # which makes the indexes
            monkeypatch.setattr(require_open(memory._runtime.recaller).indexes, "drop_idle", fail)
            await anyio.sleep(WAIT_S)

    with pytest.raises(BaseExceptionGroup):
        await recall_and_wait()

    (line,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert "merging ended with an error: ZeroDivisionError" in line.getMessage()
    assert SECRET not in caplog.text
