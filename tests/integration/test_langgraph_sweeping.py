"""What has expired leaves LangGraph's store: when it is asked to, and on a thread of its own."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import pytest

import recollect
from recollect import SyncRecollect, UsageError
from recollect.errors import StoreUnavailableError
from recollect.integrations.langgraph import RecollectStore
from recollect.stores.plans.erase_targets import EraseExpired
from recollect.testing import FrozenClock

pytestmark = pytest.mark.anyio

ROOT = ("app",)
ADA = ("users", "ada")
MINUTES: Final = 0.0005
"""An interval of thirty milliseconds."""
WAIT_S: Final = 30.0


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", worker=False, clock=clock) as memory:
        yield memory


@pytest.fixture
def store(memory: SyncRecollect) -> RecollectStore:
    return RecollectStore(memory, ROOT)


def _holds(folder: Path, words: bytes) -> bool:
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # the log went meanwhile
            if words in path.read_bytes():
                return True
    return False


def _soon(is_so: Callable[[], bool]) -> bool:
    """Return True if that comes true before ``WAIT_S`` have passed."""
    until = monotonic() + WAIT_S
    while not is_so():
        if monotonic() > until:
            return False
        sleep(0.01)
    return True


def test_what_has_expired_is_swept_from_the_disk(
    tmp_path: Path, clock: FrozenClock, memory: SyncRecollect, store: RecollectStore
) -> None:
    """In all namespaces below the root, with its time to live; what lasts or is beside it stays."""
    for scope in (ADA, ("users", "bob"), ("deep", "er", "still")):
        store.put(scope, "brief", {"text": "canary that expires"}, ttl=1)
        store.put(scope, "lasting", {"text": "tea"})
    RecollectStore(memory, ("other",)).put(ADA, "brief", {"text": "another's"}, ttl=1)
    early = store.sweep_ttl()
    clock.advance(61)
    before = _holds(tmp_path, b"canary")

    swept = store.sweep_ttl()

    assert (0, 3, 0) == (early, swept, store.sweep_ttl())
    assert ["lasting"] * 3 == [each.key for each in store.search(())]
    assert before
    assert not _holds(tmp_path, b"canary")
    assert [] == memory.receipts(unclean=True)
    left = memory.erase(("other",), EraseExpired(below=True))
    assert 1 == left.memories  # the item beside the root


async def test_a_sweep_can_be_awaited(clock: FrozenClock) -> None:
    async with recollect.open("memory:", embedder="none", worker=False, clock=clock) as memory:
        store = RecollectStore(memory, ROOT)
        await store.aput(ADA, "brief", {}, ttl=1)
        clock.advance(61)

        assert 1 == await store.asweep_ttl()


def test_a_sweeper_sweeps_again_and_again(
    tmp_path: Path, clock: FrozenClock, memory: SyncRecollect
) -> None:
    """As configured; a second start changes nothing, and what is stopped sweeps no more."""
    config: Any = {"sweep_interval_minutes": MINUTES}
    store = RecollectStore(memory, ROOT, ttl=config)
    assert store.stop_ttl_sweeper()
    ended = store.start_ttl_sweeper()
    assert ended is store.start_ttl_sweeper(60)
    for turn in range(2):
        store.put(ADA, f"brief{turn}", {"text": f"canary {turn}"}, ttl=1)
        clock.advance(61)
        assert _soon(lambda: not _holds(tmp_path, b"canary"))

    assert store.stop_ttl_sweeper(WAIT_S)
    assert ended.done()
    store.put(ADA, "brief", {"text": "canary"}, ttl=1)
    clock.advance(61)
    sleep(5 * MINUTES * 60)
    assert _holds(tmp_path, b"canary")


@pytest.mark.parametrize("error", [StoreUnavailableError("canary"), RuntimeError("canary")])
def test_a_sweep_that_fails_is_not_the_last(
    store: RecollectStore,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    """It is logged, without its text, and shows in the memory's health."""
    failed: list[int] = []

    def fail() -> int:
        failed.append(1)
        raise error

    monkeypatch.setattr(store, "sweep_ttl", fail)
    store.start_ttl_sweeper(MINUTES)

    assert _soon(lambda: len(failed) > 1)
    assert store.stop_ttl_sweeper(WAIT_S)
    assert f"sweeping failed: {type(error).__name__}" in caplog.text
    assert str(error) not in caplog.text


def test_a_sweeper_ends_when_its_future_is_cancelled(store: RecollectStore) -> None:
    """Another can then be started; closing the store ends that one."""
    cancelled = store.start_ttl_sweeper(60)
    cancelled.cancel()
    other = store.start_ttl_sweeper(60)
    store.close()

    other.result(WAIT_S)
    assert cancelled is not other


def test_a_sweeper_ends_with_its_memory(tmp_path: Path) -> None:
    """Nobody stopped it."""
    url = f"sqlite:///{tmp_path}/other.db"
    with recollect.open_sync(url, embedder="none", worker=False) as memory:
        ended = RecollectStore(memory, ROOT).start_ttl_sweeper(MINUTES)

    ended.result(WAIT_S)


def test_an_interval_of_any_length_is_waited_for(store: RecollectStore) -> None:
    """Also one that is longer than a thread can wait."""
    ended = store.start_ttl_sweeper(1e300)
    sleep(0.1)

    assert ended is store.start_ttl_sweeper()
    assert store.stop_ttl_sweeper(WAIT_S)
    assert ended.done()


@pytest.mark.parametrize("minutes", [0, -1, "5", float("nan")])
def test_an_interval_of_no_length_is_refused(store: RecollectStore, minutes: Any) -> None:
    """As configuration too, and nothing is begun."""
    for refused in (
        lambda: store.start_ttl_sweeper(minutes),
        lambda: RecollectStore(store.memory, ROOT, ttl={"sweep_interval_minutes": minutes}),
    ):
        with pytest.raises(UsageError, match=r"sweep_interval_minutes.* above 0"):
            refused()
    assert store.stop_ttl_sweeper()
