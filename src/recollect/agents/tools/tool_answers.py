"""Build the answers of the memory tools, and the formation operation of a call; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.errors import UsageError
from recollect.formation.operation_outcomes import OperationOutcome
from recollect.recall.memory_sentences import origin_of
from recollect.records import Json, JsonObject, Memory
from recollect.stores.json_pointers import is_list
from recollect.stores.remainder import split_pointer
from recollect.stores.validation import check_text, encode_json
from recollect.text.time_zones import with_zone
from recollect.text.token_estimate import estimated_tokens


def arguments_of(
    arguments: Mapping[str, Json], cited: Sequence[str], target: Memory | None
) -> JsonObject:
    """Return a call's arguments in the form of a formation's tools, with citations."""
    if target is None:
        return {**arguments, "because": list(cited)}
    changes = arguments["changes"]
    rows = changes if is_list(changes) else []
    return {
        "id": "m1",
        "changes": [
            {**each, "because": list(cited)} if isinstance(each, Mapping) else each for each in rows
        ],
    }


def outdated(memory: Memory, patch: Mapping[str, Json]) -> str:
    """Return why a patch does not apply to the current *memory*; ``""`` if it does."""
    version = patch.get("version")
    if version is not None:
        is_seen = version == memory.version
        return "" if is_seen else f"{id_of(memory)} was changed since: search for it again"
    changes = patch.get("changes")
    pointers = [
        each[name]
        for each in (changes if is_list(changes) else ())
        if isinstance(each, Mapping)
        for name in ("path", "from")
        if name in each
    ]
    place = next((each for each in pointers if _counts(memory.value, each)), None)
    if place is None:
        return ""
    return f"{place} counts in a list: give the version in which search_memory showed it"


def _counts(value: Json, pointer: Json) -> bool:
    """Return True if *pointer* addresses a list element of *value* by its index."""
    for step in split_pointer(pointer) if isinstance(pointer, str) else ():
        if is_list(value):
            return step != "-"
        value = value.get(step) if isinstance(value, Mapping) else None
    return False


def results_within(found: Sequence[Memory], tokens_max: int) -> list[Json]:
    """Return the search results to show, best first: the best, and others within *tokens_max*."""
    shown: list[Json] = []
    left = tokens_max
    for each in found:
        cost = estimated_tokens(encode_json(each.value, "a value"))
        if shown and cost > left:
            continue
        left -= cost
        shown.append(_row(each))
    return shown


def _row(memory: Memory) -> dict[str, Json]:
    row: dict[str, Json] = {
        "id": id_of(memory),
        "value": memory.value,
        "since": memory.time.isoformat(),
        "version": memory.version,
        "trust": memory.trust,
    }
    if memory.valid_until is not None:
        row["until"] = memory.valid_until.isoformat()
    if memory.trust == "agent":
        row["found"] = origin_of(memory)
    return row


def moment_in(written: str | None, name: str) -> datetime | None:
    """
    Return the time in a model's argument, in UTC if it has no offset; ``None`` for ``None``.

    Raises:
        UsageError: It is not an ISO 8601 date or time.
    """
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(check_text(written, name))
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        msg = f"{name} {written[:80]!r} is not a time: give 2026-05-01, or 2026-05-01T12:00:00Z"
        raise UsageError(msg) from None
    return with_zone(moment)


def receipt_of(outcomes: Sequence[OperationOutcome]) -> JsonObject:
    """Return the answer to a call: its memory, the memories it ended, and refusals."""
    if not outcomes:
        return {"status": "unchanged", "id": "", "reason": "it is so already"}
    own = outcomes[-1]
    ended: list[Json] = [f"{e.type}/{e.key}" for e in outcomes[:-1] if e.action == "ended"]
    left_out: list[Json] = [e.reason for e in outcomes[:-1] if e.action == "refused"]
    receipt: dict[str, Json] = {
        "status": own.action,
        "id": f"{own.type}/{own.key}",
        "reason": own.reason,
    }
    more = {"ended": ended, "refused": left_out}
    return receipt | {name: each for name, each in more.items() if each}


def refused(reason: str) -> JsonObject:
    """Return the answer to a refused call."""
    return {"status": "refused", "id": "", "reason": reason}


def unknown(id_: str) -> str:
    """Return the reason of a refusal for an unknown id."""
    return f"there is no memory {id_[:200]!r}: take an id from search_memory"


def id_of(memory: Memory) -> str:
    """Return the id of a memory in tool calls: its type and key."""
    return f"{memory.type}/{memory.key}"
