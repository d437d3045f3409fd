"""`recollect erase` and `recollect doctor`: what would go is what goes, and damage is told."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.errors import EXIT_STATUS

ADA = ("users", "ada")
READS_AFTER_S = 0.5
"""Seconds from a question to the reading of its answer, which alone an interrupt breaks off."""


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Fill a store with two threads and memories that rest on them."""
    path = str(tmp_path / "store.db")
    anyio.run(_fill, path)
    return path


def said(id_: str, source: str | None = None) -> recollect.NewMessage:
    """Return a message with the id *id_*."""
    return recollect.NewMessage(role="user", id=id_, text=f"the words of {id_}", source=source)


def resting(*messages: str, thread: str = "a") -> list[recollect.Evidence]:
    """Return evidence of *messages*."""
    return [recollect.Evidence(thread=thread, message=each) for each in messages]


async def _fill(path: str) -> None:
    async with recollect.open(path, embedder="none") as memory:
        await memory.append(ADA, "a", [said("a1", "crm"), said("a2"), said("a3")])
        await memory.append(ADA, "b", [said("b1", "crm")])
        await memory.append((*ADA, "work"), "c", [said("c1")])
        await memory.put(ADA, "Item", "one", {"n": 1}, evidence={"/n": resting("a1")})
        both = {"/n": resting("a1"), "/m": resting("b1", thread="b")}
        await memory.put(ADA, "Item", "both", {"n": 1, "m": 2}, evidence=both)
        await memory.put(ADA, "Item", "two", {"n": 1}, evidence={"/n": resting("a1", "a2")})
        await memory.put(ADA, "Item", "gone", {"n": 1}, evidence={"/n": resting("a3")})
        await memory.put(ADA, "Item", "free", {"n": 1})
        await memory.remove(ADA, "a", ["a3"])


def invoke(store: str, *arguments: str, stdin: str | None = None) -> Result:
    """Run a command on Ada's scope of *store*."""
    environment = {"RECOLLECT_STORE": store, "RECOLLECT_SCOPE": "users/ada", "COLUMNS": "100"}
    return CliRunner(env=environment).invoke(main, list(arguments), input=stdin)


TARGETS: Sequence[tuple[str, str]] = (
    ("--thread a", "2 messages and 3 memories; 1 memory loses what rests on them"),
    ("--thread b", "1 message and 0 memories; 1 memory loses what rests on them"),
    ("--thread a --message a1", "1 message and 1 memory; 2 memories lose what rests on them"),
    ("--thread a --message a3", "0 messages and 1 memory"),
    ("--source crm", "2 messages and 2 memories; 1 memory loses what rests on them"),
    ("--memory Item/free", "0 messages and 1 memory"),
    ("--memory Item/missing", "0 messages and 0 memories"),
    ("--thread missing", "0 messages and 0 memories"),
    ("--everything", "3 messages and 5 memories"),
    ("--everything --below", "4 messages and 5 memories"),
)


@pytest.mark.parametrize(("target", "counts"), TARGETS, ids=[target for target, _ in TARGETS])
def test_what_would_go_is_what_goes(store: str, target: str, counts: str) -> None:
    """The question and the receipt give the same counts."""
    result = invoke(store, "erase", *target.split(), "--table", stdin="y\n")

    assert f"users/ada would lose {counts}. Erase?" in result.stderr
    assert f"erased {counts}\n" in result.stdout
    assert 0 == result.exit_code


def test_no_is_no(store: str) -> None:
    """Nothing is erased, with status 1; an end of input is no as well."""
    before = invoke(store, "export", "--below").stdout

    refused = invoke(store, "erase", "--everything", "--below", stdin="n\n")
    ended = invoke(store, "erase", "--everything", "--below", stdin="")

    assert (1, 1) == (refused.exit_code, ended.exit_code)
    assert before == invoke(store, "export", "--below").stdout


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_no_is_told_in_a_word_where_a_service_counts_as_well(store: str, answer: str) -> None:
    """The store of a service counts usage meanwhile, which must not turn no into a traceback."""
    key = invoke(store, "keys", "create", "app")
    refused = invoke(store, "erase", "--thread", "a", stdin=answer)

    assert 0 == key.exit_code, key.stderr
    assert 1 == refused.exit_code
    assert refused.stderr.endswith("Aborted!\n")
    assert "Traceback" not in refused.output


def test_one_interrupt_ends_the_question(store: str) -> None:
    """Ctrl-C while an answer is awaited, as at any other prompt."""
    command = [sys.executable, "-m", "recollect", "erase", "--thread", "a", "--store", store]
    with subprocess.Popen(
        [*command, "--scope", "users/ada"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    ) as asking:
        assert asking.stderr is not None
        asked = b""
        while not asked.endswith(b"[y/N]:"):
            asked += asking.stderr.read(1)
        time.sleep(READS_AFTER_S)
        asking.send_signal(signal.SIGINT)
        ended = asking.wait(timeout=20)
        told = asking.stderr.read()

    assert 1 == ended
    assert told.endswith(b"Aborted!\n")


def test_the_receipt_says_when_the_bytes_were_gone(store: str) -> None:
    """As JSON, when nobody looks on."""
    receipt = json.loads(invoke(store, "erase", "--thread", "a", "--yes").stdout)

    assert (2, 3, 1) == (receipt["messages"], receipt["memories"], receipt["revised"])
    assert receipt["erased_at"] <= receipt["clean_at"]
    assert b"the words of a1" not in Path(store).read_bytes()


def test_erasing_twice_is_no_failure(store: str) -> None:
    """The second receipt counts nothing."""
    invoke(store, "erase", "--thread", "a", "--yes")

    again = invoke(store, "erase", "--thread", "a", "--yes")

    assert 0 == again.exit_code
    assert 0 == json.loads(again.stdout)["messages"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--thread mising", "no message and no memory of that name was there to erase"),
        ("--thread a --scope users/eda", "the scope 'users/eda' holds nothing; there is something"),
    ],
)
def test_a_receipt_of_nothing_says_so(store: str, arguments: str, told: str) -> None:
    """A misspelt name does not read like an erase that was carried out."""
    finished = invoke(store, "erase", *arguments.split(), "--yes")

    assert 0 == finished.exit_code
    assert told in finished.stderr
    assert 0 == json.loads(finished.stdout)["messages"]


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--thread a --everything",
        "--memory Item/one --source crm",
        "--message a1",
        "--below",
        "--thread a --below",
        "--memory Note",
    ],
)
def test_an_unclear_target_is_refused(store: str, arguments: str) -> None:
    """With status 2, before anything is asked or erased."""
    before = invoke(store, "export", "--below").stdout

    result = invoke(store, "erase", *arguments.split(), "--yes")

    assert 2 == result.exit_code
    assert before == invoke(store, "export", "--below").stdout


def test_doctor_counts_what_the_store_holds(store: str) -> None:
    """And finds nothing wrong with it."""
    document = json.loads(invoke(store, "doctor").stdout)

    assert document["ok"]
    contents = document["contents"]
    assert (2, 3, 4, 5) == tuple(
        contents[name] for name in ("scopes", "threads", "messages", "memories")
    )
    assert 4 == contents["messages_to_be_formed"]
    assert contents["index_bytes"] > 0
    assert "ok" == document["store"]["integrity"]
    assert Path(store).stat().st_size == document["store"]["bytes"]


def test_doctor_leaves_nothing_beside_the_store(store: str) -> None:
    """No log, and no index of one."""
    invoke(store, "doctor")

    beside = sorted(path.name for path in Path(store).parent.iterdir())
    assert [name for name in beside if name.endswith(("-wal", "-shm"))] == []


def test_doctor_finds_a_damaged_file(store: str) -> None:
    """Every page is read; the status is that of a damaged store."""
    path = Path(store)
    content = bytearray(path.read_bytes())
    for page in range(4, len(content) // 4096):
        content[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    path.write_bytes(bytes(content))

    result = invoke(store, "doctor", "--table")

    assert EXIT_STATUS["corrupt"] == result.exit_code
    assert "wrong: " in result.stdout
    assert "restore" in result.stdout


def test_doctor_finds_a_store_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is wrong if it was named, and no more than a note if it was not."""
    monkeypatch.chdir(tmp_path)

    named = invoke(str(tmp_path / "misspelt.db"), "doctor")
    unnamed = CliRunner(env={"RECOLLECT_STORE": None}).invoke(main, ["doctor"])

    assert EXIT_STATUS["not_found"] == named.exit_code
    assert 0 == unnamed.exit_code
    assert "makes one" in json.loads(unnamed.stdout)["notes"][-1]


def test_doctor_finds_a_file_that_is_no_store(tmp_path: Path) -> None:
    """And leaves it as it is."""
    other = tmp_path / "letter.txt"
    other.write_text("dear Ada, " * 100, "utf-8")

    result = invoke(str(other), "doctor")

    assert EXIT_STATUS["corrupt"] == result.exit_code
    assert "dear Ada, " * 100 == other.read_text("utf-8")


def test_doctor_tells_of_bytes_that_wait(store: str) -> None:
    """An erase whose bytes are still in the file is wrong, until they are removed."""
    anyio.run(_erase_without_cleaning, store)

    before = invoke(store, "doctor")
    cleaned = invoke(store, "doctor", "--clean")
    after = invoke(store, "doctor")

    assert (1, 0, 0) == (before.exit_code, cleaned.exit_code, after.exit_code)
    assert "recollect doctor --clean" in json.loads(before.stdout)["problems"][0]["sentence"]
    assert "the bytes of 1 erase were removed" in json.loads(cleaned.stdout)["notes"][-1]


async def _erase_without_cleaning(path: str) -> None:
    async with recollect.open(path, embedder="none") as memory:
        await memory.store.erase(ADA, recollect.EraseThread(thread="a"))


def test_doctor_finds_a_damaged_embedder(store: str, tmp_path: Path) -> None:
    """Its files are compared with what was installed."""
    place = tmp_path / "cache" / "minilm-l6-v2-int8-1"
    place.mkdir(parents=True)
    runner = CliRunner(env={"RECOLLECT_STORE": store, "RECOLLECT_CACHE": str(tmp_path / "cache")})

    result = runner.invoke(main, ["doctor"])
    verified = runner.invoke(main, ["embedder", "verify"])

    assert (5, 5) == (result.exit_code, verified.exit_code)
    assert "recollect embedder install" in json.loads(result.stdout)["problems"][0]["sentence"]


QUOTED = (
    ("user", "My garage code is 4711, tell nobody"),
    ("assistant", "Noted: garage code is 4711"),
)


@pytest.mark.parametrize("together", [True, False])
def test_messages_that_quote_it_are_told_and_erased(store: str, together: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    with recollect.open_sync(store, embedder="none") as memory:
        said, _ = memory.append("ada", "q", [{"role": r, "content": t} for r, t in QUOTED])
    asked = ["--scope", "ada", "--thread", "q", "--message", said.id, "--yes"]
    result = invoke(store, "erase", *asked, *["--quotations"] * together)

    with recollect.open_sync(store, embedder="none") as memory:
        left = [each.text for each in memory.messages("ada", "q").rows]
    assert left == ([] if together else [QUOTED[1][1]])
    assert together != ("1 message still quote it" in result.stderr)


def test_what_merely_resembles_is_told_and_stays(store: str) -> None:
    """Also with --quotations: another fact begins in the same way."""
    with recollect.open_sync(store, embedder="none") as memory:
        for thread, text in {
            "linz": "My brother Tomas lives in Linz now",
            "graz": "My brother Tomas lives in Graz with his wife",
        }.items():
            memory.append("ada", thread, [{"role": "user", "content": text}])

    asked = ["--scope", "ada", "--thread", "linz", "--yes", "--quotations"]
    result = invoke(store, "erase", *asked)

    assert "1 message merely resemble it" in result.stderr
    assert "(graz/" in result.stderr
    with recollect.open_sync(store, embedder="none") as memory:
        assert 1 == len(memory.messages("ada", "graz").rows)
