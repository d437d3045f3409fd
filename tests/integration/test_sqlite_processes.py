"""Several processes on one SQLite store, and processes that are killed while they write."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import apsw
import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import Message, NewMessage
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.store import SQLiteStore

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")

# Appends to a thread of all and to one of its own, as quickly as it can.
SHARING = """
import asyncio, sys
from recollect.records import NewMessage
from recollect.stores.sqlite import connections as connect
from recollect.stores.sqlite.store import SQLiteStore

file, name, count, patience = sys.argv[1:]
if patience == "none":
    connect.Patience.__call__ = lambda self, tried: False

async def act():
    async with SQLiteStore(file) as store:
        for number in range(int(count)):
            said = [NewMessage(role="user", text="hello", id=f"{name}-{number}")]
            await store.append(("users", "ada"), "all", said)
            await store.append(("users", "ada"), name, said)
            page = await store.last_messages(("users", "ada"), name, limit=1)
            assert page[0].id == f"{name}-{number}"

sys.stdin.readline()
asyncio.run(act())
"""

# Appends numbered messages under keys from a number on, and says so after each answer.
DYING = """
import asyncio, os, sys
from recollect.records import NewMessage
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.sqlite.writer import Writer

file, begin, mutant = sys.argv[1:]
if mutant == "answer before commit":
    commit = Writer._commit
    def late(self, connection):
        self.skipped = getattr(self, "skipped", 0) + 1
        connection.execute("COMMIT" if self.skipped % 3 else "ROLLBACK")
    Writer._commit = late

async def act(number):
    store = SQLiteStore(file)
    while True:
        said = [NewMessage(role="user", text="words " * (1 + number % 50), name=str(number))]
        key = None if mutant == "no key" else f"request {number}"
        await store.append(("users", "ada"), "talk", said, idempotency_key=key)
        os.write(1, b"%d\\n" % number)
        number += 1

asyncio.run(act(int(begin)))
"""


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that runs *program*."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def messages_in(file: Path, thread: str) -> list[Message]:
    """Return all messages of one of Ada's threads."""

    async def act() -> list[Message]:
        found: list[Message] = []
        async with SQLiteStore(file) as store:
            while True:
                after = found[-1].position if found else 0
                page = await store.messages(ADA, thread, after=after, limit=1_000)
                found += page.rows
                if page.cursor is None:
                    return found

    return asyncio.run(act())


def together(file: Path, processes: int, count: int, patience: str = "usual") -> list[str]:
    """Let *processes* append *count* messages each, at the same time; return their last words."""
    running = [started(SHARING, file, f"p{number}", count, patience) for number in range(processes)]
    for each in running:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    return [each.communicate()[1].strip().rpartition("\n")[2] for each in running]


@pytest.mark.parametrize(
    "count", [50, pytest.param(2_000, marks=pytest.mark.prove)], ids=["few", "many"]
)
def test_eight_processes_share_a_file(count: int, tmp_path: Path) -> None:
    """No process ever sees a locked database; every message is there once, without holes."""
    file = tmp_path / "memory.db"

    last_words = together(file, 8, count)
    of_all = messages_in(file, "all")

    assert [""] * 8 == last_words
    assert list(range(1, 8 * count + 1)) == [each.position for each in of_all]
    assert {f"p{p}-{n}" for p in range(8) for n in range(count)} == {each.id for each in of_all}
    for number in range(8):
        own = messages_in(file, f"p{number}")
        assert [f"p{number}-{n}" for n in range(count)] == [each.id for each in own]


def test_processes_without_patience_would_be_noticed(tmp_path: Path) -> None:
    """The mutant: without the pauses of `Patience` some process meets a locked database."""
    last_words = together(tmp_path / "memory.db", 8, 50, patience="none")

    assert any("locked" in words or "Busy" in words for words in last_words), last_words


async def test_waiting_for_a_lock_has_an_end(tmp_path: Path) -> None:
    """Who keeps the file locked beyond the limit is reported, and nothing was written."""
    file = tmp_path / "memory.db"
    async with SQLiteStore(file, lock_wait_s=0.05) as store:
        hog = apsw.Connection(str(file), vfs=checksum_layer())
        hog.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreUnavailableError, match=r"kept it locked: try again"):
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])

        hog.execute("ROLLBACK")
        hog.close()
        await store.append(ADA, "talk", [NewMessage(role="user", text="again")])
        found = await store.messages(ADA, "talk")

    assert ["again"] == [each.text for each in found.rows]


def acknowledged_until_killed(file: Path, begin: int, answers: int, mutant: str) -> list[int]:
    """Let a process write from *begin* on, kill it after some answers; return all it had."""
    process = started(DYING, file, begin, mutant)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(answers)]
    process.kill()
    rest, errors = process.communicate()
    assert "" == errors
    lines += rest.splitlines(keepends=True)
    return [int(line) for line in lines if line.endswith("\n")]


def killed_again_and_again(file: Path, kills: int, seed: int, mutant: str = "") -> Sequence[int]:
    """Kill a writer *kills* times; each next one repeats what has no answer. Return the answers."""
    random = Random(seed)  # noqa: S311 (a test is repeatable)
    heard: list[int] = []
    for _ in range(kills):
        begin = heard[-1] + 1 if heard else 1
        heard += acknowledged_until_killed(file, begin, random.randint(1, 12), mutant)
    return heard


def lost_and_doubled(heard: Sequence[int], kept: Sequence[Message]) -> tuple[set[int], int]:
    """Return which answers have no message, and how many messages are there more than once."""
    numbers = [int(each.name or 0) for each in kept]
    return set(heard) - set(numbers), len(numbers) - len(set(numbers))


@pytest.mark.parametrize(
    "kills", [20, pytest.param(1_000, marks=pytest.mark.prove)], ids=["few", "many"]
)
def test_what_was_acknowledged_survives_a_kill(kills: int, tmp_path: Path) -> None:
    """Of a writer that is killed and repeats under the same keys nothing is lost or doubled."""
    file, seed = tmp_path / "memory.db", 20_240_506

    heard = killed_again_and_again(file, kills, seed)
    kept = messages_in(file, "talk")

    assert (set(), 0) == lost_and_doubled(heard, kept), f"seed {seed}"
    assert list(range(1, len(kept) + 1)) == [each.position for each in kept]
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    assert "ok" == connection.pragma("integrity_check")


def test_an_answer_without_a_commit_would_be_noticed(tmp_path: Path) -> None:
    """The mutant: a writer that answers what it did not commit is caught by the same count."""
    file = tmp_path / "memory.db"

    heard = killed_again_and_again(file, 3, 1, mutant="answer before commit")
    lost, _ = lost_and_doubled(heard, messages_in(file, "talk"))

    assert set() != lost
