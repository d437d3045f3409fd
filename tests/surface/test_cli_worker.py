"""`recollect worker` as a process: it forms what is due, tells no contents, and ends in time."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

import recollect
from recollect.errors import EXIT_STATUS

SOURCE = Path(recollect.__file__).parents[1]
SCOPES = [("users", f"u{number}") for number in range(6)]
SECRET = "hates rain"
END_S_MAX = 10.0
WAIT_S_MAX = 60.0
# A worker whose model never answers, or only after it was told to end.
WAITING = """
import sys, anyio
from recollect.cli import main
from recollect.cli.commands import worker as working
from recollect.ports import ModelAnswer, ToolCall
from recollect.testing.scripted_model import ScriptedModel

answer_s, grace_s = float(sys.argv.pop(1)), float(sys.argv.pop(1))

async def wait(request):
    print("asked", flush=True)
    await anyio.sleep(answer_s)
    return ToolCall(name="remember_nothing", arguments="{}")

working.opened_model = lambda forming: ScriptedModel(wait)
working.GRACE_S = grace_s
main(prog_name="recollect")
"""


def environment(store: str) -> dict[str, str]:
    """Return this process's environment, with this tree's package and one store."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    paths = [str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    chosen = {"RECOLLECT_STORE": store, "RECOLLECT_EMBEDDER": "none"}
    return {**ours, "PYTHONPATH": os.pathsep.join(paths), **chosen}


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Fill a store with talks of several people, all of them due."""
    path = str(tmp_path / "store.db")
    anyio.run(_fill, path)
    return path


async def _fill(path: str) -> None:
    debounce = recollect.Debounce(quiet_s=0)
    async with recollect.open(path, embedder="none", worker=False) as memory:
        for scope in SCOPES:
            said = [recollect.NewMessage(role="user", text=f"I live in Bergen. My dog {SECRET}.")]
            await memory.append(scope, "talk", said, debounce=debounce)


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Keep the processes that a test starts, and end those that it leaves."""
    processes: list[subprocess.Popen[str]] = []

    def end_all() -> None:
        for each in processes:
            each.kill()

    watch = threading.Timer(WAIT_S_MAX, end_all)
    watch.start()
    yield processes
    watch.cancel()
    for each in processes:
        if each.poll() is None:
            each.kill()
        each.communicate()


def start(started: list[subprocess.Popen[str]], store: str, *words: str) -> subprocess.Popen[str]:
    """Start a Python process over *store*."""
    process = subprocess.Popen(
        [sys.executable, *words],
        env=environment(store),
        cwd=Path(store).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started.append(process)
    return process


def line_of(process: subprocess.Popen[str]) -> str:
    """Return the next line on a process's standard output."""
    assert process.stdout
    return process.stdout.readline()


def notes_in(store: str) -> list[int]:
    """Return how many notes each scope of a store has."""

    async def count() -> list[int]:
        async with recollect.open(store, embedder="none") as memory:
            pages = [await memory.memories(scope, type_="Note") for scope in SCOPES]
            return [len(page.rows) for page in pages]

    return anyio.run(count)


def test_once_forms_what_is_due_and_ends(store: str, started: list[subprocess.Popen[str]]) -> None:
    """A line for each, without anything that was said."""
    words = ("-m", "recollect.cli", "worker", "--model", "rules", "--once")
    process = start(started, store, *words)

    printed, told = process.communicate()

    records = [json.loads(line) for line in printed.splitlines()]
    assert [("formed", {"stored": 2})] * 6 == [(r["end"], r["counts"]) for r in records]
    assert sorted(map(list, SCOPES)) == sorted(record["scope"] for record in records)
    assert SECRET not in printed + told
    assert "Note" not in printed
    assert [1] * 6 == notes_in(store)
    assert 0 == process.returncode


def test_verbose_tells_what_became_of_each(
    store: str, started: list[subprocess.Popen[str]]
) -> None:
    """For people, a line for each memory."""
    words = ("-m", "recollect.cli", "worker", "--model", "rules", "--once", "--verbose", "--table")
    process = start(started, store, *words)

    printed, _ = process.communicate()

    assert 6 == printed.count("    stored User/User")
    assert 6 == printed.count("formed  2 stored")


def test_several_share_a_store(store: str, started: list[subprocess.Popen[str]]) -> None:
    """Each talk is formed once, whoever forms it."""
    words = ("-m", "recollect.cli", "worker", "--model", "rules")
    workers = [start(started, store, *words) for _ in range(2)]
    for each in workers:
        assert each.stderr
        assert "at work" in each.stderr.readline()
    deadline = time.monotonic() + WAIT_S_MAX / 2
    while notes_in(store) != [1] * 6 and time.monotonic() < deadline:
        time.sleep(0.2)

    for each in workers:
        each.send_signal(signal.SIGTERM)
    lines = [line for each in workers for line in each.communicate()[0].splitlines()]

    assert [0, 0] == [each.returncode for each in workers]
    assert [1] * 6 == notes_in(store)
    assert 6 == len([line for line in lines if json.loads(line)["end"] == "formed"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_without_work_ends_at_once(
    store: str, started: list[subprocess.Popen[str]], number: signal.Signals
) -> None:
    """With status 0."""
    process = start(started, store, "-m", "recollect.cli", "worker", "--model", "rules")
    for _ in SCOPES:
        line_of(process)

    began = time.monotonic()
    process.send_signal(number)
    _, told = process.communicate(timeout=END_S_MAX)

    assert time.monotonic() - began < END_S_MAX / 2
    assert "ended after 6 formations" in told
    assert 0 == process.returncode


def test_a_formation_under_way_is_finished(
    store: str, started: list[subprocess.Popen[str]]
) -> None:
    """What the model answers in time is stored before the end; nothing else is begun."""
    words = ("-c", WAITING, "1.0", "7.0", "worker", "--concurrency", "1")
    process = start(started, store, *words)
    assert "asked\n" == line_of(process)

    process.send_signal(signal.SIGTERM)
    printed, _ = process.communicate(timeout=END_S_MAX)

    assert ["formed"] == [json.loads(line)["end"] for line in printed.splitlines()]
    assert 0 == process.returncode


def test_a_formation_that_takes_too_long_is_given_back(
    store: str, started: list[subprocess.Popen[str]]
) -> None:
    """Another worker has it at once, and does not wait for the lease to run out."""
    words = ("-c", WAITING, "1000", "0.5", "worker", "--concurrency", "1")
    process = start(started, store, *words)
    assert "asked\n" == line_of(process)

    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=END_S_MAX)
    took_s = time.monotonic() - began
    once = ("-m", "recollect.cli", "worker", "--model", "rules", "--once")
    printed, _ = start(started, store, *once).communicate()

    assert took_s < END_S_MAX / 2
    assert 0 == process.returncode
    assert 6 == len(printed.splitlines())


def test_a_killed_worker_loses_nothing(store: str, started: list[subprocess.Popen[str]]) -> None:
    """The others form the rest now, and its own when its lease has run out."""
    words = ("-c", WAITING, "1000", "7.0", "worker", "--concurrency", "1")
    process = start(started, store, *words)
    assert "asked\n" == line_of(process)

    process.kill()
    process.wait()
    once = ("-m", "recollect.cli", "worker", "--model", "rules", "--once")
    printed, _ = start(started, store, *once).communicate()

    assert 5 == len(printed.splitlines())
    assert 1 == notes_in(store).count(0)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("", "usage"),
        ("--model rules --concurrency 0", "usage"),
        ("--model rules --store missing.db", "not_found"),
        ("--model nothing", "usage"),
    ],
)
def test_a_worker_that_cannot_work_says_why(
    store: str, started: list[subprocess.Popen[str]], options: str, error: str
) -> None:
    """In one sentence."""
    process = start(started, store, "-m", "recollect.cli", "worker", *options.split())

    printed, told = process.communicate()

    assert EXIT_STATUS[error] == process.returncode
    assert ("", 1) == (printed, told.count("\n"))
