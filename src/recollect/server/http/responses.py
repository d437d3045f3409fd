"""Convert threads, messages, memories and others to JSON, with relative scopes."""

from __future__ import annotations

from datetime import datetime

from recollect.recall.fusion import WEIGHTS, WEIGHTS_WITHOUT_VECTOR
from recollect.recall.results import DroppedEntry, Recall, Recalled
from recollect.records import Formation, Json, Lane, Memory, Message, Thread
from recollect.server.http.scope_access import Reach
from recollect.stores.plans.erasure import EraseReceipt
from recollect.text.token_estimate import estimated_tokens
from recollect.wire.records import memory_record, message_record, moment


def seconds_until(time: datetime | None, now: datetime) -> float | None:
    """Return the seconds until a time, at least 0."""
    return None if time is None else max(0.0, round((time - now).total_seconds(), 3))


def answer_thread(reach: Reach, thread: Thread, now: datetime) -> dict[str, Json]:
    """Return a thread, and how far it has been formed."""
    return {
        "scope": reach.relative(thread.scope),
        "id": thread.id,
        "created_at": moment(thread.created_at),
        "last": thread.last,
        "count": thread.count,
        "formed": thread.formed,
        "due": moment(thread.due),
        "due_in_s": seconds_until(thread.due, now),
        "attempts": thread.attempts,
        "state": thread.state,
        "again": list(thread.again),
        "settings": thread.settings,
        "lanes": {name: answer_lane(each) for name, each in thread.lanes.items()},
        "waiting": thread.waiting,
    }


def answer_lane(lane: Lane) -> dict[str, Json]:
    """Return the formation progress of a type with its own schedule."""
    return {
        "formed": lane.formed,
        "attempts": lane.attempts,
        "not_before": moment(lane.not_before),
        "again": list(lane.again),
    }


def answer_message(message: Message) -> dict[str, Json]:
    """Return a message with everything that is kept of it."""
    return _without_kind(message_record(message))


def answer_memory(reach: Reach, memory: Memory) -> dict[str, Json]:
    """Return a memory in its present version."""
    return _without_kind(memory_record(memory)) | {"scope": reach.relative(memory.scope)}


def _without_kind(record: dict[str, Json]) -> dict[str, Json]:
    """Return the record without its kind, which the route implies."""
    return {name: value for name, value in record.items() if name != "kind"}


def answer_entry(reach: Reach, entry: Recalled, *, tokens: int) -> dict[str, Json]:
    """Return an entry that was recalled, with its reasons."""
    content = entry.content
    found: dict[str, Json] = {
        "kind": "message" if isinstance(content, Message) else "memory",
        "scope": reach.relative(entry.scope),
        "text": entry.text,
        "time": moment(entry.time),
        "score": round(float(entry.score), 4),
        "relevance": round(float(entry.relevance), 4),
        "signals": answer_signals(entry),
        "tokens": tokens,
    }
    if isinstance(content, Message):
        found |= {"thread": content.thread, "id": content.id, "role": content.role}
        found["name"] = content.name
    else:
        found |= {"type": content.type, "key": content.key, "version": content.version}
        found["value"] = content.value
    return found


def answer_whole(reach: Reach, entry: Recalled) -> dict[str, Json]:
    """Return an entry with everything that is kept of it, and its figures as they are."""
    content = entry.content
    shown = (
        answer_message(content) if isinstance(content, Message) else answer_memory(reach, content)
    )
    parts: dict[str, Json] = {name: float(part) for name, part in entry.signals.items()}
    figures: dict[str, Json] = {
        "score": float(entry.score),
        "relevance": float(entry.relevance),
        "signals": parts,
    }
    return {"content": shown} | figures


def answer_signals(entry: Recalled) -> list[Json]:
    """Return each signal as its standardised value z, its weight, and their product, its part."""
    has_vector = "dense" in entry.signals
    weights = WEIGHTS if has_vector else WEIGHTS_WITHOUT_VECTOR
    found: list[Json] = []
    for name, part in entry.signals.items():
        weight = weights.get(name, 0.0)
        z = float(part) / weight if weight else 0.0
        row: Json = {
            "name": name,
            "z": round(z, 4),
            "weight": weight,
            "part": round(float(part), 4),
        }
        found.append(row)
    return found


def answer_recall(
    reach: Reach, recall: Recall, *, ms: float, render: bool, whole: bool = False
) -> dict[str, Json]:
    """Return the results of a recall with scores and dropped entries; *whole* with all fields."""

    def entry(each: Recalled) -> dict[str, Json]:
        told = answer_entry(reach, each, tokens=estimated_tokens(each.text))
        return told | {"whole": answer_whole(reach, each)} if whole else told

    def dropped(each: DroppedEntry) -> dict[str, Json]:
        return entry(each.entry) | {"reason": each.reason}

    return {
        "entries": [entry(each) for each in recall.entries],
        "dropped": [dropped(each) for each in recall.dropped],
        "tokens": recall.tokens,
        "searched": recall.searched,
        "eligible": recall.eligible,
        "partial": recall.is_partial,
        "embedder": recall.embedder,
        "outside": recall.outside,
        "ms": round(ms, 2),
        "rendered": recall.render() if render else None,
    }


def answer_waiting(reach: Reach, thread: Thread, now: datetime) -> dict[str, Json]:
    """Return the pending formation of a thread."""
    reason = "paused" if thread.state == "paused" else "failed" if thread.attempts else "talk"
    return {
        **answer_thread(reach, thread, now),
        "thread": thread.id,
        "messages": thread.waiting,
        "reason": reason,
    }


def answer_formation(reach: Reach, formation: Formation, *, whole: bool) -> dict[str, Json]:
    """
    Return the receipt of a formation; prompts and answers only if it is to be *whole*.

    Of what could not be kept at all there is the count then, as if the list had been cut.
    """
    receipt = formation.receipt
    if not whole:
        refused = receipt.get("refused")
        faults = len(refused) if isinstance(refused, list | tuple) else 0
        left_out = ("exchanges", "refused")
        receipt = {name: each for name, each in receipt.items() if name not in left_out}
        if faults:
            known = receipt.get("refused_left_out")
            cut = known if isinstance(known, int) else 0
            receipt = {**receipt, "refused_left_out": cut + faults}
    return {
        "scope": reach.relative(formation.scope),
        "id": formation.id,
        "status": formation.status,
        "at": moment(formation.at),
        "fence": formation.fence,
        "calls": formation.calls,
        "tokens": formation.tokens,
        "watermarks": dict(formation.watermarks),
        "failed": {thread: list(each) for thread, each in formation.failed.items()},
        "receipt": receipt,
    }


def answer_receipt(receipt: EraseReceipt) -> dict[str, Json]:
    """Return the receipt of an erase."""
    return {
        "id": receipt.id,
        "at": moment(receipt.erased_at),
        "clean_at": moment(receipt.clean_at),
        "counts": {
            "messages": receipt.messages,
            "memories": receipt.memories,
            "revised": receipt.revised,
        },
    }
