"""Import of Zep's and Graphiti's graphs: entities, facts with their times, and cited episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from recollect.errors import UsageError
from recollect.importers.graph_records import entity, fact_key, relation, times_of
from recollect.importers.import_entries import (
    Changed,
    Difference,
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
from recollect.text.coded_text import reason_of

EDGES_HELD_MAX: Final = 100_000
"""Facts held at most, in memory, for the entities that they name, which may come later."""
Kind: TypeAlias = Literal["entity", "fact", "episode"]
_KIND_OF_LIST: Final[Mapping[str, Kind]] = {
    "nodes": "entity",
    "entities": "entity",
    "edges": "fact",
    "facts": "fact",
    "episodes": "episode",
}
"""The lists of a whole graph, and the kind of their rows."""
_PAGE: Final = "items"
"""The list of a page of version 4 of Zep's API; the kind of its rows shows only in the rows."""
_FACT_FIELDS: Final = frozenset(("uuid", "source_node_uuid", "target_node_uuid", "fact"))
_EPISODE_FIELDS: Final = frozenset(
    "source source_description group_id role_type processed thread_id session_id "
    "graph_uuid thread_uuid reference_time".split()
)
"""The fields of which an episode has at least one beside its content."""
_ROLE_FIELDS: Final = frozenset(("role_type", "role_name", "graph_uuid", "thread_uuid"))
"""The fields that tell an episode with a role from a chat message of another program."""
_THREAD_FIELDS: Final = ("group_id", "thread_id", "session_id", "thread_uuid")
_TIME_FIELDS: Final = ("valid_at", "reference_time", "created_at")
_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
ATTRIBUTES: Final = Difference(
    "entities or facts have attributes of their own, which were left out"
)
MENTIONS: Final = Difference("edges with neither a fact nor a name were left out")
OTHER_LISTS: Final = Difference("rows of other lists than nodes, edges and episodes were left out")


def kind_of(value: Json) -> Kind | None:
    """
    Return the kind of graph row that *value* is, by its fields; ``None`` if it is not a graph row.

    Graphiti's rows have a ``group_id``; those of Zep's API have none, or a ``graph_uuid``.
    """
    if not isinstance(value, Mapping) or "uuid" not in value:
        return None
    if value.keys() >= _FACT_FIELDS:
        return "fact"
    if "content" in value and value.keys() & _EPISODE_FIELDS:
        return "episode" if "role" not in value or value.keys() & _ROLE_FIELDS else None
    is_entity = "name" in value and value.keys() & {"summary", "labels", "episode_uuids"}
    return "entity" if is_entity else None


def is_graph(value: JsonObject) -> bool:
    """Return True if *value* is a whole graph, or a page of one; it may be empty."""
    if isinstance(value.get("nodes"), list) and isinstance(value.get("edges"), list):
        return True
    if value.keys() <= {_PAGE, "next_cursor", "total_size"} and value.get(_PAGE) == []:
        return True
    names = (*_KIND_OF_LIST, _PAGE)
    lists = (rows for name in names if isinstance(rows := value.get(name), list))
    return any(kind_of(each) for rows in lists for each in rows)


@dataclass(slots=True)
class GraphitiGraph:
    """Reads the rows of a file's graph, and holds its facts until their entities are known."""

    reading: ImportOptions
    names: dict[str, str] = field(default_factory=dict)
    """The names of entities by their ids."""
    held: list[tuple[str, JsonObject]] = field(default_factory=list)
    """Facts not yielded yet, with their places."""
    threads: dict[str, str] = field(default_factory=dict)
    """The thread of each episode, by its id."""

    def read_graph(self, value: JsonObject, place: str) -> Iterator[Row]:
        """Yield the rows of a whole graph, and a count of the rows of other lists."""
        for name, rows in value.items():
            if not isinstance(rows, list):
                continue
            left_out = 0
            for number, each in enumerate(rows, start=1):
                kind = kind_of(each) if name in (*_KIND_OF_LIST, _PAGE) else None
                if kind := kind or _KIND_OF_LIST.get(name):
                    yield from self.read_row(each, f"{place}, {name} {number}", kind)
                else:
                    left_out += 1
            if left_out:
                yield Changed(place=place, what=OTHER_LISTS, count=left_out)

    def read_row(self, value: Json, place: str, kind: Kind) -> Iterator[Row]:
        """Yield an entity or an episode; hold a fact until `end`."""
        if is_nested(value):
            yield Refused(place=place, reason=NESTED)
            return
        if not isinstance(value, Mapping):
            yield Refused(place=place, reason=no_object(value))
            return
        try:
            match kind:
                case "fact":
                    yield from self._hold_fact(value, place)
                case "episode":
                    yield self._read_episode(value, place)
                case "entity":
                    yield from self._read_entity(value, place)
        except UsageError as error:
            yield Refused(place=place, reason=reason_of(error))

    def end(self) -> Iterator[Row]:
        """Yield the held facts; one whose entity is not in the file is refused."""
        for place, value in self.held:
            self._name_ends(value)
            missing = [each for each in _ends(value) if each not in self.names]
            if missing:
                reason = f"its entity {missing[0]!r} is not in the file: export the nodes as well"
                yield Refused(place=place, reason=reason)
                continue
            try:
                yield self._read_fact(value, place)
            except UsageError as error:
                yield Refused(place=place, reason=reason_of(error))
        self.held.clear()

    def _name_ends(self, value: JsonObject) -> None:
        """Name a fact's entities from the fact itself if they are not in the file."""
        for end, uuid in zip(("source", "target"), _ends(value), strict=True):
            name = value.get(f"{end}_node_name")
            if isinstance(name, str) and name:
                self.names.setdefault(uuid, name)

    def _read_entity(self, value: JsonObject, place: str) -> Iterator[Row]:
        name = text_in(value, "name")
        labels = value.get("labels")
        given = labels if isinstance(labels, list) else ()
        kinds = [str(each) for each in given if each != "Entity"]  # every node has this label
        found = entity(
            name,
            kind=", ".join(kinds) or None,
            summary=optional_text_in(value, "summary"),
            created_at=moment_in(value, "created_at", self.reading),
        )
        self.names[text_in(value, "uuid")] = name
        yield from _note_attributes(value, place)
        yield remembered(place, found)

    def _hold_fact(self, value: JsonObject, place: str) -> Iterator[Row]:
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
        yield from _note_attributes(value, place)
        self.held.append((place, value))

    def _read_fact(self, value: JsonObject, place: str) -> Row:
        source, target = _ends(value)
        fact = relation(self.names[source], text_in(value, "name"), self.names[target])
        times = times_of(value, self.reading)
        cited = value.get("episodes", value.get("episode_uuids"))
        evidence: list[Json] = [
            [self.threads[each], each, None]
            for each in (cited if isinstance(cited, list) else ())
            if isinstance(each, str) and each in self.threads
        ]
        made = FileMemory(
            type="Fact",
            key=fact_key(fact, text_in(value, "uuid")),
            value=fact,
            text=text_in(value, "fact"),
            evidence={"": evidence} if evidence else {},
            **times,
        )
        return remembered(place, made)

    def _read_episode(self, value: JsonObject, place: str) -> Incoming:
        written_time = next(filter(None, map(value.get, _TIME_FIELDS)), None)
        time, is_assumed = read_moment(written_time, self.reading)
        named = (optional_text_in(value, each) for each in _THREAD_FIELDS)
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
    """Return the speaker's name: ``role`` if ``role_type`` has the role, else a name field."""
    if value.get("role_type"):
        return optional_text_in(value, "role")
    named = "role_name" if "role_name" in value else "name"
    return optional_text_in(value, named) if "role" in value else None


def _ends(value: JsonObject) -> tuple[str, str]:
    return str(value["source_node_uuid"]), str(value["target_node_uuid"])


def _note_attributes(value: JsonObject, place: str) -> Iterator[Row]:
    if value.get("attributes"):
        yield Changed(place=place, what=ATTRIBUTES)
