"""An index in a file answers as the index in memory does, to the bit; a wrong file is refused."""

import io
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from mmap import mmap
from pathlib import Path
from typing import Final

import anyio
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect.recall import index_file
from recollect.recall import scope_index as indexing
from recollect.recall.eligibility import Eligibility
from recollect.recall.index_file import (
    BLOCK_BYTES,
    FORM,
    FiledNames,
    WrongIndexFileError,
    map_index,
    size_of,
    write_index,
)
from recollect.recall.index_file_upkeep import needs_file, without_dead
from recollect.recall.index_names import IndexNames
from recollect.recall.scope_index import LiveSegment, ScopeIndex, refreshed
from recollect.recall.segment import Segment
from recollect.records import Scope
from recollect.stores.change_feed import (
    Feed,
    FeedEntry,
    IndexFile,
    IndexFileRow,
)
from recollect.stores.vector_codec import encode_vector
from recollect.text.terms import encode_terms
from tests.unit.test_index import (
    DEEDS,
    EMBEDDER,
    ERASED,
    LATE_VECTOR,
    QUERIES,
    REMOVED,
    REPLACED,
    TEXTS,
    Follower,
    Step,
    portrait,
    scores,
)

ADA: Final[Scope] = ("users", "ada")
STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from([*DEEDS, "file", "file", "file"]),
        st.integers(0, 5),
        st.integers(0, 2),
        TEXTS,
    ),
    max_size=25,
)


def filed(index: ScopeIndex, path: Path) -> IndexFile:
    """Write *index* to *path*."""
    content = io.BytesIO()
    digest = write_index(index, content)
    path.write_bytes(content.getvalue())
    row = IndexFileRow(
        scope_id=1,
        name="a",
        epoch=index.epoch,
        seq=index.seq,
        embedder="",
        form=FORM,
        size_bytes=len(content.getvalue()),
        digest=digest,
    )
    return IndexFile(path=str(path), row=row)


def through_a_file(index: ScopeIndex, folder: Path) -> ScopeIndex:
    """Return the index that is mapped from a file of *index*."""
    return map_index(filed(index, folder / "index"), index.scope)


def index_of(entries: int = 40) -> ScopeIndex:
    """Return an index of so many messages with vectors, of a few sessions and speakers."""
    drawn = np.random.default_rng(3).standard_normal((entries, 16)).astype(np.float32)
    fed = tuple(
        FeedEntry(
            uid=uid, seq=uid, kind="message", thread=uid % 3, session=f"s{uid % 5}", position=uid,
            time=uid, speaker=("Ada", None)[uid % 2], role="user", type=None, state="active",
            valid_from=None, valid_until=None, expires_at=None,
            terms=encode_terms(f"red kite {uid}", None),
            vector=encode_vector(drawn[uid - 1]),
        )
        for uid in range(1, entries + 1)
    )  # fmt: skip
    feed = Feed(scope=ADA, now=0, seq=entries, epoch=7, reset=True, entries=fed, removed=())
    return refreshed(ScopeIndex(scope=ADA), feed)


async def compared(steps: Sequence[Step], folder: Path) -> int:
    """Take *steps* with an index in memory and one that goes through files; compare them."""
    follower, twin, files = Follower(), ScopeIndex(scope=ADA), 0

    async def catch_up() -> None:
        nonlocal twin
        feed = await follower.store.changes(twin.cursor, embedder=EMBEDDER.identity)
        twin = refreshed(twin, feed)
        await follower.catch_up()

    for step in steps:
        if step[0] == "file":
            await catch_up()
            follower.index = without_dead(follower.index)
            if follower.index.parts:
                twin, files = through_a_file(follower.index, folder), files + 1
        elif step[0] == "start over":
            follower.index = twin = ScopeIndex(scope=ADA)
        elif step[0] == "merge":
            await catch_up()
            follower.index, twin = indexing.merged(follower.index), indexing.merged(twin)
        else:
            await follower.take(step)
            if step[0] == "refresh":
                await catch_up()
    await catch_up()
    one, now = follower.index, follower.store.now()
    assert one.cursor == twin.cursor
    for wanted in (Eligibility(now=now), Eligibility(now=now, valid_at=now)):
        assert portrait(one, wanted) == portrait(twin, wanted)
        assert [scores(one, wanted, each) for each in QUERIES] == [
            scores(twin, wanted, each) for each in QUERIES
        ]
    return files


FILE: Final[Step] = ("file", 0, 0, "-")


@given(STEPS, st.sampled_from([0, 3, indexing.MERGE_ENTRIES_MAX]))
@example([*LATE_VECTOR[:3], FILE, *LATE_VECTOR[3:]], 3)
@example([*REPLACED[:3], FILE, REPLACED[3]], 0)
@example([*REMOVED[:3], FILE, REMOVED[3], FILE], 0)
@example([*ERASED[:3], FILE, ERASED[3], FILE], 0)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_index_in_a_file_answers_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], merge_entries_max: int
) -> None:
    """Whatever is written, edited, removed, erased, embedded or ends, before and after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "MERGE_ENTRIES_MAX", merge_entries_max)
        anyio.run(compared, steps, tmp_path_factory.mktemp("filed"))


def test_another_bit_would_be_noticed(tmp_path: Path) -> None:
    """The control: a scale that differs in its last bit changes a score."""
    index = index_of()
    (part,) = through_a_file(index, tmp_path).parts
    scales = np.nextafter(part.segment.scales, np.float32(9))
    other = replace(index, parts=(LiveSegment(replace(part.segment, scales=scales), part.is_live),))

    wanted = Eligibility(now=0)
    assert [scores(index, wanted, each) for each in QUERIES] != [
        scores(other, wanted, each) for each in QUERIES
    ]


def test_its_arrays_are_pages_of_the_file(tmp_path: Path) -> None:
    """Nothing is copied, and none of it counts as memory of the process."""
    index = index_of()
    (part,), (mapped,) = index.parts, through_a_file(index, tmp_path).parts

    assert all(isinstance(each.base, mmap) for each in mapped.segment.arrays)
    assert (0, True) == (mapped.segment.size_bytes, mapped.segment.is_mapped)
    assert (True, False) == (part.segment.size_bytes > 0, part.segment.is_mapped)
    for column in fields(Segment):
        one, other = getattr(part.segment, column.name), getattr(mapped.segment, column.name)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def test_its_size_is_about_the_one_foretold(tmp_path: Path) -> None:
    """The room on the disk is compared with it beforehand."""
    index = index_of(2_000)

    assert 1 <= size_of(index) / filed(index, tmp_path / "index").row.size_bytes < 1.2


def test_sessions_keep_their_numbers_and_new_ones_get_others(tmp_path: Path) -> None:
    """The order of the entries depends on them."""
    names = through_a_file(index_of(), tmp_path).names

    assert isinstance(names, FiledNames)
    numbers = {
        (uid % 3, f"s{uid % 5}"): names.session(uid % 3, f"s{uid % 5}") for uid in range(1, 41)
    }
    assert index_of().names.sessions == numbers
    assert {} == names.sessions
    new = names.session(1, "another")
    assert new not in numbers.values()
    assert new == names.session(1, "another")
    assert names.speakers == index_of().names.speakers


def test_sessions_with_one_half_of_a_hash_in_common_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second half decides."""
    monkeypatch.setattr(index_file, "_session_hash", lambda _, session: (5, ord(session[-1])))
    names = through_a_file(index_of(), tmp_path).names

    assert isinstance(names, FiledNames)
    assert len(set(names.table.low.tolist())) == len(
        {names.session(0, f"s{at}") for at in range(5)}
    )


def test_names_and_words_that_are_gone_do_not_reach_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index in memory still has them; a file would keep them."""
    monkeypatch.setattr(indexing, "MERGE_ENTRIES_MAX", 0)
    index = index_of()
    feed = Feed(
        scope=ADA, now=0, seq=41, epoch=7, reset=False, entries=(), removed=tuple(range(2, 42, 2))
    )
    shorter = without_dead(refreshed(index, feed))
    hash_ = encode_terms("2", None)[8:16]

    before = Path(filed(index, tmp_path / "one").path).read_bytes()
    after = Path(filed(shorter, tmp_path / "two").path).read_bytes()

    assert (True, True) == (b'"Ada"' in before, hash_ in before)
    assert (False, False) == (b'"Ada"' in after, hash_ in after)
    dead = Path(filed(refreshed(index, feed), tmp_path / "three").path).read_bytes()
    assert hash_ in dead, "the control: removed entries would be written"


Spoiling = Callable[[bytes], bytes]
SPOILT: Final[dict[str, Spoiling]] = {
    "cut": lambda content: content[: len(content) // 2],
    "cut by a byte": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "empty": lambda _: b"",
    "zeros": lambda content: bytes(len(content)),
    "another beginning": lambda content: b"R" + content[1:],
    "a header that is too long": lambda content: content[:16] + b"\xff" * 8 + content[24:],
    "a bit of the header": lambda content: flipped(content, 40),
    "a bit of the arrays": lambda content: flipped(content, len(content) // 2),
    "a bit of the last array": lambda content: flipped(content, -BLOCK_BYTES),
    "a bit of the checksums": lambda content: flipped(content, -3),
    "two blocks exchanged": lambda content: exchanged(content, 2, 5),
    "a block of zeros": lambda content: content[:8_192] + bytes(4_096) + content[12_288:],
}


def flipped(content: bytes, at: int) -> bytes:
    """Return *content* with another bit."""
    changed = bytearray(content)
    changed[at] ^= 4
    return bytes(changed)


def exchanged(content: bytes, one: int, other: int) -> bytes:
    """Return *content* with two blocks in each other's place."""
    blocks = [content[at : at + BLOCK_BYTES] for at in range(0, len(content), BLOCK_BYTES)]
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks)


def spoilt(path: Path, spoil: Spoiling) -> IndexFile:
    """Return a file that *spoil* changed."""
    file = filed(index_of(), path)
    path.write_bytes(spoil(path.read_bytes()))
    return file


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_damaged_file_is_refused(spoil: Spoiling, tmp_path: Path) -> None:
    """No array of it is used."""
    with pytest.raises(WrongIndexFileError):
        map_index(spoilt(tmp_path / "index", spoil), ADA)


@pytest.mark.parametrize("name", ["a bit of the arrays", "two blocks exchanged"])
def test_a_file_whose_blocks_are_not_compared_would_be_noticed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: without the checksums of blocks the damaged file is taken."""
    monkeypatch.setattr(index_file, "_check_blocks", lambda *_: None)

    assert map_index(spoilt(tmp_path / "index", SPOILT[name]), ADA).parts


def test_a_file_of_another_store_is_refused(tmp_path: Path) -> None:
    """It is right in itself, and not the one that the row names."""
    own, other = filed(index_of(40), tmp_path / "own"), filed(index_of(41), tmp_path / "other")
    row = replace(own.row, size_bytes=other.row.size_bytes)

    with pytest.raises(WrongIndexFileError, match="digest"):
        map_index(IndexFile(path=other.path, row=row), ADA)


def test_a_file_of_another_store_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: without the digest only the place in the feed could tell."""
    own = filed(index_of(40), tmp_path / "own")
    other = filed(index_of(40), tmp_path / "other")
    monkeypatch.setattr(index_file, "_digest_of", lambda *_: own.row.digest)

    assert map_index(IndexFile(path=other.path, row=own.row), ADA).parts


def test_a_file_of_another_place_in_the_feed_is_refused(tmp_path: Path) -> None:
    """Its row was changed, or belongs to another file."""
    file = filed(index_of(), tmp_path / "index")

    with pytest.raises(WrongIndexFileError, match="another place"):
        map_index(replace(file, row=replace(file.row, seq=3)), ADA)


def test_a_deleted_file_is_missed(tmp_path: Path) -> None:
    """An erase took it between the look and the opening."""
    file = filed(index_of(), tmp_path / "index")
    Path(file.path).unlink()

    with pytest.raises(FileNotFoundError):
        map_index(file, ADA)


def test_a_mapped_file_may_be_deleted(tmp_path: Path) -> None:
    """Whoever searches it goes on."""
    index = index_of()
    file = filed(index, tmp_path / "index")
    mapped = map_index(file, ADA)
    Path(file.path).unlink()

    wanted = Eligibility(now=0)
    assert portrait(index, wanted) == portrait(mapped, wanted)


def test_large_indexes_need_a_file_when_much_of_them_is_in_none(tmp_path: Path) -> None:
    """A small one is read as fast, and one that is filed but for a few entries is filed."""
    index = index_of(64)
    assert (False, True) == (needs_file(index), needs_file(index, 64))
    mapped = through_a_file(index, tmp_path)
    assert not needs_file(mapped, 64)
    few = refreshed(mapped, _more(mapped, 1))
    assert not needs_file(few, 64)
    assert needs_file(refreshed(few, _more(few, 3)), 64)


def _more(index: ScopeIndex, count: int) -> Feed:
    fed = tuple(
        FeedEntry(
            uid=1_000 + index.seq + at, seq=index.seq + 1, kind="message", thread=9, session="s",
            position=index.seq + at, time=0, speaker=None, role="user", type=None, state="active",
            valid_from=None, valid_until=None, expires_at=None, terms=encode_terms("sky", None),
            vector=None,
        )
        for at in range(count)
    )  # fmt: skip
    return Feed(scope=ADA, now=0, seq=index.seq + 1, epoch=7, reset=False, entries=fed, removed=())


def test_plain_names_have_a_table_as_well(tmp_path: Path) -> None:
    """An index without sessions in memory, written again, keeps those of its file."""
    once = through_a_file(index_of(), tmp_path)
    twice = map_index(filed(once, tmp_path / "again"), ADA)

    assert isinstance(twice.names, FiledNames)
    assert isinstance(once.names, FiledNames)
    assert once.names.table.number.tolist() == twice.names.table.number.tolist()
    assert not isinstance(index_of().names, FiledNames)
    assert IndexNames().sessions == {}
