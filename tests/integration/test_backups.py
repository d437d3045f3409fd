"""A backup brings back what it held, and nothing of what was erased since."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recollect.errors import (
    ConflictError,
    GoneError,
    NotFoundError,
    StoreCorruptError,
    UnknownKeyError,
    UsageError,
)
from recollect.lifecycle import backup_restore, backups, store_copy
from recollect.lifecycle.backup_restore import apply_ledger, read_ledger, restore_backup
from recollect.lifecycle.backups import back_up, write_ledger
from recollect.lifecycle.copy_journal import MARK
from recollect.lifecycle.forgotten_memories import forgotten_at, note_forgotten
from recollect.lifecycle.store_copy import content_digest
from recollect.records import Evidence, JsonObject, NewMessage, PutMemory, Scope
from recollect.server.api_keys import Keys
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_ledger import LedgerEntry, named_in
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.wire.record_digests import Digest
from tests.harness.installed_servers import require_empty_database

ADA: Scope = ("acme", "ada")
CANARY = "heliotrope-canary"
ERASES: tuple[tuple[Scope, EraseTarget], ...] = (
    (ADA, EraseScope()),
    (ADA[:1], EraseScope(below=True)),
    (ADA, EraseThread(thread="talk")),
    (ADA, EraseMessages(thread="talk", messages=["m1", "m2"])),
    (ADA, EraseSource(source="mail")),
)


@pytest.fixture(params=["file", "archive"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store that is backed up in this form."""
    if request.param == "file":
        return str(tmp_path / "store.db")
    return require_empty_database("recollect_backup")


@asynccontextmanager
async def filled(url: str) -> AsyncIterator[Store]:
    """Yield the store at *url* with a canary in a message, a memory, and its past version."""
    async with open_store(url) as store:
        texts = {"m0": "hello", "m1": f"it is {CANARY}", "m2": f"yes, {CANARY}"}
        await store.append(
            ADA,
            "talk",
            [
                NewMessage(role="user", text=text, id=id_, source=None if id_ == "m0" else "mail")
                for id_, text in texts.items()
            ],
        )
        evidence = {"": [Evidence(thread="talk", message="m1", quote=CANARY)]}
        for content in (CANARY, f"{CANARY} again"):
            put = PutMemory(type="Note", key="n", value={"content": content}, evidence=evidence)
            await store.apply(ADA, [put])
        await store.append(("eve",), "talk", [NewMessage(role="user", text="I stay", id="m1")])
        yield store


async def text_of(store: Store) -> str:
    """Return everything that a store holds as text."""
    scopes = (await store.scopes(limit=100)).rows
    return json.dumps([await store.archive(scope) for scope in scopes])


async def test_a_backup_brings_back_what_it_held(url: str, tmp_path: Path) -> None:
    """Record by record, also if the store has changed since, which stays in use meanwhile."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    async with filled(url) as store:
        wanted = await content_digest(store)
        await back_up(url, backup)
        await store.append(ADA, "talk", [NewMessage(role="user", text="later")])
        ledger = await store.ledger()

    done = await restore_backup(backup, new, ledger)

    async with open_store(new) as restored:
        found = await content_digest(restored)
    assert (wanted.count, 0) == (done.records, done.applied)
    assert str(wanted) == str(found)


@pytest.mark.parametrize(("scope", "target"), ERASES, ids=lambda each: type(each).__name__)
async def test_what_was_erased_after_the_backup_stays_erased(
    url: str, tmp_path: Path, scope: Scope, target: EraseTarget
) -> None:
    """With what rests on it, in its past as well, and the bytes; others are as they were."""
    backup, new = tmp_path / "backup", tmp_path / "new.db"
    async with filled(url) as store:
        await back_up(url, backup)
        await store.erase(scope, target)
        ledger = await store.ledger()

    done = await restore_backup(backup, str(new), ledger)

    async with open_store(new) as restored:
        text = await text_of(restored)
        known = await restored.ledger()
    assert done.applied >= 1
    assert CANARY not in text
    assert "I stay" in text
    assert CANARY.encode() not in new.read_bytes()
    assert {each.id for each in ledger} <= {each.id for each in known}


async def test_a_key_that_was_revoked_since_is_counted_or_left_out(
    url: str, tmp_path: Path
) -> None:
    """It would be valid again, which no ledger tells."""
    backup, both = tmp_path / "backup", [str(tmp_path / f"{each}.db") for each in "ab"]
    async with filled(url) as store:
        stolen, secret = await Keys(store).create("stolen", ADA, ["read"])
        await back_up(url, backup)
        await Keys(store).revoke(stolen.id)
        ledger = await store.ledger()

    done = await restore_backup(backup, both[0], ledger)
    safe = await restore_backup(backup, both[1], ledger, keys=False)

    assert (1, 0) == (done.keys, safe.keys)
    assert (1, 1) == (done.scopes - safe.scopes, done.records - safe.records)
    async with open_store(both[0]) as restored:
        assert stolen.id == (await Keys(restored).principal(secret)).key_id
    async with open_store(both[1]) as restored:
        with pytest.raises(UnknownKeyError):
            await Keys(restored).principal(secret)
        assert "I stay" in await text_of(restored)


@pytest.mark.parametrize(("scope", "target"), ERASES, ids=lambda each: type(each).__name__)
async def test_a_retry_after_a_restore_brings_nothing_back(
    url: str, tmp_path: Path, scope: Scope, target: EraseTarget
) -> None:
    """What was erased since the backup, or before, is gone; what was kept is not kept twice."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    mine, mail = [[NewMessage(role="user", text="pay 10", source=each)] for each in ("me", "mail")]
    async with filled(url) as store:
        await store.append(ADA, "talk", mail, idempotency_key="mail")
        await store.append(("eve",), "talk", mine, idempotency_key="mine")
        await store.append(("bob",), "talk", mine, idempotency_key="bob")
        await store.erase(("bob",), EraseScope())
        await back_up(url, backup)
        taken = [each.id for each in (await store.messages(ADA, "talk")).rows if each.source]
        if isinstance(target, EraseMessages):
            target = EraseMessages(thread="talk", messages=taken)
        await store.erase(scope, target)
        ledger = await store.ledger()

    await restore_backup(backup, new, ledger)

    async with open_store(new) as restored:
        with pytest.raises(GoneError):
            await restored.append(ADA, "talk", mail, idempotency_key="mail")
        with pytest.raises(GoneError):
            await restored.append(("bob",), "talk", mine, idempotency_key="bob")
        (again,) = await restored.append(("eve",), "talk", mine, idempotency_key="mine")
        eves = (await restored.messages(("eve",), "talk")).rows
    assert ["I stay", "pay 10"] == [each.text for each in eves]
    assert again == eves[1]


async def test_a_restored_store_knows_what_is_not_formed_anew(url: str, tmp_path: Path) -> None:
    """The digests of erased memories mean the same in the restored store."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    erase = EraseMemory(type="Note", key="n")
    async with filled(url) as store:
        await note_forgotten(store, ADA, erase)
        await store.erase(ADA, erase)
        await back_up(url, backup)
        known = await forgotten_at(store, ADA, [("Note", "n")])
        ledger = await store.ledger()

    await restore_backup(backup, new, ledger)

    async with open_store(new) as restored:
        assert known == await forgotten_at(restored, ADA, [("Note", "n")])
    assert known


async def _forgotten_since_the_backup(url: str, tmp_path: Path) -> bool:
    """Return whether a restored store forms no memory again that was erased after the backup."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    async with filled(url) as store:
        await back_up(url, backup)
        await store.erase(ADA, EraseMemory(type="Note", key="n"))
        ledger = await store.ledger()
    await restore_backup(backup, new, ledger)
    async with open_store(new) as restored:
        assert ["m0", "m1", "m2"] == [
            each.id for each in (await restored.messages(ADA, "talk")).rows
        ]
        return bool(await forgotten_at(restored, ADA, [("Note", "n")]))


async def test_a_memory_erased_since_the_backup_is_not_formed_anew(
    url: str, tmp_path: Path
) -> None:
    """Its messages are in the backup, and some may wait to be formed there."""
    assert await _forgotten_since_the_backup(url, tmp_path)


async def test_a_restore_that_notes_no_erased_memory_is_seen(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant erases the memory alone."""

    async def unnoted(*_: object) -> None: ...

    monkeypatch.setattr(backup_restore, "note_forgotten", unnoted)

    assert not await _forgotten_since_the_backup(url, tmp_path)


async def test_a_store_that_was_emptied_keeps_its_erases(tmp_path: Path) -> None:
    """Whoever restores an archive into it brings nothing back that was erased there."""
    found = require_empty_database("recollect_backup")
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    async with filled(found):
        await back_up(found, backup)
    async with filled(new) as store:
        await store.erase(ADA, EraseScope())
        await store.erase(("eve",), EraseThread(thread="talk"))

    done = await restore_backup(backup, new, None)

    async with open_store(new) as restored:
        assert CANARY not in await text_of(restored)
        assert () == (await restored.messages(("eve",), "talk")).rows
    assert 2 == done.erases == done.applied


async def test_an_archive_without_a_secret_is_restored(tmp_path: Path) -> None:
    """A backup that an earlier release made has no keys; all else comes back."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    lines: list[JsonObject] = [{"kind": "export", "version": 1, "at": 0, "ledger": []}]
    lines.append(Digest().end_record())
    backup.write_text("".join(json.dumps(each) + "\n" for each in lines))

    assert 0 == (await restore_backup(backup, new, None)).records


async def test_a_ledger_that_is_not_applied_is_seen(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a restore that takes everything for kept brings the canary back."""
    backup, new = tmp_path / "backup", tmp_path / "new.db"
    async with filled(url) as store:
        await back_up(url, backup)
        await store.erase(ADA, EraseMemory(type="Note", key="n"))
        ledger = await store.ledger()

    monkeypatch.setattr(backup_restore, "named_in", lambda *_: [])
    await restore_backup(backup, str(new), ledger)

    async with open_store(new) as restored:
        assert CANARY in await text_of(restored)


async def test_an_erase_before_the_backup_takes_nothing_of_it(url: str, tmp_path: Path) -> None:
    """Who was erased and came back before the backup is in it, and is restored."""
    backup, new = tmp_path / "backup", tmp_path / "new.db"
    async with filled(url) as store:
        await store.erase(ADA, EraseScope())
        await store.append(ADA, "talk", [NewMessage(role="user", text="I am back", id="m1")])
        await back_up(url, backup)
        ledger = await store.ledger()

    await restore_backup(backup, str(new), ledger)

    async with open_store(new) as restored:
        assert "I am back" in await text_of(restored)


async def test_a_restored_store_still_knows_what_was_erased(url: str, tmp_path: Path) -> None:
    """So that an older backup, restored with its ledger, brings nothing back either."""
    older, newer, new, last = (tmp_path / each for each in ("a", "b", "new.db", "last.db"))
    async with filled(url) as store:
        await back_up(url, older)
        await store.erase(ADA, EraseThread(thread="talk"))
        await back_up(url, newer)
    await restore_backup(newer, str(new), None)

    await restore_backup(older, str(last), await read_ledger(str(new)))

    async with open_store(last) as restored:
        assert CANARY not in await text_of(restored)


async def test_a_ledger_of_another_store_is_refused(url: str, tmp_path: Path) -> None:
    """So is one from before the backup: nothing is restored, and the store is as it was."""
    backup, new = tmp_path / "backup", str(tmp_path / "new.db")
    async with filled(url) as store:
        await store.erase(ADA, EraseThread(thread="talk"))
        older = await store.ledger()
        await store.erase(ADA, EraseMemory(type="Note", key="n"))
        await back_up(url, backup)
        current = await store.ledger()
    async with open_store("memory:") as other:
        await other.erase(ADA, EraseScope())
        others = await other.ledger()

    for ledger, lacking in ((others, 2), ([], 2), (older, 1)):
        with pytest.raises(UsageError, match=f"lacks {lacking} of the 2 erases .* another store"):
            await restore_backup(backup, new, ledger)

    assert not Path(new).exists()
    assert 0 == (await restore_backup(backup, new, current)).erases


async def test_a_backup_is_not_its_own_ledger(url: str, tmp_path: Path) -> None:
    """By whatever name: it would bring back who was erased since, in silence."""
    backup, link = tmp_path / "backup", tmp_path / "link"
    async with filled(url):
        await back_up(url, backup)
    link.symlink_to(backup)

    for each in (backup, link):
        with pytest.raises(UsageError, match="is the backup itself, which does not know"):
            await read_ledger(str(each), backup=backup)
    assert [] == await read_ledger(url, backup=backup)


async def test_a_ledger_in_a_file_names_nothing(url: str, tmp_path: Path) -> None:
    """It holds digests, comes back as it was, and is refused when it is cut."""
    file = tmp_path / "erased.jsonl"
    async with filled(url) as store:
        await store.erase(ADA, EraseThread(thread="talk"))
        ledger = await store.ledger()

    await write_ledger(url, file)

    assert ledger == await read_ledger(str(file))
    assert "talk" not in file.read_text("utf-8")
    file.write_text("".join(file.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    with pytest.raises(UsageError, match="a ledger that is truncated"):
        await read_ledger(str(file))


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _changed(content: bytes) -> bytes:
    return content.replace(b"hello", b"hallo") if content[:1] == b"{" else content[:8_000]


@pytest.mark.parametrize("spoil", [_cut, _changed])
async def test_a_damaged_backup_is_refused(
    url: str, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    """Nothing is restored from it."""
    backup, new = tmp_path / "backup", tmp_path / "new.db"
    async with filled(url):
        await back_up(url, backup)
    backup.write_bytes(spoil(backup.read_bytes()))

    with pytest.raises((UsageError, StoreCorruptError), match=r"truncated|damaged|malformed"):
        await restore_backup(backup, str(new), [])

    assert not new.exists()


@pytest.mark.parametrize("fields", ['"ledger": 5', '"ledger": [3]', '"ledger": [], "secret": "x"'])
async def test_a_malformed_header_is_refused(tmp_path: Path, fields: str) -> None:
    """No entry of the ledger is skipped: what it names would come back."""
    backup = tmp_path / "backup"
    backup.write_text('{"kind": "export", "version": 1, ' + fields + "}\n", "utf-8")

    with pytest.raises(UsageError, match="malformed"):
        await restore_backup(backup, str(tmp_path / "new.db"), [])


async def test_a_backup_of_a_later_version_is_refused(tmp_path: Path) -> None:
    """It says which, and what to do."""
    backup = tmp_path / "backup"
    backup.write_text('{"kind": "export", "version": 2, "ledger": []}\n', "utf-8")

    with pytest.raises(UsageError, match="has version 2, which this release cannot read"):
        await restore_backup(backup, str(tmp_path / "new.db"), [])


async def test_nothing_is_overwritten(url: str, tmp_path: Path) -> None:
    """Neither a file by a backup, nor a store by what is restored."""
    backup = tmp_path / "backup"
    async with filled(url):
        await back_up(url, backup)
        with pytest.raises(UsageError, match="exists: name a file that does not"):
            await back_up(url, backup)
        with pytest.raises((UsageError, ConflictError), match=r"exists|is not empty"):
            await restore_backup(backup, url, [])

    with pytest.raises(NotFoundError, match="there is no backup or store"):
        await restore_backup(tmp_path / "none", str(tmp_path / "new.db"), [])


@pytest.fixture
async def brought_back(tmp_path: Path) -> tuple[str, str]:
    """Return a store that erased Ada, and one as a snapshot of its disk brings it back."""
    in_use, old = str(tmp_path / "in use.db"), str(tmp_path / "old.db")
    async with open_store(in_use) as store:
        for name in ("ada", "bob", "eve"):
            said = [NewMessage(role="user", text=f"{name} {CANARY}", id=each) for each in "xy"]
            await store.append(("acme", name), "talk", said)
        await store.erase(("acme", "eve"), EraseMessages(thread="talk", messages=["x"]))
    await back_up(in_use, Path(old))
    async with open_store(in_use) as store:
        await store.erase(ADA, EraseScope())
        await store.erase(("acme", "bob"), EraseMessages(thread="talk", messages=["x"]))
    return in_use, old


async def ids_in(url: str) -> dict[str, list[str]]:
    """Return the ids of the messages that each person still has."""
    async with open_store(url) as store:
        scopes = (await store.scopes(prefix=("acme",))).rows
        pages = [await store.messages(scope, "talk") for scope in scopes]
        names = [scope[-1] for scope in scopes]
        return {n: [each.id for each in p.rows] for n, p in zip(names, pages, strict=True)}


async def test_a_ledger_is_applied_to_a_store_that_is_back(brought_back: tuple[str, str]) -> None:
    """What was erased since its snapshot goes, and nothing else; its ledger knows of it."""
    in_use, old = brought_back

    done = await apply_ledger(old, await read_ledger(in_use))

    assert {"bob": ["y"], "eve": ["y"]} == await ids_in(old)
    assert (2, 2) == (done.applied, done.erases)
    async with open_store(old) as store:
        entries = {each.id for each in await store.ledger()}
        assert {each.id for each in await read_ledger(in_use)} <= entries
        assert not await store.archive(MARK)


async def test_a_ledger_that_was_half_applied_is_applied_again(
    brought_back: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erases of the first attempt, which no ledger has, do not make it a stranger's."""
    in_use, old = brought_back
    ledger, seen = await read_ledger(in_use), list[int]()

    def named(since: Sequence[LedgerEntry], records: Sequence[JsonObject]) -> list[EraseTarget]:
        seen.append(len(records))
        if len(seen) == 3:
            raise InterruptedError
        return named_in(since, records)

    monkeypatch.setattr(backup_restore, "named_in", named)
    with pytest.raises(InterruptedError):
        await apply_ledger(old, ledger)
    monkeypatch.undo()
    async with open_store(old) as store:
        assert await store.archive(MARK)

    await apply_ledger(old, ledger)

    assert {"bob": ["y"], "eve": ["y"]} == await ids_in(old)


async def test_the_ledger_of_another_store_is_not_applied(
    brought_back: tuple[str, str], tmp_path: Path
) -> None:
    """It lacks what this store erased before its snapshot; nothing is erased."""
    _, old = brought_back
    async with open_store(tmp_path / "other.db") as other:
        await other.erase(ADA, EraseScope())
        ledger = await other.ledger()

    with pytest.raises(UsageError, match="it is from another store"):
        await apply_ledger(old, ledger)

    assert {"ada", "bob", "eve"} == (await ids_in(old)).keys()


LATE = [NewMessage(role="user", text="pay 10")]


def be_late(patch: pytest.MonkeyPatch, store: Store) -> None:
    """Have a request under a key come right after a scope of *store* was read once more."""
    plain, late = Store.archive, iter(["late"])

    async def archive(self: Store, scope: Scope) -> list[JsonObject]:
        found = await plain(self, scope)
        for key in late if self is store and scope == ADA else ():
            await self.append(ADA, "talk", LATE, idempotency_key=key)
        return found

    patch.setattr(Store, "archive", archive)


async def texts_after_retry(store: Store) -> list[str]:
    """Repeat the late request; return what stands in the thread."""
    await store.append(ADA, "talk", LATE, idempotency_key="late")
    return [each.text for each in (await store.messages(ADA, "talk")).rows]


async def backed_up_meanwhile(patch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """Restore an archive that was made during a request, and repeat that."""
    backup = folder / "backup"
    async with open_store("memory:") as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        be_late(patch, store)
        with backup.open("x", encoding="utf-8") as file:
            await backups._write_archive(store, file)
    await restore_backup(backup, str(folder / "new.db"), None)
    async with open_store(folder / "new.db") as restored:
        return await texts_after_retry(restored)


async def copied_meanwhile(patch: pytest.MonkeyPatch, _: Path) -> list[str]:
    """Copy a store during a request, and repeat that at the copy."""
    async with open_store("memory:") as source, open_store("memory:") as destination:
        await source.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        await store_copy.copy_store(source, destination)
        be_late(patch, source)
        await store_copy.copy_store(source, destination)
        return await texts_after_retry(destination)


@pytest.mark.parametrize("moved", [backed_up_meanwhile, copied_meanwhile])
async def test_a_request_meanwhile_is_carried_out_when_it_is_repeated(
    moved: Callable[..., Awaitable[list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote came too late for a backup or a copy, so its key is not taken along either."""
    assert ["hello", "pay 10"] == await moved(monkeypatch, tmp_path)


@pytest.mark.parametrize("moved", [backed_up_meanwhile, copied_meanwhile])
async def test_keys_without_what_they_wrote_are_seen(
    moved: Callable[..., Awaitable[list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup, or a copy, that takes all keys along loses what is repeated under them."""
    for module in (backups, store_copy):
        monkeypatch.setattr(module, "requests_among", lambda requests, _: requests)

    assert ["hello"] == await moved(monkeypatch, tmp_path)
