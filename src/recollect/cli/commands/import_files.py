"""`recollect import`: import conversations from files and Redis, and report every refused row."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import click

from recollect.cli.options import Target, memory_options, run
from recollect.cli.output import Bar, counted, note, print_json, progress_bar, visible
from recollect.cli.store_choice import opened
from recollect.errors import EXIT_STATUS, RecollectError, UsageError
from recollect.records import Json, Scope
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from datetime import tzinfo

    from recollect.importers import FileReport, RedisSelection, Refused
    from recollect.memory.facade import Recollect

REFUSED_SHOWN_MAX: Final = 20
_LOOK_EVERY_S: Final = 0.5
_REDIS: Final = ("redis://", "rediss://", "redis+unix://")
_EXAMPLE: Final = """
\b
Examples:
  recollect import chats.jsonl.gz --scope acme/users/ada
  recollect import locomo10.json --timezone Europe/Berlin
  recollect export --scope ada | recollect import - --store copy.db
  recollect import redis://localhost:6379/0 --match "message_store:*" --sessions-as-scopes
  recollect import claude-code --scope projects/boat

\b
The form of a file is recognised:
  message rows    JSON Lines: conversation_id, message_id, timestamp, speaker, role, text
  LoCoMo          its own JSON: samples with session_1, session_1_date_time and so on
  chats           lists of {"role", "content"}, or {"messages": [...]}, one or a line each
  ChatGPT         its export, as the zip file or its conversations.json: the current branches
  Claude          its export, as the zip file or its conversations.json and memories.json
  Claude Code     its session files; claude-code names those of the folder that you are in
  LangChain       messages as dicts: {"type": "human", "data": {...}}
  mem0            memories, alone, as a list or as {"results": [...], "history": [...]}
  LangGraph       items of a store: {"namespace", "key", "value", ...}, or rows of its table
  MCP             the memory server's file: {"type": "entity" or "relation", ...}, one a line
  Zep, Graphiti   nodes, edges and episodes, one a line or as {"nodes": [...], "edges": [...]}
  exports         what `recollect export` wrote; it goes back to the scopes that it names
  Redis           redis://…: LangChain's RedisChatMessageHistory, AutoChain's RedisMemory

Rows are refused one by one, and the exit status is then 1: everything else is kept. Importing
a file again changes nothing.
"""


@click.command("import", epilog=_EXAMPLE, short_help="Import conversations from files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@memory_options()
@click.option(
    "--timezone",
    metavar="ZONE",
    default="UTC",
    show_default=True,
    help="The zone of times without one: UTC, +08:00, Asia/Shanghai.",
)
@click.option("--thread", help="The thread of a chat.  [default: the file's name]")
@click.option("--match", metavar="PATTERN", help="Redis: only keys like this.  [default: *]")
@click.option(
    "--key-prefix",
    "prefixes",
    metavar="TEXT",
    multiple=True,
    help="Redis: the prefix of a program's keys, if not its default; repeatable.",
)
@click.option(
    "--sessions-as-scopes",
    "as_scopes",
    is_flag=True,
    help="Redis: a scope below --scope for each session, instead of only a thread.",
)
@click.option(
    "--restore-erased",
    is_flag=True,
    help="Also import data erased here, which is otherwise left out and counted.",
)
@click.option("--refused", "refused_file", metavar="FILE", help="Write refused rows to this file.")
@click.option(
    "--no-wait",
    is_flag=True,
    help="Do not wait for vectors: `recollect doctor --embed` computes them.",
)
def import_(
    target: Target,
    files: tuple[str, ...],
    timezone: str,
    thread: str | None,
    match: str | None,
    prefixes: tuple[str, ...],
    as_scopes: bool,  # noqa: FBT001
    restore_erased: bool,  # noqa: FBT001
    refused_file: str | None,
    no_wait: bool,  # noqa: FBT001
) -> None:
    """
    Import conversations from FILEs (plain, .gz, .xz or .zip; - is standard input).

    A FILE may also be the address of a Redis database, which is only read, or claude-code.
    """
    files = tuple(each for file in files for each in _named_files(file))
    from recollect.importers import read_zone
    from recollect.importers.input_files import check_file

    report = ImportProgress(
        target=target, timezone=timezone, zone=read_zone(timezone), thread=thread
    )
    report.restore_erased = restore_erased
    report.selection = selection_of(files, match, prefixes, thread, as_scopes=as_scopes)
    for file in files:
        if not is_redis(file):
            check_file(file)
    with ExitStack() as exit_:
        if refused_file is not None:
            report.refused_to = exit_.enter_context(private_file(refused_file))
        run(lambda: _import(report, files, wait=not no_wait))
    if report.refused_count:
        click.get_current_context().exit(EXIT_STATUS["error"])


def _named_files(file: str) -> list[str]:
    """
    Return the files of an argument: itself, or Claude Code's sessions of this folder.

    Raises:
        NotFoundError: There are no sessions.
    """
    from recollect.importers.claude_code import SOURCE, session_files

    if file != SOURCE or Path(file).exists():
        return [file]
    config = os.environ.get("CLAUDE_CONFIG_DIR")
    return session_files(Path.cwd(), Path(config) if config else Path.home() / ".claude")


def selection_of(
    files: Sequence[str],
    match: str | None,
    prefixes: tuple[str, ...],
    thread: str | None,
    *,
    as_scopes: bool,
) -> RedisSelection:
    """
    Return the selection to read from a Redis database.

    Raises:
        UsageError: Redis options are given, but no file is a Redis database; or one thread is named
            for all sessions.
    """
    from recollect.importers import RedisSelection

    has_redis = any(map(is_redis, files))
    if (match or prefixes or as_scopes) and not has_redis:
        raise UsageError(
            "--match, --key-prefix and --sessions-as-scopes are for Redis: name redis://host:6379/0"
        )
    if thread is not None and has_redis and not as_scopes:
        raise UsageError(
            f"--thread {thread!r} would mix the sessions of Redis, each of which becomes a thread: "
            "leave it out, or add --sessions-as-scopes"
        )
    chosen = RedisSelection(match=match or "*", prefixes=prefixes, as_scopes=as_scopes)
    return chosen if thread is None else replace(chosen, thread=thread)


def is_redis(file: str) -> bool:
    """Return True if *file* is the address of a Redis server."""
    return file.lower().startswith(_REDIS)


@contextmanager
def private_file(path: str) -> Iterator[IO[str]]:
    """Open a file for writing that only its owner can read."""
    try:
        # Created with its mode: `open` and `chmod` would leave it readable for a moment.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise UsageError(f"{path!r} cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        yield file


@dataclass(slots=True, kw_only=True)
class ImportProgress:
    """Reports the progress of each file."""

    target: Target
    timezone: str
    zone: tzinfo
    thread: str | None = None
    selection: RedisSelection | None = None
    restore_erased: bool = False
    files: list[FileReport] = field(default_factory=list)
    refused: list[tuple[str, Refused]] = field(default_factory=list)
    refused_count: int = 0
    refused_to: IO[str] | None = None

    def refuse(self, file: str, refused: Refused) -> None:
        """Record a row that was refused."""
        self.refused_count += 1
        if len(self.refused) < REFUSED_SHOWN_MAX:
            self.refused.append((file, refused))
        if self.refused_to is not None:
            self.refused_to.write(json.dumps(refusal(file, refused)) + "\n")

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that received records."""
        return tuple(dict.fromkeys(scope for each in self.files for scope in each.scopes))


def refusal(file: str, refused: Refused) -> dict[str, Json]:
    """Return a refused row as JSON."""
    return {"file": file, "place": refused.place, "reason": refused.reason}


async def _import(report: ImportProgress, files: Sequence[str], *, wait: bool) -> None:
    async with opened(report.target, create=True) as memory:
        with progress_bar("reading") as bar:
            try:
                for file in files:
                    import_ = _import_redis if is_redis(file) else _import_file
                    await import_(report, memory, file, bar)
            finally:
                _print(report)  # also after an error: stored rows stay stored
        if wait and memory.embedder:
            await settle(memory, report.scopes)


async def _import_redis(report: ImportProgress, memory: Recollect, url: str, bar: Bar) -> None:
    from recollect.importers.redis_keys import ALL, import_redis, name_of

    name = name_of(url)
    report.files.append(
        await import_redis(
            memory,
            report.target.scope,
            url,
            report.selection or ALL,
            restore_erased=report.restore_erased,
            on_refused=lambda refused: report.refuse(name, refused),
            on_stopped=report.files.append,
            progress=lambda rows, fraction: bar.update(f"{name}: {counted(rows, 'row')}", fraction),
        )
    )


async def _import_file(report: ImportProgress, memory: Recollect, file: str, bar: Bar) -> None:
    from recollect.importers import import_file, open_source

    with open_source(file) as source:
        report.files.append(
            await import_file(
                memory,
                report.target.scope,
                source,
                zone=report.zone,
                thread=report.thread,
                restore_erased=report.restore_erased,
                on_refused=lambda refused: report.refuse(file, refused),
                on_stopped=report.files.append,
                progress=lambda rows, fraction: bar.update(
                    f"{source.name}: {counted(rows, 'row')}", fraction
                ),
            )
        )


async def settle(memory: Recollect, scopes: Sequence[Scope]) -> None:
    """Wait until everything in *scopes* is embedded, and show the progress."""
    import anyio

    failure: RecollectError | None = None
    with progress_bar("embedding") as bar:
        for scope in scopes:
            async with anyio.create_task_group() as group:
                group.start_soon(_show_vectors, memory, scope, bar)
                try:
                    await memory.settled(scope)
                except RecollectError as error:  # the group would wrap it in an ExceptionGroup
                    failure = error
                group.cancel_scope.cancel()
            if failure is not None:
                raise failure


async def _show_vectors(memory: Recollect, scope: Scope, bar: Bar) -> None:
    import anyio

    from recollect.stores.change_feed import Cursor

    cursor = Cursor(scope=scope)
    embedded: dict[int, bool] = {}
    while True:
        # Read only the changes since the last poll; a new vector is a change.
        try:
            feed = await memory.store.changes(cursor, embedder=memory.embedder)
        except RecollectError:
            return  # `settled` raises the same error
        cursor = Cursor(scope=scope, seq=feed.seq, epoch=feed.epoch)
        embedded |= {entry.uid: entry.vector is not None for entry in feed.entries}
        done = sum(embedded.values())
        fraction = done / len(embedded) if embedded else None
        bar.update(f"embedding: {done:,} of {len(embedded):,}", fraction)
        await anyio.sleep(_LOOK_EVERY_S)


def _print(report: ImportProgress) -> None:
    if report.target.is_json:
        print_json(
            {
                "scopes": [list(scope) for scope in report.scopes],
                "timezone": report.timezone,
                "files": [_file_record(each) for each in report.files],
                "refused": report.refused_count,
                "refusals": [refusal(*each) for each in report.refused],
            }
        )
    else:
        for each in report.files:
            _print_file(each, report.timezone)
        if report.scopes:
            click.echo(f"in {', '.join(map(written_scope, report.scopes))}")
    _note_refused(report)


def _file_record(found: FileReport) -> dict[str, Json]:
    return {
        "name": found.name,
        "rows": found.rows,
        "taken": found.taken,
        "present": found.present,
        "refused": found.refused,
        "threads": found.threads,
        "zoneless": found.zoneless,
        "undated": found.undated,
        "is_cut": found.is_cut,
        "memories": found.memories,
        "changed": dict(found.changed),
        "erased": found.erased,
        "is_stopped": found.is_stopped,
    }


def _print_file(found: FileReport, timezone: str) -> None:
    click.echo(
        f"{visible(found.name)}: {counted(found.rows, 'row')}: {found.taken:,} new, "
        f"{found.present:,} there already, {found.refused:,} refused; "
        f"{counted(found.threads, 'thread')}"
        + (f", {counted(found.memories, 'new memory', 'new memories')}" if found.memories else "")
    )
    for what, count in found.changed.items():
        click.echo(f"  {what}: {count:,}")
    if found.erased:
        rows = counted(found.erased, "row")
        click.echo(f"  erased here before, and left out: {rows}; --restore-erased brings them back")
    if found.zoneless:
        click.echo(f"  {counted(found.zoneless, 'time')} without a zone: taken to be {timezone}")
    if found.undated:
        click.echo(f"  {counted(found.undated, 'message')} without a time: dated by the store")
    if found.is_cut:
        kept = "what came before was kept" if found.taken + found.present else "nothing was kept"
        click.echo(f"  the file breaks off: {kept}")
    if found.is_stopped:
        click.echo(
            "  stopped by an error: import it again to continue; stored rows are not duplicated"
        )


def _note_refused(report: ImportProgress) -> None:
    for file, refused in report.refused:
        note(f"refused {file}, {refused.place}: {refused.reason}")
    rest = report.refused_count - len(report.refused)
    if rest:
        note(f"and {rest:,} more; --refused FILE writes all")
