"""Killing a restoring process: the same command finishes the restore."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.errors import ConflictError, UsageError
from recollect.lifecycle.backup_restore import restore_backup
from recollect.lifecycle.store_copy import content_digest, copy_store
from recollect.records import NewMessage, PutMemory
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_ledger import LedgerEntry
from recollect.stores.plans.erase_targets import EraseThread
from recollect.wire.record_digests import Digest

SCOPES = ("ada", "bob", "eve")
MESSAGES = 600
PARTS = 2
"""A scope of so many messages is restored in so many parts."""
# It restores as the command does, and ends itself without warning when a part is about to be
# written, or was.
CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from recollect.lifecycle.backup_restore import restore_backup
from recollect.stores.contract.archive import ArchiveStore

backup, store, count, when = sys.argv[1:]
restore, left = ArchiveStore.restore, [int(count)]

async def restored(self, scope, records):
    left[0] -= 1
    if when == "before" and not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    written = await restore(self, scope, records)
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return written

ArchiveStore.restore = restored
asyncio.run(restore_backup(Path(backup), store, []))
"""


async def backed_up(folder: Path) -> tuple[Path, Digest, list[LedgerEntry]]:
    """Return an archive, the digest of what it holds, and the ledger after a later erase."""
    backup = folder / "backup.jsonl"
    async with open_store("memory:") as store:
        for name in SCOPES:
            said = [NewMessage(role="user", text=f"{name} {n}") for n in range(MESSAGES)]
            await store.append((name,), "talk", said)
            await store.apply((name,), [PutMemory(type="Note", key="n", value={"content": name})])
        wanted = await content_digest(store)
        lines: list[object] = [{"kind": "export", "version": 1, "at": store.now(), "ledger": []}]
        for name in SCOPES:
            lines += await store.archive((name,))
        lines.append({"kind": "end", "count": wanted.count, "digest": str(wanted)})
        await store.erase(("ada",), EraseThread(thread="talk"))
        ledger = await store.ledger()
    backup.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return backup, wanted, ledger


def killed(backup: Path, store: Path, count: int, when: str) -> None:
    """Restore in a process that ends in the middle."""
    command = [sys.executable, "-c", CHILD, str(backup), str(store), str(count), when]
    assert -signal.SIGKILL == subprocess.run(command, check=False).returncode


async def digest_of(store: Path) -> str:
    """Return the digest of a store."""
    async with open_store(store) as opened:
        return str(await content_digest(opened))


@pytest.mark.parametrize(("count", "when"), [(1, "before"), (1, "after"), (2 * PARTS, "before")])
async def test_the_same_restore_finishes_what_a_kill_began(
    tmp_path: Path, count: int, when: str
) -> None:
    """Before anything was written, in the middle of a scope, and between the last two parts."""
    new = tmp_path / "new.db"
    backup, wanted, _ = await backed_up(tmp_path)
    killed(backup, new, count, when)
    assert str(wanted) != await digest_of(new)

    done = await restore_backup(backup, str(new), [])

    assert (len(SCOPES), wanted.count) == (done.scopes, done.records)
    assert str(wanted) == await digest_of(new)


async def test_a_later_ledger_takes_what_was_already_put_back(tmp_path: Path) -> None:
    """Who was erased between the two runs is gone, and what rests on him with him."""
    new = tmp_path / "new.db"
    backup, _, ledger = await backed_up(tmp_path)
    killed(backup, new, PARTS + 1, "after")

    done = await restore_backup(backup, str(new), ledger)

    assert 1 == done.applied
    async with open_store(new) as store:
        assert "ada 7" not in json.dumps(await store.archive(("ada",)))
        assert MESSAGES == (await store.thread(("bob",), "talk")).last  # type: ignore[union-attr]
    assert b"ada 7" not in new.read_bytes()


async def test_a_store_that_is_half_filled_is_no_source_and_takes_no_other_backup(
    tmp_path: Path,
) -> None:
    """Whoever copied it on would lose what is missing."""
    new = tmp_path / "new.db"
    backup, _, _ = await backed_up(tmp_path)
    killed(backup, new, 1, "after")
    other = tmp_path / "other"
    other.mkdir()
    another, _, _ = await backed_up(other)

    with pytest.raises(ConflictError, match="being filled from another source"):
        await restore_backup(another, str(new), [])
    async with open_store(new) as half, open_store("memory:") as copy:
        with pytest.raises(UsageError, match="unfinished copy"):
            await copy_store(half, copy)


async def test_a_store_that_is_filled_is_not_restored_into(tmp_path: Path) -> None:
    """The mark goes with the last record: then the store is somebody's."""
    new = tmp_path / "new.db"
    backup, _, _ = await backed_up(tmp_path)
    await restore_backup(backup, str(new), [])

    with pytest.raises(ConflictError, match="is not empty"):
        await restore_backup(backup, str(new), [])
