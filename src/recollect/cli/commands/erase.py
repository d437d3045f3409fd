"""`recollect erase`: shows what would go, asks, erases, and prints the receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import Target, memory_options, split_address, written_scope
from recollect.cli.output import counted, note, print_json
from recollect.cli.store_choice import opened, run
from recollect.errors import UsageError
from recollect.memory.pagination import each_memory, each_message, each_thread, scopes_of
from recollect.records import Evidence, Memory, Scope
from recollect.stores.remainder import MEMORY_THREAD, remainder_of, version_name
from recollect.wire.elements import time_to_json

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from recollect.stores.plans.erase_targets import EraseReceipt, EraseTarget

_EXAMPLE: Final = """
\b
Examples:
  recollect erase --thread holidays
  recollect erase --thread holidays --message m17 --message m18 --yes
  recollect erase --memory Fact/home
  recollect erase --source crm-import
  recollect erase --everything --below --scope acme/users/ada
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The counts of records that an erase would remove, as in its receipt."""

    messages: int = 0
    memories: int = 0
    revised: int = 0

    def __str__(self) -> str:
        """Return it in words."""
        words = (
            f"{counted(self.messages, 'message')} and "
            f"{counted(self.memories, 'memory', 'memories')}"
        )
        if self.revised:
            lose = "loses" if self.revised == 1 else "lose"
            words += f"; {counted(self.revised, 'memory', 'memories')} {lose} what rests on them"
        return words


@click.command(epilog=_EXAMPLE, short_help="Erase something everywhere, with a receipt.")
@memory_options(embedder=False)
@click.option("--thread", help="A thread with its messages.")
@click.option("--message", "messages", multiple=True, help="Messages of --thread; repeatable.")
@click.option("--memory", "address", metavar="TYPE/KEY", help="One memory with its history.")
@click.option("--source", help="All messages that came from one source.")
@click.option("--everything", is_flag=True, help="All that the scope holds.")
@click.option("--below", is_flag=True, help="With --everything: the scopes below as well.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(
    target: Target,
    thread: str | None,
    messages: tuple[str, ...],
    address: str | None,
    source: str | None,
    everything: bool,  # noqa: FBT001
    below: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
) -> None:
    """
    Erase data, and what is derived from it alone, from values, history, index and file.

    It shows what would be removed and asks first. The receipt's clean_at is when the bytes were
    gone from the file as well.
    """
    from recollect.stores.plans.erase_targets import (
        EraseMemory,
        EraseMessages,
        EraseScope,
        EraseSource,
        EraseThread,
    )

    chosen: list[EraseTarget] = []
    if thread is not None:
        chosen.append(
            EraseMessages(thread=thread, messages=messages)
            if messages
            else EraseThread(thread=thread)
        )
    elif messages:
        msg = "--message needs the --thread that holds the message"
        raise UsageError(msg)
    if address is not None:
        type_, key = split_address(address)
        chosen.append(EraseMemory(type=type_, key=key))
    if source is not None:
        chosen.append(EraseSource(source=source))
    if everything:
        chosen.append(EraseScope(below=below))
    if len(chosen) != 1 or (below and not everything):
        msg = (
            "say what to erase with exactly one of --thread, --memory, --source and "
            "--everything (to which --below may be added)"
        )
        raise UsageError(msg)
    run(lambda: _erase(target, chosen[0], is_confirmed=yes))


async def _erase(target: Target, what: EraseTarget, *, is_confirmed: bool) -> None:
    async with opened(target) as memory:
        if not is_confirmed:
            preview = await preview_of(memory, target.scope, what)
            place = written_scope(target.scope)
            click.confirm(f"{place} would lose {preview}. Erase?", abort=True, err=True)
        receipt = await memory.erase(target.scope, what)
    if target.is_json:
        from recollect.wire.erasures import receipt_to_json

        print_json(receipt_to_json(receipt))
    else:
        print_receipt(receipt)
    if receipt.clean_at is None:
        note(
            "its bytes are still in the file, because it is being read or cleaning failed: "
            "`recollect doctor --clean` removes them, or says why it cannot"
        )


def print_receipt(receipt: EraseReceipt) -> None:
    """Print a receipt in words."""
    went = Preview(messages=receipt.messages, memories=receipt.memories, revised=receipt.revised)
    click.echo(f"erased {went}")
    click.echo(f"receipt {receipt.id}, erased at {time_to_json(receipt.erased_at)}")
    click.echo(f"bytes gone at {time_to_json(receipt.clean_at) or 'not yet'}")


async def preview_of(memory: Recollect, scope: Scope, what: EraseTarget) -> Preview:
    """Return what erasing *what* would remove."""
    from recollect.stores.plans.erase_targets import EraseMemory, EraseScope

    if isinstance(what, EraseScope):
        return await _preview_scopes(memory, await scopes_of(memory, scope, below=what.below))
    known = [each async for each in each_memory(memory, scope)]
    gone = await messages_of(memory, scope, what)
    fates = fates_of(known, gone, what)
    if isinstance(what, EraseMemory):
        return Preview(memories=fates.count("goes"), revised=fates.count("loses something"))
    return Preview(
        messages=len(gone), memories=fates.count("goes"), revised=fates.count("loses something")
    )


async def _preview_scopes(memory: Recollect, scopes: Iterable[Scope]) -> Preview:
    messages = memories = 0
    for scope in scopes:
        messages += sum([each.count async for each in each_thread(memory, scope)])
        memories += len([each async for each in each_memory(memory, scope)])
    return Preview(messages=messages, memories=memories)


async def messages_of(memory: Recollect, scope: Scope, what: EraseTarget) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs of the messages that *what* names."""
    from recollect.stores.plans.erase_targets import EraseMessages, EraseSource, EraseThread

    if isinstance(what, EraseSource):
        return {
            (thread.id, message.id)
            async for thread in each_thread(memory, scope)
            async for message in each_message(memory, scope, thread.id)
            if message.source == what.source
        }
    if not isinstance(what, EraseThread | EraseMessages):
        return set()
    named = set(what.messages) if isinstance(what, EraseMessages) else None
    return {
        (what.thread, message.id)
        async for message in each_message(memory, scope, what.thread)
        if named is None or message.id in named
    }


def fates_of(
    memories: Sequence[Memory], gone: AbstractSet[tuple[str, str]], what: EraseTarget
) -> list[str]:
    """Return the effect on each memory, including derived ones."""
    erased = set(gone)
    while True:
        fates = [fate_of(each, erased, what) for each in memories]
        lost = {
            (MEMORY_THREAD, version_name(memory.type, memory.key, version))
            for memory, fate in zip(memories, fates, strict=True)
            if fate not in {"stays", "loses evidence"}
            for version in range(1 if fate == "goes" else memory.version, memory.version + 1)
        }
        if lost <= erased:
            return [each.replace("evidence", "something") for each in fates]
        erased |= lost


def fate_of(memory: Memory, gone: AbstractSet[tuple[str, str]], what: EraseTarget) -> str:
    """Return the effect on a memory of erasing *what*, when *gone* is removed with it."""
    from recollect.stores.plans.erase_targets import EraseMemory

    if isinstance(what, EraseMemory) and (what.type, what.key) == (memory.type, memory.key):
        return "goes"
    evidence = {
        pointer: tuple((each.thread, each.message, each.quote, each.group) for each in found)
        for pointer, found in memory.evidence.items()
    }
    erased = {
        (each.thread, each.message)
        for found in memory.evidence.values()
        for each in found
        if (each.thread, each.message) in gone or _is_named(each, what)
    }
    if not erased:
        return "stays"
    left = remainder_of(memory.value, evidence, erased)
    if left is None:
        return "goes"
    return "loses evidence" if left.value == memory.value else "loses something"


def _is_named(cited: Evidence, what: EraseTarget) -> bool:
    """Return True if *what* names a finding, or a message, even one that is no longer there."""
    from recollect.stores.plans.erase_targets import EraseMessages, EraseSource, EraseThread

    if isinstance(what, EraseSource):
        return cited.source == what.source
    if isinstance(what, EraseMessages):
        return cited.thread == what.thread and cited.message in what.messages
    return isinstance(what, EraseThread) and cited.thread == what.thread
