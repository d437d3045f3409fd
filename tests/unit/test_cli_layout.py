"""Text is laid out by what it takes on a terminal, and nothing of it is lost."""

import io
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.cli.layout import fitted, fold, width_of
from recollect.cli.output import print_entry, print_line, print_table

READ_TIMEOUT_S = 60
TEXTS = st.text("ab 9-，。（奥斯陆\u0301\u200d👍", max_size=40)
PROGRAM = """
from recollect.cli.output import print_line, progress_bar
with progress_bar("looking") as bar:
    bar.update("half", 0.5)
    bar.update("more \\x1b[31m", None)
print_line(("red \\x1b[31malert", "bold cyan"))
"""


def lines_of(text: str, width: int) -> list[str]:
    """Return the lines into which *text* is folded."""
    return [text[start:end] for start, end in fold(text, width)]


@given(TEXTS, st.integers(2, 20))
def test_folding_loses_nothing_but_spaces(text: str, width: int) -> None:
    """Every other character stands on some line, once and in its order."""
    assert text.replace(" ", "") == "".join(lines_of(text, width)).replace(" ", "")


@given(TEXTS, st.integers(2, 20))
def test_no_line_is_wider_than_asked(text: str, width: int) -> None:
    """In columns of a terminal, which are not characters."""
    assert all(width_of(line) <= width for line in lines_of(text, width))


def test_chinese_is_folded_between_characters() -> None:
    """A closing mark begins no line, and an opening one ends none."""
    assert ["我们搬到", "奥斯陆，", "（五月）"] == lines_of("我们搬到奥斯陆，（五月）", 8)
    assert ["我们搬", "到奥斯", "陆，", "（五", "月）"] == lines_of("我们搬到奥斯陆，（五月）", 7)


def test_columns_share_what_there_is() -> None:
    """Those that are narrow keep what they need."""
    assert [6, 30, 8] == fitted([6, 90, 8], 44)


def test_a_table_aligns_wide_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows a Chinese cell stands where it stands below an English one."""
    monkeypatch.setenv("COLUMNS", "40")

    print_table(("city", "count"), [("奥斯陆", 1), ("Oslo", 1_000)], right=("count",))

    head, rule, *rows = capsys.readouterr().out.splitlines()
    assert ["city     count", "奥斯陆       1", "Oslo      1000"] == [head, *rows]
    assert width_of(head) == len(rule)


def test_a_table_is_as_wide_as_the_terminal_at_most(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells are folded, and hold all of their text."""
    monkeypatch.setenv("COLUMNS", "30")

    print_table(("a", "b"), [("one two three four five six", "搬到奥斯陆搬到奥斯陆搬到奥斯陆")])

    printed = capsys.readouterr().out
    assert max(map(width_of, printed.splitlines())) <= 30
    assert all(word in printed for word in ("one", "two", "three", "four", "five", "six"))
    assert 3 == printed.count("斯")


def test_a_pipe_gets_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    """And brackets are no markup."""
    print_entry([("[bold]a[/bold]", "bold cyan")], "b", [("c", "dim")])

    assert "[bold]a[/bold]\n    b\n    c\n" == capsys.readouterr().out


class Terminal(io.StringIO):
    """A terminal that takes what is printed."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


@pytest.mark.parametrize(
    ("name", "value", "is_coloured"),
    [("TERM", "xterm", True), ("TERM", "dumb", False), ("NO_COLOR", "1", False)],
)
def test_colours_are_for_terminals_that_want_them(
    name: str, value: str, *, is_coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NO_COLOR turns them off, and so does a terminal that knows none."""
    terminal = Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", terminal)

    print_line(("red", "bold cyan"))

    assert is_coloured == ("\x1b[" in terminal.getvalue())


def shown_at_a_terminal(program: str, environment: Mapping[str, str]) -> str:
    """Run *program* at a pseudo-terminal, and return all that it wrote there."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environment}
    )
    os.close(theirs)
    written = b""
    end = time.monotonic() + READ_TIMEOUT_S
    while select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # Linux says so that the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    assert 0 == process.wait(READ_TIMEOUT_S), written
    return written.decode()


def test_a_bar_vanishes_and_says_nothing_that_acts() -> None:
    """It is overwritten with spaces; a control sequence in its description is none any more."""
    source = str(Path(recollect.__file__).parents[1])
    written = shown_at_a_terminal(PROGRAM, {"PYTHONPATH": source, "TERM": "xterm", "NO_COLOR": "1"})

    bar, _, after = written.rpartition("\r  ")
    assert "looking" in bar
    assert "more \ufffd[31m" in bar
    assert "red \ufffd[31malert" in after
    assert "\x1b[31m" not in written
