"""Print formations and the backlog as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import click

from recollect.cli.layout import minute
from recollect.cli.output import counted, print_line, print_table, short
from recollect.records import Formation, Json, JsonObject, Thread

ERASED: Final = "its receipt was erased with the data"
_RECEIPT_CHARACTERS: Final = 4_000


def countdown(thread: Thread, now: datetime) -> str:
    """
    Return when the pending messages of a thread are formed.

    >>> from datetime import UTC, timedelta
    >>> noon = datetime(2024, 5, 6, 12, tzinfo=UTC)
    >>> waiting = Thread(scope=("a",), id="t", created_at=noon, last=1, count=1, formed=0,
    ...     due=noon + timedelta(seconds=8), attempts=0, state="active")
    >>> countdown(waiting, noon)
    'in 8 s'
    """
    if thread.state == "paused":
        return "paused"
    if thread.due is None:
        if thread.formed == thread.last and thread.lanes:
            return f"at the times of {', '.join(thread.lanes)}"
        return "with the next message"
    left_s = (thread.due - now).total_seconds()
    when = "now" if left_s <= 0 else f"in {_duration(left_s)}"
    if not thread.attempts:
        return when
    failed = "failed once" if thread.attempts == 1 else f"failed {thread.attempts} times"
    return f"{when} ({failed})"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.0f} h"


def summed_counts(formation: Formation) -> str:
    """Return a short summary of a formation from its receipt."""
    receipt = formation.receipt
    reason = receipt.get("reason")
    if isinstance(reason, str) and reason:
        return short(reason, 80)
    said = ", ".join(f"{count} {action}" for action, count in counts_of(receipt).items())
    if is_blank(receipt):
        return f"{said}; {ERASED}" if said else ERASED
    nothing = "nothing to merge" if formation.status == "consolidated" else "nothing to remember"
    return said or nothing


def is_blank(receipt: JsonObject) -> bool:
    """Return True if an erase has removed a receipt's content; its counts may remain."""
    return receipt.get("erased") is True or not receipt.keys() & {"outcomes", "reason"}


def counts_of(receipt: JsonObject) -> dict[str, int]:
    """Return the counts of actions; what could not be stored counts as refused."""
    found = receipt.get("counts")
    counts = (
        {name: _count(each) for name, each in found.items()} if isinstance(found, Mapping) else {}
    )
    faults = len(_objects(receipt.get("refused"))) + _count(receipt.get("refused_left_out"))
    if faults:
        counts["refused"] = counts.get("refused", 0) + faults
    return counts


def _count(found: Json) -> int:
    return found if isinstance(found, int) else 0


def print_formation(formation: Formation) -> None:
    """Print a formation with its receipt, for a person."""
    receipt = formation.receipt
    given_up = sum(len(each) for each in formation.failed.values())
    rows = [
        ("formation", formation.id),
        ("status", formation.status),
        ("at (UTC)", minute(formation.at)),
        ("model", receipt.get("model")),
        ("calls, tokens", f"{formation.calls:,}, {formation.tokens:,}"),
        ("cost", _cost(receipt.get("cost"))),
        ("threads", ", ".join(f"{name} up to {at}" for name, at in formation.watermarks.items())),
        ("given up", counted(given_up, "message") if given_up else None),
        ("reason", receipt.get("reason")),
    ]
    print_table(("", ""), [row for row in rows if row[1]])
    if is_blank(receipt):
        print_line((summed_counts(formation), "dim"))
        return
    for title, columns, name in (
        ("outcomes", ("action", "type", "key", "reason"), "outcomes"),
        ("not kept", ("kind", "type", "target", "value", "reason"), "refused"),
    ):
        _print_records(title, columns, _objects(receipt.get(name)))
    _print_types(receipt.get("by_type"))
    for number, exchange in enumerate(_objects(receipt.get("exchanges")), start=1):
        _print_exchange(exchange, "first request" if number == 1 else f"repair {number - 1}")


def _cost(cost: Json) -> str | None:
    return f"{cost['amount']} {cost['currency']}" if isinstance(cost, Mapping) else None


def _objects(found: Json) -> list[JsonObject]:
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [each for each in found if isinstance(each, Mapping)]


def _print_records(title: str, columns: Sequence[str], records: Sequence[JsonObject]) -> None:
    shown = [name for name in columns if any(name in each for each in records)]
    if records:
        _print_title(title)
        print_table(shown, [[_cell(each.get(name)) for name in shown] for each in records])


def _print_types(by_type: Json) -> None:
    if isinstance(by_type, Mapping) and by_type:
        found = [(name, each) for name, each in by_type.items() if isinstance(each, Mapping)]
        _print_title("tokens by type")
        columns = ("operations", "tokens", "cost")
        rows = [(name, *(each.get(column) for column in columns)) for name, each in found]
        print_table(("type", *columns), rows, right=columns)


def _print_exchange(exchange: JsonObject, title: str) -> None:
    _print_title(f"{title}: instructions")
    _print_text(exchange.get("system"))
    tools = ", ".join(str(each.get("name")) for each in _objects(exchange.get("tools")))
    _print_title(f"{title}: tools")
    _print_text(tools)
    for turn in _objects(exchange.get("turns")):
        _print_title(f"{title}: {turn.get('role')}")
        _print_text(turn.get("text"))
    answer = exchange.get("answer")
    if isinstance(answer, Mapping):
        _print_title(f"answer to {title} ({answer.get('stopped')})")
        _print_text(answer.get("text"))
        for call in _objects(answer.get("calls")):
            _print_text(f"{call.get('name')} {call.get('arguments')}")


def _print_title(title: str) -> None:
    click.echo()
    print_line((title, "bold"))


def _print_text(text: Json) -> None:
    for line in _lines(text):
        print_line((line, ""), is_folded=False)


def _lines(text: Json) -> Iterator[str]:
    written = str(text or "")
    yield from written[:_RECEIPT_CHARACTERS].splitlines()
    if len(written) > _RECEIPT_CHARACTERS:
        yield f"… ({len(written) - _RECEIPT_CHARACTERS:,} more characters: --json shows them)"


def _cell(value: Json) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return "" if value is None else short(written)
