"""`recollect erase`: preview, confirm and erase data, and print the receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import Target, memory_options, split_address
from recollect.cli.output import confirm, counted, note, print_json
from recollect.cli.scope_hints import read_hint
from recollect.cli.store_choice import opened
from recollect.errors import UsageError
from recollect.text.scope_paths import written_scope
from recollect.wire.elements import time_to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.stores.plans.erase_targets import EraseReceipt, EraseTarget
    from recollect.stores.plans.quotations import Quotation

QUOTING_NAMED_MAX: Final = 5
"""Messages that quote erased words and are named in a note."""

NOTHING_ERASED: Final = (
    "no message and no memory of that name was there to erase: `recollect threads` and "
    "`recollect memories` list what there is"
)
"""A note for a receipt of nothing, which otherwise reads like a success."""

_EXAMPLE: Final = """
\b
Examples:
  recollect erase --thread holidays
  recollect erase --thread holidays --message m17 --message m18 --yes
  recollect erase --memory Fact/home
  recollect erase --thread holidays --message m17 --quotations
  recollect erase --source crm-import
  recollect erase --everything --below --scope acme/users/ada
"""


@click.command(epilog=_EXAMPLE, short_help="Erase data everywhere, with a receipt.")
@memory_options(embedder=False)
@click.option("--thread", help="A thread with its messages.")
@click.option("--message", "messages", multiple=True, help="Messages of --thread; repeatable.")
@click.option("--memory", "address", metavar="TYPE/KEY", help="One memory with its history.")
@click.option("--source", help="All messages that came from one source.")
@click.option("--everything", is_flag=True, help="All that the scope holds.")
@click.option("--below", is_flag=True, help="With --everything: the scopes below as well.")
@click.option(
    "--quotations", is_flag=True, help="Also the messages that quote what is erased, and stay."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
async def erase(
    target: Target,
    thread: str | None,
    messages: tuple[str, ...],
    address: str | None,
    source: str | None,
    everything: bool,  # noqa: FBT001
    below: bool,  # noqa: FBT001
    quotations: bool,  # noqa: FBT001
    yes: bool,  # noqa: FBT001
) -> None:
    """
    Erase data, and what is derived from it alone, from values, history, index and file.

    It shows what would be removed and asks first. The receipt's clean_at is when the bytes were
    gone from the file as well.
    """
    from recollect.stores.plans.erase_targets import EraseMemory, EraseScope, EraseSource

    named: list[EraseTarget] = _thread_targets(thread, messages)
    if address is not None:
        type_, key = split_address(address)
        named.append(EraseMemory(type=type_, key=key))
    if source is not None:
        named.append(EraseSource(source=source))
    if everything:
        named.append(EraseScope(below=below))
    if len(named) != 1 or (below and not everything):
        raise UsageError(
            "say what to erase with exactly one of --thread, --memory, --source and "
            "--everything (to which --below may be added)"
        )
    await _erase(target, named[0], asks=not yes, with_quotations=quotations)


async def _erase(target: Target, meant: EraseTarget, *, asks: bool, with_quotations: bool) -> None:
    """Erase *meant*, after a preview and a confirmation if the command *asks*, and print it."""
    async with opened(target) as memory:
        found = await memory.quotations(target.scope, meant)
        quoting = [each for each in found if each.likely]
        if asks:
            preview = await memory.store.preview_erase(target.scope, meant)
            place = written_scope(target.scope)
            lost = f"{place} would lose {counts_in(preview)}"
            also = f", and {counted(len(quoting), 'message')} that quote it" if quoting else ""
            confirm(f"{lost}{also * with_quotations}. Erase?")
        receipts = [await memory.erase(target.scope, meant)]
        if with_quotations:
            receipts += [await memory.erase(target.scope, each) for each in _messages_in(quoting)]
        is_empty = not (receipts[0].messages or receipts[0].memories or receipts[0].revised)
        hint = (await read_hint(memory, target.scope) or NOTHING_ERASED) if is_empty else ""
    for receipt in receipts:
        _print(receipt, is_json=target.is_json)
    if hint:
        note(hint)
    if quoting and not with_quotations:
        count = counted(len(quoting), "message")
        note(f"{count} still quote it: --quotations erases them as well ({_named(quoting)})")
    if resembling := [each for each in found if not each.likely]:
        count = counted(len(resembling), "message")
        note(f"{count} merely resemble it: look whether they may stay ({_named(resembling)})")


def _named(messages: Sequence[Quotation]) -> str:
    return ", ".join(f"{each.thread}/{each.message}" for each in messages[:QUOTING_NAMED_MAX])


def _messages_in(quoting: Sequence[Quotation]) -> Iterator[EraseTarget]:
    from recollect.stores.plans.erase_targets import EraseMessages

    for thread in dict.fromkeys(each.thread for each in quoting):
        ids = [each.message for each in quoting if each.thread == thread]
        yield EraseMessages(thread=thread, messages=ids)


def _print(receipt: EraseReceipt, *, is_json: bool) -> None:
    if is_json:
        from recollect.wire.erasures import receipt_to_json

        print_json(receipt_to_json(receipt))
    else:
        print_receipt(receipt)
    if receipt.clean_at is None:
        note(
            "its bytes are still in the file, because it is being read or cleaning failed: "
            "`recollect doctor --clean` removes them, or says why it cannot"
        )


def _thread_targets(thread: str | None, messages: Sequence[str]) -> list[EraseTarget]:
    from recollect.stores.plans.erase_targets import EraseMessages, EraseThread

    if thread is None and messages:
        raise UsageError("--message needs the --thread that holds the message")
    if thread is None:
        return []
    if messages:
        return [EraseMessages(thread=thread, messages=messages)]
    return [EraseThread(thread=thread)]


def print_receipt(receipt: EraseReceipt) -> None:
    """Print a receipt."""
    click.echo(f"erased {counts_in(receipt)}")
    click.echo(f"receipt {receipt.id}, erased at {time_to_json(receipt.erased_at)}")
    click.echo(f"bytes gone at {time_to_json(receipt.clean_at) or 'not yet'}")


def counts_in(receipt: EraseReceipt) -> str:
    """Return the counts of a receipt, or of its preview, in words."""
    memories = counted(receipt.memories, "memory", "memories")
    words = f"{counted(receipt.messages, 'message')} and {memories}"
    if receipt.revised:
        lose = "loses" if receipt.revised == 1 else "lose"
        words += f"; {counted(receipt.revised, 'memory', 'memories')} {lose} what rests on them"
    return words
