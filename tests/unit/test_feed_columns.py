"""A scope that is read in blocks gives the index that reading it row by row gives."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recollect.recall import segment as building
from recollect.recall.feed_columns import columns_of_blocks
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.segment import NEVER, Segment, constant, sorted_hashes
from recollect.recall.segment_joins import postings_order
from recollect.recall.vector_backlog import Embedding
from recollect.records import DeleteMemory, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import (
    Cursor,
    EntryBlock,
    Feed,
    FeedBlocks,
    FeedEntry,
)
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans import changes
from recollect.stores.sqlite import rows as sqlite_rows
from recollect.testing import NOON, FrozenClock, HashedEmbedder, SeededIds
from recollect.text.stored_terms import decode_joined_terms, decode_terms
from recollect.text.terms import encode_terms

ADA: Scope = ("users", "ada")
EMBEDDER = HashedEmbedder(16)
WORDS = "kite red sky oslo paint yesterday I".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
NAMES = st.sampled_from([None, None, "Ada", 'Bo "b", é'])
Step = tuple[str, int, str | None, int, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "say", "note", "note for a day", "delete", "embed"]),
        st.integers(0, 3),
        NAMES,
        st.integers(0, 400),
        TEXTS,
    ),
    min_size=1,
    max_size=25,
)


async def carry_out(store: Store, step: Step, number: int) -> None:
    """Write one thing, or embed what was written."""
    deed, which, name, days, text = step
    when = NOON - timedelta(days=days)
    if deed == "say":
        session = None if number % 3 else f"session {which % 2}"
        said = NewMessage(role="user", name=name, text=text, time=when, session=session)
        await store.append(ADA, f"thread {which}", [said])
    elif deed == "embed":
        await Embedding(store, EMBEDDER).settle(ADA)
    elif deed == "delete":
        await store.apply(ADA, [DeleteMemory(type="Note", key=str(which))])
    else:
        until: datetime | None = when if deed == "note for a day" else None
        put = PutMemory(
            type="Note", key=str(which), value={"content": text}, text=text, valid_until=until
        )
        await store.apply(ADA, [put])


async def read_both(path: Path, steps: Sequence[Step]) -> list[Feed]:
    """Carry out *steps* in a store; return its whole feed in rows and in blocks."""
    cursors, embedder = [Cursor(scope=ADA)], EMBEDDER.identity
    clock = FrozenClock()
    async with open_store(path, clock=clock, ids=SeededIds(1), durability="relaxed") as store:
        for number, step in enumerate(steps):
            clock.advance(60)
            await carry_out(store, step, number)
        return await store.read(
            lambda snapshot: [
                snapshot.feeds(cursors, embedder=embedder, in_blocks=each)[0]
                for each in (False, True)
            ]
        )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every scope in blocks of three entries."""
    monkeypatch.setattr(sqlite_rows, "BLOCKS_FROM", 0)
    monkeypatch.setattr(sqlite_rows, "BLOCK_ROWS", 3)


def columns_of(segment: Segment) -> dict[str, object]:
    """Return what a segment holds, in values that compare."""
    found = ((each.name, getattr(segment, each.name)) for each in fields(segment))
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column
        for name, column in found
    }


def plain_postings(entries: Sequence[FeedEntry]) -> dict[int, list[tuple[int, int]]]:
    """Return the (uid, count) of each term, entry by entry."""
    found: dict[int, list[tuple[int, int]]] = {}
    for entry in entries:
        terms = decode_terms([entry.terms])
        for hash_, count in zip(terms.hashes.tolist(), terms.counts.tolist(), strict=True):
            found.setdefault(hash_, []).append((entry.uid, count))
    return {hash_: sorted(found[hash_]) for hash_ in sorted(found)}


def postings_of(segment: Segment) -> dict[int, list[tuple[int, int]]]:
    """Return the same of a segment."""
    uids = segment.uid[segment.entries].tolist()
    standing = list(zip(uids, segment.counts.tolist(), strict=True))
    runs = pairwise(segment.starts.tolist())
    return {
        hash_: sorted(standing[start:end])
        for hash_, (start, end) in zip(segment.hashes.tolist(), runs, strict=True)
    }


@pytest.mark.parametrize("few", [0, 256])
@settings(
    max_examples=10,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(STEPS)
def test_blocks_give_the_index_that_rows_give(
    tmp_path_factory: pytest.TempPathFactory, few: int, steps: list[Step]
) -> None:
    """Every array is the same, and so is every number that a name was given."""
    path = tmp_path_factory.mktemp("blocks") / "memory.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "FEW", few)
        rows, blocks = anyio.run(read_both, path, steps)
        plain, joined = (refreshed(ScopeIndex(scope=ADA), each) for each in (rows, blocks))

    assert (bool(rows.entries), blocks.entries) == (blocks.blocks is not None, ())
    assert [columns_of(each.segment) for each in plain.parts] == [
        columns_of(each.segment) for each in joined.parts
    ]
    assert vars(plain.names)["sessions"] == vars(joined.names)["sessions"]
    assert plain.names.speakers == joined.names.speakers
    assert plain.names.kinds == joined.names.kinds
    for part in joined.parts:
        assert plain_postings(rows.entries) == postings_of(part.segment)


def test_vectors_of_other_texts_are_left_out(tmp_path: Path) -> None:
    """A vector counts only for the text that it was made of."""
    steps: list[Step] = [
        ("note", 1, None, 0, "red kite"),
        ("note", 2, None, 0, "oslo"),
        ("embed", 0, None, 0, ""),
        ("note", 1, None, 0, "sky"),
    ]

    rows, blocks = anyio.run(read_both, tmp_path / "memory.db", steps)

    assert blocks.blocks
    found = columns_of_blocks(blocks.blocks)
    have = {each.uid for each in rows.entries if each.vector}
    assert len(have) == 1
    assert have == set(found.uid[found.vectors.row >= 0].tolist())


def test_terms_of_an_older_analyser_are_read_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made anew of the text, which the blocks do not hold."""
    monkeypatch.setattr(changes, "is_current", lambda terms: terms == encode_terms("kite", NOON))
    steps: list[Step] = [("say", 0, None, 0, "kite"), ("say", 0, None, 0, "sky")]

    _, blocks = anyio.run(read_both, tmp_path / "memory.db", steps)

    assert (2, None) == (len(blocks.entries), blocks.blocks)


def test_a_small_scope_is_read_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks pay off from some hundred entries on."""
    monkeypatch.setattr(sqlite_rows, "BLOCKS_FROM", 2)
    step: Step = ("say", 0, None, 0, "kite")

    _, two = anyio.run(read_both, tmp_path / "two.db", [step] * 2)
    _, three = anyio.run(read_both, tmp_path / "three.db", [step] * 3)

    assert [False, True] == [each.blocks is not None for each in (two, three)]


@pytest.mark.parametrize("column", ["seq", "role", "terms_bytes"])
def test_a_block_with_a_short_column_is_refused(tmp_path: Path, column: str) -> None:
    """A damaged file gives an error, and no entry the value of another."""
    step: Step = ("say", 0, None, 0, "kite")
    _, feed = anyio.run(read_both, tmp_path / "memory.db", [step] * 3)
    assert feed.blocks
    (block,) = feed.blocks.entries
    short = EntryBlock(**(block._asdict() | {column: '["user"]' if column == "role" else "8"}))

    with pytest.raises(ValueError, match="column"):
        columns_of_blocks(FeedBlocks(entries=(short,), vectors=()))


HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=40)


@given(HASHES, st.lists(st.integers(0, 6), max_size=12))
def test_hashes_are_sorted_as_numpy_sorts_them(drawn: list[int], near: list[int]) -> None:
    """Also those that differ only in the bits that give way to their place."""
    alike = [drawn[0] >> 3 << 3 | each for each in near] if drawn else near
    hashes = np.array(drawn + alike + drawn, np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "_FEW_HASHES", -1)
        order, ordered = sorted_hashes(hashes)

    expected = np.argsort(hashes, kind="stable")
    assert expected.tolist() == order.tolist()
    assert hashes[expected].tolist() == ordered.tolist()


@given(st.data())
def test_postings_are_joined_in_order(data: st.DataObject) -> None:
    """Whether the entries of one segment come after those of another, or between them."""
    places = data.draw(st.permutations(range(8)) | st.just(list(range(8))))
    ranks = [np.array(each, np.int32) for each in (sorted(places[:4]), [-1, *sorted(places[4:])])]
    owner = np.concatenate([each[each >= 0] for each in ranks])
    hashes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8)), np.uint64)

    found = postings_order(hashes, owner, ranks)

    assert np.lexsort((owner, hashes)).tolist() == found.tolist()


def test_terms_are_decoded_in_another_order() -> None:
    """The terms of each entry stay together."""
    stored = [encode_terms(text, NOON) for text in ("red kite", "oslo", "I paint the sky")]
    sizes = np.array([len(each) for each in stored])

    found = decode_joined_terms(b"".join(stored), sizes, np.array([2, 0, 1]))

    expected = decode_terms([stored[2], stored[0], stored[1]])
    for each in fields(found):
        assert getattr(expected, each.name).tolist() == getattr(found, each.name).tolist()


@pytest.mark.parametrize("cut", [1, 2, 9, 10])
def test_cut_terms_are_refused(cut: int) -> None:
    """Bytes that are no terms are never read as those of the next entry."""
    stored = [encode_terms(text, NOON) for text in ("red kite", "oslo")]

    with pytest.raises(ValueError, match="are not the terms"):
        decode_terms([stored[0][:-cut], stored[1]]) if cut % 10 else decode_joined_terms(
            b"".join(stored)[:-cut], np.array([len(each) for each in stored])
        )


def test_a_column_of_one_value_takes_no_room() -> None:
    """It reads like any other."""
    column = constant(NEVER, 5)

    assert ([NEVER] * 5, [NEVER] * 2) == (column.tolist(), column[np.array([0, 4])].tolist())
