"""What the memory tools tell an agent, and an operation as a formation would call it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.formation.outcomes import Outcome
from recollect.records import Json, JsonObject, Memory


def arguments_of(
    arguments: Mapping[str, Json], cited: Sequence[str], target: Memory | None
) -> JsonObject:
    """Return an operation as a formation calls it, resting on what is cited."""
    if target is None:
        return {**arguments, "because": list(cited)}
    changes = arguments["changes"]
    rows = changes if isinstance(changes, Sequence) and not isinstance(changes, str) else []
    return {
        "id": "m1",
        "changes": [
            {**each, "because": list(cited)} if isinstance(each, Mapping) else each for each in rows
        ],
    }


def receipt_of(outcomes: Sequence[Outcome]) -> JsonObject:
    """Return what became of a call: of its own memory, what it ended, and what was refused."""
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
    """Return the answer to what an agent may not do."""
    return {"status": "refused", "id": "", "reason": reason}


def unknown(id_: str) -> str:
    """Say that no memory has an id."""
    return f"there is no memory {id_[:200]!r}: take an id from search_memory"


def id_of(memory: Memory) -> str:
    """Return the id of a memory, by which an agent names it."""
    return f"{memory.type}/{memory.key}"
