"""Export of a scope as items of LangGraph's stores, one per line."""

from __future__ import annotations

from collections.abc import AsyncIterator

from recollect.exporters.export_lines import Exported, is_in_force
from recollect.records import Json, JsonObject, Scope
from recollect.stores.json_pointers import is_list
from recollect.stores.validation import to_datetime

ITEM = "Item"
_RESERVED = "langgraph"
"""The first label that LangGraph's stores reject in a namespace."""


async def items_of(
    records: AsyncIterator[JsonObject], scope: Scope, counts: Exported, *, now: int
) -> AsyncIterator[JsonObject]:
    """
    Yield each active memory as an item; count changed and omitted ones in *counts*.

    An item's namespace is the memory's scope below *scope*; for a memory of another type than
    ``Item``, the type's name is added to it. Importing the items into *scope* puts those that were
    items before back at their addresses.
    """
    async for record in records:
        if not is_in_force(record, now):
            counts.refuse_other(record)
            continue
        namespace = _namespace(record, scope)
        if why := _why_not(namespace):
            counts.refused[why] += 1
            continue
        if record["type"] != ITEM:
            counts.changed[f"memories of the type {record['type']} became items"] += 1
        if record.get("revisions"):
            counts.changed["memories lost their earlier versions"] += 1
        counts.taken += 1
        item: dict[str, Json] = {
            "namespace": namespace,
            "key": record["key"],
            "value": record["value"],
            "created_at": _to_iso(record["created_at"]),
            "updated_at": _to_iso(record["updated_at"]),
        }
        if record.get("expires_at") is not None:
            item["expires_at"] = _to_iso(record["expires_at"])
        yield item


def _namespace(record: JsonObject, scope: Scope) -> list[str]:
    whole = record["scope"]
    below = [str(each) for each in whole[len(scope) :]] if is_list(whole) else []
    return below if record["type"] == ITEM else [*below, str(record["type"])]


def _why_not(namespace: list[str]) -> str | None:
    if not namespace:
        return "items of the scope itself, which have no namespace: export the scope above"
    if any("." in label for label in namespace):
        return "items of namespaces with a '.', which LangGraph does not accept"
    return "items of the namespace 'langgraph'" if namespace[0] == _RESERVED else None


def _to_iso(moment: Json) -> str:
    return to_datetime(int(str(moment))).isoformat()
