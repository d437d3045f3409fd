"""Records of the review: a memory that waits for a person, and what was said since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.records import Evidence, JsonObject, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterWords:
    """
    Newer words about what a memory that waits for review says.

    *memory* is in force and says *value*: all of an entry, or the fields of a document that bear on
    the waiting memory. With *ended*, it is over instead: a message ended it. *said_at* is when that
    was said, or when a person wrote it. *evidence* is the newest message or finding behind it;
    ``None`` if a person wrote it.

    >>> import recollect
    >>> waiting = recollect.PutMemory(
    ...     type="Note", key="1", value={"content": "The boat leaks."}, state="quarantined"
    ... )
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.apply("ada", [waiting])
    ...     kept = memory.put("ada", "Note", "2", {"content": "The boat is tight."})
    ...     (later,) = memory.review("ada").rows[0].since
    >>> later.value["content"], later.evidence, later.ended
    ('The boat is tight.', None, False)
    """

    memory: Memory
    value: JsonObject
    said_at: datetime
    evidence: Evidence | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingMemory:
    """
    A quarantined *memory*, and what was said *since* about the same, the newest first.

    >>> import recollect
    >>> fact = {"subject": "Mira", "predicate": "lives in", "object": "Oslo"}
    >>> old = recollect.PutMemory(type="Fact", key="1", value=fact, state="quarantined")
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.apply("mira", [old])
    ...     kept = memory.put("mira", "Fact", "2", {**fact, "object": "Rome"})
    ...     (waiting,) = memory.review("mira").rows
    >>> waiting.memory.value["object"], [each.value["object"] for each in waiting.since]
    ('Oslo', ['Rome'])
    """

    memory: Memory
    since: tuple[LaterWords, ...] = ()
