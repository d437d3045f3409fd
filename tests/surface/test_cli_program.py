"""The program itself: quick to start, helpful, and silent about nothing."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import recollect
from benchmarks.datasets import DATASETS
from benchmarks.program import SETS
from recollect.cli import main
from recollect.cli import store_choice as opening
from recollect.cli.options import scope_from, split_address
from recollect.errors import EXIT_STATUS, RecollectError, StoreFullError, UsageError
from recollect.text.scope_paths import written_scope

SOURCE = Path(recollect.__file__).parents[1]
HELP_MS_MAX = 250
RUNS = 5
HEAVY = frozenset({"numpy", "apsw", "anyio", "tqdm", "onnxruntime", "Stemmer"})


def environment() -> dict[str, str]:
    """Return this process's environment, with this tree's package and none of our variables."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    return {**ours, "PYTHONPATH": str(SOURCE)}


def run(*arguments: str, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own, in *folder*."""
    return subprocess.run(
        [sys.executable, "-m", "recollect.cli", *arguments],
        cwd=folder,
        env=environment(),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def commands_of(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command below *group*."""
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if isinstance(command, click.Group):
            yield from commands_of(command, *path, word)
        else:
            yield (*path, word)


COMMANDS = tuple(commands_of(main))


def time_ms(*command: str) -> float:
    """Run a command and return its processor time, which other work does not lengthen."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment(), capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1_000


def test_help_comes_quickly() -> None:
    """The best of five takes at most 250 ms more of a processor than starting Python does."""
    bare = [time_ms(sys.executable, "-c", "pass") for _ in range(RUNS)]
    helped = [time_ms(sys.executable, "-m", "recollect.cli", "--help") for _ in range(RUNS)]

    assert min(helped) - min(bare) <= HELP_MS_MAX, (bare, helped)


def test_help_loads_nothing_that_it_does_not_need() -> None:
    """Drivers, numpy and tqdm are loaded by the commands that use them."""
    program = (
        "import sys\n"
        "from recollect.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )

    finished = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in finished.stderr.split()}

    assert frozenset() == HEAVY & loaded


def test_the_version_is_that_of_the_package() -> None:
    """`recollect --version` names it."""
    printed = CliRunner().invoke(main, ["--version"]).stdout

    assert recollect.__version__ in printed


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_in_its_help(words: tuple[str, ...]) -> None:
    """It shows the command in full."""
    printed = CliRunner().invoke(main, [*words, "--help"]).stdout

    assert "Example" in printed
    assert f"  recollect {' '.join(words)}" in printed


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_summary_fits_its_line(words: tuple[str, ...]) -> None:
    """A listing of commands cuts no sentence off."""
    printed = CliRunner().invoke(main, [*words[:-1], "--help"], terminal_width=80).stdout

    assert "..." not in printed.replace("FILE...", "").replace("[ARGS]...", "")


def test_every_set_has_its_benchmark() -> None:
    """The command names exactly the sets that the package knows."""
    assert set(DATASETS) == set(SETS)


@pytest.mark.parametrize("error", [UsageError("no such thing"), StoreFullError("no room left")])
def test_an_error_is_one_sentence_and_its_status(
    error: RecollectError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is that of the error's code."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(opening, "store_file", fail)

    result = CliRunner().invoke(main, ["threads"])

    assert (f"recollect: {error}\n", "") == (result.stderr, result.stdout)
    assert EXIT_STATUS[error.code] == result.exit_code


@pytest.mark.parametrize("command", ["threads", "recall x", "doctor", "import talk.jsonl"])
def test_an_unknown_address_is_told_as_one(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told to make a file of that name."""
    (tmp_path / "talk.jsonl").write_text('{"role": "user", "text": "hello"}\n', "utf-8")
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(main, [*command.split(), "--store", "mysql://me@localhost/x"])

    assert EXIT_STATUS["usage"] == result.exit_code
    assert "has the unknown scheme 'mysql'" in result.stderr


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not one of our errors ends the program with its traceback."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(opening, "store_file", fail)

    result = CliRunner().invoke(main, ["threads"])

    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.parametrize(
    "command", ["recall x", "threads", "memories", "export", "erase --thread t --yes"]
)
def test_reading_makes_no_store(command: str, tmp_path: Path) -> None:
    """A misspelt --store is told, and no file appears."""
    finished = run(*command.split(), "--store", "misspelt.db", folder=tmp_path)

    assert EXIT_STATUS["not_found"] == finished.returncode
    assert "there is no store at 'misspelt.db'" in finished.stderr
    assert [] == list(tmp_path.iterdir())


def test_a_file_of_another_kind_is_left_as_it_is(tmp_path: Path) -> None:
    """It is named, and not changed."""
    other = tmp_path / "letter.txt"
    other.write_text("dear Ada, " * 100, "utf-8")

    finished = run("threads", "--store", "letter.txt", folder=tmp_path)

    assert EXIT_STATUS["corrupt"] == finished.returncode
    assert 1 == finished.stderr.count("\n")
    assert "dear Ada, " * 100 == other.read_text("utf-8")


def test_a_terminal_without_all_characters_is_no_failure(tmp_path: Path) -> None:
    """JSON escapes them, and so does what is printed for people."""
    row = '{"conversation_id": "猫", "message_id": "m", "role": "user", "text": "我养猫"}\n'
    latin = {**environment(), "PYTHONIOENCODING": "latin-1", "RECOLLECT_EMBEDDER": "none"}
    tmp_path.joinpath("talk.jsonl").write_text(row, "utf-8")
    printed = []

    for words in ("import talk.jsonl --json", "export", "threads 猫 --json", "threads 猫 --table"):
        finished = subprocess.run(
            [sys.executable, "-m", "recollect.cli", *words.split()],
            cwd=tmp_path,
            env=latin,
            capture_output=True,
            check=True,
        )
        printed.append(finished.stdout.decode("latin-1"))

    assert "我养猫" == json.loads(printed[1].splitlines()[1])["text"]
    assert "我养猫" == json.loads(printed[2])["messages"][0]["text"]
    assert r"\u732b" in printed[3]


@pytest.mark.parametrize(
    ("written", "segments", "expected"),
    [
        (None, (), ("default",)),
        (None, ("a/b", "ada@example.com"), ("a/b", "ada@example.com")),
        ("acme/users", (), ("acme", "users")),
        ("acme/users", ("ada/1",), ("acme", "users", "ada/1")),
        ("a%2Fb/c%2fd", (), ("a/b", "c/d")),
        ("50%/%252F", (), ("50%", "%2F")),
    ],
)
def test_a_scope_is_read_as_it_is_written(
    written: str | None, segments: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    """Any text can be a segment."""
    assert expected == scope_from(written, segments)


@pytest.mark.parametrize("scope", [("a",), ("a/b", "c"), ("50%", "%2F"), ("%25", "%252F", "猫")])
def test_a_scope_is_written_so_that_it_can_be_read(scope: tuple[str, ...]) -> None:
    """What is printed can be given back."""
    assert scope == scope_from(written_scope(scope), ())


@pytest.mark.parametrize("written", ["", "/", "a//b", "/a", "a/"])
def test_an_empty_segment_is_refused(written: str) -> None:
    """It is not left out in silence: the scope would be another one."""
    with pytest.raises(UsageError, match="empty segment"):
        scope_from(written, ())


@pytest.mark.parametrize("written", ["Fact", "Fact/", "/home", ""])
def test_an_address_needs_type_and_key(written: str) -> None:
    """The error shows how one looks."""
    with pytest.raises(UsageError, match="User/User"):
        split_address(written)


def test_the_environment_gives_store_and_scope(tmp_path: Path) -> None:
    """Options take precedence over it."""
    chosen = {"RECOLLECT_STORE": str(tmp_path / "a.db"), "RECOLLECT_SCOPE": "x/y"}
    runner = CliRunner(env={**chosen, "RECOLLECT_EMBEDDER": "none"})
    row = '{"conversation_id": "c", "message_id": "m", "role": "user", "text": "hello"}\n'

    runner.invoke(main, ["import", "-"], input=row)
    found = runner.invoke(main, ["threads", "--table"])
    elsewhere = runner.invoke(main, ["threads", "--scope", "x", "--table"])

    assert "x/y" in found.stdout
    assert "0 threads" in elsewhere.stderr
