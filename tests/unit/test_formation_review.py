"""What a person decides: what is refused for good, and what is put in force as it waits."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.errors import NotFoundError, StaleReadError, UsageError
from recollect.formation import types
from recollect.formation.value_identity import content_key, field_key
from recollect.formation.verdicts import approval_of, rejection_of
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    JsonObject,
    Memory,
    PutMemory,
    Write,
)

AT = datetime(2026, 5, 1, tzinfo=UTC)
SAID = Evidence(thread="t", message="m", quote="words")


def memory(type_: str, key: str, value: JsonObject, **more: Any) -> Memory:
    """Return a memory."""
    given: dict[str, Any] = {
        "version": 3, "valid_from": None, "valid_until": None, "expires_at": None, "evidence": {},
        "trust": "user", "state": "active", **more,
    }  # fmt: skip
    return Memory(
        scope=("u",), type=type_, key=key, value=value, text="", created_at=AT, updated_at=AT,
        **given,
    )  # fmt: skip


PROFILE = memory(
    "User",
    "User",
    {"home": "Oslo", "interests": ["tea", "go"]},
    evidence={"/home": (SAID,), "/interests/0": (SAID,), "/interests/1": (SAID,)},
)
NOTE = memory("Note", "n", {"content": "I own a boat"})
WAITING = memory(
    "User",
    "User~3~abc",
    {"home": "Lima", "interests": ["tea", "go"]},
    state="quarantined",
    trust="external",
    version=1,
    evidence={"/home": (SAID,)},
)


def puts(writes: list[Write]) -> list[PutMemory]:
    """Return what is put."""
    return [each for each in writes if isinstance(each, PutMemory)]


def test_a_rejected_memory_stays_visibly_and_blocks_what_it_says() -> None:
    """At its place, and under the key of what it says now, should that differ."""
    writes = puts(rejection_of(NOTE))

    assert [("n", "rejected"), (content_key(NOTE.value), "rejected")] == [
        (each.key, each.state) for each in writes
    ]
    assert [NOTE.value] * 2 == [each.value for each in writes]
    assert [3, None] == [each.expected for each in writes]


def test_a_rejected_document_blocks_each_of_its_fields() -> None:
    """So that another document with one of them lacks it."""
    keys = {each.key for each in puts(rejection_of(PROFILE))[1:]}

    fields = (("/home", "Oslo"), ("/interests/0", "tea"), ("/interests/9", "go"))
    assert {field_key(*each) for each in fields} == keys


@pytest.mark.parametrize("rejected", [replace(NOTE, trust="external"), WAITING])
def test_what_keeps_rejected_words_away_is_trusted_as_they_were(rejected: Memory) -> None:
    """One quote is told as whose it is in each row that rests on it."""
    writes = puts(rejection_of(rejected, standing=None if rejected.type == "Note" else PROFILE))

    assert ["external"] * 2 == [each.trust for each in writes]


def test_a_document_goes_on_without_a_rejected_field() -> None:
    """All else in it keeps its place and its evidence."""
    first, *others = puts(rejection_of(PROFILE, "/interests/0"))

    assert ({"home": "Oslo", "interests": ["go"]}, "active", 3) == (
        first.value, first.state, first.expected,
    )  # fmt: skip
    assert {"/home", "/interests"} == first.evidence.keys()
    assert [{"pointer": "/interests/0", "value": "tea"}] == [each.value for each in others]


@pytest.mark.parametrize("pointer", ["/nowhere", "/interests/5", "/interests/0/x"])
def test_what_is_not_there_cannot_be_rejected(pointer: str) -> None:
    with pytest.raises(NotFoundError):
        rejection_of(PROFILE, pointer)


def test_a_rejected_proposal_blocks_what_it_would_have_changed() -> None:
    """And nothing that stands already."""
    first, *others = puts(rejection_of(WAITING, standing=PROFILE))

    assert (WAITING.key, "rejected") == (first.key, first.state)
    assert [field_key("/home", "Lima")] == [each.key for each in others]


def test_a_rejected_proposal_leaves_its_memory_alone() -> None:
    """Also one to end it, which says the same, and where nobody knows what it was for."""
    entry = replace(NOTE, key=content_key(NOTE.value))
    end = replace(entry, key=f"{entry.key}~3~abc", state="quarantined", valid_until=AT)

    for writes in (rejection_of(end, standing=entry), rejection_of(end), rejection_of(WAITING)):
        assert 1 == len(writes)


def test_a_rejected_proposal_of_a_document_blocks_all_of_it() -> None:
    """There was nothing before it."""
    first = replace(WAITING, key="User~0~abc", value={"home": "Lima"})

    assert [first.key, field_key("/home", "Lima")] == [
        each.key for each in puts(rejection_of(first))
    ]


def test_what_waits_is_approved_as_it_waits() -> None:
    """Value, evidence and trust; and waits no longer."""
    put, delete = approval_of(WAITING, PROFILE)

    assert isinstance(put, PutMemory)
    assert ("User", 3, "active") == (put.key, put.expected, put.state)
    assert (WAITING.value, WAITING.evidence, "external") == (put.value, put.evidence, put.trust)
    assert DeleteMemory(type="User", key=WAITING.key, expected=1) == delete


def test_a_new_document_is_approved_where_there_is_none() -> None:
    """And only there."""
    first = replace(WAITING, key="User~0~abc")

    put, _ = approval_of(first, None)

    assert isinstance(put, PutMemory)
    assert ("User", 0, WAITING.value) == (put.key, put.expected, put.value)
    with pytest.raises(StaleReadError):
        approval_of(first, PROFILE)


def test_an_end_is_approved() -> None:
    """The memory says the same, until then."""
    entry = replace(NOTE, valid_from=datetime(2020, 1, 1, tzinfo=UTC))
    end = replace(entry, key="n~3~abc", state="quarantined", valid_until=AT)

    put, _ = approval_of(end, entry)

    assert isinstance(put, PutMemory)
    assert ("n", entry.value, entry.valid_from, AT) == (
        put.key, put.value, put.valid_from, put.valid_until,
    )  # fmt: skip


@pytest.mark.parametrize(
    "standing", [None, replace(PROFILE, version=4), replace(PROFILE, version=2)]
)
def test_what_has_moved_on_is_not_overwritten(standing: Memory | None) -> None:
    """Whoever approves has seen another version; reading again does not help: it says what does."""
    with pytest.raises(StaleReadError, match="reject the change, and write what should hold"):
        approval_of(WAITING, standing)


def test_an_entry_that_waits_is_approved_in_its_place() -> None:
    (put,) = approval_of(replace(NOTE, state="quarantined"), None)

    assert isinstance(put, PutMemory)
    assert ("n", NOTE.value, "active", 3) == (put.key, put.value, put.state, put.expected)


@pytest.mark.parametrize("state", ["active", "rejected"])
def test_what_does_not_wait_is_not_approved(state: Any) -> None:
    with pytest.raises(UsageError, match="nothing waits"):
        approval_of(replace(NOTE, state=state), None)


# What a type demands


@pytest.mark.parametrize("content", ["I own a boat", "我有一条船"])
def test_what_a_type_demands_cannot_be_rejected_alone(content: str) -> None:
    """The error says what to do; what is not demanded can."""
    entry = memory("Note", "n", {"context": "c", "content": content})

    with pytest.raises(UsageError, match="reject the whole memory, or put another value"):
        rejection_of(entry, "/content", type_=types.NOTE)

    assert 2 == len(rejection_of(PROFILE, "/home", type_=types.USER))
    assert 2 == len(rejection_of(entry, "/content"))


def test_what_was_wrong_before_keeps_nothing_from_being_rejected() -> None:
    """As where a type has come to demand more."""
    entry = memory("Note", "n", {"content": "I own a boat", "mood": "glad"})

    first, *_ = puts(rejection_of(entry, "/mood", type_=types.NOTE))

    assert {"content": "I own a boat"} == first.value


def test_a_rejected_field_of_an_entry_names_its_entry() -> None:
    """Under a key of its own; also where a change of the entry waits."""
    waiting = replace(NOTE, key="n~3~abc", value={"content": "a car"}, state="quarantined")

    (_, of_entry), (_, of_proposal) = (
        puts(rejection_of(NOTE, "/content")), puts(rejection_of(waiting, standing=NOTE))
    )  # fmt: skip

    assert field_key("/content", "I own a boat", "n") == of_entry.key
    assert field_key("/content", "a car", "n") == of_proposal.key
    assert {"entry": "n", "pointer": "/content", "value": "a car"} == of_proposal.value


# One value at a time


def lives_in(place: str, year: int, **more: Any) -> Memory:
    """Return a fact that holds from a year on."""
    value = {"subject": more.pop("subject", "Ada"), "predicate": "lives in", "object": place}
    return memory("Fact", place, value, valid_from=datetime(year, 1, 1, tzinfo=UTC), **more)


def test_an_approved_value_ends_the_one_before_it() -> None:
    """As one that is formed does; another's, and what has ended before, are left alone."""
    waits = lives_in("Bergen", 2024, state="quarantined")
    rivals = [
        lives_in("Oslo", 2020, subject="ADA"),
        lives_in("Rome", 2020, subject="Ben"),
        lives_in("Bonn", 2001, valid_until=datetime(2002, 1, 1, tzinfo=UTC)),
        lives_in("Kiel", 2020, state="rejected"),
    ]

    approved, ended = approval_of(waits, None, type_=types.FACT, rivals=rivals)

    assert isinstance(approved, PutMemory)
    assert ("Bergen", "active", None) == (approved.key, approved.state, approved.valid_until)
    assert isinstance(ended, EndMemory)
    assert ("Oslo", waits.valid_from, 3) == (ended.key, ended.at, ended.expected)


def test_an_approved_value_ends_where_a_later_one_began() -> None:
    """That one stays as it is."""
    waits = lives_in("Bergen", 2020, state="quarantined")
    later = lives_in("Oslo", 2024)

    (approved,) = approval_of(waits, None, type_=types.FACT, rivals=[later])

    assert isinstance(approved, PutMemory)
    assert later.valid_from == approved.valid_until


def test_of_values_that_can_be_several_none_ends() -> None:
    waits = lives_in("Bergen", 2024, state="quarantined")
    several = replace(waits, value={**waits.value, "several": True})

    writes = approval_of(several, None, type_=types.FACT, rivals=[lives_in("Oslo", 2020)])

    assert 1 == len(writes)
