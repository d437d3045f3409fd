"""A memory without ``await`` does what the memory behind it does."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from recollect import (
    ConflictError,
    EraseScope,
    EraseThread,
    NewMessage,
    Recall,
    SyncRecollect,
    UsageError,
    Where,
    open_sync,
)
from recollect.errors import StoreClosedError
from recollect.records import Scope
from recollect.testing import NOON, CountingIds, FrozenClock, HashedEmbedder
from tests.harness import forked_programs

ADA: Scope = ("users", "ada")
MEANT, ASKED = "She photographs owls at night", "photography"
TALK = [
    NewMessage(role="user", text="My boat is called Kestrel", id="m1"),
    NewMessage(role="user", text=MEANT, id="m2"),
]


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SyncRecollect]:
    """Yield a memory over each store that needs no server."""
    place = "memory:" if request.param == "memory" else str(tmp_path / "memory.db")
    with open_sync(
        place, embedder=HashedEmbedder(), clock=FrozenClock(), ids=CountingIds()
    ) as memory:
        yield memory


def ids(found: Recall) -> list[str]:
    """Return what was found, best first."""
    return [entry.source.rpartition("/")[2] for entry in found.entries]


# It works


def test_a_day_with_a_memory(memory: SyncRecollect) -> None:
    """Everything that a user does, one after the other, without a loop."""
    kept = memory.append(ADA, "talk", TALK, idempotency_key="k")
    memory.settled(ADA)
    note = memory.put(ADA, "Item", "pet", {"pet": "parrot"})

    assert kept == memory.messages(ADA, "talk").rows == memory.last_messages(ADA, "talk", limit=9)
    assert ids(memory.recall(ADA, "What is my boat called?"))[0] == "m1"
    assert ids(memory.recall(ADA, ASKED, limit=1)) == ["m2"]
    assert ids(memory.recall(ADA, "parrot", where=Where(messages=False))) == ["pet"]
    assert note == memory.get(ADA, "Item", "pet") == memory.memories(ADA).rows[0]
    assert [1] == [version.version for version in memory.history(ADA, "Item", "pet")]
    assert (ADA,) == memory.scopes().rows
    assert memory.thread(ADA, "talk") == memory.threads(ADA).rows[0]
    assert memory.replace(ADA, "talk", NewMessage(role="user", text="sold", id="m1")).text == "sold"
    assert (1, 1) == (memory.remove(ADA, "talk", ["m1"]), memory.keep(ADA, "talk", 9))
    assert HashedEmbedder().identity == memory.embedder


def test_an_export_is_restored(memory: SyncRecollect) -> None:
    """Records come one by one, and go back."""
    memory.append(ADA, "talk", TALK)
    records = list(memory.export(ADA))
    receipt = memory.erase(ADA, EraseScope())

    assert memory.import_records(records, restore_erased=True) == len(records) == 3
    assert records == list(memory.export(ADA))
    assert [receipt] == memory.receipts()
    assert memory.clean() == []


def test_an_export_may_be_left_half_way(memory: SyncRecollect) -> None:
    """Whoever has seen enough goes on with other things."""
    memory.append(ADA, "talk", TALK)
    records = memory.export(ADA)
    first = next(records)

    del records

    assert first["kind"] == "thread"
    assert len(memory.messages(ADA, "talk").rows) == 2


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda memory: memory.recall(ADA, ""), UsageError),
        (lambda memory: memory.recall("", "boat"), UsageError),
        (lambda memory: memory.append(ADA, "talk", [TALK[0], TALK[0].__class__(
            role="user", text="other", id="m1")]), ConflictError),
        (lambda memory: memory.put(ADA, "Item", "n", {}, valid_from=datetime(2024, 1, 1)), UsageError),  # noqa: DTZ001, E501
        (lambda memory: list(memory.export("")), UsageError),
    ],
)  # fmt: skip
def test_errors_are_the_same(
    memory: SyncRecollect, call: Callable[[SyncRecollect], object], error: type[Exception]
) -> None:
    """They are raised where the call was made, as they are."""
    with pytest.raises(error):
        call(memory)


@pytest.mark.anyio
async def test_it_works_inside_a_running_loop() -> None:
    """In a notebook, or an async program's corner: it blocks the loop and is not blocked by it."""
    with open_sync("memory:", embedder=HashedEmbedder()) as memory:
        memory.append(ADA, "talk", TALK)
        memory.settled(ADA)

        assert ids(memory.recall(ADA, ASKED))[0] == "m2"


def test_it_works_from_many_threads(memory: SyncRecollect) -> None:
    """Calls from several threads are carried out side by side, and none is lost."""

    def live(number: int) -> str:
        text = f"secret{number} is mine"
        memory.append(ADA, f"t{number % 4}", [NewMessage(role="user", text=text, id=str(number))])
        return ids(memory.recall(ADA, f"Where is secret{number}?", limit=1))[0]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(live, range(40)))

    assert [str(number) for number in range(40)] == found
    assert memory.recall(ADA, "secret").eligible == 40


def test_two_are_open_beside_each_other() -> None:
    """Each has a store and a loop of its own."""
    with open_sync(embedder="none") as one, open_sync(embedder="none") as other:
        one.append(ADA, "talk", TALK)

        assert (2, 0) == (one.recall(ADA, "boat").eligible, other.recall(ADA, "boat").eligible)


def test_it_takes_clock_and_ids() -> None:
    """As the other face does."""
    with open_sync(embedder="none", clock=FrozenClock(), ids=CountingIds()) as memory:
        (message,) = memory.append(ADA, "talk", [NewMessage(role="user", text="boat")])

    assert NOON == message.time


# Opening, closing, forking


def use(memory: SyncRecollect) -> Sequence[object]:
    """Return what several uses of a memory raise."""
    raised: list[object] = []
    for call in (
        lambda: memory.recall(ADA, "boat"),
        lambda: memory.append(ADA, "talk", TALK),
        lambda: memory.embedder,
        lambda: list(memory.export(ADA)),
        lambda: memory.erase(ADA, EraseThread(thread="talk")),
    ):
        try:
            raised.append(call())
        except StoreClosedError as error:
            raised.append(type(error))
    return raised


def test_it_is_refused_before_it_is_open() -> None:
    """The error says how to open it."""
    memory = open_sync(embedder="none")

    assert [StoreClosedError] * 5 == use(memory)
    with pytest.raises(StoreClosedError, match=r"SyncRecollect is not open.*'with .* again"):
        memory.recall(ADA, "boat")


def test_it_is_refused_after_it_was_closed() -> None:
    """Nothing waits for a thread that is gone."""
    with open_sync(embedder="none") as memory:
        memory.append(ADA, "talk", TALK)

    assert [StoreClosedError] * 5 == use(memory)


def test_it_can_be_opened_again(tmp_path: Path) -> None:
    """The same object, over the same file."""
    memory = open_sync(str(tmp_path / "memory.db"), embedder="none")
    with memory:
        memory.append(ADA, "talk", TALK)

    with memory:
        assert memory.recall(ADA, "boat").eligible == 2


def test_no_thread_stays_behind() -> None:
    """Neither after use, nor where opening failed."""
    before = set(threading.enumerate())
    with open_sync(embedder="none") as memory:
        memory.append(ADA, "talk", TALK)
    with pytest.raises(UsageError), open_sync(embedder="made-up"):
        pass
    with pytest.raises(UsageError), open_sync("nowhere://x"):
        pass

    left = {each for each in threading.enumerate() if "worker" not in each.name.lower()} - before

    assert left == set()


def test_the_users_error_comes_through_the_block() -> None:
    """What goes wrong inside is raised as it is."""

    def fail() -> None:
        with open_sync(embedder=HashedEmbedder()) as memory:
            memory.append(ADA, "talk", TALK)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def run_forked(
    child: str, place: str, *, before: str = "memory:"
) -> subprocess.CompletedProcess[str]:
    """
    Open a memory in a process of its own, fork, do *child* there, and go on in the parent.

    The parent opens and closes the memory at *before* first.
    """
    opened = f"""
from recollect import NewMessage, open_sync
from recollect.errors import StoreClosedError
ADA = ("users", "ada")
with open_sync({before!r}, embedder="none"):
    pass
with open_sync({place!r}, embedder="none") as memory:
    memory.append(ADA, "talk", [NewMessage(role="user", text="a boat")])
"""
    return forked_programs.run_forked(
        opened, child, 'print("child", ended, "parent", memory.recall(ADA, "boat").eligible)'
    )


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of each store that needs no server."""
    return "memory:" if request.param == "memory" else str(tmp_path / "memory.db")


def test_it_is_refused_after_a_fork(place: str) -> None:
    """In the child at once, since its thread stayed in the parent, where all goes on."""
    found = run_forked(
        """
        try:
            memory.recall(ADA, "boat")
        except StoreClosedError as error:
            os._exit(7 if "before a fork" in str(error) else 2)
        os._exit(1)
        """,
        place,
    )

    assert (found.stdout, found.stderr) == ("child 7 parent 1\n", "")


def test_a_child_that_leaves_the_block_does_not_hang(place: str) -> None:
    """It has nothing to close: all belongs to its parent."""
    found = run_forked("sys.exit(7)", place)

    assert (found.stdout, found.stderr) == ("child 7 parent 1\n", "")


def test_a_child_opens_no_file_that_its_parent_has_open(tmp_path: Path) -> None:
    """SQLite would take the parent's locks for the child's own, and lose what the child writes."""
    place = str(tmp_path / "memory.db")
    found = run_forked(
        f"""
        try:
            with open_sync({place!r}, embedder="none") as own:
                own.append(ADA, "talk", [NewMessage(role="user", text="another boat")])
        except StoreClosedError as error:
            os._exit(7 if "open the file after the fork" in str(error) else 2)
        os._exit(1)
        """,
        place,
    )

    assert (found.stdout, found.stderr) == ("child 7 parent 1\n", "")


def test_a_child_opens_another_file(tmp_path: Path) -> None:
    """Or the same one, if it was closed before the fork: what it keeps, its parent finds."""
    place, closed = str(tmp_path / "memory.db"), str(tmp_path / "closed.db")
    with open_sync(closed, embedder="none") as memory:
        memory.append(ADA, "talk", ["a boat", "a boat, too"])
    found = run_forked(
        f"""
        with open_sync({closed!r}, embedder="none") as own:
            own.append(ADA, "talk", [NewMessage(role="user", text="another boat")])
        os._exit(0)
        """,
        place,
        before=closed,
    )

    assert (found.stdout, found.stderr) == ("child 0 parent 1\n", "")
    with open_sync(closed, embedder="none") as memory:
        assert 3 == memory.recall(ADA, "boat").eligible


def test_it_is_closed_when_the_program_ends(place: str) -> None:
    """By a function for that, when Python's pools take no more work: without a word, and whole."""
    program = f"""
import atexit
from recollect import NewMessage, open_sync
memory = open_sync({place!r}, embedder="none")
memory.__enter__()
atexit.register(memory.__exit__, None, None, None)
memory.append(("users", "ada"), "talk", [NewMessage(role="user", text="a boat")])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert not Path(f"{place}-wal").exists()  # the last connection was closed in order
    with open_sync(place, embedder="none") as memory:
        assert (place != "memory:") == bool(memory.recall(ADA, "boat").entries)


class _Late:
    """Writes to the memory when that is closed."""

    def __init__(self, memory: SyncRecollect, *, fails: bool = False) -> None:
        self.memory = memory
        self.fails = fails

    def write(self) -> None:
        self.memory.append(ADA, "late", "Wait for me.")
        if self.fails:
            raise ConnectionError("away")


@pytest.mark.parametrize("fails", [False, True])
def test_a_close_waits_for_what_still_writes(tmp_path: Path, *, fails: bool) -> None:
    """It closes even if that fails, once, and does not keep a forgotten writer alive."""
    place = str(tmp_path / "memory.db")
    memory = open_sync(place, embedder="none").open()
    late = _Late(memory, fails=fails)
    memory.before_close(late.write)
    memory.before_close(_Late(memory, fails=True).write)  # collected at once

    if fails:
        with pytest.raises(ConnectionError):
            memory.close()
    else:
        memory.close()
    memory.close()

    with pytest.raises(StoreClosedError):
        memory.threads(ADA)
    with open_sync(place, embedder="none") as memory:
        assert len(memory.last_messages(ADA, "late", limit=9)) == 1
