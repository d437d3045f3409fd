"""The documentation names every command, its examples run, and every error has an exit status."""

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import click
import pytest

from recollect import errors

ROOT = Path(__file__).parents[2]
NO_RUN = "no-run"
# Blocks under each of these names are seen, so that no spelling slips past.
PYTHON_NAMES = ("python", "python3", "py", "pycon")
FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=marks) *$",
    re.MULTILINE | re.DOTALL,
)
# An example that reaches out and hides that it was refused.
SWALLOWED_REFUSAL = """
```python
import socket
try:
    socket.gethostbyname("recollect.invalid")
except RuntimeError:
    pass
```
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced ``python`` block of a page; *line* is that of its first line of code."""

    line: int
    info: str
    body: str

    @property
    def is_run(self) -> bool:
        """Whether a reader is meant to run it."""
        return not self.info.startswith(f"python {NO_RUN}")


def documents() -> list[Path]:
    """Return README.md and every page below docs/."""
    return [ROOT / "README.md", *sorted(ROOT.joinpath("docs").rglob("*.md"))]


def python_blocks(text: str) -> list[Block]:
    """Return the ``python`` blocks of a page, in order, unindented."""
    found = []
    for match in FENCE.finditer(text):
        info = match["info"].strip()
        if info.lower().partition(" ")[0].rstrip(":") not in PYTHON_NAMES:
            continue
        body = re.sub(f"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        line = text.count("\n", 0, match.start("body")) + 1
        found.append(Block(line=line, info=info, body=body))
    return found


def program_of(text: str) -> str:
    """Join the blocks that are run into one program in which each line keeps its number."""
    lines: list[str] = []
    for block in python_blocks(text):
        if block.is_run:
            lines += [""] * (block.line - 1 - len(lines))
            lines += block.body.splitlines()
    return "\n".join(lines) + "\n"


class Pages:
    """What runs pages; see `page_runner.py`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("page_runner.py")), str(ROOT)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, text: str, name: str, folder: Path) -> str:
        """Run the examples of a page in *folder*, as one program; return the traceback, if any."""
        program = folder / f"{Path(name).stem}.py"
        program.write_text(program_of(text), "utf-8")
        working = folder / "working"
        working.mkdir()
        told = folder / "told"
        assert self._process.stdin
        assert self._process.stdout
        print(
            json.dumps([str(program), str(working), str(told)]),
            file=self._process.stdin,
            flush=True,
        )
        status = self._process.stdout.readline()
        return "" if status == "0\n" else told.read_text("utf-8") or "a connection was refused"

    def close(self) -> None:
        """Run no more."""
        self._process.communicate()


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    """Yield what runs the pages of this module."""
    opened = Pages()
    yield opened
    opened.close()


def commands_of(group: click.Group, name: str) -> Iterator[str]:
    """Yield the full name of every command below *group*."""
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if command is None or command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name} {word}")
        else:
            yield f"{name} {word}"


def unnamed(commands: Iterable[str], text: str) -> list[str]:
    """Return those of *commands* that *text* does not name."""
    return [name for name in commands if not re.search(rf"\b{re.escape(name)}(?![\w-])", text)]


def error_classes() -> list[type[errors.RecollectError]]:
    """Return every error class of the package, the base included."""
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [error for error in found if issubclass(error, errors.RecollectError)]


def errors_without_status(classes: Iterable[type], status: Mapping[str, int]) -> list[str]:
    """Say which error classes share another's code or have no row in *status*."""
    found = []
    for error in classes:
        code = vars(error).get("code")
        if code is None:
            found.append(f"{error.__name__} has no code of its own")
        elif code not in status:
            found.append(f"{error.__name__}: {code!r} has no row in EXIT_STATUS")
    return found


def benchmarks_in(text: str) -> set[str]:
    """Return each NAME of `python -m benchmarks NAME` that needs no data from elsewhere."""
    return set(re.findall(r"\bpython -m benchmarks ([a-z][\w-]*)(?![^\n`]*--data)", text))


def test_every_command_is_documented() -> None:
    """README.md or a page of docs/ names each command in full."""
    main = importlib.import_module("recollect.cli").main
    text = "\n".join(path.read_text("utf-8") for path in documents())

    assert unnamed(commands_of(main, "recollect"), text) == []


def test_an_undocumented_command_is_reported() -> None:
    """A command counts as named only in full, and only where a longer one is not meant."""
    inner = click.Group("embedder", commands=[click.Command("install"), click.Command("list")])
    main = click.Group("main", commands=[inner, click.Command("re")])

    found = unnamed(
        commands_of(main, "recollect"), "`recollect embedder list`, `recollect re-embed`"
    )

    assert found == ["recollect embedder install", "recollect re"]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_page_run(pages: Pages, path: Path, tmp_path: Path) -> None:
    """A reader who runs a page's Python blocks from top to bottom sees no error."""
    failure = pages.run(path.read_text("utf-8"), path.name, tmp_path)

    assert failure == ""


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_an_example_that_is_not_run_says_why(path: Path) -> None:
    """A block is left out as ``python no-run: the reason``."""
    blocks = python_blocks(path.read_text("utf-8"))

    assert [block.line for block in blocks if unexplained(block)] == []


def differing_code(page: str, translated: str) -> list[int]:
    """Return the blocks of a page, by number, that its translation has otherwise or not at all."""
    ours, theirs = ([each.body for each in python_blocks(text)] for text in (page, translated))
    return [
        number
        for number, (one, other) in enumerate(zip_longest(ours, theirs), start=1)
        if one != other
    ]


# The programs of the other two speak Chinese.
TRANSLATED = sorted(
    {path.name.removesuffix(".zh.md") for path in ROOT.glob("docs/*.zh.md")}
    - {"tutorial", "concepts"}
)


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_page_has_the_same_code(name: str) -> None:
    """A Chinese page runs the programs of the English one, and each leads to the other."""
    page, translated = (
        ROOT.joinpath("docs", f"{name}{end}.md").read_text("utf-8") for end in ("", ".zh")
    )

    assert differing_code(page, translated) == []
    assert f"[中文]({name}.zh.md)" in page
    assert f"[English]({name}.md)" in translated


def test_a_program_that_a_translation_changed_is_reported() -> None:
    """One line that differs, and one block that is missing."""
    page = "```python\na = 1\n```\n\n```python\nb = 1\n```\n"

    assert differing_code(page, "```python\na = 2\n```\n") == [1, 2]


def unexplained(block: Block) -> bool:
    """Say whether *block* carries words after ``python`` that are no reason for leaving it out."""
    return block.info != "python" and not re.match(rf"python {NO_RUN}: \S", block.info)


@pytest.mark.parametrize(
    "page",
    [
        "A\n```python\nassert 1 == 2\n```\n",
        "A\n\n```python\nkept = 1\n```\n\n```python\nassert kept == 2\n```\n",
        "- A\n\n  ```python\n  if True:\n      raise ValueError\n  ```\n",
        "```python\nimport socket\nsocket.create_connection(('192.0.2.1', 80))\n```\n",
        SWALLOWED_REFUSAL,
    ],
)
def test_a_failing_example_is_reported(pages: Pages, page: str, tmp_path: Path) -> None:
    """The examples are really run, in order, in one namespace, without a network."""
    assert pages.run(page, "made-up.md", tmp_path) != ""


def test_an_example_keeps_its_line(pages: Pages, tmp_path: Path) -> None:
    """A traceback names the line of the page."""
    failure = pages.run("A\n\nB\n```python\n\nraise ValueError\n```\n", "made-up.md", tmp_path)

    assert 'made-up.py", line 6' in failure


def test_examples_that_are_not_meant_to_run_are_left_out(pages: Pages, tmp_path: Path) -> None:
    """Other languages and blocks marked no-run are skipped."""
    page = "```sh\nfalse\n```\n```python no-run: needs a server\nraise ValueError\n```\n"

    assert pages.run(page, "made-up.md", tmp_path) == ""


@pytest.mark.parametrize(
    "info", ["python no-run", "python no-run:", "python norun: x", "python x", "py", "Python"]
)
def test_a_missing_reason_is_reported(info: str) -> None:
    """A block is called python; it is left out for a reason, or it is run."""
    (block,) = python_blocks(f"```{info}\npass\n```\n")

    assert unexplained(block)


def test_every_error_has_an_exit_status() -> None:
    """Each error class has a code of its own, and the code has a row in the table."""
    assert errors_without_status(error_classes(), errors.EXIT_STATUS) == []


def test_every_exit_status_belongs_to_an_error() -> None:
    """The table has no row that no error uses, and no row says success."""
    codes = {error.code for error in error_classes()}

    assert codes == {code for code, status in errors.EXIT_STATUS.items() if status > 0}


def test_an_error_without_exit_status_is_reported() -> None:
    """A class without its own code, and one whose code has no row, are seen."""
    borrowed = type("BorrowedError", (Exception,), {})
    unlisted = type("UnlistedError", (Exception,), {"code": "unlisted"})
    listed = type("ListedError", (Exception,), {"code": "listed"})

    found = errors_without_status([borrowed, unlisted, listed], {"listed": 1})

    assert len(found) == 2


README_LINES_MAX = 150


def lost_links(text: str) -> list[str]:
    """Return the files of the project that a page links to, or shows, and that are not there."""
    named = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    return [each for each in named if not (ROOT / each).exists()]


def test_the_readme_is_short_and_leads_somewhere() -> None:
    """A stranger reads it in minutes; each link and picture is there."""
    text = ROOT.joinpath("README.md").read_text("utf-8")

    assert len(text.splitlines()) <= README_LINES_MAX
    assert lost_links(text) == []
    assert "docs/pictures/page.png" in text


def lost_tests(text: str) -> list[str]:
    """Return the tests that a page names and that are not there."""
    return [each for each in re.findall(r"tests/[\w/]+\.py", text) if not (ROOT / each).exists()]


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_a_page_names_tests_and_files_that_are_there(page: Path) -> None:
    """What is promised by naming a test leads to it, and so does each link between pages."""
    text = page.read_text("utf-8")
    named = re.findall(r"\]\((?!http)([^)#:]+)(?:#[^)]*)?\)", text)

    assert lost_tests(text) == []
    assert [each for each in named if not (page.parent / each).exists()] == []


def test_a_lost_test_is_reported() -> None:
    assert lost_tests("`tests/structure/test_docs.py`, tests/unit/lost.py") == [
        "tests/unit/lost.py"
    ]


def test_a_lost_link_is_reported() -> None:
    """A page that was renamed, and a picture that was not made; no address elsewhere."""
    page = (
        "[a](docs/lost.md#part) ![b](docs/pictures/lost.png) [c](https://example.org) [d](LICENSE)"
    )

    assert lost_links(page) == ["docs/lost.md", "docs/pictures/lost.png"]


def test_prove_runs_the_benchmarks_that_are_documented() -> None:
    """The Makefile's BENCHMARKS and the commands in docs/benchmarks*.md are the same."""
    makefile = ROOT.joinpath("Makefile").read_text("utf-8")
    (listed,) = re.findall(r"^BENCHMARKS :=(.*)$", makefile, re.MULTILINE)
    pages = sorted(ROOT.joinpath("docs").glob("benchmarks*.md"))

    assert len(pages) > 1
    assert benchmarks_in("\n".join(page.read_text("utf-8") for page in pages)) == set(
        listed.split()
    )


def test_benchmark_commands_are_found() -> None:
    """Each benchmark is found once, whatever follows its name."""
    command = "python -m benchmarks"
    text = f"`{command} recall`, `{command} stores --full`, {command} recall"

    assert benchmarks_in(text) == {"recall", "stores"}
