"""The stored form of an entry's words comes back, says its version, and is renewed when stale."""

import struct
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records import NewMessage, PutMemory
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.in_process.store import InProcessStore
from recollect.testing import NOON, CountingIds, FrozenClock
from recollect.text import terms as stored_terms
from recollect.text.analysis import ANALYSER_VERSION, is_first_person, terms_of
from recollect.text.stored_terms import StoredTerms, decode_terms
from recollect.text.terms import (
    COUNT_MAX,
    date_terms,
    encode_terms,
    is_current,
    query_hashes,
    term_hash,
)
from recollect.text.time_expressions import has_time_expression

ADA = ("users", "ada")
HEADER_BYTES = 8
BYTES_PER_TERM = 10
PIECES = "I we've MINE Ada's 1,250 3.11 max_retries _x__y_ getUserName last Week May 2023 ' _ - . ,"
ASCII = st.lists(st.sampled_from([*PIECES.split(), " "]) | st.text(st.characters(codec="ascii")))


def older_analyser(text: str) -> list[str]:
    """Return the terms that an earlier version might have made: whatever stands between spaces."""
    return [f"older-{word}" for word in text.split()]


@given(pieces=ASCII)
def test_a_text_of_ascii_has_the_terms_of_the_same_text_beside_another(pieces: list[str]) -> None:
    """ASCII is read by expressions of its own, which find what those for every script find."""
    text = "".join(pieces)
    beside = f"{text} \u20ac"  # a sign that is no word, after a space

    assert terms_of(beside) == terms_of(text)
    assert is_first_person(beside) == is_first_person(text)
    assert has_time_expression(beside) == has_time_expression(text)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Write with the analyser of an earlier version, until the patch is undone."""
    monkeypatch.setattr(stored_terms, "ANALYSER_VERSION", ANALYSER_VERSION - 1)
    monkeypatch.setattr(stored_terms, "terms_of", older_analyser)
    return monkeypatch


@given(st.text(max_size=200), st.none() | st.datetimes(timezones=st.just(UTC)))
def test_stored_terms_come_back(text: str, time: datetime | None) -> None:
    """Hashes with their counts, the length, both flags and the version survive storing."""
    words = terms_of(text) + (date_terms(text, time) if time else [])

    found = decode_terms([encode_terms(text, time)])

    assert Counter(map(term_hash, words)) == dict(
        zip(found.hashes.tolist(), found.counts.tolist(), strict=True)
    )
    assert [len(words)] == found.length.tolist()
    assert [has_time_expression(text)] == found.has_time_expression.tolist()
    assert [is_first_person(text)] == found.is_first_person.tolist()
    assert [ANALYSER_VERSION] == found.version.tolist()


@given(st.lists(st.text(max_size=40), max_size=8))
def test_entries_are_read_together_as_alone(texts: list[str]) -> None:
    """The terms of many entries are those of each, one after another."""
    stored = [encode_terms(text, None) for text in texts]
    alone = [decode_terms([each]) for each in stored]

    found = decode_terms(stored)

    assert len(found.distinct) == len(texts)
    for name in StoredTerms.__slots__:
        parts = [each for one in alone for each in getattr(one, name).tolist()]
        assert parts == getattr(found, name).tolist(), name


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("Kites fly", (False, False)),
        ("Kites fly today", (True, False)),
        ("I fly kites", (False, True)),
        ("I flew a kite yesterday", (True, True)),
    ],
)
def test_flags_are_kept_apart(text: str, flags: tuple[bool, bool]) -> None:
    """Whether a text speaks of a time, and whether of its speaker, are two things."""
    found = decode_terms([encode_terms(text, None)])

    assert flags == (found.has_time_expression[0], found.is_first_person[0])


@given(st.text(max_size=200))
def test_hashes_are_sorted_and_distinct(text: str) -> None:
    """An index can join and search them as they are."""
    hashes = decode_terms([encode_terms(text, None)]).hashes

    assert bool(np.all(hashes[1:] > hashes[:-1]))


def test_a_term_takes_ten_bytes() -> None:
    """Each distinct term is 64 bits of hash and 16 of count, behind one short header."""
    stored = encode_terms("kites kites balloons", None)

    assert len(stored) == HEADER_BYTES + 2 * BYTES_PER_TERM


def test_the_header_carries_the_version() -> None:
    """The first two bytes, little-endian, are the version of the analyser."""
    stored = encode_terms("kite", None)

    assert (ANALYSER_VERSION,) == struct.unpack_from("<H", stored)
    assert is_current(stored)


def test_another_version_is_not_current() -> None:
    """Terms of an earlier and of a later analyser are both seen to be other ones."""
    stored = encode_terms("kite", None)
    others = [
        struct.pack("<H", version) + stored[2:]
        for version in (ANALYSER_VERSION - 1, ANALYSER_VERSION + 1)
    ]

    assert [is_current(each) for each in others] == [False, False]


def test_counts_stop_at_their_limit() -> None:
    """A word repeated without end is counted up to the limit; the length counts it all."""
    found = decode_terms([encode_terms("kite " * (COUNT_MAX + 5), None)])

    assert [COUNT_MAX] == found.counts.tolist()
    assert [COUNT_MAX + 5] == found.length.tolist()


def test_a_text_without_words_has_no_terms() -> None:
    """Pictures and signs alone are stored as a header."""
    found = decode_terms([encode_terms("\U0001f44d !!", None)])

    assert ([0], [], []) == (found.length.tolist(), found.hashes.tolist(), found.counts.tolist())


def test_a_term_is_kept_as_64_bits_of_blake2b() -> None:
    """Processes and machines agree on the hash, which begins the BLAKE2b digest of the term."""
    digest = blake2b(b"kite", digest_size=8).digest()

    assert int.from_bytes(digest, "little") == term_hash("kite")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("hello", ["8", "may", "2023"]),
        ("\u6211\u517b\u732b", ["2023", "\u5e74", "5", "\u6708", "8", "\u65e5"]),
        ("\u3053\u308c\u306f\u732b", ["2023", "\u5e74", "5", "\u6708", "8", "\u65e5"]),
        ("\u041f\u0440\u0438\u0432\u0435\u0442", ["8", "may", "2023"]),
    ],
)
def test_the_date_is_written_as_the_text_is(text: str, terms: list[str]) -> None:
    """A question in the language of an entry finds it by its day, month and year."""
    assert terms == date_terms(text, datetime(2023, 5, 8, tzinfo=UTC))


def test_a_query_counts_repeated_terms() -> None:
    """Words asked for twice count twice."""
    found = query_hashes(["kite", "red", "kite"])

    assert {term_hash("kite"): 2, term_hash("red"): 1} == found


async def stale_store(older: pytest.MonkeyPatch) -> InProcessStore:
    """Return a store with a message and a memory that an earlier version analysed."""
    store = InProcessStore(clock=FrozenClock(), ids=CountingIds())
    await store.append(ADA, "talk", [NewMessage(role="user", text="Red kites!", id="m1")])
    await store.apply(ADA, [PutMemory(type="Note", key="pet", value={"pet": "two cats"})])
    older.undo()
    return store


def terms_by_kind(feed: Feed) -> dict[str, bytes]:
    """Return the terms of each kind of entry."""
    return {entry.kind: entry.terms for entry in feed.entries}


@pytest.mark.anyio
async def test_the_feed_renews_stale_terms(older: pytest.MonkeyPatch) -> None:
    """What an earlier version analysed is read as if this one had, dates included."""
    store = await stale_store(older)

    found = terms_by_kind(await store.changes(Cursor(scope=ADA)))

    assert {
        "message": encode_terms("Red kites!", NOON),
        "memory": encode_terms("pet: two cats", None),
    } == found


@pytest.mark.anyio
async def test_stale_terms_are_seen_to_be_stale(older: pytest.MonkeyPatch) -> None:
    """What stands in the store really is of the earlier version: the test above has a subject."""
    store = await stale_store(older)

    rows = await store._read(lambda rows: list(rows.changed(1, 0, None)))

    assert [False, False] == [is_current(row.terms) for row in rows]


@pytest.mark.anyio
async def test_the_past_renews_stale_terms(older: pytest.MonkeyPatch) -> None:
    """What was believed then is found by this version's words too."""
    store = await stale_store(older)

    past, _ = await store.past(ADA, NOON)

    assert terms_by_kind(await store.changes(Cursor(scope=ADA))) == terms_by_kind(past)


@pytest.mark.anyio
async def test_restoring_over_stale_terms_changes_nothing(older: pytest.MonkeyPatch) -> None:
    """An archive of what is there already is no conflict because the analyser is newer."""
    store = await stale_store(older)

    new = await store.restore(ADA, await store.archive(ADA))

    assert new == 0
