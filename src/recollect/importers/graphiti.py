"""Graphs of Zep and Graphiti: entities, facts with both time axes, and the episodes they cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from recollect.errors import UsageError
from recollect.importers.documents import NESTED, is_nested
from recollect.importers.entries import (
    Changed,
    Incoming,
    Reading,
    Refused,
    Row,
    optional_text_in,
    read_moment,
    text_in,
)
from recollect.importers.knowledge import entity, fact_key, relation, times_of
from recollect.importers.remembering import Found, moment_in, remembered
from recollect.records import Json, JsonObject, NewMessage

EDGES_HELD_MAX: Final = 100_000
"""So many facts wait at most for the entities that they name, which may come later."""
_HELD: Final = (("nodes", "entities"), ("edges", "facts"), ("episodes",))
ATTRIBUTES: Final = "entities or facts have attributes of their own, which were left out"


def is_entity(value: JsonObject) -> bool:
    """Say whether *value* is an entity node."""
    return {"uuid", "name", "summary", "group_id"} <= value.keys()


def is_fact(value: JsonObject) -> bool:
    """Say whether *value* is an entity edge."""
    return {"uuid", "source_node_uuid", "target_node_uuid", "fact"} <= value.keys()


def is_episode(value: JsonObject) -> bool:
    """Say whether *value* is an episodic node."""
    return {"uuid", "content", "source", "group_id"} <= value.keys()


def is_row(value: JsonObject) -> bool:
    """Say whether *value* is a node or an edge."""
    return is_entity(value) or is_fact(value) or is_episode(value)


def rows_in(value: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield place and row of everything in a whole graph; nothing if *value* is none."""
    for names in _HELD:
        for name in names:
            rows = value.get(name)
            for number, each in enumerate(rows if isinstance(rows, list) else (), start=1):
                if isinstance(each, Mapping) and is_row(each):
                    yield f"{name} {number}", each


@dataclass(slots=True)
class Graph:
    """The names of a file's entities, as they come, and the facts that wait for some."""

    reading: Reading
    names: dict[str, str] = field(default_factory=dict)
    held: list[tuple[str, JsonObject]] = field(default_factory=list)
    threads: dict[str, str] = field(default_factory=dict)
    """The thread of each episode."""

    def take(self, value: JsonObject, place: str) -> Iterator[Row]:
        """Yield what a row gives; a fact gives something when its entities are known."""
        if is_nested(value):
            yield Refused(place=place, reason=NESTED)
            return
        try:
            if is_fact(value):
                yield from self._fact(value, place)
            elif is_episode(value):
                yield self._episode(value, place)
            else:
                yield from self._entity(value, place)
        except UsageError as error:
            yield Refused(place=place, reason=str(error))

    def end(self) -> Iterator[Row]:
        """Yield the facts that waited; what names an entity that never came is refused."""
        for place, value in self.held:
            missing = [each for each in _ends(value) if each not in self.names]
            if missing:
                reason = f"its entity {missing[0]!r} is not in the file: export the nodes as well"
                yield Refused(place=place, reason=reason)
                continue
            try:
                yield self._made(value, place)
            except UsageError as error:
                yield Refused(place=place, reason=str(error))
        self.held.clear()

    def _entity(self, value: JsonObject, place: str) -> Iterator[Row]:
        name = text_in(value, "name")
        labels = value.get("labels")
        kinds = [str(each) for each in labels if each != "Entity"] if isinstance(
            labels, list
        ) else []  # fmt: skip
        found = entity(
            name,
            kind=", ".join(kinds) or None,
            summary=optional_text_in(value, "summary"),
            created_at=moment_in(value, "created_at", self.reading),
        )
        self.names[text_in(value, "uuid")] = name
        yield from _changed(value, place)
        yield remembered(place, found)

    def _fact(self, value: JsonObject, place: str) -> Iterator[Row]:
        if len(self.held) >= EDGES_HELD_MAX:
            yield Refused(
                place=place,
                reason=f"{EDGES_HELD_MAX} facts (EDGES_HELD_MAX) wait for their entities already: "
                "import the rest from another file",
            )
            return
        yield from _changed(value, place)
        self.held.append((place, value))

    def _made(self, value: JsonObject, place: str) -> Row:
        source, target = _ends(value)
        said = relation(self.names[source], text_in(value, "name"), self.names[target])
        times = times_of(value, self.reading)
        cited = value.get("episodes")
        evidence: list[Json] = [
            [self.threads[each], each, None]
            for each in (cited if isinstance(cited, list) else ())
            if isinstance(each, str) and each in self.threads
        ]
        made = Found(
            type="Fact",
            key=fact_key(said, text_in(value, "uuid")),
            value=said,
            text=text_in(value, "fact"),
            evidence={"": evidence} if evidence else {},
            **times,  # type: ignore[arg-type]
        )
        return remembered(place, made)

    def _episode(self, value: JsonObject, place: str) -> Incoming:
        time, is_assumed = read_moment(value.get("valid_at") or value.get("created_at"),
                                       self.reading)  # fmt: skip
        thread = optional_text_in(value, "group_id") or self.reading.thread
        uuid = text_in(value, "uuid")
        self.threads[uuid] = thread
        message = NewMessage(
            role="user" if value.get("source") == "message" else "tool",
            text=text_in(value, "content"),
            id=uuid,
            time=time,
            source=optional_text_in(value, "source_description"),
        )
        return Incoming(place=place, thread=thread, message=message, is_zone_assumed=is_assumed)


def _ends(value: JsonObject) -> tuple[str, str]:
    return str(value["source_node_uuid"]), str(value["target_node_uuid"])


def _changed(value: JsonObject, place: str) -> Iterator[Row]:
    if value.get("attributes"):
        yield Changed(place=place, what=ATTRIBUTES)
