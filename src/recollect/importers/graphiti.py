"""Graphs of Zep and Graphiti: entities, facts with both time axes, and the episodes they cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from recollect.errors import UsageError
from recollect.importers.graph_records import entity, fact_key, relation, times_of
from recollect.importers.import_entries import (
    Changed,
    ImportOptions,
    Incoming,
    Refused,
    Row,
    no_object,
    optional_text_in,
    read_moment,
    text_in,
)
from recollect.importers.json_stream import NESTED, is_nested
from recollect.importers.memory_records import FileMemory, moment_in, remembered
from recollect.records import Json, JsonObject, NewMessage, Role

EDGES_HELD_MAX: Final = 100_000
"""So many facts wait at most for the entities that they name, which may come later."""
Kind: TypeAlias = Literal["entity", "fact", "episode"]
_HELD: Final[Mapping[str, Kind]] = {
    "nodes": "entity",
    "entities": "entity",
    "edges": "fact",
    "facts": "fact",
    "episodes": "episode",
}
"""The lists of a whole graph, and what each holds."""
_PAGE: Final = "items"
"""The list of a page of Zep's fourth interface; what it holds, only its rows tell."""
_FACT: Final = frozenset(("uuid", "source_node_uuid", "target_node_uuid", "fact"))
_EPISODE: Final = frozenset(
    "source source_description group_id role_type processed thread_id session_id "
    "graph_uuid thread_uuid reference_time".split()
)
"""An episode has one of these beside its content."""
_SPOKEN: Final = frozenset(("role_type", "role_name", "graph_uuid", "thread_uuid"))
"""An episode with a role has one of these, which a message of another program has not."""
_THREADS: Final = ("group_id", "thread_id", "session_id", "thread_uuid")
_TIMES: Final = ("valid_at", "reference_time", "created_at")
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
ATTRIBUTES: Final = "entities or facts have attributes of their own, which were left out"
MENTIONS: Final = "edges that say no more than which nodes belong together were left out"
OTHER_LISTS: Final = "rows of other lists than nodes, edges and episodes were left out"


def kind_of(value: Json) -> Kind | None:
    """
    Return the kind of graph row of *value*, by its fields; ``None`` if it is none.

    Graphiti's rows have a ``group_id``, those of Zep's interface have none, or a ``graph_uuid``.
    """
    if not isinstance(value, Mapping) or "uuid" not in value:
        return None
    if value.keys() >= _FACT:
        return "fact"
    if "content" in value and value.keys() & _EPISODE:
        return "episode" if "role" not in value or value.keys() & _SPOKEN else None
    is_entity = "name" in value and value.keys() & {"summary", "labels", "episode_uuids"}
    return "entity" if is_entity else None


def is_graph(value: JsonObject) -> bool:
    """Return True if *value* is a whole graph, or a page of one; it may be empty."""
    if isinstance(value.get("nodes"), list) and isinstance(value.get("edges"), list):
        return True
    if value.keys() <= {_PAGE, "next_cursor", "total_size"} and value.get(_PAGE) == []:
        return True
    lists = (rows for name in (*_HELD, _PAGE) if isinstance(rows := value.get(name), list))
    return any(kind_of(each) for rows in lists for each in rows)


@dataclass(slots=True)
class GraphitiGraph:
    """The names of a file's entities, as they come, and the facts that wait for some."""

    reading: ImportOptions
    names: dict[str, str] = field(default_factory=dict)
    held: list[tuple[str, JsonObject]] = field(default_factory=list)
    threads: dict[str, str] = field(default_factory=dict)
    """The thread of each episode."""

    def take_all(self, value: JsonObject, place: str) -> Iterator[Row]:
        """Yield what each row of a whole graph gives, and how many rows are no part of one."""
        for name, rows in value.items():
            if not isinstance(rows, list):
                continue
            left_out = 0
            for number, each in enumerate(rows, start=1):
                kind = kind_of(each) if name in (*_HELD, _PAGE) else None
                if kind := kind or _HELD.get(name):
                    yield from self.take(each, f"{place}, {name} {number}", kind)
                else:
                    left_out += 1
            if left_out:
                yield Changed(place=place, what=OTHER_LISTS, count=left_out)

    def take(self, value: Json, place: str, kind: Kind) -> Iterator[Row]:
        """Yield what a row gives; a fact gives something when its entities are known."""
        if is_nested(value):
            yield Refused(place=place, reason=NESTED)
            return
        if not isinstance(value, Mapping):
            yield Refused(place=place, reason=no_object(value))
            return
        try:
            match kind:
                case "fact":
                    yield from self._fact(value, place)
                case "episode":
                    yield self._episode(value, place)
                case "entity":
                    yield from self._entity(value, place)
        except UsageError as error:
            yield Refused(place=place, reason=str(error))

    def end(self) -> Iterator[Row]:
        """Yield the facts that waited; what names an entity that never came is refused."""
        for place, value in self.held:
            self._name_ends(value)
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

    def _name_ends(self, value: JsonObject) -> None:
        """Take the names of a fact's entities from the fact, where they never came themselves."""
        for end, uuid in zip(("source", "target"), _ends(value), strict=True):
            name = value.get(f"{end}_node_name")
            if isinstance(name, str) and name:
                self.names.setdefault(uuid, name)

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
        for end in ("source_node_uuid", "target_node_uuid"):
            text_in(value, end)
        if not value.get("fact") and not value.get("name"):
            yield Changed(place=place, what=MENTIONS)
            return
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
        cited = value.get("episodes", value.get("episode_uuids"))
        evidence: list[Json] = [
            [self.threads[each], each, None]
            for each in (cited if isinstance(cited, list) else ())
            if isinstance(each, str) and each in self.threads
        ]
        made = FileMemory(
            type="Fact",
            key=fact_key(said, text_in(value, "uuid")),
            value=said,
            text=text_in(value, "fact"),
            evidence={"": evidence} if evidence else {},
            **times,
        )
        return remembered(place, made)

    def _episode(self, value: JsonObject, place: str) -> Incoming:
        said_at = next(filter(None, map(value.get, _TIMES)), None)
        time, is_assumed = read_moment(said_at, self.reading)
        named = (optional_text_in(value, each) for each in _THREADS)
        thread = next(filter(None, named), self.reading.thread)
        speaker = optional_text_in(value, "role")
        kind = optional_text_in(value, "role_type")
        role = _ROLES.get(kind or speaker or "")
        about = value.get("metadata")
        uuid = text_in(value, "uuid")
        self.threads[uuid] = thread
        message = NewMessage(
            role=role or ("user" if value.get("source") == "message" else "tool"),
            name=_speaker_name(value),
            text=text_in(value, "content"),
            id=uuid,
            time=time,
            source=optional_text_in(value, "source_description"),
            metadata=about if isinstance(about, Mapping) else {},
        )
        return Incoming(place=place, thread=thread, message=message, is_zone_assumed=is_assumed)


def _speaker_name(value: JsonObject) -> str | None:
    """Return who spoke; where ``role_type`` says the role, ``role`` is the name."""
    if value.get("role_type"):
        return optional_text_in(value, "role")
    named = "role_name" if "role_name" in value else "name"
    return optional_text_in(value, named) if "role" in value else None


def _ends(value: JsonObject) -> tuple[str, str]:
    return str(value["source_node_uuid"]), str(value["target_node_uuid"])


def _changed(value: JsonObject, place: str) -> Iterator[Row]:
    if value.get("attributes"):
        yield Changed(place=place, what=ATTRIBUTES)
