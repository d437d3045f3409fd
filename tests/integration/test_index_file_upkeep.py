"""A large scope is recalled from a file by the next process, and never with what is gone."""

import logging
import shutil
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import anyio
import numpy as np
import pytest

import recollect
from recollect.errors import StoreUnavailableError
from recollect.lifecycle.store_copy import copy_store
from recollect.memory.facade import Recollect
from recollect.ports import Vector
from recollect.recall import index_file_upkeep, snapshot_search
from recollect.recall.index_file import map_index
from recollect.recall.recaller import Recaller
from recollect.records import DeleteMemory, NewMessage, PutMemory, Scope
from recollect.stores.locator import back_up_file, examine_file, open_store, put_back
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMessages,
    EraseScope,
    EraseThread,
)
from recollect.stores.sqlite.index_files import IndexFiles, folder_beside, size_beside
from recollect.testing import FrozenClock, HashedEmbedder, SeededIds
from recollect.text.terms import encode_terms

ADA: Final[Scope] = ("users", "ada")
WORDS: Final = "kite red sky oslo paint yesterday boat".split()
QUESTIONS: Final = ["Who painted the red kite?", "When was Oslo red?", "Where is the boat?"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a store."""
    return tmp_path / "memory.db"


class Reads:
    """Counts which indexes came from files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mapped = 0

        def counted(*given: Any) -> Any:
            found = map_index(*given)
            self.mapped += 1
            return found

        monkeypatch.setattr(index_file_upkeep, "map_index", counted)


@asynccontextmanager
async def opened(path: Path, *, files: bool = True, **more: Any) -> Any:
    """Open a memory over the file at *path*, as a process of its own would."""
    store = open_store(path, durability="relaxed", index_files=files, **more)
    async with Recollect(store, embedder=HashedEmbedder(16), worker=False) as memory:
        yield memory


async def filed(memory: Recollect, *scopes: Scope) -> int:
    """Search, so that indexes are built, then write their files as the background does."""
    for scope in scopes or (ADA,):
        await memory.recall(scope, "red")
    recaller = memory._runtime.recaller
    assert recaller is not None
    assert recaller.vectors_by is not None
    filing = index_file_upkeep.IndexPersistence(memory.store, entries_min=1, every_s=0)
    return await filing.write_due(recaller.indexes, recaller.vectors_by)


async def answers(memory: Recollect, scope: Scope = ADA) -> list[Any]:
    """Return what a few questions find, with every figure."""
    found = [await memory.recall(scope, each, limit=50) for each in QUESTIONS]
    return [[(e.content, e.score, e.signals, e.relevance) for e in each.entries] for each in found]


async def say(memory: Recollect, *texts: str, thread: str = "talk", **fields: Any) -> list[str]:
    """Append messages, embed them, and return their ids."""
    messages = [NewMessage(role="user", text=each, **fields) for each in texts]
    kept = await memory.append(ADA, thread, messages)
    await memory.settled(ADA)
    return [each.id for each in kept]


async def test_the_next_process_reads_the_index_from_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers as one without the file does."""
    async with opened(path) as memory:
        await say(memory, *(f"the red kite {each}" for each in WORDS))
        assert 1 == await filed(memory)
        first = await answers(memory)
    reads = Reads(monkeypatch)
    async with opened(path) as second, opened(path, files=False) as control:
        assert first == await answers(second) == await answers(control)
    assert 1 == reads.mapped


async def test_a_file_is_written_in_the_background(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has to ask, and the index of the process becomes the one in the file."""
    monkeypatch.setattr("recollect.memory.runtime.MERGE_EVERY_S", 0.01)
    written, plain = anyio.Event(), index_file_upkeep.IndexPersistence.write_due

    async def told(*given: Any) -> int:
        if count := await plain(*given):
            written.set()
        return count

    monkeypatch.setattr(index_file_upkeep.IndexPersistence, "write_due", told)
    monkeypatch.setattr(index_file_upkeep, "needs_file", lambda *_: True)
    async with opened(path) as memory:
        await say(memory, "red kite")
        await memory.recall(ADA, "red")
        with anyio.fail_after(60):
            await written.wait()
        (index,) = memory._runtime.recaller.indexes.latest()
        assert (0, 1) == (index.size_bytes, size_beside(path)[0])
        assert (await memory.recall(ADA, "red")).entries


async def test_what_comes_after_the_file_is_found(path: Path) -> None:
    """Writes, edits, removals and vectors since then come from the feed."""
    async with opened(path) as memory:
        ids = await say(memory, "red kite", "blue boat", "oslo sky")
        assert 1 == await filed(memory)
    async with opened(path, files=False) as writer:
        await say(writer, "a red boat in oslo", thread="other")
        await writer.apply(ADA, [PutMemory(type="Note", key="a", value={"content": "red paint"})])
        await writer.settled(ADA)
    assert 1 == size_beside(path)[0]
    async with opened(path) as memory, opened(path, files=False) as control:
        assert await answers(control) == await answers(memory)
    async with opened(path, files=False) as writer:
        await writer.store.remove(ADA, "talk", ids[:1])
    async with opened(path) as memory, opened(path, files=False) as control:
        assert await answers(control) == await answers(memory)


class History:
    """A random history, written by one process and searched by others."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.random, self.clock = path, Random(seed), FrozenClock()  # noqa: S311
        self.ids: dict[str, list[str]] = {"a": [], "b": []}

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 5)))

    async def step(self, memory: Recollect) -> None:
        """Do one thing."""
        thread = self.random.choice("ab")
        deed = self.random.choice(["say", "say", "say", "note", "note", "erase", "end", "file"])
        self.clock.advance(3_600)
        if deed == "say":
            kept = await memory.append(
                ADA, thread, [NewMessage(role="user", text=self.text(), name=self.name())]
            )
            self.ids[thread] += [each.id for each in kept]
        elif deed == "note":
            expires = self.clock.now() + timedelta(hours=self.random.randint(1, 9))
            key = str(self.random.randrange(4))
            put = PutMemory(
                type="Note", key=key, value={"content": self.text()}, expires_at=expires
            )
            delete = DeleteMemory(type="Note", key=key)
            await memory.apply(ADA, [put if self.random.random() < 0.7 else delete])
        elif deed == "end":
            await memory.settled(ADA)
            await memory.erase(ADA, EraseExpired())
        elif deed == "file":
            await filed(memory)
        elif self.ids[thread]:
            gone = self.ids[thread].pop(self.random.randrange(len(self.ids[thread])))
            act = self.random.choice(["message", "message", "remove", "thread"])
            if act == "remove":
                await memory.store.remove(ADA, thread, [gone])
            elif act == "thread":
                self.ids[thread] = []
                await memory.erase(ADA, EraseThread(thread=thread))
            else:
                await memory.erase(ADA, EraseMessages(thread=thread, messages=[gone]))

    def name(self) -> str | None:
        return self.random.choice([None, "Ada", "Bo"])


@pytest.mark.parametrize("seed", range(5))
async def test_any_history_is_answered_alike_with_and_without_files(path: Path, seed: int) -> None:
    """New processes with files and without find the same entries, of the same relevance."""
    history = History(path, seed)
    for part in range(4):
        ids = SeededIds(10 * seed + part)
        async with opened(path, clock=history.clock, ids=ids) as writer:
            for _ in range(6):
                await history.step(writer)
            await writer.settled(ADA)
        async with opened(path, clock=history.clock) as reader:
            with_files = await answers(reader)
        async with opened(path, clock=history.clock, files=False) as reader:
            without = await answers(reader)
        assert [[e[0] for e in each] for each in without] == [
            [e[0] for e in each] for each in with_files
        ]
        for one, other in zip(without, with_files, strict=True):
            assert [e[1] for e in one] == pytest.approx([e[1] for e in other], abs=1e-5)


async def erased_in_files(path: Path) -> list[str]:
    """Erase a message with a canary after a file was written; return the files that have it."""
    async with opened(path) as memory:
        (kept, gone) = await say(memory, "red kite", "canary", name="Canaria")
        assert 1 == await filed(memory)
        assert words_in(path), "the file holds what an erase has to take"
        receipt = await memory.store.erase(ADA, EraseMessages(thread="talk", messages=[gone, kept]))
        assert receipt.messages == 2
        return words_in(path)


def words_in(path: Path) -> list[str]:
    """Return the index files that hold the canary's hash, or the name of who said it."""
    hash_ = encode_terms("canary", None)[8:16]
    files = sorted(each for each in folder_beside(path).rglob("*") if each.is_file())
    contents = [(each.name, each.read_bytes()) for each in files]
    return [name for name, content in contents if hash_ in content or b"Canaria" in content]


async def test_an_erased_word_is_in_no_file_when_the_erase_returns(path: Path) -> None:
    """Neither as a hash nor as a name; no cleaning is needed."""
    assert [] == await erased_in_files(path)


async def test_an_erase_that_leaves_the_file_would_be_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the search for erased bytes looks into the files."""
    monkeypatch.setattr(IndexFiles, "unlink", lambda *_: None)

    assert await erased_in_files(path)


async def test_a_new_file_has_nothing_of_what_was_removed(path: Path) -> None:
    """The index in memory still knows a removed entry; its next file does not."""
    async with opened(path) as memory:
        (_, gone) = await say(memory, "red kite", "canary", name=None)
        await filed(memory)
        await memory.store.remove(ADA, "talk", [gone])
        assert 0 == size_beside(path)[0]
        assert 1 == await filed(memory)
        assert [] == words_in(path)


Spoiling = Callable[[Path], object]
WRONG: Final[dict[str, Spoiling]] = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:5_000]),
    "empty": lambda file: file.write_bytes(b""),
    "changed": lambda file: file.write_bytes(
        file.read_bytes()[:9_000] + b"x" + file.read_bytes()[9_001:]
    ),
}


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
async def test_a_wrong_file_is_told_of_once_and_written_anew(
    spoil: Spoiling, path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is the one without it."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        expected = await answers(memory)
    (file,) = (each for each in folder_beside(path).rglob("*") if each.is_file())
    spoil(file)

    with caplog.at_level(logging.WARNING, "recollect"):
        async with opened(path) as memory:
            assert expected == await answers(memory)
            assert 1 == await filed(memory)
    assert 1 == caplog.text.count("is not used")
    reads = Reads(monkeypatch)
    async with opened(path) as memory:
        assert expected == await answers(memory)
    assert 1 == reads.mapped


async def test_a_missing_file_is_no_fault(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An erase may take it between the look and the opening."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        expected = await answers(memory)
    shutil.rmtree(folder_beside(path))

    with caplog.at_level(logging.WARNING, "recollect"):
        async with opened(path) as memory:
            assert expected == await answers(memory)
    assert "" == caplog.text


async def test_the_file_of_another_embedder_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its vectors say something else."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
    reads = Reads(monkeypatch)
    async with Recollect(open_store(path), embedder=HashedEmbedder(8)) as memory:
        await memory.settled(ADA)
        other = await answers(memory)
    async with Recollect(open_store(path, index_files=False), embedder="none") as memory:
        words = await answers(memory)
    async with Recollect(open_store(path), embedder="none") as memory:
        assert words == await answers(memory)
    assert (0, True) == (reads.mapped, other != words)


class Turned(HashedEmbedder):
    """An embedder of the same length whose numbers stand elsewhere."""

    @property
    def identity(self) -> str:
        """A name of its own."""
        return "turned/1"

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return the vectors with their numbers turned by one place."""
        return [None if each is None else np.roll(each, 1) for each in super().embed(texts)]


async def is_right_beside_a_file_of_another(path: Path) -> bool:
    """Return True if an embedder answers as it does without the file of another one."""
    async with Recollect(open_store(path), embedder=Turned(16)) as memory:
        await say(memory, *WORDS)
    async with opened(path) as memory:
        await memory.settled(ADA)
        assert 1 == await filed(memory)
    async with (
        Recollect(open_store(path), embedder=Turned(16)) as memory,
        Recollect(open_store(path, index_files=False), embedder=Turned(16)) as control,
    ):
        return await answers(memory) == await answers(control)


async def test_vectors_of_another_embedder_are_not_mistaken(path: Path) -> None:
    """Nothing was written since the file, so that only the embedder's name tells."""
    assert await is_right_beside_a_file_of_another(path)


async def test_vectors_of_another_embedder_would_be_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant takes the file whoever asks."""
    theirs, plain = HashedEmbedder(16).identity, index_file_upkeep.from_file
    monkeypatch.setattr(
        snapshot_search, "from_file", lambda snapshot, index, _: plain(snapshot, index, theirs)
    )

    assert not await is_right_beside_a_file_of_another(path)


async def test_the_file_of_another_layout_is_not_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another release wrote it, or another analyser."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        expected = await answers(memory)
    reads = Reads(monkeypatch)
    monkeypatch.setattr(index_file_upkeep, "FORM", "another")
    async with opened(path) as memory:
        assert expected == await answers(memory)
    assert 0 == reads.mapped


async def test_the_file_of_another_store_is_not_used(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody copied the folder; the digest tells."""
    other = tmp_path / "other.db"
    for place, words in ((path, WORDS), (other, WORDS[::-1])):
        async with opened(place) as memory:
            await say(memory, *words)
            await filed(memory)
    async with opened(path, files=False) as memory:
        expected = await answers(memory)
    (own,) = folder_beside(path).rglob("*/*")
    (strange,) = folder_beside(other).rglob("*/*")
    own.write_bytes(strange.read_bytes())

    with caplog.at_level(logging.WARNING, "recollect"):
        async with opened(path) as memory:
            assert expected == await answers(memory)
    assert 1 == caplog.text.count("is not used")


async def test_two_processes_share_a_store_with_files(path: Path) -> None:
    """What one writes the other finds; what one erases no file keeps."""
    async with opened(path) as one, opened(path) as other:
        ids = await say(one, *WORDS)
        # The other one finds what the first has written.
        assert (1, 0) == (await filed(one), await filed(other))
        await other.store.erase(ADA, EraseMessages(thread="talk", messages=ids[:2]))
        assert (0, 0) == size_beside(path)
        await say(other, "canary")
        found = await answers(one), await answers(other)
        assert 1 == await filed(one)
    async with opened(path, files=False) as control:
        assert [[e[0] for e in each] for each in await answers(control)] == [
            [e[0] for e in each] for each in found[0]
        ]
        assert found[0] == found[1]


async def test_no_file_is_written_while_the_embedder_cannot_say_its_name(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could tell later whose vectors it has."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await memory.recall(ADA, "red")
        monkeypatch.setattr(index_file_upkeep, "needs_file", lambda *_: True)
        with monkeypatch.context() as patched:
            patched.setattr(Recaller, "vectors_by", None)
            await memory._runtime._write_index_files(memory._runtime.recaller)
        assert 0 == size_beside(path)[0]
        await memory._runtime._write_index_files(memory._runtime.recaller)
        assert 1 == size_beside(path)[0]


async def test_backups_leave_the_files_out_and_work(path: Path, tmp_path: Path) -> None:
    """A copy, and what is put back, have none until they are searched."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        expected = await answers(memory)
        backup, back = tmp_path / "backup.db", tmp_path / "back.db"
        back_up_file(str(path), backup)
    put_back(backup, back)
    assert [(1, 0, 0)] == [tuple(size_beside(each)[0] for each in (path, backup, back))]
    async with opened(back) as memory:
        assert expected == await answers(memory)
        assert 1 == await filed(memory)


async def test_a_backup_put_back_in_the_place_of_its_store_is_right(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of writes that are undone by it do not count, whatever they say."""
    backup = tmp_path / "backup.db"
    async with opened(path) as memory:
        await say(memory, *WORDS[:3])
        await filed(memory)
        back_up_file(str(path), backup)
        await say(memory, *WORDS[3:])
        assert 1 == await filed(memory)
    path.unlink()
    put_back(backup, path)
    reads = Reads(monkeypatch)
    async with opened(path) as memory:
        await say(memory, "another sky", "another boat", "another kite", "another red")
    async with opened(path) as memory, opened(path, files=False) as control:
        assert await answers(control) == await answers(memory)
    assert 0 == reads.mapped
    assert (0, 0) == size_beside(path), "opening deletes what no row names"


async def test_a_copied_store_has_files_of_its_own(path: Path, tmp_path: Path) -> None:
    """`copy_store` carries records, no files."""
    target = tmp_path / "copy.db"
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        expected = [[e[0].text for e in each] for each in await answers(memory)]
    async with open_store(path) as source, open_store(target) as destination:
        await copy_store(source, destination)
    assert 0 == size_beside(target)[0]
    async with opened(target) as memory:
        await memory.settled(ADA)
        assert expected == [[e[0].text for e in each] for each in await answers(memory)]


async def test_other_stores_keep_no_files() -> None:
    """The setting is taken, and has no effect."""
    async with recollect.open("memory:", embedder="none", index_files=True) as memory:
        await memory.append(ADA, "talk", ["red kite"])
        assert (0, False) == (await filed(memory), memory.store.keeps_index_files)
        assert not await memory.store.acting("ada").read(lambda each: each.index_files(ADA))


async def test_a_scope_that_is_gone_has_no_file(path: Path) -> None:
    """Its name and its id are in none either."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await filed(memory)
        await memory.erase(ADA, EraseScope())
        assert [] == list(folder_beside(path).iterdir())
        assert not (await memory.recall(ADA, "red")).entries


async def test_a_scope_gets_a_file_no_more_often_than_every_few_minutes(path: Path) -> None:
    """Where something is deleted all the time, all the time would be spent on files."""
    async with opened(path) as memory:
        ids = await say(memory, *WORDS)
        await memory.recall(ADA, "red")
        indexes = memory._runtime.recaller.indexes
        often = index_file_upkeep.IndexPersistence(memory.store, entries_min=1, every_s=0)
        seldom = index_file_upkeep.IndexPersistence(memory.store, entries_min=1)
        assert 1 == await seldom.write_due(indexes, memory._runtime.recaller.vectors_by)
        await memory.store.remove(ADA, "talk", ids[:1])
        await memory.recall(ADA, "red")
        assert 0 == await seldom.write_due(indexes, memory._runtime.recaller.vectors_by)
        assert 1 == await often.write_due(indexes, memory._runtime.recaller.vectors_by)


async def test_the_doctor_counts_the_files(path: Path) -> None:
    """Their bytes are among those beside the store."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        assert 1 == await filed(memory)
    state = examine_file(path)

    assert (1, size_beside(path)[1]) == (state.index_files, state.index_bytes)
    assert state.beside_bytes >= state.index_bytes > 0
    assert () == state.damage


async def test_a_store_that_fails_keeps_the_background_going(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches tell of it; the file is written another time."""
    async with opened(path) as memory:
        await say(memory, *WORDS)
        await memory.recall(ADA, "red")

        async def fail(*_: object) -> None:
            raise StoreUnavailableError("not now")

        with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "recollect"):
            patched.setattr(type(memory.store), "_read_snapshot", fail)
            persistence = index_file_upkeep.IndexPersistence(memory.store, entries_min=1)
            recaller = memory._runtime.recaller
            assert 0 == await persistence.write_due(recaller.indexes, recaller.vectors_by)
        assert 1 == caplog.text.count("no index file was written")
