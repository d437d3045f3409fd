"""`recollect threads` and `recollect memories`: list the contents of a scope."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

import click

from recollect.cli.layout import minute, place_of_evidence
from recollect.cli.options import MomentOption, Target, limit_option, memory_options, split_address
from recollect.cli.output import counted, note, print_entry, print_json, print_table
from recollect.cli.scope_hints import note_hint, read_hint
from recollect.cli.store_choice import opened, time_now
from recollect.errors import NotFoundError, UsageError
from recollect.memory.pagination import PAGE_ROWS, each_memory, each_thread, scopes_of
from recollect.records import Json, JsonObject, Memory, Message, Revision, Thread
from recollect.text.scope_paths import written_scope
from recollect.wire.elements import time_to_json
from recollect.wire.threads import message_to_json, thread_to_json

_THREADS_EXAMPLE: Final = """
\b
Examples:
  recollect threads --scope acme/users --below
  recollect threads holidays --limit 20
"""
_MEMORIES_EXAMPLE: Final = """
\b
Examples:
  recollect memories --type Fact
  recollect memories User/User
  recollect memories --valid-at 2024-03-01 --where '{"subject": "Ada"}'
"""


@click.command(epilog=_THREADS_EXAMPLE, short_help="List threads, or the messages of one.")
@click.argument("thread", required=False)
@memory_options(embedder=False)
@click.option("--below", is_flag=True, help="Include the scopes below.")
@limit_option()
async def threads(target: Target, thread: str | None, limit: int, below: bool) -> None:  # noqa: FBT001
    """List the threads of a scope; with THREAD, its newest messages."""
    if thread is None:
        await _threads(target, limit, below=below)
    else:
        await _messages(target, thread, limit)


async def _threads(target: Target, limit: int, *, below: bool) -> None:
    found: list[tuple[Thread, Message | None]] = []
    is_more = False
    async with opened(target) as memory:
        now = time_now(memory)
        for scope in await scopes_of(memory, target.scope, below=below):
            async for each in each_thread(memory, scope):
                if is_more := len(found) == limit:
                    break
                newest = await memory.last_messages(scope, each.id, limit=1)
                found.append((each, newest[0] if newest else None))
        hint = "" if found else await read_hint(memory, target.scope, below=below)
    if target.is_json:
        print_json({"threads": [_thread_record(*each, now) for each in found], "is_more": is_more})
        note_hint(hint)
        return
    rows = [
        (
            written_scope(thread.scope),
            thread.id,
            f"{thread.count:,}",
            minute(newest.time) if newest else "",
            _formation(thread),
        )
        for thread, newest in found
    ]
    columns = ("scope", "thread", "messages", "newest (UTC)", "formation")
    if rows:
        print_table(columns, rows, right=("messages",))
    _note_end(hint, len(rows), "thread", is_more=is_more)


def _thread_record(thread: Thread, newest: Message | None, now: datetime) -> dict[str, Json]:
    return {**thread_to_json(thread, now), "newest": time_to_json(newest.time if newest else None)}


def _formation(thread: Thread) -> str:
    if thread.state == "paused":
        return "paused"
    if not thread.pending:
        return "done"
    waiting = f"{thread.waiting:,} waiting"
    return f"{waiting}, failed {thread.attempts} times" if thread.attempts else waiting


async def _messages(target: Target, thread: str, limit: int) -> None:
    async with opened(target) as memory:
        found = await memory.thread(target.scope, thread)
        if found is None:
            raise NotFoundError(
                f"there is no thread {thread!r} in the scope {written_scope(target.scope)!r}: "
                "`recollect threads` lists its threads"
            )
        shown = await memory.last_messages(target.scope, thread, limit=min(limit, PAGE_ROWS))
        now = time_now(memory)
    if target.is_json:
        print_json(
            {
                "thread": _thread_record(found, shown[-1] if shown else None, now),
                "messages": [message_to_json(each) for each in shown],
                "is_more": found.count > len(shown),
            }
        )
        return
    for each in shown:
        who, when = (each.name or each.role, "bold"), (minute(each.time), "")
        print_entry([(f"{each.position}.", ""), when, who, (each.id, "cyan")], each.text, [])
    note(f"the newest {len(shown):,} of {counted(found.count, 'message')}")


@click.command(epilog=_MEMORIES_EXAMPLE, short_help="List memories, or the history of one.")
@click.argument("address", required=False, metavar="[TYPE/KEY]")
@memory_options(embedder=False)
@click.option("--below", is_flag=True, help="Include the scopes below.")
@click.option("--type", "type_", help="Only memories of this type.")
@click.option(
    "--where", "filter_", metavar="JSON", help="Only those whose value meets this filter."
)
@click.option("--valid-at", type=MomentOption(), help="Only those that were true at this time.")
@limit_option()
async def memories(
    target: Target,
    address: str | None,
    below: bool,  # noqa: FBT001
    type_: str | None,
    filter_: str | None,
    valid_at: datetime | None,
    limit: int,
) -> None:
    """List the memories of a scope; with TYPE/KEY, every version of one, with its evidence."""
    if address is not None:
        await _history(target, *split_address(address))
        return
    conditions = None if filter_ is None else read_object(filter_, "--where")
    found: list[Memory] = []
    is_more = False
    async with opened(target) as memory:
        for scope in await scopes_of(memory, target.scope, below=below):
            pages = each_memory(memory, scope, type_, conditions=conditions, valid_at=valid_at)
            async for each in pages:
                if is_more := len(found) == limit:
                    break
                found.append(each)
        if type_ is not None and not found:
            await memory.memories(target.scope, type_=type_, limit=1)  # raises if it is misspelt
        hint = "" if found else await read_hint(memory, target.scope, below=below)
    if target.is_json:
        from recollect.wire.memories import memory_to_json

        print_json({"memories": [memory_to_json(each) for each in found], "is_more": is_more})
        note_hint(hint)
        return
    from recollect.recall.memory_sentences import origin_of

    for each in found:
        place = (f"{each.type}/{each.key}", "bold cyan")
        state = "" if each.state == "active" else each.state
        head = [place, (f"version {each.version}", ""), (state, "bold"), (_validity(each), "dim")]
        print_entry(head, each.text, [(origin_of(each), "dim")])
    _note_end(hint, len(found), "memory", "memories", is_more=is_more)


def read_object(written: str, option: str) -> JsonObject:
    """Parse the JSON object of an option."""
    try:
        value = json.loads(written)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON ({error}): {written!r}") from error
    if not isinstance(value, dict):
        msg = f'{option} must be a JSON object, such as \'{{"city": "Oslo"}}\'; not {written!r}'
        raise UsageError(msg)
    return value


def _validity(memory: Memory | Revision) -> str:
    """Return when a memory is valid, "" if the interval is open at both ends."""
    if memory.valid_from is None and memory.valid_until is None:
        return ""
    return f"true {minute(memory.valid_from) or '…'} – {minute(memory.valid_until) or '…'}"


async def _history(target: Target, type_: str, key: str) -> None:
    async with opened(target) as memory:
        versions = await memory.history(target.scope, type_, key)
    if not versions:
        raise NotFoundError(
            f"there is no memory {type_}/{key} in the scope {written_scope(target.scope)!r}: "
            "`recollect memories` lists its memories"
        )
    from recollect.wire.memories import revision_to_json

    records: list[Json] = [revision_to_json(each) for each in versions]
    if target.is_json:
        print_json({"type": type_, "key": key, "versions": records})
        return
    for each in versions:
        believed = f"believed {minute(each.believed_from)} – {minute(each.believed_until) or 'now'}"
        head = [(f"version {each.version}", "bold"), (believed, ""), (_validity(each), "")]
        foot = [(each.cause, "italic"), (_quotes(each), "dim")]
        print_entry(head, each.text, foot)


def _quotes(revision: Revision) -> str:
    from recollect.stores.field_evidence import each_evidence  # loads the analysis of texts

    found = [
        place_of_evidence(each) + (f" “{each.quote}”" if each.quote else "")
        for each in each_evidence(revision.evidence)
    ]
    return "; ".join(dict.fromkeys(found))


def _note_end(hint: str, count: int, one: str, many: str = "", *, is_more: bool) -> None:
    more = ", and more: raise --limit" if is_more else ""
    note(f"{counted(count, one, many)}{more}{'; ' if hint else ''}{hint}")
