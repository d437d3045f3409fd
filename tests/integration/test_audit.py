"""The audit on disk, at the command line, and through both faces; what would weaken it is seen."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import anyio
import apsw
import psycopg
import pytest
from click.testing import CliRunner, Result

import recollect
from recollect.cli import main
from recollect.errors import StoreClosedError
from recollect.stores.in_process.store import InProcessStore, Tables
from recollect.stores.plans import audit
from recollect.stores.plans.audit import AuditVerdict
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.rows import AuditRow
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.unit_of_work import Effect, Plan, Rows
from recollect.testing import FrozenClock
from recollect.testing.contract_audit import FIRST, KEY, AuditContract, four_changes
from recollect.testing.contract_base import ADA, TALK, keep_facts, tell
from tests.harness.installed_servers import require_postgres
from tests.harness.plan_contracts.audit import TAMPERINGS, AuditPlanContract
from tests.harness.postgres_server import PostgresServer

pytestmark = pytest.mark.anyio

WORDS = ("words of", "oslo", "rome", FIRST, "home", TALK)
CHANGES = (
    "UPDATE audit SET action = 'x' WHERE n = 2",
    "UPDATE audit SET actor = 'eve' WHERE n = 2",
    "DELETE FROM audit WHERE n = 2",
    "DELETE FROM audit WHERE n = 4",
    "DELETE FROM audit",
    "UPDATE audit_head SET n = 3",
    "DELETE FROM audit_head",
    """INSERT INTO audit
    SELECT chain, 5, at, actor, actor_key, action, subject, digest, hash, hash
    FROM audit WHERE n = 4""",
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return where a store is in which four changes were audited."""
    path = str(tmp_path / "memory.db")

    async def fill() -> None:
        async with SQLiteStore(path) as store:
            await four_changes(store)

    anyio.run(fill)
    return path


async def verdict_on(path: str) -> AuditVerdict:
    """Open a file and verify Ada's audit."""
    async with SQLiteStore(path) as store:
        return await store.verify_audit(ADA)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_noticed(path: str, change: str) -> None:
    """Whatever is done to the rows of the file alone, the chain is not whole."""
    assert anyio.run(verdict_on, path).ok

    apsw.Connection(path, vfs=checksum_layer()).execute(change)

    assert not anyio.run(verdict_on, path).ok


def test_nothing_said_is_in_the_audit_of_a_file(path: str) -> None:
    """No row holds a word, an id that a caller chose, or the name of the scope."""
    rows = apsw.Connection(path, vfs=checksum_layer()).execute("SELECT * FROM audit").fetchall()

    told = repr(rows).lower()
    assert 4 == len(rows)
    assert [] == [word for word in WORDS if word in told]
    # Of the scope's names those that no digest spells.
    assert [] == [segment for segment in ADA[:-1] if segment in told]


def test_an_erased_scope_leaves_no_actors_name_in_the_file(path: str) -> None:
    """After an erase and cleaning the files do not hold the name of whoever acted in the scope."""

    async def erase() -> None:
        async with SQLiteStore(path) as store:
            await store.erase(ADA, EraseScope())
            await store.clean()

    assert KEY.encode() in Path(path).read_bytes()

    anyio.run(erase)

    left = [file for file in Path(path).parent.iterdir() if KEY.encode() in file.read_bytes()]
    assert [] == left
    assert anyio.run(verdict_on, path).ok


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    """Yield the address of a database in which four changes were audited."""
    url = server.make_database("audited")

    async def fill() -> None:
        async with recollect.open(url, embedder="none") as memory:
            await four_changes(memory.store)

    anyio.run(fill)
    yield url
    server.execute("DROP DATABASE audited WITH (FORCE)")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE recollect.audit SET action = 'x'",
        "UPDATE recollect.audit SET hash = 'x'",
        "DELETE FROM recollect.audit",
        "DELETE FROM recollect.audit_head",
    ],
)
def test_the_role_of_the_store_may_not_rewrite(url: str, statement: str) -> None:
    """On PostgreSQL what runs as the store may add rows and take names away, and no more."""
    with psycopg.connect(url) as connection:
        connection.execute("SET ROLE recollect_app")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


def test_the_wall_shows_one_chain(url: str) -> None:
    """Without its name no chain is seen, nor with the range of scopes that finding one sets."""
    settings = (
        "SELECT set_config('recollect.first', %s, true), set_config('recollect.end', %s, true)"
    )
    seen = []
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT DISTINCT encode(chain, 'hex') FROM recollect.audit")
        ((chain,),) = found.fetchall()
        connection.execute("SET ROLE recollect_app")
        for first, end in (("", ""), ("00", "ff"), (chain, chain), (chain, "")):
            connection.execute(settings, (first, end))
            seen += connection.execute("SELECT count(*) FROM recollect.audit").fetchall()

    assert [(0,), (0,), (0,), (4,)] == seen


def forgetful(rows: Rows, chain: bytes, secret: bytes, **_: object) -> AuditVerdict:
    """Follow what is there, and never ask where it should end."""
    number, previous = 0, audit.first_previous(chain)
    for row in audit._all_rows(rows, chain):
        if audit._fault_of(row, number, previous, secret):
            return AuditVerdict(rows=number, head=None, broken_at=number + 1)
        number, previous = row.n, row.hash
    return AuditVerdict(rows=number, head=None)


def said_by(*names: str) -> Callable[[AuditRow], bytes]:
    """Return a hash of these fields alone."""
    return lambda row: sha256(repr([getattr(row, name) for name in names]).encode()).digest()


def kept_names(rows: Rows, plan: Plan[object], **_: bytes) -> object:
    """Erase, and leave the actors' names."""
    return plan(rows)


ALL = ("n", "at", "actor_key", "action", "subject", "digest", "previous")
WITHOUT = {
    "at": "a time is changed",
    "action": "an action is changed",
    "subject": "a subject is changed",
    "digest": "a digest is changed",
    "actor_key": "an actor is another without a name",
}
MUTANTS: dict[str, tuple[str, object, str]] = {
    "nobody asks where it ends": (
        "recollect.stores.contract.audit.read_verdict",
        forgetful,
        "the tail is cut off",
    ),
    "names are not compared": (
        "recollect.stores.plans.audit.actor_key_of",
        lambda *_: b"",
        "an actor is changed",
    ),
    **{
        f"the hash leaves out {name}": (
            "recollect.stores.plans.audit.hash_of",
            said_by(*(each for each in ALL if each != name)),
            tampering,
        )
        for name, tampering in WITHOUT.items()
    },
}


@pytest.mark.parametrize("mutant", MUTANTS)
async def test_a_weaker_audit_would_be_noticed(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mutant of the audit fails the contract's test of what it weakens."""
    place, instead, tampering = MUTANTS[mutant]
    clock = FrozenClock()
    store = InProcessStore(clock=clock)
    monkeypatch.setattr(place, instead)
    assert tampering in TAMPERINGS

    with pytest.raises(AssertionError):
        await AuditPlanContract().test_tampering_is_found(store, tampering)


async def test_names_that_an_erase_leaves_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an erase that leaves the names of whoever acted fails the contract."""
    monkeypatch.setattr("recollect.stores.contract.erasure.plan_unnamed", kept_names)

    with pytest.raises(AssertionError):
        await AuditContract().test_of_an_erased_scope_the_actors_names_go(InProcessStore())


async def test_a_row_beside_the_transaction_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A store that fails to write the change has no row of it; one that wrote it before would."""
    store = InProcessStore()
    write = Tables.write

    def failing(self: Tables, effect: Effect) -> None:
        if effect.messages:
            msg = "the disk is away"
            raise OSError(msg)
        write(self, effect)

    monkeypatch.setattr(Tables, "write", failing)
    with pytest.raises(OSError, match="away"):
        await tell(store.acting(KEY), "m1")

    assert () == (await store.audit(ADA)).rows


async def test_an_old_row_is_not_written_over() -> None:
    """The rows of a chain are added: what was taken out of the store before stays equal."""
    store = InProcessStore()
    await four_changes(store)
    before = (await store.audit(ADA)).rows

    await keep_facts(store.acting(KEY), "Bonn")

    after = (await store.audit(ADA)).rows
    # What is named by them may have changed; what they say has not.
    assert [replace(each, names=()) for each in before] == [
        replace(each, names=()) for each in after[1:]
    ]


async def test_a_memory_acts_for_somebody() -> None:
    """`acting` gives the same memory: what is kept through it is found by the other one."""
    async with recollect.open(embedder="none", worker=False) as memory:
        acting = memory.acting("ada")
        await acting.append(ADA, TALK, [recollect.NewMessage(role="user", text="I live in Oslo")])
        found = await memory.recall(ADA, "Oslo")
        (row,) = (await memory.audit(ADA)).rows

        assert 1 == len(found.entries)
        assert ("ada", "append") == (row.actor, row.action)
        assert (await acting.verify_audit(ADA)).ok
    with pytest.raises(StoreClosedError):
        await acting.audit(ADA)


def test_a_memory_acts_for_somebody_without_await() -> None:
    """The synchronous face is open as long as the memory that it is a view of."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        acting = memory.acting("ada")
        acting.put(ADA, "Item", "one", {"text": "tea"})
        memory.put(ADA, "Item", "two", {"text": "milk"})

        assert ["ada"] == [each.actor for each in memory.audit(ADA).rows]
        assert acting.verify_audit(ADA).ok
    with pytest.raises(StoreClosedError):
        acting.audit(ADA)


def invoke(path: str, *arguments: str) -> Result:
    """Run a command on Ada's scope."""
    environment = {"RECOLLECT_STORE": path, "RECOLLECT_SCOPE": "/".join(ADA), "COLUMNS": "100"}
    return CliRunner(env=environment).invoke(main, ["audit", *arguments])


def test_the_command_lists_and_verifies(path: str) -> None:
    """What is printed as the last row can be given back with --noted."""
    listed = json.loads(invoke(path, "list", "--limit", "2").stdout)
    table = invoke(path, "list", "--table")
    verified = invoke(path, "verify", "--table")
    noted = verified.stdout.split()[-1]

    assert [4, 3] == [each["n"] for each in listed["audit"]]
    assert listed["is_more"]
    assert "memory Fact/home" in table.stdout
    assert 0 == invoke(path, "verify", "--noted", noted).exit_code
    assert 2 == invoke(path, "verify", "--noted", "4").exit_code
    assert 2 == invoke(path, "list", "--limit", "0").exit_code


def test_the_command_says_where_it_is_broken(path: str) -> None:
    """The status is 1, and the row is named."""
    apsw.Connection(path, vfs=checksum_layer()).execute(CHANGES[0])

    shown, printed = invoke(path, "verify", "--table"), invoke(path, "verify", "--json")

    assert (1, 1) == (shown.exit_code, printed.exit_code)
    assert shown.stdout.startswith("broken at row 2: ")
    assert (False, 2) == (json.loads(printed.stdout)["ok"], json.loads(printed.stdout)["broken_at"])
