"""Making and migrating a SQLite store, killed at every statement and every write on the way."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from recollect.errors import StoreError, StoreUnavailableError
from recollect.records import NewMessage
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.bootstrap import open_file
from recollect.stores.sqlite.connections import SqliteLocation
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.store import SQLiteStore

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")
HELLO = NewMessage(role="user", text="hello")
SECOND_STEP = """\
CREATE TABLE added (scope_id INTEGER NOT NULL, words INTEGER NOT NULL) STRICT;
ALTER TABLE thread ADD COLUMN title TEXT;
INSERT INTO added (scope_id, words) SELECT scope_id, length(text) FROM message;
"""

NURSERY = r'''
"""Open a store again and again, each time in a child that is killed one event later."""
import json, os, signal, sys
import apsw
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite import connections as connect
from recollect.stores.sqlite import bootstrap as opening
from recollect.stores.sqlite.page_checksums import checksum_layer

kind, second_step, mutant, *files = sys.argv[1:]
if second_step:
    migrations.STEPS = (*migrations.STEPS, second_step)
    migrations.SCHEMA_VERSION = len(migrations.STEPS)


class Killing:
    """Count events, and kill this process at one of them."""

    def __init__(self, at):
        self.at = at
        self.events = []

    def __call__(self, *event):
        self.events.append(str(event[0])[-30:])
        if len(self.events) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return True


class File(apsw.VFSFile):
    def __init__(self, kill, name, flags):
        super().__init__(checksum_layer() or "", name, flags)
        self.kill = kill
        self.name = (name.filename() if isinstance(name, apsw.URIFilename) else name)[-8:]

    def xWrite(self, content, offset):
        self.kill(f"write {self.name}")
        super().xWrite(content, offset)

    def xTruncate(self, size):
        self.kill(f"truncate {self.name}")
        super().xTruncate(size)

    def xSync(self, flags):
        self.kill(f"sync {self.name}")
        super().xSync(flags)


class Layer(apsw.VFS):
    def __init__(self, kill):
        super().__init__("killing", checksum_layer() or "")
        self.kill = kill

    def xOpen(self, name, flags):
        return File(self.kill, name, flags)

    def xDelete(self, name, sync):
        self.kill(f"delete {name[-8:]}")
        super().xDelete(name, sync)


def open_and_be_killed(file, at):
    kill = Killing(at)
    layer = Layer(kill) if kind == "writes" else None
    made = opening.new_connection

    def traced(*arguments, **words):
        connection = made(*arguments, **words)
        if kind == "statements":
            connection.exec_trace = lambda _, statement, values: kill(statement)
        return connection

    opening.new_connection = traced
    if mutant:
        opening.migrate = migrate_by_the_statement
    location = connect.SqliteLocation(
        path=file, vfs=layer and "killing", durability="full", lock_wait_s=5.0
    )
    opening.open_file(location)
    print(json.dumps(kill.events), flush=True)


def migrate_by_the_statement(connection, path):
    version = migrations.schema_version(connection, path)
    connection.execute(migrations.STEPS[version])
    connection.pragma("user_version", version + 1)


for number, file in enumerate(files, 1):
    child = os.fork()
    if child == 0:
        open_and_be_killed(file, number)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(status != 0)
sys.exit("more events than files")
'''


def killed_at(
    kind: str, files: list[Path], second_step: str = "", mutant: str = ""
) -> dict[Path, str]:
    """Open the n-th of *files* in a process that is killed at the n-th event; return which."""
    command = [sys.executable, "-c", NURSERY, kind, second_step, mutant, *map(str, files)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(zip(files, json.loads(printed.stdout), strict=False))


def use(file: Path) -> list[str]:
    """Open the store in *file*, append to it, and return what it says then."""

    async def act() -> list[str]:
        async with SQLiteStore(file, durability="relaxed") as store:
            await store.append(ADA, "talk", [HELLO])
            return [each.text for each in (await store.messages(ADA, "talk")).rows]

    return asyncio.run(act())


def is_broken(file: Path) -> bool:
    """Say whether the store in *file* cannot be used."""
    try:
        use(file)
    except StoreError:
        return True
    return False


def schema_in(file: Path) -> list[tuple[object, ...]]:
    """Return the schema of a closed store as SQLite keeps it, and check the file as a whole."""
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    found = connection.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()
    assert "ok" == connection.pragma("integrity_check")
    connection.close()
    return list(found)


@pytest.fixture
def second_step(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let there be a second step in this process too; return its text."""
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, SECOND_STEP))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", len(migrations.STEPS))
    return SECOND_STEP


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return enough names, each in a folder of its own."""
    folders = [tmp_path / str(number) for number in range(400)]
    for folder in folders:
        folder.mkdir()
    return [folder / "memory.db" for folder in folders]


@pytest.mark.parametrize("kind", ["statements", "writes"])
def test_a_store_whose_making_was_killed_is_made(
    kind: str, files: list[Path], tmp_path: Path
) -> None:
    """Wherever the first opening is killed, the next one gives a whole store."""
    whole = tmp_path / "whole.db"
    use(whole)

    killed = killed_at(kind, files)

    assert len(killed) > 20
    assert {("hello",)} == {tuple(use(file)) for file in killed}
    assert [schema_in(whole)] * len(killed) == [schema_in(file) for file in killed]


@pytest.mark.parametrize("kind", ["statements", "writes"])
def test_a_migration_that_was_killed_is_done(
    kind: str, files: list[Path], second_step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a migration is killed, the next opening has its whole effect once, and all data."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "SCHEMA_VERSION", len(migrations.STEPS) - 1)
        use(files[0])
        for file in files[1:60]:
            file.write_bytes(files[0].read_bytes())

    killed = killed_at(kind, files[:60], second_step)
    said = {tuple(use(file)) for file in killed}
    added = [
        apsw.Connection(str(file), vfs=checksum_layer())
        .execute("SELECT count(*), sum(words) FROM added")
        .fetchall()
        for file in killed
    ]

    assert len(killed) >= 5
    assert {("hello", "hello")} == said
    assert [[(1, 5)]] * len(killed) == added


def test_steps_without_a_transaction_would_be_noticed(
    files: list[Path], second_step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: statements that are committed one by one leave a store that cannot be opened."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "SCHEMA_VERSION", len(migrations.STEPS) - 1)
        use(files[0])
        for file in files[1:60]:
            file.write_bytes(files[0].read_bytes())

    killed = killed_at("statements", files[:60], second_step, mutant="no transaction")

    assert any(is_broken(file) for file in killed)


def test_a_power_loss_while_it_was_made_is_undone(files: list[Path]) -> None:
    """Pages that never reached the disk read as zeros: with a journal, that is no foreign file."""
    killed = killed_at("writes", files)
    events = list(killed.values())
    unsynced = range(events.index("write emory.db") + 1, events.index("sync emory.db") + 1)
    torn = [files[number] for number in unsynced]
    for file in torn:
        file.write_bytes(bytes(4_096) + file.read_bytes()[4_096:])

    assert len(torn) > 20
    assert {("hello",)} == {tuple(use(file)) for file in torn}


def test_a_store_made_meanwhile_is_not_taken_for_a_foreign_one(tmp_path: Path) -> None:
    """Mark and version of a file are read at once, though another process may just make it."""
    file = str(tmp_path / "memory.db")
    location = SqliteLocation(path=file, vfs=None, durability="full", lock_wait_s=0.05)
    slow = apsw.Connection(file)
    meanwhile: list[str] = []

    def make(_: apsw.Cursor, statement: str, _values: object) -> bool:
        if "user_version" in statement and not meanwhile:
            meanwhile.append(statement)
            with suppress(StoreUnavailableError):
                open_file(location).close()
        return True

    slow.exec_trace = make
    migrations.migrate(slow, file)

    assert 1 == len(meanwhile)
    assert migrations.SCHEMA_VERSION == slow.pragma("user_version")
    slow.close()


def test_eight_processes_open_a_new_file_at_once(tmp_path: Path) -> None:
    """Whoever comes second finds the store made; all of them can write at once."""
    program = (
        "import asyncio, sys\n"
        "from recollect.records import NewMessage\n"
        "from recollect.stores.sqlite.store import SQLiteStore\n"
        "async def act(file, number):\n"
        "    sys.stdin.readline()\n"
        "    async with SQLiteStore(file) as store:\n"
        "        await store.append(('users', 'ada'), 'talk', "
        "[NewMessage(role='user', text=number)])\n"
        "asyncio.run(act(*sys.argv[1:]))\n"
    )
    file = tmp_path / "memory.db"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(file), str(number)],
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    errors = [process.communicate()[1] for process in processes]

    assert [""] * 8 == errors
    assert sorted([*"01234567", "hello"]) == sorted(use(file))
