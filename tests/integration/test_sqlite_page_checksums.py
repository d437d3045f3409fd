"""Checksums of pages: computed as SQLite does, given to old files, accepted, and never torn."""

import asyncio
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner

from recollect.cli import main
from recollect.errors import StoreCorruptError, StoreError, StoreVersionError, UsageError
from recollect.records import NewMessage, Scope
from recollect.stores.file_state import FileState, described
from recollect.stores.locator import accept_pages, examine_file, finish_upgrade
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.sqlite import connections as connect
from recollect.stores.sqlite import page_rewrites
from recollect.stores.sqlite.connections import location_of
from recollect.stores.sqlite.free_pages import gap_of
from recollect.stores.sqlite.page_checksums import (
    LAYER,
    RESERVED_AT,
    RESERVED_BYTES,
    checksum_layer,
    has_checksum,
    page_checksum,
    with_checksum,
)
from recollect.stores.sqlite.page_rewrites import (
    decode_rewrites,
    encode_rewrites,
    is_torn,
    repeat_rewrites,
    rewrite_pages,
)
from recollect.stores.sqlite.store import SQLiteStore

ADA: Scope = ("clients", "ada")
PAGE_BYTES = 4_096
SECTOR_BYTES = 512


def fill(path: Path, count: int = 40) -> None:
    """Write some messages into a store, and close it."""

    async def talk() -> None:
        async with SQLiteStore(path) as store:
            said = [NewMessage(role="user", text=f"boat number {n} " * 9) for n in range(count)]
            await store.append(ADA, "talk", said)

    asyncio.run(talk())


def texts(path: Path) -> list[str]:
    """Return what was said."""

    async def listed() -> list[str]:
        async with SQLiteStore(path) as store:
            return [each.text or "" for each in (await store.messages(ADA, "talk")).rows]

    return asyncio.run(listed())


def pages_of(path: Path) -> list[bytes]:
    """Return the pages of a closed file."""
    content = path.read_bytes()
    return [content[at : at + PAGE_BYTES] for at in range(0, len(content), PAGE_BYTES)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store with messages, which is closed."""
    path = tmp_path / "memory.db"
    fill(path)
    return path


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store as a driver without the extension makes it."""
    path = tmp_path / "plain.db"
    with monkeypatch.context() as without:
        without.setattr(connect, "checksum_layer", lambda: None)
        fill(path)
    return path


def test_the_driver_brings_the_extension() -> None:
    """Its pinned wheels do, and other connections of the process keep their layer."""
    assert LAYER == checksum_layer()
    assert LAYER in apsw.vfs_names()
    assert LAYER != apsw.vfs_names()[0]


def test_our_checksum_is_that_of_sqlite(file: Path) -> None:
    """What SQLite wrote matches what is computed here, on each page; a changed bit does not."""
    pages = pages_of(file)

    assert len(pages) > 10
    assert all(map(has_checksum, pages))
    assert not any(has_checksum(bytes([page[0] ^ 1]) + page[1:]) for page in pages)
    assert all(with_checksum(page[:-RESERVED_BYTES] + bytes(8)) == page for page in pages)
    assert page_checksum(pages[1]) != page_checksum(pages[2])


def test_a_connection_of_python_reads_the_file(file: Path) -> None:
    """A program that knows nothing of checksums reads it, and it stays as it is."""
    before = file.read_bytes()
    script = (
        "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]);"
        "print(connection.execute('SELECT count(*) FROM message').fetchone()[0])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, str(file)], check=True, capture_output=True, text=True
    )

    assert "40" == found.stdout.strip()
    assert before == file.read_bytes()
    assert () == examine_file(file).mismatched


def other_program_wrote(file: Path) -> None:
    """Change a row as another program does, which computes no checksums."""
    layer = next(name for name in apsw.vfs_names() if name != LAYER)
    with closing(apsw.Connection(str(file), vfs=layer)) as connection:
        connection.execute("UPDATE meta SET number = number + 1")
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def test_pages_that_another_program_wrote_are_refused_until_accepted(file: Path) -> None:
    """The doctor names both ways out, and after the second all is as it was."""
    said = texts(file)
    other_program_wrote(file)
    with pytest.raises(StoreCorruptError, match="another program wrote to the file"):
        texts(file)
    refused = CliRunner().invoke(main, ["doctor", "--store", str(file)])
    state = examine_file(file)

    accepted = CliRunner().invoke(main, ["doctor", "--accept-pages", "--store", str(file)])

    assert refused.exit_code
    assert "--accept-pages" in refused.output
    assert state.mismatched
    assert () == state.damage
    assert 0 == accepted.exit_code, accepted.output
    assert "new checksum" in accepted.output
    assert said == texts(file)
    assert 0 == accept_pages(str(file))
    assert () == examine_file(file).mismatched


@pytest.mark.parametrize("url", ["memory:", "nothing.db"])
def test_pages_of_no_file_cannot_be_accepted(url: str, tmp_path: Path) -> None:
    """The error says so, and no file is made."""
    address = url if url.endswith(":") else str(tmp_path / url)
    with pytest.raises(UsageError, match="is in no file that exists"):
        accept_pages(address)

    assert [] == list(tmp_path.iterdir())


def test_a_file_from_before_is_given_checksums(plain: Path) -> None:
    """It works as it is, the doctor says what to do, and all that was said is there after."""
    assert 0 == pages_of(plain)[0][RESERVED_AT]
    said = texts(plain)
    before = CliRunner().invoke(main, ["doctor", "--store", str(plain)])

    steps = finish_upgrade(str(plain)), finish_upgrade(str(plain))

    assert 0 == before.exit_code, before.output
    assert "--finish-upgrade" in before.output
    assert (1, 0) == steps
    assert said == texts(plain)
    assert all(map(has_checksum, pages_of(plain)))
    assert examine_file(plain).has_page_checksums


def test_a_driver_without_the_extension_refuses_a_file_with_checksums(
    file: Path, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would leave pages that do not match; a file without them it opens as before."""
    before = file.read_bytes()
    monkeypatch.setattr(connect, "checksum_layer", lambda: None)

    with pytest.raises(StoreVersionError, match="install apsw from its wheel"):
        texts(file)
    with pytest.raises(StoreError, match="keeps no checksums"):
        finish_upgrade(str(plain))

    assert before == file.read_bytes()
    assert 40 == len(texts(plain))


def test_what_is_cleaned_matches(file: Path) -> None:
    """Cleaning rewrites pages with their checksums, and leaves nothing beside the file."""

    async def erased() -> None:
        async with SQLiteStore(file) as store:
            await store.append(("other",), "talk", [NewMessage(role="user", text="harbour " * 99)])
            await store.erase(ADA, EraseScope())
            await store.clean()

    asyncio.run(erased())

    assert all(map(has_checksum, pages_of(file)))
    assert b"boat number" not in file.read_bytes()
    assert not file.with_name("memory.db-rewrites").exists()
    assert FileState is type(examine_file(file))
    assert () == examine_file(file).damage


# Pages that are rewritten in place, and a power loss on the way


def halves(old: bytes, new: bytes) -> list[bytes]:
    """Return what a power loss may leave of a page that is rewritten: sectors of both."""
    return [
        new[: number * SECTOR_BYTES] + old[number * SECTOR_BYTES :]
        for number in range(PAGE_BYTES // SECTOR_BYTES + 1)
    ]


def with_remains(page: bytes) -> bytes:
    """Return a page with other bytes in the gap of it, where it holds nothing."""
    gap = gap_of(page, 3)
    assert len(gap) > 2 * SECTOR_BYTES
    return with_checksum(page[: gap.start] + b"x" * SECTOR_BYTES + page[gap.start + SECTOR_BYTES :])


def cut_off(file: Path, number: int, new: bytes, torn: bytes) -> None:
    """Leave the files as they are when the power fails while a page is rewritten."""
    old = pages_of(file)[number]
    file.with_name(f"{file.name}-rewrites").write_bytes(
        encode_rewrites({number: old}, {number: new})
    )
    content = file.read_bytes()
    at = number * PAGE_BYTES
    file.write_bytes(content[:at] + torn + content[at + PAGE_BYTES :])


def test_a_page_that_was_cut_off_is_finished(file: Path) -> None:
    """Whichever sectors reached the disk, opening leaves the old page or the new one, whole."""
    number = 3
    old, said = pages_of(file)[number], texts(file)
    new = with_remains(old)
    for torn in halves(old, new):
        cut_off(file, number, new, torn)
        repeat_rewrites(location_of(str(file)))
        left = pages_of(file)[number]

        assert left in (old, new)
        assert has_checksum(left)
        assert not file.with_name("memory.db-rewrites").exists()
        cut_off(file, number, old, old)
    file.with_name("memory.db-rewrites").unlink()
    assert said == texts(file)


def test_a_page_that_is_wrong_in_another_way_stays_as_it_is(file: Path) -> None:
    """What neither the old nor the new page holds is damage: it is left for others to find."""
    old = pages_of(file)[3]
    new = with_remains(old)
    damaged = bytes([old[0] ^ 1]) + old[1:]
    cut_off(file, 3, new, damaged)

    repeat_rewrites(location_of(str(file)))

    assert damaged == pages_of(file)[3]
    assert (3,) == examine_file(file).mismatched


def test_nothing_is_repeated_while_the_store_is_open(file: Path) -> None:
    """Who has it open may be rewriting, and others may have written since; cleaning takes it up."""
    old = pages_of(file)[3]
    new = with_remains(old)
    torn = halves(old, new)[4]

    async def opened() -> None:
        async with SQLiteStore(file) as store:
            cut_off(file, 3, new, torn)
            # Another process opens it meanwhile.
            repeat_rewrites(location_of(str(file)))
            assert torn == pages_of(file)[3]
            assert file.with_name("memory.db-rewrites").exists()
            cut_off(file, 3, new, old)
            await store.erase(ADA, EraseScope())
            await store.clean()
            assert not file.with_name("memory.db-rewrites").exists()

    asyncio.run(opened())


def test_what_did_not_reach_the_disk_whole_is_nothing() -> None:
    """Pages put down are read back; cut at any place, or changed, there are none."""
    old, new = with_checksum(b"a" * PAGE_BYTES), with_checksum(b"b" * PAGE_BYTES)
    content = encode_rewrites({7: old}, {7: new})

    assert new == decode_rewrites(content)[7][1]
    assert {} == decode_rewrites(b"")
    assert not any(decode_rewrites(content[:end]) for end in range(0, len(content), 97))
    assert {} == decode_rewrites(content[:50] + b"x" + content[51:])


def test_a_whole_page_is_not_torn() -> None:
    """Neither the old page nor the new one; each mixture of both is."""
    old, new = with_checksum(b"a" * PAGE_BYTES), with_checksum(b"b" * PAGE_BYTES)
    sums, _ = decode_rewrites(encode_rewrites({7: old}, {7: new}))[7]

    found = [is_torn(page, sums, new) for page in halves(old, new)]

    assert [False, *[True] * 7, False] == found
    assert not is_torn(b"c" * PAGE_BYTES, sums, new)


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_rewrite_that_fails_on_its_way_is_finished_by_the_next(
    is_finished: bool,  # noqa: FBT001
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant: without the second step a page is left that matches nothing."""
    number, said = 3, texts(file)
    old = pages_of(file)[number]
    new = with_remains(old)

    def tear(self: object, pages: page_rewrites.Pages) -> None:  # noqa: ARG001
        for at, page in pages.items():
            content = file.read_bytes()
            half = page[: PAGE_BYTES // 2] + old[PAGE_BYTES // 2 :]
            file.write_bytes(content[: at * PAGE_BYTES] + half + content[(at + 1) * PAGE_BYTES :])
        raise OSError("the power failed")

    with monkeypatch.context() as failing:
        failing.setattr(page_rewrites, "_write_pages", tear)
        with pytest.raises(OSError, match="the power failed"):
            rewrite_pages(location_of(str(file)), {number: new})
    if is_finished:
        assert len(said) == len(texts(file))
    else:
        file.with_name("memory.db-rewrites").unlink()
        assert (number,) == examine_file(file).mismatched


def test_pages_are_named_as_far_as_there_is_room() -> None:
    """The first five."""
    assert "1 page (4) does not match its checksum" == described([4])
    assert "(0, 1, 2, 3, 4, …)" in described(range(7))
    assert replace(location_of("x"), vfs="y").layer == "y"
