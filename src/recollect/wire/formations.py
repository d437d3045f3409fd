"""Formation receipts as JSON."""

from __future__ import annotations

from recollect.records import Formation, Json, JsonObject
from recollect.wire.elements import Fields, ScopeNaming, scope_to_json, time_from_json, time_to_json


def formation_to_json(
    formation: Formation, scope_of: ScopeNaming = scope_to_json, *, whole: bool = True
) -> dict[str, Json]:
    """Encode a formation; only a *whole* one has prompts and answers."""
    return {
        "scope": scope_of(formation.scope),
        "id": formation.id,
        "status": formation.status,
        "at": time_to_json(formation.at),
        "fence": formation.fence,
        "calls": formation.calls,
        "tokens": formation.tokens,
        "watermarks": dict(formation.watermarks),
        "failed": {thread: list(each) for thread, each in formation.failed.items()},
        "receipt": formation.receipt if whole else short_receipt(formation.receipt),
    }


def short_receipt(receipt: JsonObject) -> JsonObject:
    """
    Return a receipt without prompts, answers and refused records.

    The refused records are counted in ``refused_left_out``, as in a list that was cut.
    """
    refused = receipt.get("refused")
    count = len(refused) if isinstance(refused, list | tuple) else 0
    left_out = ("exchanges", "refused")
    short = {name: each for name, each in receipt.items() if name not in left_out}
    if not count:
        return short
    known = receipt.get("refused_left_out")
    return {**short, "refused_left_out": count + (known if isinstance(known, int) else 0)}


def formation_from_json(fields: Fields) -> Formation:
    """Decode the result of `formation_to_json`."""
    return Formation(
        scope=tuple(fields["scope"]),
        id=fields["id"],
        status=fields["status"],
        at=time_from_json(fields["at"]),
        fence=fields["fence"],
        calls=fields["calls"],
        tokens=fields["tokens"],
        watermarks=fields["watermarks"],
        failed={thread: tuple(each) for thread, each in fields["failed"].items()},
        receipt=fields["receipt"],
    )
