"""The schema of the SQLite store: what it is, how it comes about, and how it is asked."""

import ast
from dataclasses import fields
from pathlib import Path
from typing import Any

import apsw
import pytest
from apsw.ext import query_info

from recollect.stores.change_feed import FeedEntry
from recollect.stores.rows import (
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    ThreadRow,
)
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.statements import QUERIES, WRITES

SOURCE = Path(__file__).parents[2] / "src"

GOLDEN = """\
audit: chain BLOB! n INTEGER! at INTEGER! actor TEXT actor_key BLOB! action TEXT! subject TEXT! \
digest BLOB! previous BLOB! hash BLOB! | chain n
audit_head: chain BLOB! n INTEGER! hash BLOB! | chain
embedded: scope_id INTEGER! embedder TEXT! seq INTEGER! | scope_id embedder
evidence: scope_id INTEGER! thread TEXT! message TEXT! uid INTEGER! | scope_id thread message uid
evidence_uid: evidence(scope_id uid)
formation: scope_id INTEGER! id TEXT! fence INTEGER! committed_at INTEGER! status TEXT! \
calls INTEGER! tokens INTEGER! watermarks TEXT! failed TEXT! receipt TEXT! | scope_id id
formation_time: formation(scope_id committed_at fence id status)
idempotency: scope_id INTEGER! key TEXT! digest BLOB! kept_at INTEGER! result TEXT! | scope_id key
idempotency_time: idempotency(scope_id kept_at)
index_file: scope_id INTEGER! name TEXT! epoch INTEGER! seq INTEGER! embedder TEXT! form TEXT! \
size_bytes INTEGER! digest BLOB! | scope_id name
memory: scope_id INTEGER! type TEXT! key TEXT! uid INTEGER! seq INTEGER! version INTEGER! \
created_at INTEGER! updated_at INTEGER! valid_from INTEGER valid_until INTEGER expires_at INTEGER \
said_at INTEGER trust TEXT! state TEXT! cause TEXT! checksum INTEGER! text_hash BLOB! terms BLOB! \
text TEXT! value TEXT! evidence TEXT! | scope_id type key
memory_seq: memory(scope_id seq uid)
memory_uid: unique memory(scope_id uid)
message: scope_id INTEGER! thread INTEGER! position INTEGER! uid INTEGER! seq INTEGER! id TEXT! \
role TEXT! name TEXT time INTEGER! session TEXT! source TEXT kept_at INTEGER! \
checksum INTEGER! digest BLOB! text_hash BLOB! terms BLOB! text TEXT! metadata TEXT! content TEXT \
| scope_id thread position
message_id: unique message(scope_id thread id)
message_seq: message(scope_id seq uid)
message_source: partial message(scope_id source)
message_uid: unique message(scope_id uid)
meta: id INTEGER format TEXT! secret BLOB! number INTEGER! commits INTEGER! | id
receipt: id TEXT! target BLOB! messages INTEGER! memories INTEGER! revised INTEGER! \
erased_at INTEGER! clean_at INTEGER | id
receipt_time: receipt(erased_at id)
receipt_unclean: partial receipt(erased_at id)
revision: scope_id INTEGER! uid INTEGER! version INTEGER! valid_from INTEGER valid_until INTEGER \
trust TEXT! state TEXT! cause TEXT! believed_from INTEGER! believed_until INTEGER! \
checksum INTEGER! text TEXT! value TEXT! evidence TEXT! | scope_id uid version
scope: id INTEGER path BLOB! created_at INTEGER! epoch INTEGER! seq INTEGER! compacted INTEGER! \
fence INTEGER! lease_owner TEXT lease_until INTEGER | id
scope_seq: scope(id seq)
side_record: scope_id INTEGER! thread TEXT! kind TEXT! key TEXT! uid INTEGER! version \
INTEGER! created_at INTEGER! updated_at INTEGER! expires_at INTEGER checksum INTEGER! value \
TEXT! | scope_id thread kind key
side_record_uid: unique side_record(scope_id uid)
thread: scope_id INTEGER! number INTEGER! id TEXT! created_at INTEGER! last INTEGER! \
count INTEGER! formed INTEGER! first_pending_at INTEGER due INTEGER not_before INTEGER \
attempts INTEGER! state TEXT! waiting_tokens INTEGER! again TEXT! lanes TEXT! settings TEXT! \
| scope_id id
thread_due: partial thread(due number not_before state formed last again)
thread_number: unique thread(scope_id number)
thread_waiting: partial thread(scope_id due number not_before state)
tombstone: scope_id INTEGER! seq INTEGER! uid INTEGER! | scope_id seq uid
vector: scope_id INTEGER! uid INTEGER! embedder TEXT! text_hash BLOB! data BLOB! \
| scope_id uid embedder
"""
"""Each table with its columns (``!`` is NOT NULL) and its key; each index with its columns."""

# Reading all of it is what these are for.
SCANS = {
    "new_number": ["SCAN meta"],
    "secret": ["SCAN meta"],
    "sign_commit": ["SCAN meta"],
    "receipts": ["SCAN receipt USING INDEX receipt_time"],
    "receipts_unclean": ["SCAN receipt USING INDEX receipt_unclean"],
    "due_threads": ["SCAN found"],
    "all_index_files": ["SCAN index_file"],
    "unembedded_scopes": ["SCAN s USING COVERING INDEX scope_seq"],
    # Rows that were searched for within a scope are joined.
    **{key: ["SCAN (subquery-1)"] for key in ("message_block", "memory_block", "vector_block")},
}
SORTS = {
    "due_threads": ["USE TEMP B-TREE FOR ORDER BY"],  # the few threads that were found
    "waiting_threads": ["USE TEMP B-TREE FOR LAST TERM OF ORDER BY"],  # those of one scope
}
# These look for one row by a key of their own, or for rows of any scope.
SEARCHES_BEYOND_A_SCOPE = (
    "SEARCH scope USING ",
    "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)",
    "SEARCH s USING INDEX sqlite_autoindex_scope_1 (path>? AND path<?)",
    "SEARCH audit USING PRIMARY KEY (chain=?",
    "SEARCH audit_head USING PRIMARY KEY (chain=?)",
    "SEARCH d USING COVERING INDEX thread_due (due>? AND due<?)",
)


@pytest.fixture
def database() -> apsw.Connection:
    """Return a database with the present schema, in memory."""
    connection = apsw.Connection(":memory:")
    migrations.migrate(connection, "memory")
    return connection


def schema_of(database: apsw.Connection) -> str:
    """Describe the tables and indexes of *database*, a line each."""
    lines = []
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    for (table,) in rows_of(database, tables):
        columns = rows_of(database, "SELECT * FROM pragma_table_xinfo(?)", table)
        written = [f"{row[1]} {row[2]}{'!' if row[3] else ''}" for row in columns]
        key = [row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5]]
        lines.append(f"{table}: {' '.join(written)} | {' '.join(key)}")
        indexes = "SELECT name, \"unique\", partial FROM pragma_index_list(?) WHERE origin = 'c'"
        for name, unique, partial in rows_of(database, indexes, table):
            named = "SELECT name FROM pragma_index_info(?) ORDER BY seqno"
            of = " ".join(row[0] for row in rows_of(database, named, name))
            kind = "unique " * unique + "partial " * partial
            lines.append(f"{name}: {kind}{table}({of})")
    return "".join(f"{line}\n" for line in sorted(lines))


def rows_of(database: apsw.Connection, query: str, *values: str) -> list[tuple[Any, ...]]:
    """Return the rows that *query* finds."""
    return database.execute(query, values).fetchall()


def plan_of(database: apsw.Connection, statement: str) -> list[str]:
    """Return the lines of the plan by which SQLite carries out *statement*."""
    values = (None,) * query_info(database, statement).bindings_count
    return [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {statement}", values)]


def test_the_schema_is_the_expected_one(database: apsw.Connection) -> None:
    """All steps together make the schema that is written down here."""
    assert GOLDEN == schema_of(database)


def test_every_table_is_strict(database: apsw.Connection) -> None:
    """A value of another type is refused, not converted."""
    lax = "SELECT name FROM pragma_table_list WHERE NOT strict AND name NOT LIKE 'sqlite_%'"

    assert [] == database.execute(lax).fetchall()


def test_what_concerns_a_scope_leads_with_it(database: apsw.Connection) -> None:
    """One scope is one range of every table and index; only asking who is due goes across."""
    of_all = {"meta", "receipt", "receipt_time", "receipt_unclean", "scope", "scope_seq"}
    chained = {"audit", "audit_head"}
    across = set()
    for line in schema_of(database).splitlines():
        name, _, rest = line.partition(": ")
        leading = rest.partition("| ")[2] or rest.partition("(")[2]
        if not leading.startswith("scope_id"):
            across.add(name)

    assert of_all | chained | {"thread_due"} == across


@pytest.mark.parametrize("name", [*QUERIES, *WRITES])
def test_statements_search_within_a_scope(name: str, database: apsw.Connection) -> None:
    """No statement reads rows of another scope, nor all rows of a table, unless it is its sense."""
    lines = plan_of(database, {**QUERIES, **WRITES}[name])

    scans = [line for line in lines if line.startswith("SCAN")]
    strays = [
        line
        for line in lines
        if line.startswith("SEARCH")
        and "(scope_id=?" not in line
        and not line.startswith(SEARCHES_BEYOND_A_SCOPE)
    ]

    assert SCANS.get(name, []) == scans
    assert [] == strays


@pytest.mark.parametrize(
    "mutant",
    [
        "SELECT uid FROM message WHERE seq > ?",
        "SELECT uid FROM message WHERE uid = ?",
        "SELECT id FROM scope WHERE path LIKE ?",
    ],
)
def test_a_scan_would_be_noticed(mutant: str, database: apsw.Connection) -> None:
    """The control: a query without its scope has a plan that the check refuses."""
    assert plan_of(database, mutant)[0].startswith("SCAN")


@pytest.mark.parametrize("name", [*QUERIES, *WRITES])
def test_a_name_stands_for_one_statement(name: str, database: apsw.Connection) -> None:
    """What stands under a name is one statement, which sorts nothing that an index has in order."""
    statement = {**QUERIES, **WRITES}[name]

    sorts = [line for line in plan_of(database, statement) if "TEMP B-TREE" in line]

    assert ";" not in statement
    assert SORTS.get(name, []) == sorts


def test_every_statement_is_used() -> None:
    """The names in the code and those in the SQL files are the same."""
    stores = SOURCE / "recollect" / "stores"
    texts = set()
    # Some are named in the reads that SQLite shares with PostgreSQL.
    for path in (stores / "query_rows.py", *(stores / "sqlite").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)

    unused = {name for name in [*QUERIES, *WRITES] if name not in texts}

    assert {name for name in WRITES if name.startswith("drop_scope_")} == unused


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("thread", ThreadRow),
        ("threads", ThreadRow),
        ("due_threads_of", ThreadRow),
        ("message_by_id", MessageRow),
        ("message_by_uid", MessageRow),
        ("messages", MessageRow),
        ("last_messages", MessageRow),
        ("messages_of_source", MessageRow),
        ("all_messages", MessageRow),
        ("memory", MemoryRow),
        ("memory_by_uid", MemoryRow),
        ("memories", MemoryRow),
        ("memories_of_type", MemoryRow),
        ("revisions", RevisionRow),
        ("idempotency", IdempotencyRow),
        ("formation", FormationRow),
        ("formations", FormationRow),
        ("receipts", ReceiptRow),
        ("receipts_unclean", ReceiptRow),
        ("changed", FeedEntry),
    ],
)
def test_columns_stand_as_the_fields_do(name: str, row: type, database: apsw.Connection) -> None:
    """Every query names its columns in the order of the row that they become; then its checksum."""
    last = ["checksum"] if row in (MessageRow, MemoryRow, RevisionRow) else []
    names = FeedEntry._fields if row is FeedEntry else [field.name for field in fields(row)]

    assert [*names, *last] == columns_of(database, QUERIES[name])


def test_a_memory_comes_with_its_number_in_the_request(database: apsw.Connection) -> None:
    """Where many are asked for at once, the number stands before the columns."""
    wanted = [field.name for field in fields(MemoryRow)]

    assert ["?1", *wanted, "checksum"] == columns_of(database, QUERIES["memory_in"])


@pytest.mark.parametrize("name", ["due_threads", "waiting_threads"])
def test_threads_come_with_their_scopes(name: str, database: apsw.Connection) -> None:
    """A thread that is due, or waits, comes with the row of its scope before it."""
    wanted = [field.name for row in (ScopeRow, ThreadRow) for field in fields(row)]
    wanted[wanted.index("segments")] = "path"

    assert wanted == columns_of(database, QUERIES[name])


def columns_of(database: apsw.Connection, query: str) -> list[str]:
    """Return the names of the columns that *query* gives."""
    return [column[0] for column in query_info(database, query).description]
