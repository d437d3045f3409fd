"""Opening a SQLite store: new files, foreign ones, damaged ones, and ones we may not write."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import apsw
import pytest

from recollect.errors import StoreCorruptError, StoreReadOnlyError, StoreVersionError
from recollect.records import NewMessage
from recollect.stores.sqlite.engine import check_engine
from recollect.stores.sqlite.migrations import APPLICATION_ID, SCHEMA_VERSION
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.store import SQLiteStore

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")
HELLO = NewMessage(role="user", text="hello")
NOBODY = 65_534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where a store can be."""
    return tmp_path / "memory.db"


def fill(file: Path, messages: Sequence[NewMessage] = (HELLO,)) -> dict[str, int]:
    """Make a store in *file* and close it; return the modes of all files while it was open."""

    async def act() -> dict[str, int]:
        async with SQLiteStore(file) as store:
            await store.append(ADA, "talk", messages)
            return {path.name: path.stat().st_mode for path in beside(file)}

    return asyncio.run(act())


def texts_in(file: Path) -> list[str]:
    """Return what is said in the store in *file*."""

    async def act() -> list[str]:
        async with SQLiteStore(file) as store:
            return [each.text for each in (await store.messages(ADA, "talk")).rows]

    return asyncio.run(act())


def beside(file: Path) -> list[Path]:
    """Return *file* and all that lies beside it, by name."""
    return sorted(file.parent.iterdir())


def refused_by(action: str, file: Path) -> str:
    """Return which error a process without rights gets from *action* on the store in *file*."""
    program = (
        "import asyncio, os, sys\n"
        "from recollect.records import NewMessage\n"
        "from recollect.errors import StoreError\n"
        "from recollect.stores.sqlite.store import SQLiteStore\n"
        f"if os.getuid() == 0: os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        "async def act(file):\n"
        "    store = SQLiteStore(file)\n"
        f"    {action}\n"
        "try:\n"
        "    print(asyncio.run(act(sys.argv[1])))\n"
        "except StoreError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    command = [sys.executable, "-c", program, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that every user can reach, unlike pytest's own."""
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    rmtree(folder)


def test_only_the_owner_can_read_the_files(file: Path) -> None:
    """The file, its log, the index of that and the reserve all have the mode 0600."""
    modes = fill(file)
    modes |= {path.name: path.stat().st_mode for path in beside(file)}

    assert {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db-reserve"} == set(modes)
    assert {0o100600} == set(modes.values())


def test_an_empty_file_becomes_a_store(file: Path) -> None:
    """A file of no bytes is a new store, and keeps the rights that it was given."""
    file.touch(mode=0o640)

    fill(file)

    assert ["hello"] == texts_in(file)
    assert 0o100640 == file.stat().st_mode


async def test_the_settings_hold(file: Path) -> None:
    """Both connections work as the durability and the erasing promise."""
    wanted = {"journal_mode": "wal", "secure_delete": 1, "mmap_size": 0, "temp_store": 2}

    async with SQLiteStore(file) as store, SQLiteStore(file, durability="relaxed") as relaxed:
        writing = store._writer._connected()
        settings = {name: writing.pragma(name) for name in wanted}
        levels = writing.pragma("synchronous"), relaxed._writer._connected().pragma("synchronous")

    assert wanted == settings
    assert (2, 1) == levels


@pytest.mark.parametrize(
    "content",
    [b"dear diary, ", b"SQLite format 3\0", b"\0" * 5_000, bytes(range(256)) * 100],
    ids=["text", "a cut header", "zeros", "bytes"],
)
def test_what_is_no_database_stays_as_it_is(file: Path, content: bytes) -> None:
    """A file that is no database is refused and not touched."""
    file.write_bytes(content)

    with pytest.raises(StoreCorruptError, match=r"not a database: it was left as it is"):
        SQLiteStore(file)

    assert content == file.read_bytes()
    assert [file] == beside(file)


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("mark", [0, 7])
def test_another_applications_database_stays_as_it_is(file: Path, mode: str, mark: int) -> None:
    """A foreign database is refused by its mark, without a byte of it changing."""
    foreign = apsw.Connection(str(file))
    foreign.pragma("journal_mode", mode)
    foreign.pragma("application_id", mark)
    foreign.execute("CREATE TABLE message (text); INSERT INTO message VALUES ('theirs')")
    foreign.close()
    content = file.read_bytes()

    with pytest.raises(StoreCorruptError, match=f"another application.*{mark}"):
        SQLiteStore(file)

    assert content == file.read_bytes()
    assert [file] == beside(file)


def test_a_newer_schema_is_refused(file: Path) -> None:
    """The error names both versions and says what to do."""
    fill(file)
    later = apsw.Connection(str(file), vfs=checksum_layer())
    later.pragma("user_version", SCHEMA_VERSION + 41)
    later.close()
    content = file.read_bytes()

    wanted = rf"schema version {SCHEMA_VERSION + 41}.*up to {SCHEMA_VERSION}: install"
    with pytest.raises(StoreVersionError, match=wanted):
        SQLiteStore(file)

    assert content == file.read_bytes()


def test_a_damaged_file_is_reported(file: Path) -> None:
    """Rows that cannot be read are an error that says so, not an answer."""
    fill(file, [NewMessage(role="user", text="word " * 1_000)] * 50)
    content = bytearray(file.read_bytes())
    content[4_096 * 2 :] = b"\x55" * (len(content) - 4_096 * 2)
    file.write_bytes(content)

    with pytest.raises(StoreCorruptError, match=r"memory\.db.*damaged.*restore"):
        texts_in(file)


def test_a_file_cut_short_is_reported(file: Path) -> None:
    """A store whose end is missing is not taken for a smaller one."""
    fill(file)
    os.truncate(file, 4_096)

    with pytest.raises(StoreCorruptError, match="damaged"):
        texts_in(file)


def test_a_folder_without_rights_is_reported(open_folder: Path) -> None:
    """A file that cannot be made says that it may not be written, and what to do."""
    open_folder.chmod(0o555)

    found = refused_by("await store.scopes()", open_folder / "memory.db")

    assert found.startswith(StoreReadOnlyError.__name__), found
    assert "the right to write the file and its folder" in found


def test_a_file_without_rights_is_reported(open_folder: Path) -> None:
    """A store that may be read but not written fails at the first write at the latest."""
    file = open_folder / "memory.db"
    fill(file)
    file.chmod(0o444)
    open_folder.chmod(0o777)
    append = "await store.append(('a',), 't', [NewMessage(role='user', text='x')])"

    found = refused_by(append, file)

    assert found.startswith(StoreReadOnlyError.__name__), found


def test_rights_let_the_same_calls_pass(open_folder: Path) -> None:
    """The control: what is refused above is done where it may be."""
    file = open_folder / "memory.db"
    fill(file)
    for path in beside(file):
        path.chmod(0o666)
    open_folder.chmod(0o777)
    append = "return len(await store.append(('a',), 't', [NewMessage(role='user', text='x')]))"

    found = refused_by(append, file)

    assert "1" == found


@pytest.mark.parametrize(
    "version",
    [(3, 6, 23), (3, 7, 0), (3, 40, 1), (3, 44, 5), (3, 45, 0), (3, 50, 6), (3, 51, 0), (3, 51, 2)],
)
def test_an_engine_that_can_lose_commits_is_refused(version: tuple[int, int, int]) -> None:
    """From 3.7.0 to 3.51.2 a race at the checkpoint can lose commits; older ones have no log."""
    with pytest.raises(StoreVersionError, match=rf"{version[0]}\.{version[1]}.*install apsw"):
        check_engine(version)


@pytest.mark.parametrize(
    "version", [(3, 44, 6), (3, 44, 9), (3, 50, 7), (3, 51, 3), (3, 52, 0), (3, 54, 1), (4, 0, 0)]
)
def test_a_repaired_engine_is_accepted(version: tuple[int, int, int]) -> None:
    """The repair is in 3.51.3, and was brought to the branches 3.50 and 3.44."""
    check_engine(version)


def test_the_engine_is_checked_before_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an unfit library no file is made or opened."""
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")

    with pytest.raises(StoreVersionError, match=r"3\.51\.2"):
        SQLiteStore(file)

    assert [] == beside(file)


def test_a_store_says_whose_it_is(file: Path) -> None:
    """Mark and version stand in the header, where ``file`` and others read them."""
    fill(file)

    header = file.read_bytes()[:100]

    assert APPLICATION_ID == int.from_bytes(header[68:72], "big")
    assert SCHEMA_VERSION == int.from_bytes(header[60:64], "big")
