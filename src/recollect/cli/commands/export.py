"""`recollect export`: write a scope as JSON Lines that can be imported again."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from recollect.cli.options import Target, memory_options, run
from recollect.cli.output import counted, is_ascii_safer, note, progress_bar
from recollect.cli.scope_hints import read_hint
from recollect.cli.store_choice import opened
from recollect.errors import UsageError
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.exporters import Exported, Form
    from recollect.memory.facade import Recollect
    from recollect.records import JsonObject

_EXAMPLE: Final = """
\b
Examples:
  recollect export --scope acme --below --output acme.jsonl
  recollect export --scope ada | recollect import - --store copy.db
  recollect export --scope acme --below --form langgraph > items.jsonl
  recollect export --scope ada --form mcp --output memory.jsonl
"""


@click.command(epilog=_EXAMPLE, short_help="Write a scope as JSON Lines.")
@memory_options(embedder=False)
@click.option("--below", is_flag=True, help="Include the scopes below.")
@click.option(
    "--form",
    type=click.Choice(("records", "langgraph", "mcp")),
    default="records",
    show_default=True,
    help="records: all, exactly; langgraph: items of a store; mcp: the memory server's file.",
)
@click.option("--output", "-o", metavar="FILE", default="-", help="The file; - is standard output.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def export(
    target: Target,
    below: bool,  # noqa: FBT001
    form: Form,
    output: str,
    force: bool,  # noqa: FBT001
) -> None:
    """
    Write all records of a scope as JSON Lines: threads, messages, memories, history.

    --form writes the format of another program, and reports what that format cannot express.

    The output is always JSON Lines. A file appears complete or not at all, readable by its owner
    only.
    """
    if output == "-":
        run(lambda: _export(target, sys.stdout, form, below=below))
        return
    if not force and Path(output).exists():
        raise UsageError(f"{output!r} exists: name another file, or add --force to replace it")
    with whole_file(Path(output)) as file:
        run(lambda: _export(target, file, form, below=below))


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """
    Yield a file that only its owner can read, and that appears complete or not at all.

    Raises:
        UsageError: It cannot be written.
    """
    # A temporary file in the same folder, so that `replace` is atomic.
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # before the rename: a crash must not leave an empty file
        Path(name).replace(path)
    except OSError as error:
        msg = f"{str(path)!r} cannot be written: {error.strerror}; it is unchanged"
        raise UsageError(msg) from error
    finally:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)


async def _export(target: Target, file: TextIO, form: Form, *, below: bool) -> None:
    from recollect.exporters import Exported

    report = Exported()
    async with opened(target) as memory:
        with progress_bar("exporting") as bar:
            async for record in _lines(memory, target, form, report, below=below):
                file.write(json.dumps(record, ensure_ascii=is_ascii_safer(file)) + "\n")
                if report.taken % 1_000 == 0:
                    bar.update(f"exporting: {counted(report.taken, 'record')}", None)
        hint = "" if report.taken else await read_hint(memory, target.scope, below=below)
    told = f"{counted(report.taken, 'record')} of {written_scope(target.scope)}"
    note(f"{told}; {hint}" if hint else told)
    for what, count in report.changed.items():
        note(f"changed: {what}: {count:,}")
    for what, count in report.refused.items():
        note(f"refused: {what}: {count:,}")


def _lines(
    memory: Recollect, target: Target, form: Form, report: Exported, *, below: bool
) -> AsyncIterator[JsonObject]:
    from recollect.exporters import graph_of, items_of, lines_of

    records, now = memory.export(target.scope, below=below), memory.store.now()
    if form == "langgraph":
        return items_of(records, target.scope, report, now=now)
    return graph_of(records, report, now=now) if form == "mcp" else lines_of(records, report)
