"""Output of commands: JSON for programs, sanitised tables and progress for people."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TextIO, TypeAlias

import click

from recollect.cli.layout import Span, fitted, fold, width_of
from recollect.records import Json

if TYPE_CHECKING:
    from tqdm import tqdm

Part: TypeAlias = tuple[str, str]
"""A text and its style, one of `_STYLES`, or none."""

_SPACE: Final = re.compile(r"\s+")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of control and invisible characters, which a terminal may interpret."""
# Joiners are parts of emoji and of Persian and Indic words.
_JOINERS: Final = "\u200c\u200d"
_SHORT_CHARACTERS: Final = 240
INDENT: Final = 4
_GAP: Final = "   "
_STYLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "bold": {"bold": True},
    "dim": {"dim": True},
    "italic": {"italic": True},
    "cyan": {"fg": "cyan"},
    "bold cyan": {"bold": True, "fg": "cyan"},
}
_NO_FRACTION: Final = "{desc}  {elapsed}"
_FRACTION: Final = "{desc} {bar:40} {elapsed}"


def print_json(document: Json) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, ensure_ascii=is_ascii_safer(sys.stdout), indent=2))


def is_ascii_safer(stream: TextIO) -> bool:
    """Return True if *stream* cannot take every character, so that JSON should escape them."""
    return (stream.encoding or "").lower().replace("-", "") != "utf8"


def program_name() -> str:
    """
    Return the name under which this program can be called again, for commands to copy.

    In a clone it is called by its path, because the environment's folder is not searched.
    """
    called = sys.argv[0]
    is_path_needed = Path(called).name == "recollect" and shutil.which("recollect") is None
    return shlex.quote(called) if is_path_needed else "recollect"


def note(sentence: str) -> None:
    """Print a notice to standard error."""
    click.echo(visible(sentence), err=True)


def confirm(question: str) -> None:
    """
    Ask on standard error, and go on if the answer is yes.

    Raises:
        click.Abort: The answer is no, the input ends, or Ctrl-C is pressed.
    """
    with _keyboard_interrupt():
        click.confirm(question, abort=True, err=True)


@contextmanager
def _keyboard_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise at once: asyncio's handler waits for the task that reads the answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def visible(text: str) -> str:
    r"""
    Return *text* on one line, without control or invisible characters.

    Stored text is untrusted: the terminal must not interpret control sequences in it.

    >>> visible("red \x1b[31malert\nnext")
    'red \ufffd[31malert next'
    """
    return without_hidden(_SPACE.sub(" ", text).strip(), _JOINERS)


def without_hidden(text: str, kept: str) -> str:
    """Return *text* with control and invisible characters replaced, except those in *kept*."""
    # A replacement, not a removal: the reader should see that something was there.
    return "".join(
        "\ufffd" if unicodedata.category(each) in _HIDDEN and each not in kept else each
        for each in text
    )


def short(text: str, characters: int = _SHORT_CHARACTERS) -> str:
    """
    Return *text* visible, and shortened to about *characters*.

    >>> short("one two three", 9)
    'one two …'
    """
    line = visible(text)
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()} …"


def print_line(
    *parts: Part, indent: int = 0, is_folded: bool = True, to_stderr: bool = False
) -> None:
    """Print (text, style) parts after one another, folded at the terminal's width."""
    stream = sys.stderr if to_stderr else sys.stdout
    for line in _folded(parts, _columns() - indent if is_folded else None):
        click.echo(" " * indent + _styled(line, stream), err=to_stderr)


def print_labelled(label: str, part: Part, *, label_width: int) -> None:
    """Print a part with a label on its left, right-aligned in *label_width* columns."""
    first, *rest = _folded([part], _columns() - label_width - 1)
    shown = visible(label)
    space = " " * (label_width - width_of(shown))
    click.echo(f"{space}{_styled([(shown, 'dim')], sys.stdout)} {_styled(first, sys.stdout)}")
    for line in rest:
        click.echo(" " * (label_width + 1) + _styled(line, sys.stdout))


def print_title(title: str) -> None:
    """Print a title, with a rule up to the terminal's width."""
    shown = visible(title)
    rule = _rule(sys.stdout) * (_columns() - width_of(shown) - 1)
    click.echo(_styled([(shown, "bold"), (" ", ""), (rule, "dim")], sys.stdout))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """Print *rows* under the names of *columns*; those in *right* are right-aligned."""
    names = [visible(column) for column in columns]
    cells = [[visible("" if cell is None else str(cell)) for cell in row] for row in rows]
    natural = [max(map(width_of, column)) for column in zip(names, *cells, strict=True)]
    widths = fitted(natural, _columns() - len(_GAP) * (len(names) - 1))
    sides = [column in right for column in columns]
    if any(columns):
        _print_row(names, widths, sides, style="bold")
        click.echo(_rule(sys.stdout) * (sum(widths) + len(_GAP) * (len(widths) - 1)))
    for row in cells:
        _print_row(row, widths, sides)


def _print_row(
    row: Sequence[str], widths: Sequence[int], sides: Sequence[bool], style: str = ""
) -> None:
    folded = [
        [text[start:end] for start, end in fold(text, width)]
        for text, width in zip(row, widths, strict=True)
    ]
    for line in zip_longest(*folded, fillvalue=""):
        placed = [_placed(*cell) for cell in zip(line, widths, sides, strict=True)]
        click.echo(_styled([(_GAP.join(placed).rstrip(), style)], sys.stdout))


def _placed(text: str, width: int, is_right: bool) -> str:  # noqa: FBT001
    space = " " * (width - width_of(text))
    return space + text if is_right else text + space


def print_entry(head: Sequence[Part], body: str, foot: Sequence[Part]) -> None:
    """Print an entry: a head of (text, style) parts, its text below, and a foot."""
    print_line(*_spaced(head))
    print_line((short(body), ""), indent=INDENT)
    if parts := _spaced(foot):
        print_line(*parts, indent=INDENT)


def _spaced(parts: Sequence[Part]) -> list[Part]:
    """Return the non-empty *parts*, separated by two spaces."""
    shown = [part for part in parts if part[0]]
    return [each for part in shown for each in (("  ", ""), part)][1:]


def _folded(parts: Sequence[Part], width: int | None) -> list[list[Part]]:
    """Fold *parts* into visible lines of at most *width* columns."""
    shown = [(_visible_part(text), style) for text, style in parts]
    joined = "".join(text for text, _ in shown)
    spans = [(0, len(joined))] if width is None else fold(joined, max(width, 1))
    return [_parts_in(shown, span) for span in spans]


def _visible_part(text: str) -> str:
    """Return *text* visible, keeping the spaces before it."""
    spaces = text[: len(text) - len(text.lstrip(" "))]
    return spaces + visible(text)


def _parts_in(parts: Sequence[Part], span: Span) -> list[Part]:
    found: list[Part] = []
    at = 0
    for text, style in parts:
        piece = text[max(span[0] - at, 0) : max(span[1] - at, 0)]
        at += len(text)
        if piece:
            found.append((piece, style))
    return found


def _styled(parts: Sequence[Part], stream: TextIO) -> str:
    """Return *parts* with colours if *stream* is a terminal and NO_COLOR is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "".join(text for text, _ in parts)
    return "".join(click.style(text, **_STYLES[style]) if style else text for text, style in parts)


def _rule(stream: TextIO) -> str:
    """Return the character for rules, as *stream*'s encoding allows."""
    return "-" if is_ascii_safer(stream) else "─"


def _columns() -> int:
    """Return the width of the terminal; for a pipe $COLUMNS, or 80."""
    return shutil.get_terminal_size().columns


class Bar(Protocol):
    """A progress bar."""

    def update(self, description: str, fraction: float | None) -> None:
        """Show *description* and *fraction*; ``None`` if the fraction is unknown."""
        ...


class _NoBar:
    def update(self, description: str, fraction: float | None) -> None:
        """Show nothing."""


class _TerminalBar:
    def __init__(self, bar: tqdm[NoReturn]) -> None:
        self._bar = bar

    def update(self, description: str, fraction: float | None) -> None:
        self._bar.set_description_str(visible(description), refresh=False)
        if fraction is None:
            self._bar.bar_format = _NO_FRACTION
            self._bar.refresh()
        else:
            self._bar.bar_format = _FRACTION
            self._bar.update(fraction - self._bar.n)  # draws ten times a second at most


@contextmanager
def progress_bar(description: str) -> Iterator[Bar]:
    """Show a bar on standard error if it is a terminal, and remove it at the end."""
    if not sys.stderr.isatty():
        yield _NoBar()
        return
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread that outlives the bar
    with tqdm(
        desc=visible(description),
        total=1.0,
        miniters=0,
        leave=False,
        dynamic_ncols=True,
        bar_format=_NO_FRACTION,
        ascii=" -" if is_ascii_safer(sys.stderr) else " ━",
    ) as bar:
        yield _TerminalBar(bar)


def counted(count: int, one: str, many: str = "") -> str:
    """
    Return a count with its noun.

    >>> counted(1, "message"), counted(2000, "message"), counted(0, "memory", "memories")
    ('1 message', '2,000 messages', '0 memories')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def cell(value: Json) -> str:
    """Format a value for a table; a list as its length."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return f"{len(value):,}"
    return "-" if value is None else str(value)
