"""
Examine a store's file: its pages, each row, and references between rows.

The caller opens the read transaction; nothing is written.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import apsw

from recollect.stores.digests import text_hash
from recollect.stores.plans.evidence import evidence_links
from recollect.stores.rows import NO_SCOPE, MemoryRow, MessageRow, RevisionRow, ScopeRow
from recollect.stores.scope_paths import segments_of
from recollect.stores.sqlite.checksums import memory_row, message_row, revision_row, side_row
from recollect.stores.sqlite.row_damage import UNREADABLE
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.statements import QUERIES
from recollect.stores.validation import check_scope, to_datetime
from recollect.stores.vector_codec import decode_vectors
from recollect.text.scope_paths import written_scope
from recollect.text.searchable import message_text
from recollect.text.stored_terms import decode_terms
from recollect.text.terms import encode_terms, is_current
from recollect.text.word_caches import word_cache

Stored: TypeAlias = Sequence[Any]
"""A row as the driver returns it."""

SCOPED_TABLES: Final = (
    "thread", "message", "memory", "revision", "evidence", "vector", "embedded", "tombstone",
    "idempotency", "formation", "side_record", "index_file",
)  # fmt: skip
"""The tables whose rows belong to a scope."""
_INTEGRITY_MAX: Final = 100
"""Findings of SQLite's integrity check, at most."""

# Analysing text takes most of the time, and tests examine the same file again and again.
_encoded_terms = word_cache(maxsize=10_000)(encode_terms)

_NEVER: Final = {
    **{
        f"a {name} row of a scope that does not exist": (
            f"SELECT scope_id FROM {name} WHERE scope_id NOT IN (SELECT id FROM scope)"  # noqa: S608
            f" AND (scope_id, '{name}') <> ({NO_SCOPE}, 'idempotency')"
        )
        for name in SCOPED_TABLES
    },
    "a message of no thread": """
        SELECT m.scope_id, m.id FROM message AS m LEFT JOIN thread AS t
            ON t.scope_id = m.scope_id AND t.number = m.thread WHERE t.id IS NULL""",
    "a position outside its thread": """
        SELECT m.scope_id, m.id, m.position, t.last FROM message AS m JOIN thread AS t
            ON t.scope_id = m.scope_id AND t.number = m.thread
        WHERE m.position NOT BETWEEN 1 AND t.last""",
    "a thread that counts its messages wrongly": """
        SELECT t.scope_id, t.id, t.count FROM thread AS t WHERE t.count <> (
            SELECT count(*) FROM message AS m WHERE m.scope_id = t.scope_id AND m.thread = t.number)
        """,
    "a thread formed beyond its end": "SELECT scope_id, id FROM thread WHERE formed > last",
    "an entry ahead of its scope's sequence": """
        SELECT e.scope_id, e.uid, e.seq, s.seq FROM scope AS s JOIN (
            SELECT scope_id, uid, seq FROM message UNION ALL SELECT scope_id, uid, seq FROM memory
            UNION ALL SELECT scope_id, uid, seq FROM tombstone
            UNION ALL SELECT scope_id, 0, seq FROM embedded
        ) AS e ON e.scope_id = s.id WHERE e.seq NOT BETWEEN 0 AND s.seq""",
    "two entries with one uid": """
        SELECT scope_id, uid FROM (
            SELECT scope_id, uid FROM message UNION ALL SELECT scope_id, uid FROM memory
            UNION ALL SELECT scope_id, uid FROM tombstone
        ) GROUP BY scope_id, uid HAVING count(*) > 1""",
    "a revision without its memory's later version": """
        SELECT r.scope_id, r.uid, r.version FROM revision AS r LEFT JOIN memory AS m
            ON m.scope_id = r.scope_id AND m.uid = r.uid
        WHERE m.uid IS NULL OR r.version >= m.version""",
    "a vector of no entry": """
        SELECT scope_id, uid FROM vector
        EXCEPT SELECT scope_id, uid FROM message EXCEPT SELECT scope_id, uid FROM memory""",
    "a thread that counts more messages than it has positions": (
        "SELECT scope_id, id, count, last FROM thread WHERE count > last"
    ),
    "a link to a memory that does not exist": """
        SELECT scope_id, uid FROM evidence EXCEPT SELECT scope_id, uid FROM memory""",
    "an audit that does not end at its head": """
        SELECT hex(chain) FROM audit_head AS h WHERE n <> (
            SELECT coalesce(max(a.n), 0) FROM audit AS a WHERE a.chain = h.chain)
        UNION SELECT hex(chain) FROM audit WHERE chain NOT IN (SELECT chain FROM audit_head)""",
    "a number that would be given again": """
        SELECT number FROM meta WHERE number < (SELECT max(n) FROM (
            SELECT max(id) AS n FROM scope UNION ALL SELECT max(epoch) FROM scope
            UNION ALL SELECT max(number) FROM thread))""",
}
"""Rows that never exist in an intact file: a description, and the query that finds them."""


def examine(connection: apsw.Connection) -> Iterator[str]:
    """
    Yield the damage found in the file of *connection*, one sentence for each finding.

    Checks the pages (SQLite's integrity check, which also verifies their checksums), each row (its
    checksum, and that it can be decoded), references between rows (threads and their counts,
    positions, sequence numbers, revisions, evidence, vectors), each entry (that hash and terms
    belong to its text) and the feed (that it lists exactly the live entries).
    """
    damage = list(_wrong_pages(connection))
    yield from damage
    if damage:  # queries over damaged pages would only add misleading findings
        return
    unreadable = list(unreadable_rows(connection))
    yield from unreadable
    yield from _wrong_rows(connection)
    if not unreadable:
        yield from _wrong_entries(connection)


def cause_of(error: Exception, connection: apsw.Connection) -> str | None:
    """Return the damage to rows that may have caused *error*, if any."""
    found = unreadable_rows(connection)
    if isinstance(error, LookupError):
        # A row refers to another one (a message to its thread) that an index no longer lists.
        found = chain(found, _wrong_rows(connection), _wrong_pages(connection))
    return next(found, None)


def _wrong_pages(connection: apsw.Connection) -> Iterator[str]:
    checked = connection.execute(f"PRAGMA integrity_check({_INTEGRITY_MAX})")
    yield from (f"integrity check: {row[0]}" for row in checked if row[0] != "ok")


def unreadable_rows(connection: apsw.Connection) -> Iterator[str]:
    """Yield the table, key and fault of each row that cannot be decoded or fails its checksum."""
    for table, (query, decode) in _DECODERS.items():
        for row in connection.execute(query):
            try:
                decode(row)
            except UNREADABLE as error:
                yield f"{table} {row[: _KEYS[table]]!r} is damaged: {error}"


def _json_columns(*columns: int) -> Callable[[Stored], None]:
    def decode(row: Stored) -> None:
        for column in columns:
            json.loads(row[column])

    return decode


def _decode_scope(row: Stored) -> None:
    check_scope(segments_of(row[1]))


def _decode_message(row: Stored) -> None:
    message = message_row(tuple(row[2:]))
    json.loads(message.metadata)
    json.loads(message.content or "null")
    decode_terms([message.terms])


def _decode_memory(row: Stored) -> None:
    memory = memory_row(tuple(row[2:]))
    json.loads(memory.value)
    evidence_links(memory.evidence)
    decode_terms([memory.terms])


def _decode_revision(row: Stored) -> None:
    revision = revision_row(tuple(row[3:]))
    json.loads(revision.value)
    evidence_links(revision.evidence)


def _decode_side(row: Stored) -> None:
    json.loads(side_row(tuple(row[2:])).value)


def _decode_vector(row: Stored) -> None:
    decode_vectors([row[3]])
    if 0 < len(row[3]) <= _SCALE_BYTES:
        raise ValueError(f"it has {len(row[3])} bytes")


def _columns_of(name: str) -> str:
    """Return the columns and the table that a query reads, without its condition."""
    return QUERIES[name].partition(" WHERE ")[0].removeprefix("SELECT ")


_SCALE_BYTES: Final = 4
"""Length of the scale before the numbers of a stored vector."""
_KEYS: Final = MappingProxyType(
    {"scope": 1, "thread": 2, "message": 2, "memory": 2, "revision": 3, "vector": 3,
     "idempotency": 2, "formation": 2, "audit": 2, "side_record": 2},
)  # fmt: skip
"""For each table, how many of the first columns read are the row's key."""
_DECODERS: Final[Mapping[str, tuple[str, Callable[[Stored], None]]]] = MappingProxyType(
    {
        "scope": ("SELECT id, path FROM scope", _decode_scope),
        "thread": (
            "SELECT scope_id, number, again, lanes, settings FROM thread",
            _json_columns(2, 3, 4),
        ),
        "message": (f"SELECT scope_id, uid, {_columns_of('all_messages')}", _decode_message),
        "memory": (f"SELECT scope_id, uid, {_columns_of('memories')}", _decode_memory),
        "revision": (
            f"SELECT scope_id, uid, version, {_columns_of('revisions')}",
            _decode_revision,
        ),
        "vector": ("SELECT scope_id, uid, embedder, data FROM vector", _decode_vector),
        "idempotency": ("SELECT scope_id, key, result FROM idempotency", _json_columns(2)),
        "formation": (
            "SELECT scope_id, id, watermarks, failed, receipt FROM formation",
            _json_columns(2, 3, 4),
        ),
        "side_record": (f"SELECT scope_id, uid, {_columns_of('side_record')}", _decode_side),
        "audit": ("SELECT chain, n, subject FROM audit", _json_columns(2)),
    }
)
"""For each table, the query that reads its rows, and a function that raises for a damaged one."""


def _wrong_rows(connection: apsw.Connection) -> Iterator[str]:
    for what, query in _NEVER.items():
        yield from (f"{what}: {row!r}" for row in connection.execute(query))


def _wrong_entries(connection: apsw.Connection) -> Iterator[str]:
    rows = SQLiteRows(connection)
    for scope in list(rows.scopes_below((), None)):
        messages = list(rows.all_messages(scope.id))
        memories = list(rows.memories(scope.id))
        live = {(row.uid, row.seq) for row in messages} | {(row.uid, row.seq) for row in memories}
        fed = [(entry.uid, entry.seq) for entry in rows.changed(scope.id, 0, None)]
        if Counter(fed) != Counter(live):
            yield (
                f"the feed of {written_scope(scope.segments)} lists {len(fed)} entries, "
                f"{len(live)} are live"
            )
        yield from (each for row in messages for each in _wrong_message(row))
        yield from (each for row in memories for each in _wrong_memory(rows, row))
        yield from _wrong_links(connection, rows, scope, memories)


def _wrong_message(row: MessageRow) -> Iterator[str]:
    content = None if row.content is None else json.loads(row.content)
    searched = message_text(row.text, row.name, content)
    if not isinstance(json.loads(row.metadata), dict):
        yield f"message {row.id!r} has metadata that is not an object"
    yield from _wrong_text(f"message {row.id!r}", row, searched, row.time)


def _wrong_memory(rows: SQLiteRows, row: MemoryRow) -> Iterator[str]:
    name = f"memory {row.type}/{row.key}"
    yield from _wrong_text(name, row, row.text, None)
    past = rows.revisions(row.scope_id, row.uid)
    versions: list[MemoryRow | RevisionRow] = [*past, row]
    for version in versions:
        if not isinstance(json.loads(version.value), dict):
            yield f"{name} has a version {version.version} that is not an object"
    for one, following in pairwise(past):
        if one.believed_until > following.believed_from:
            yield f"{name} was believed in two versions at once: {one.version} and the next"


def _wrong_text(
    name: str, row: MessageRow | MemoryRow, searched: str, time: int | None
) -> Iterator[str]:
    if row.text_hash != text_hash(searched):
        yield f"{name} has the hash of another text"
    moment = None if time is None else to_datetime(time)
    if is_current(row.terms) and row.terms != _encoded_terms(searched, moment):
        yield f"{name} has the terms of another text"


def _wrong_links(
    connection: apsw.Connection, rows: SQLiteRows, scope: ScopeRow, memories: Iterable[MemoryRow]
) -> Iterator[str]:
    named = {
        (*link, memory.uid)
        for memory in memories
        for evidence in (
            memory.evidence,
            *(each.evidence for each in rows.revisions(scope.id, memory.uid)),
        )
        for link in evidence_links(evidence)
    }
    query = "SELECT thread, message, uid FROM evidence WHERE scope_id = ?"
    linked = set(connection.execute(query, (scope.id,)))
    yield from (f"evidence is not linked: {each!r}" for each in sorted(named - linked))
    yield from (f"a link without evidence: {each!r}" for each in sorted(linked - named))
