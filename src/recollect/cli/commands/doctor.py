"""`recollect doctor`: check the store, the SQLite library and the embedder."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import click

from recollect import __version__
from recollect.cli.commands.embedder import describe_strength, embedder_record
from recollect.cli.commands.import_files import settle
from recollect.cli.options import DEFAULT_STORE, Target, memory_options, run
from recollect.cli.output import cell, counted, print_json, print_table, progress_bar, visible
from recollect.cli.store_choice import opened, store_file, without_password
from recollect.errors import EXIT_STATUS, RecollectError, StoreUnavailableError
from recollect.installation import install_command
from recollect.memory.pagination import each_thread, scopes_of
from recollect.records import Json
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from recollect.observability.health import TaskHealth
    from recollect.stores.file_state import FileState
    from recollect.stores.plans.erase_targets import EraseReceipt

_EXAMPLE: Final = """
\b
Examples:
  recollect doctor
  recollect doctor --clean --store sqlite:///var/lib/memory.db
  recollect doctor --embed
  recollect doctor --finish-upgrade --store postgresql://me@localhost/memory
  recollect doctor --accept-pages --store memory.db
"""


@dataclass(slots=True, kw_only=True)
class Findings:
    """The findings in sections, and the problems."""

    sections: dict[str, dict[str, Json]] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Code of each problem, and a sentence with its remedy."""
    notes: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        """Return the exit status: that of the first problem."""
        return EXIT_STATUS[self.problems[0][0]] if self.problems else 0


@dataclass(slots=True, kw_only=True)
class Holdings:
    """Counts of a store's contents."""

    scopes: int = 0
    threads: int = 0
    messages: int = 0
    memories: int = 0
    to_be_formed: int = 0
    to_be_embedded: int = 0
    index_bytes: int = 0


@click.command(epilog=_EXAMPLE, short_help="Examine store, library and embedder.")
@memory_options(embedder=False, scope=False)
@click.option("--clean", is_flag=True, help="Remove the bytes of erased data from the file.")
@click.option("--finish-upgrade", is_flag=True, help="Remove what only earlier releases need.")
@click.option(
    "--accept-pages", is_flag=True, help="Accept pages that another program wrote, as they are."
)
@click.option("--embed", is_flag=True, help="Embed entries without a vector.")
def doctor(
    target: Target,
    clean: bool,  # noqa: FBT001
    embed: bool,  # noqa: FBT001
    finish_upgrade: bool,  # noqa: FBT001
    accept_pages: bool,  # noqa: FBT001
) -> None:
    """
    Check the store, the SQLite library and the embedder; report problems and remedies.

    The exit status is 0 if there are no problems. The whole store is read.
    """
    findings = Findings()
    findings.sections["installation"] = {
        "recollect": __version__,
        "python": platform.python_version(),
        "sqlite": _library_version(),
    }
    _examine_embedder(findings)
    if accept_pages:
        _accept_pages(findings, target)
    if finish_upgrade:
        _finish_upgrade(findings, target)
    _examine_store(findings, replace(target, embedder="minilm" if embed else "none"), clean=clean)
    if target.is_json:
        print_json(_as_record(findings))
    else:
        _print(findings)
    click.get_current_context().exit(findings.status)


def _library_version() -> str:
    import apsw

    return apsw.sqlite_lib_version()


def _examine_embedder(findings: Findings) -> None:
    from recollect.embedders.minilm_install import REMEDY, cache_folder, folder, verify

    record = embedder_record()
    findings.sections["embedder"] = record
    place = folder(cache_folder())
    if not place.exists():
        findings.notes.append(f"recall works by words alone; for meaning as well, {REMEDY}")
    elif problems := verify(place):
        sentence = f"the embedder is damaged: {'; '.join(problems)}: {REMEDY} to replace it"
        findings.problems.append(("embedder", sentence))
    elif not record["onnxruntime"]:
        findings.notes.append(f"the embedder needs onnxruntime: {install_command('minilm')}")


def _accept_pages(findings: Findings, target: Target) -> None:
    from recollect.stores.locator import accept_pages

    try:
        count = accept_pages(target.store)
    except RecollectError as error:
        findings.problems.append((error.code, str(error)))
        return
    given = counted(count, "page was given its", "pages were given their")
    findings.notes.append(f"{given} new checksum{'' if count == 1 else 's'}")


def _finish_upgrade(findings: Findings, target: Target) -> None:
    from recollect.stores.locator import finish_upgrade

    try:
        steps = finish_upgrade(target.store)
    except RecollectError as error:
        findings.problems.append((error.code, str(error)))
        return
    findings.notes.append(
        f"{counted(steps, 'step was', 'steps were')} done: earlier releases can no longer open it"
        if steps
        else "the upgrade is finished: there is nothing that only earlier releases need"
    )


def _examine_store(findings: Findings, target: Target, *, clean: bool) -> None:
    file = store_file(target.store)
    section: dict[str, Json] = {"url": without_password(target.store)}
    findings.sections["store"] = section
    if file is not None and not file.exists():
        sentence = f"there is no store at {str(file)!r} yet: `recollect import FILE` makes one"
        if target.store == DEFAULT_STORE:
            findings.notes.append(sentence)
        else:
            findings.problems.append(("not_found", sentence))
        return
    try:
        run(lambda: _examine_contents(findings, target, clean=clean))
    except RecollectError as error:
        findings.problems.append((error.code, str(error)))
    if file is not None:
        # The store is closed by now, so that its write-ahead log is in the file.
        from recollect.stores.locator import examine_file

        _examine_file(findings, section, examine_file(file))


def _examine_file(findings: Findings, section: dict[str, Json], state: FileState) -> None:
    from recollect.stores.file_state import described

    section["file"] = str(state.path.resolve())
    section["bytes"] = state.size_bytes
    section["bytes_beside"] = state.beside_bytes
    section["index_files"] = state.index_files
    section["index_bytes"] = state.index_bytes
    section["schema"] = state.schema
    section["page_checksums"] = state.has_page_checksums
    section["integrity"] = "damaged" if state.damage or state.mismatched else "ok"
    name = repr(str(state.path))
    if state.damage:
        found = [*([described(state.mismatched)] if state.mismatched else ()), *state.damage]
        sentence = f"{name} is damaged ({'; '.join(found)}): restore a backup"
        findings.problems.append(("corrupt", sentence))
    elif state.mismatched:
        sentence = (
            f"{name}: {described(state.mismatched)}, while all rows, indexes and counts agree: "
            "restore a backup; or, if another program wrote to the file, `recollect doctor "
            "--accept-pages` accepts what stands there"
        )
        findings.problems.append(("corrupt", sentence))
    elif not state.has_page_checksums:
        findings.notes.append(
            "its pages have no checksums: `recollect doctor --finish-upgrade` adds them, and "
            "writes all of the file anew"
        )


async def _examine_contents(findings: Findings, target: Target, *, clean: bool) -> None:
    identity = findings.sections["embedder"]
    embedder = str(identity["identity"]) if identity["usable"] else None
    async with opened(target) as memory:
        if memory.embedder:
            await settle(memory, await scopes_of(memory, (), below=True))
        with progress_bar("counting"):
            held = await count_holdings(memory, embedder)
        findings.sections["contents"] = {
            "scopes": held.scopes,
            "threads": held.threads,
            "messages": held.messages,
            "memories": held.memories,
            "messages_to_be_formed": held.to_be_formed,
            "entries_without_a_vector": held.to_be_embedded if embedder else None,
            "index_bytes": held.index_bytes,
        }
        if embedder and held.to_be_embedded:
            waiting = counted(held.to_be_embedded, "entry is", "entries are")
            findings.notes.append(
                f"{waiting} found by words alone so far: `recollect doctor --embed` embeds them"
            )
        if clean:
            await _clean(findings, memory)
        await _examine_strengths(findings, memory)
        await _examine_receipts(findings, memory)
        await _examine_settings(findings, memory)
        await _examine_health(findings, memory)


async def _examine_strengths(findings: Findings, memory: Recollect) -> None:
    """Add the tuned strengths of embedders, if there are any."""
    from recollect.recall.strength import stored_strengths

    kept = await stored_strengths(memory.store)
    if kept:
        findings.sections["strengths"] = {each.embedder: describe_strength(each) for each in kept}


async def _examine_health(findings: Findings, memory: Recollect) -> None:
    """Add the store's latency, the threads due, and the background tasks of this process."""
    due = await memory.store.due_count()
    health = await memory.health()
    findings.sections["health"] = {
        "status": health.status,
        "store_ms": health.store.latency_ms,
        "threads_due": due,
        **{f"task_{each.name}": task_line(each) for each in health.tasks},
    }
    if due:
        findings.notes.append(
            f"{counted(due, 'thread is', 'threads are')} due to be formed: if this does not "
            "shrink, see what the worker or service that forms logs, or its /v1/health"
        )


def task_line(task: TaskHealth) -> str:
    """
    Return the state of a background task in a few words.

    >>> from recollect.observability.health import TaskHealth
    >>> task_line(TaskHealth(name="merging", state="running"))
    'running'
    """
    error = task.last_error
    if task.state != "failing" or error is None:
        return task.state
    failures = counted(task.failures, "failure", "failures")
    return f"{task.state}, {failures} in a row; {error.type}: {error.text}"


async def _clean(findings: Findings, memory: Recollect) -> None:
    try:
        cleaned = await memory.clean()
    except StoreUnavailableError as error:
        findings.problems.append((error.code, str(error)))
    else:
        findings.notes.append(f"the bytes of {counted(len(cleaned), 'erase')} were removed")


async def _examine_receipts(findings: Findings, memory: Recollect) -> None:
    from recollect.wire.erasures import receipt_to_json

    receipts = await memory.receipts()
    unclean = [receipt for receipt in receipts if receipt.clean_at is None]
    findings.sections["erasing"] = {
        "receipts": len(receipts),
        "unclean": [receipt_to_json(receipt) for receipt in unclean],
    }
    findings.problems += [("error", _unclean_sentence(receipt)) for receipt in unclean]


async def _examine_settings(findings: Findings, memory: Recollect) -> None:
    from recollect.formation.scope_types import each_settings, problem_of

    async for settings in each_settings(memory.store):
        if problem := problem_of(settings):
            sentence = f"{written_scope(settings.scope)}: {problem}; others hold in its place"
            findings.problems.append(("usage", sentence))


def _unclean_sentence(receipt: EraseReceipt) -> str:
    return (
        f"the data of the erase {receipt.id} is no longer returned, but its bytes are still in "
        "the file: close other readers of the file and run `recollect doctor --clean`"
    )


async def count_holdings(memory: Recollect, embedder: str | None) -> Holdings:
    """Count the contents of a store, scope by scope, with one scope's index in memory at a time."""
    from recollect.recall.scope_index import ScopeIndex, refreshed
    from recollect.stores.change_feed import Cursor

    held = Holdings()
    for scope in await scopes_of(memory, (), below=True):
        held.scopes += 1
        async for thread in each_thread(memory, scope):
            held.threads += 1
            held.to_be_formed += thread.waiting
        await memory.store.archive(scope)  # reads every row, and so verifies every checksum
        feed = await memory.store.changes(Cursor(scope=scope), embedder=embedder)
        messages = sum(entry.kind == "message" for entry in feed.entries)
        held.messages += messages
        held.memories += len(feed.entries) - messages
        held.to_be_embedded += sum(entry.vector is None for entry in feed.entries)
        held.index_bytes += refreshed(ScopeIndex(scope=scope), feed).size_bytes
    return held


def _as_record(findings: Findings) -> dict[str, Json]:
    return {
        "ok": not findings.problems,
        **findings.sections,
        "problems": [{"code": code, "sentence": said} for code, said in findings.problems],
        "notes": list(findings.notes),
    }


def _print(findings: Findings) -> None:
    rows = list(_rows(findings.sections))
    print_table(("", "", ""), rows)
    for said in findings.notes:
        click.echo(f"note: {visible(said)}")
    for _, said in findings.problems:
        click.echo(f"wrong: {visible(said)}")
    if not findings.problems:
        click.echo("nothing is wrong")


def _rows(sections: Mapping[str, Mapping[str, Json]]) -> Iterator[tuple[str, str, str]]:
    for name, section in sections.items():
        title = name
        for what, value in section.items():
            yield title, what.replace("_", " "), cell(value)
            title = ""
