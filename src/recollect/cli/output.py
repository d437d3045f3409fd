"""What commands print: JSON for programs, tables and progress for people, nothing that acts."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TextIO

import click

from recollect.records import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.text import Text

_SPACE: Final = re.compile(r"\s+")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Parts of emoji and of Persian and Indian words, which join what stands beside them.
_JOINERS: Final = "\u200c\u200d"
_SHORT_CHARACTERS: Final = 240
INDENT: Final = 4


def print_json(document: Json) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, ensure_ascii=is_ascii_safer(sys.stdout), indent=2))


def is_ascii_safer(stream: TextIO) -> bool:
    """Say whether *stream* cannot take every character, so that JSON should escape them."""
    return (stream.encoding or "").lower().replace("-", "") != "utf8"


def note(sentence: str) -> None:
    """Tell the person at the terminal something beside the output."""
    click.echo(visible(sentence), err=True)


def visible(text: str) -> str:
    r"""
    Return *text* on one line, with nothing in it that acts on a terminal or hides.

    What was remembered is anybody's text: a control sequence in it must not be obeyed.

    >>> visible("red \x1b[31malert\nnext")
    'red \ufffd[31malert next'
    """
    line = _SPACE.sub(" ", text).strip()
    return "".join(
        "\ufffd" if unicodedata.category(each) in _HIDDEN and each not in _JOINERS else each
        for each in line
    )


def short(text: str, characters: int = _SHORT_CHARACTERS) -> str:
    """
    Return *text* visible, and shortened to about *characters*.

    >>> short("one two three", 9)
    'one two …'
    """
    line = visible(text)
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()} …"


def plain(text: str, style: str = "") -> Text:
    """Return *text* to be printed as it is: brackets in it are no markup."""
    from rich.text import Text

    return Text(visible(text), style=style)


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output or standard error."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print *rows* under the names of *columns*; those in *right* are set to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.show_header = any(columns)
    for column in columns:
        table.add_column(
            plain(column), justify="right" if column in right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(plain("" if cell is None else str(cell)) for cell in row))
    console().print(table)


def print_entry(
    head: Sequence[tuple[str, str]], body: str, foot: Sequence[tuple[str, str]]
) -> None:
    """Print an entry: a line of (text, style) parts, its text below, and a line about it."""
    from rich.padding import Padding
    from rich.text import Text

    printed = console()
    printed.print(Text("  ").join(plain(*part) for part in head if part[0]))
    lines = [plain(short(body))]
    if parts := [plain(*part) for part in foot if part[0]]:
        lines.append(Text("  ").join(parts))
    for line in lines:
        printed.print(Padding(line, (0, 0, 0, INDENT), expand=False))


class Bar(Protocol):
    """A bar that shows how far a piece of work has come."""

    def update(self, description: str, fraction: float | None) -> None:
        """Show *description*, and *fraction* of the bar; ``None`` where that is unknown."""
        ...


class _NoBar:
    def update(self, description: str, fraction: float | None) -> None:
        """Show nothing."""


class _RichBar:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def update(self, description: str, fraction: float | None) -> None:
        self._progress.update(
            self._task,
            description=description,
            total=None if fraction is None else 1.0,
            completed=fraction,
        )


@contextmanager
def progress_bar(description: str) -> Iterator[Bar]:
    """Show a bar on standard error while a terminal is there; it vanishes at the end."""
    if not sys.stderr.isatty():
        yield _NoBar()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        yield _RichBar(progress, progress.add_task(description, total=None))


def counted(count: int, one: str, many: str = "") -> str:
    """
    Return a count with its noun.

    >>> counted(1, "message"), counted(2000, "message"), counted(0, "memory", "memories")
    ('1 message', '2,000 messages', '0 memories')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def cell(value: Json) -> str:
    """Return a value as a table shows it; a list by its length."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return f"{len(value):,}"
    return "-" if value is None else str(value)
