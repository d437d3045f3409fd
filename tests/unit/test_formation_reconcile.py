"""Reconciling: what each operation does to the memories that there are, by fixed rules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, permutations
from typing import Any

import pytest

from recollect.formation.grounding.grounds import Grounds
from recollect.formation.offer import offer_of
from recollect.formation.operation_outcomes import Grounded, OperationOutcome, Present
from recollect.formation.operations import Citation, End, Insert, Operation, Patch, PatchChange
from recollect.formation.reconciliation import (
    addresses_of,
    reconcile,
    rival_type,
)
from recollect.formation.types import FACT, NOTE, USER, MemoryType
from recollect.formation.value_identity import content_key, field_key, refusing_keys
from recollect.formation.window import Window, WindowLine
from recollect.records import (
    EndMemory,
    Evidence,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    PutMemory,
    Role,
    Trust,
)
from tests.harness.sample_contents import sample_message

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = ("I live in Bergen", "I own a boat", "It rains", "I moved to Porto")
TYPES = (USER, NOTE, FACT)


def at(year: int) -> datetime:
    """Return the beginning of a year."""
    return datetime(year, 1, 1, tzinfo=UTC)


def window() -> Window:
    """Return a window over what was said, one message a day."""
    lines = tuple(
        WindowLine(
            number=n,
            message=sample_message(
                id=f"id{n}", position=n, text=text, time=NOW + timedelta(days=n - len(SAID))
            ),
            text=text,
            new=True,
        )
        for n, text in enumerate(SAID, start=1)
    )
    return Window(scope=("u",), lines=lines, watermarks={})


def memory(
    type_: str,
    value: JsonObject,
    *,
    key: str = "",
    state: MemoryState = "active",
    trust: Trust = "user",
    **more: Any,
) -> Memory:
    """Return a memory; an entry of a collection stands under the key of its content."""
    given: dict[str, Any] = {
        "evidence": {"": (Evidence(thread="old", message="old", quote="old"),)},
        "valid_from": None, "valid_until": None, "expires_at": None, "version": 1, **more,
    }  # fmt: skip
    address = key or (type_ if type_ == "User" else content_key(value))
    return Memory(
        scope=("u",), type=type_, key=address, value=value, text="", created_at=NOW,
        updated_at=NOW, trust=trust, state=state, **given,
    )  # fmt: skip


def cited(number: int = 1, path: str = "") -> Citation:
    """Return a citation of all of a message."""
    return Citation(message=number, quote=SAID[number - 1], path=path)


def note(content: str, number: int = 2, call: str = "c") -> Insert:
    """Return the operation that keeps a note."""
    value = {"context": "in passing", "content": content}
    return Insert(call=call, type="Note", value=value, because=(cited(number),))


def user(number: int = 1, **fields: Json) -> Insert:
    """Return the operation that makes a profile."""
    return Insert(call="c", type="User", value=fields, because=(cited(number),))


def fact(object_: str, *, since: str | None = None, call: str = "c", **more: Json) -> Insert:
    """Return the operation that keeps where Ada lives."""
    value = {"subject": "Ada", "predicate": "lives in", "object": object_, **more}
    return Insert(call=call, type="Fact", value=value, because=(cited(1),), since=since)


def patch(target: str, *operations: Mapping[str, Json], number: int = 4) -> Patch:
    """Return the operation that changes a document."""
    changes = tuple(PatchChange(operation=each, because=cited(number)) for each in operations)
    return Patch(call="p", target=target, changes=changes)


def after(
    *operations: Operation | Grounded,
    known: Sequence[Memory] = (),
    at_: Sequence[Memory] = (),
    types: Sequence[MemoryType] = TYPES,
    forgotten: Mapping[tuple[str, str], datetime] | None = None,
) -> list[OperationOutcome]:
    """Return the outcomes of operations beside *known* memories, with *at_* in their places."""
    offer = offer_of(types, known, "")
    grounded = [
        each if isinstance(each, Grounded) else Grounded(operation=each, grounds=Grounds())
        for each in operations
    ]
    stored = {(each.type, each.key): each for each in (*known, *at_)}
    wanted = {address for each in grounded for address in addresses_of(each.operation, offer)}
    numbers = count(1)
    return reconcile(
        grounded,
        Present(
            window=window(),
            offer=offer,
            now=NOW,
            new_key=lambda: f"new{next(numbers)}",
            at={address: each for address, each in stored.items() if address in wanted},
            forgotten={each: at for each, at in (forgotten or {}).items() if each in wanted},
            rivals={
                each.operation.call: [m for m in (*known, *at_) if m.type == "Fact"]
                for each in grounded
            },
        ),
    )


def doubtful(operation: Operation, trust: Trust = "user") -> Grounded:
    """Return an operation that has to wait for a person."""
    return Grounded(operation=operation, grounds=Grounds(doubts=("nobody said so",), trust=trust))


def trusted(operation: Operation, trust: Trust) -> Grounded:
    """Return an operation that rests on words of so much trust."""
    return Grounded(operation=operation, grounds=Grounds(trust=trust))


def put(outcome: OperationOutcome) -> PutMemory:
    """Return what an outcome writes."""
    assert isinstance(outcome.write, PutMemory)
    return outcome.write


def messages(outcome: OperationOutcome, pointer: str = "") -> list[str]:
    """Return the messages that what is written rests on at a place."""
    return [each.message for each in put(outcome).evidence[pointer]]


def actions(outcomes: Sequence[OperationOutcome]) -> list[str]:
    """Return what became of all of it."""
    return [each.action for each in outcomes]


# Equal


@pytest.mark.parametrize("said", ["I own a boat", "i own a BOAT!", "I  own a boat."])
def test_what_is_remembered_is_merged_with_its_evidence_joined(said: str) -> None:
    """However it is written."""
    known = memory("Note", {"context": "in passing", "content": "I own a boat"})

    (outcome,) = after(note(said), known=[known])

    assert ("merged", known.key, known.value) == (outcome.action, outcome.key, put(outcome).value)
    assert ["old", "id2"] == messages(outcome)


def test_the_same_twice_in_one_answer_is_one_that_rests_on_what_says_it() -> None:
    """A message of which it has no word is none that would be enough for it."""
    outcomes = after(note("I own a boat", 2), note("i own a boat!", 3))

    assert ["merged", "stored"] == actions(outcomes)
    assert ["id2"] == messages(outcomes[-1])


def test_the_same_words_again_change_nothing() -> None:
    """No version is written for them."""
    quoted = Evidence(thread="talk", message="id2", quote=SAID[1])
    value: JsonObject = {"context": "in passing", "content": "I own a boat"}
    known = memory("Note", value, evidence={"": (quoted,)})

    (outcome,) = after(note("I own a boat"), known=[known])

    assert ("unchanged", None) == (outcome.action, outcome.write)


def test_near_is_not_equal() -> None:
    """Both are kept."""
    known = memory("Note", {"context": "in passing", "content": "I own a boat"})

    assert ["stored"] == actions(after(note("I own two boats"), known=[known]))


def test_what_has_ended_can_be_true_again() -> None:
    """As a memory of its own."""
    value: JsonObject = {"context": "in passing", "content": "I own a boat"}
    ended = memory("Note", value, valid_until=NOW - timedelta(days=1))

    (outcome,) = after(note("I own a boat"), at_=[ended])

    assert ("stored", "new1") == (outcome.action, outcome.key)


def test_two_calls_for_one_document_make_one() -> None:
    """Lists are joined, and neither takes a field of the other."""
    outcomes = after(
        user(home="Bergen", interests=["tea"]), user(2, age=30, interests=["Tea", "go"])
    )

    assert ["stored"] == actions(outcomes)
    assert {"home": "Bergen", "interests": ["tea", "go"], "age": 30} == put(outcomes[0]).value
    assert ["id1", "id2"] == messages(outcomes[0], "/interests/0")
    assert (["id1"], ["id2"]) == (messages(outcomes[0], "/home"), messages(outcomes[0], "/age"))


def test_a_document_that_appeared_meanwhile_is_not_replaced() -> None:
    """What is new is brought into it."""
    standing = memory("User", {"home": "Oslo", "occupation": "baker"}, version=7)

    (outcome,) = after(user(home="Bergen", age=30), at_=[standing])

    assert {"home": "Bergen", "occupation": "baker", "age": 30} == put(outcome).value
    assert 7 == put(outcome).expected


PARTS = (
    {"op": "add", "path": "/interests", "value": ["tea"]},
    {"op": "add", "path": "/interests/-", "value": "go"},
    {"op": "replace", "path": "/home", "value": "Porto"},
)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_patches_of_one_document_are_joined_in_any_order(order: Sequence[int]) -> None:
    """One that builds on another waits for it, and none is lost."""
    known = memory("User", {"home": "Bergen"})
    patches = [replace(patch("m1", PARTS[n]), call=f"p{n}") for n in order]

    outcomes = after(*patches, known=[known])

    assert ["changed"] == actions(outcomes)
    assert {"home": "Porto", "interests": ["tea", "go"]} == put(outcomes[0]).value


def test_a_patch_that_no_longer_applies_takes_no_other_along() -> None:
    """It is told, and can be asked for anew."""
    known = memory("User", {"home": "Bergen"})
    gone = patch("m1", {"op": "replace", "path": "/age", "value": 3})

    outcomes = after(gone, patch("m1", PARTS[2]), known=[known])

    assert {("refused", True), ("changed", False)} == {(o.action, o.stale) for o in outcomes}


@pytest.mark.parametrize("value", ["tea", "Tea!", "  TEA "])
def test_a_list_holds_what_is_said_again_once(value: str) -> None:
    """Resting on both."""
    known = memory("User", {"interests": ["go", "tea"]})
    change = {"op": "add", "path": "/interests/-", "value": value}

    (outcome,) = after(patch("m1", change), known=[known])

    assert ("merged", ["go", "tea"]) == (outcome.action, put(outcome).value["interests"])
    assert ["old", "id4"] == messages(outcome, "/interests/1")


def test_a_patch_and_an_end_of_one_entry_do_not_both_happen() -> None:
    """The second is refused, and says why."""
    known = memory("Note", {"context": "in passing", "content": "I own a boat"})
    change = patch("m1", {"op": "replace", "path": "/content", "value": "I own a ship"})

    outcomes = after(change, End(call="e", target="m1", because=(cited(2),)), known=[known])

    assert ["changed", "refused"] == actions(outcomes)


def test_a_memory_ends_with_the_month_that_an_end_names() -> None:
    """Its first day would be before the memory began, and then the day of the telling counts."""
    known = memory(
        "Note",
        {"context": "in passing", "content": "I own a boat"},
        valid_from=datetime(2026, 3, 9, tzinfo=UTC),
    )

    (outcome,) = after(End(call="e", target="m1", because=(cited(2),), at="2026-03"), known=[known])

    assert isinstance(outcome.write, EndMemory)
    assert "2026-03-31" == outcome.write.at.date().isoformat()


# Rejected


def refused(type_: str, pointer: str, value: Json) -> Memory:
    """Return what keeps a refused field from being formed again."""
    return memory(type_, {"value": value}, key=field_key(pointer, value), state="rejected")


def test_a_rejected_entry_stays_rejected() -> None:
    """However it is written."""
    value: JsonObject = {"context": "in passing", "content": "I own a boat"}
    standing = memory("Note", value, state="rejected")

    assert ["refused"] == actions(after(note("i own a boat!!"), at_=[standing]))


def test_a_patch_does_not_bring_a_rejected_entry_back() -> None:
    """In the place of another one."""
    value: JsonObject = {"context": "in passing", "content": "I own a boat"}
    standing = memory("Note", value, state="rejected")
    known = memory("Note", {"context": "in passing", "content": "I own a car"})
    change = patch("m1", {"op": "replace", "path": "/content", "value": "I own a boat"})

    assert ["refused"] == actions(after(change, known=[known], at_=[standing]))


@pytest.mark.parametrize(
    "change",
    [
        {"op": "add", "path": "/home", "value": "bergen"},
        {"op": "copy", "path": "/home", "from": "/occupation"},
        {"op": "move", "path": "/home", "from": "/occupation"},
    ],
)
def test_a_rejected_field_stays_rejected(change: Mapping[str, Json]) -> None:
    """Whichever way it comes, and the other changes are made."""
    known = memory("User", {"occupation": "Bergen"})
    other: dict[str, Json] = {"op": "add", "path": "/age", "value": 30}

    outcomes = after(
        patch("m1", change, other), known=[known], at_=[refused("User", "/home", "Bergen")]
    )

    assert ["refused", "changed"] == actions(outcomes)
    assert {"occupation": "Bergen", "age": 30} == put(outcomes[1]).value


def test_a_rejected_element_stays_rejected_wherever_it_stands() -> None:
    """And is left out of a new document, whose other elements keep their evidence."""
    because = tuple(cited(n, f"/interests/{n - 1}") for n in (1, 2, 3))
    operation = Insert(
        call="c", type="User", value={"interests": ["tea", "go", "rain"]}, because=because
    )

    outcomes = after(operation, at_=[refused("User", "/interests/7", "go")])

    assert ["refused", "stored"] == actions(outcomes)
    assert ["tea", "rain"] == put(outcomes[1]).value["interests"]
    assert (["id1"], ["id3"]) == tuple(messages(outcomes[1], f"/interests/{n}") for n in (0, 1))


def test_a_document_of_rejected_fields_alone_is_not_made() -> None:
    """Not even an empty one."""
    assert ["refused"] == actions(
        after(user(home="Bergen"), at_=[refused("User", "/home", "Bergen")])
    )


def said_on(number: int) -> datetime:
    """Return when a message of the window was said."""
    return NOW + timedelta(days=number - len(SAID))


@pytest.mark.parametrize(
    ("erased_on", "expected"), [(1, ["stored"]), (2, ["refused"]), (3, ["refused"])]
)
def test_an_erased_entry_stays_away_until_it_is_said_again(
    erased_on: int, expected: Sequence[str]
) -> None:
    """Words that were said until then do not bring it back; later ones do."""
    operation = note("I own a boat", number=2)
    forgotten = {("Note", content_key(operation.value)): said_on(erased_on)}

    outcomes = after(operation, forgotten=forgotten)

    assert expected == actions(outcomes)
    assert ("this value was erased" == outcomes[0].reason) == (expected == ["refused"])


def test_the_newest_words_of_an_entry_count() -> None:
    """It may be said before and after, in one call or in two."""
    operation = note("I own a boat", number=1)
    both = replace(operation, because=(cited(1), cited(4)))
    forgotten = {("Note", content_key(operation.value)): said_on(2)}

    for operations in ([both], [operation, note("I own a boat", number=4, call="d")]):
        assert "stored" in actions(after(*operations, forgotten=forgotten))


def test_an_erased_document_stays_away_field_by_field() -> None:
    """What of it is said anew is formed, and so is what never stood there."""
    value: JsonObject = {"home": "Bergen", "interests": ["boats"]}
    forgotten = {("User", key): said_on(2) for key in refusing_keys("User", "User", value)}
    because = (cited(1, "/home"), cited(3, "/interests"), cited(1, "/age"))
    operation = Insert(call="c", type="User", value={**value, "age": 30}, because=because)

    outcomes = after(operation, forgotten=forgotten)

    assert ["refused", "stored"] == actions(outcomes)
    assert "this value was erased for /home" == outcomes[0].reason
    assert {"interests": ["boats"], "age": 30} == put(outcomes[1]).value


@pytest.mark.parametrize(("number", "expected"), [(1, ["refused"]), (4, ["changed"])])
def test_a_patch_does_not_bring_an_erased_field_back(number: int, expected: Sequence[str]) -> None:
    """Into the document that was begun since."""
    known = memory("User", {"age": 30})
    change = patch("m1", {"op": "add", "path": "/home", "value": "Bergen"}, number=number)
    forgotten = {("User", field_key("/home", "Bergen")): said_on(2)}

    assert expected == actions(after(change, known=[known], forgotten=forgotten))


# One value at a time


def test_a_new_value_ends_the_old_one() -> None:
    """Since when it was said, where no date was; the old one stays as history."""
    old = memory("Fact", fact("Oslo").value, valid_from=at(2020))

    outcomes = after(fact("Bergen"), at_=[old])

    said = window().lines[0].message.time
    assert ["ended", "stored"] == actions(outcomes)
    assert isinstance(outcomes[0].write, EndMemory)
    assert (said, said) == (outcomes[0].write.at, put(outcomes[1]).valid_from)


def test_an_older_value_that_is_told_later_ends_where_the_newer_one_began() -> None:
    """Out of order, in between, and what holds later is left as it is."""
    first = memory("Fact", fact("Oslo").value, valid_from=at(2016), valid_until=at(2022))
    last = memory("Fact", fact("Porto").value, valid_from=at(2022))

    outcomes = after(fact("Bergen", since="2020-01-01"), at_=[first, last])

    assert ["ended", "stored"] == actions(outcomes)
    assert outcomes[0].key == first.key
    assert (at(2020), at(2022)) == (put(outcomes[1]).valid_from, put(outcomes[1]).valid_until)


def test_what_has_ended_before_is_left_alone() -> None:
    """It contradicts nothing."""
    old = memory("Fact", fact("Oslo").value, valid_from=at(2010), valid_until=at(2015))

    assert ["stored"] == actions(after(fact("Bergen", since="2020-01-01"), at_=[old]))


def test_several_new_values_follow_one_another() -> None:
    """Also in one answer, in whatever order it gives them."""
    operations = [
        fact("Porto", since="2024-01-01", call="c1"),
        fact("Oslo", since="2016-01-01", call="c2"),
        fact("Bergen", since="2020-01-01", call="c3"),
    ]

    stored = {
        str(put(each).value["object"]): (put(each).valid_from, put(each).valid_until)
        for each in after(*operations)
    }

    assert {
        "Oslo": (at(2016), at(2020)),
        "Bergen": (at(2020), at(2024)),
        "Porto": (at(2024), None),
    } == stored


def test_two_new_values_of_the_same_moment_do_not_both_hold() -> None:
    """The later one of the answer does."""
    first, second = after(fact("Oslo", call="c1"), fact("Bergen", call="c2"))

    assert put(first).valid_until is not None
    assert put(second).valid_until is None


@pytest.mark.parametrize(
    "new",
    [
        fact("Bergen", several=True),
        replace(
            fact("Bergen"), value={"subject": "Bob", "predicate": "lives in", "object": "Bergen"}
        ),
        replace(
            fact("Bergen"), value={"subject": "Ada", "predicate": "works in", "object": "Bergen"}
        ),
    ],
)
def test_another_subject_or_several_at_once_end_nothing(new: Insert) -> None:
    old = memory("Fact", fact("Oslo").value)

    assert ["stored"] == actions(after(new, at_=[old]))


def test_what_is_in_doubt_ends_nothing() -> None:
    """It waits first."""
    old = memory("Fact", fact("Oslo").value)

    assert ["quarantined"] == actions(after(doubtful(fact("Bergen")), at_=[old]))


def test_only_a_single_value_has_rivals() -> None:
    """An entry of which there can be several, or of another type, replaces nothing."""
    offer = offer_of(TYPES, (), "")
    operations = (fact("Oslo"), note("x"), fact("x", several=True), patch("m1"))

    assert [FACT, None, None, None] == [rival_type(each, offer) for each in operations]


@pytest.mark.parametrize(
    ("subject", "predicate"), [("ADA", "lives in"), ("ada ", "Lives  in"), ("\uff21da", "lives in")]
)
def test_a_rival_is_known_however_it_is_written(subject: str, predicate: str) -> None:
    """Case, width and white space make no other person of somebody."""
    value = {"subject": subject, "predicate": predicate, "object": "Oslo"}
    old = memory("Fact", value, valid_from=at(2020))

    assert ["ended", "stored"] == actions(after(fact("Bergen"), at_=[old]))


@pytest.mark.parametrize(("written", "expected"), [("小林（同事）", 2), ("小陈", 1)])
def test_a_rival_is_known_by_its_name_in_chinese(written: str, expected: int) -> None:
    """Brackets of one width or another do not count; another name does."""
    value = {"subject": "小林(同事)", "predicate": "住在", "object": "苏州"}
    old = memory("Fact", {**value, "subject": written}, valid_from=at(2020))
    new = replace(fact("x"), value={**value, "object": "厦门"})

    assert expected == len(after(new, at_=[old]))


# Words of others


def document_of(
    trust: Trust, roles: tuple[Role, ...], *operations: Mapping[str, Json]
) -> OperationOutcome:
    """Return what becomes of a profile that is patched from so much trusted words."""
    known = memory("User", {"home": "Bergen", "interests": ["tea"]})
    types = (replace(USER, roles=roles), NOTE, FACT)
    changed = trusted(patch("m1", *operations), trust)
    (outcome,) = after(changed, known=[known], types=types)
    return outcome


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/home", "value": "Lima"},
        {"op": "add", "path": "/home", "value": "上海"},
        {"op": "remove", "path": "/home"},
        {"op": "remove", "path": "/interests/0"},
        {"op": "replace", "path": "/interests/0", "value": "喝酒"},
        {"op": "move", "from": "/home", "path": "/occupation"},
    ],
)
def test_words_of_others_change_no_profile(operation: Mapping[str, Json]) -> None:
    """They wait; the user's own do it at once."""
    theirs = document_of("external", ("user",), operation)
    own = document_of("user", ("user",), operation)

    assert ("quarantined", "changed") == (theirs.action, own.action)
    assert "it would change what more trusted words say" == theirs.reason
    assert ("external", "quarantined") == (put(theirs).trust, put(theirs).state)


def test_words_of_others_add_to_a_profile() -> None:
    """Which is from then on trusted no more than they are."""
    added = document_of(
        "external",
        ("user",),
        {"op": "add", "path": "/occupation", "value": "baker"},
        {"op": "add", "path": "/interests/0", "value": "chess"},
    )

    assert ("changed", "external") == (added.action, put(added).trust)


def test_words_of_others_wait_beside_the_users_own() -> None:
    """Of one answer, in whatever order: the user's own are stored, the others proposed."""
    known = memory("User", {"home": "Bergen"})
    own = trusted(patch("m1", {"op": "add", "path": "/age", "value": 41}), "user")
    home = {"op": "replace", "path": "/home", "value": "Lima"}
    theirs = trusted(patch("m1", home), "external")

    for operations in permutations((own, theirs)):
        changed, waiting = after(*operations, known=[known])
        assert ("changed", {"home": "Bergen", "age": 41}) == (changed.action, put(changed).value)
        assert ("quarantined", "Lima") == (waiting.action, put(waiting).value["home"])


def test_what_a_tool_keeps_a_tool_changes() -> None:
    """Where the type lets tools speak, and nobody who is trusted more has had a say in it."""
    known = {
        trust: memory("User", {"home": "Bergen"}, trust=trust) for trust in ("user", "external")
    }
    types = (replace(USER, roles=("user", "tool")), NOTE, FACT)
    change = trusted(patch("m1", {"op": "replace", "path": "/home", "value": "Lima"}), "external")

    found = {
        trust: actions(after(change, known=[each], types=types)) for trust, each in known.items()
    }

    assert {"user": ["quarantined"], "external": ["changed"]} == found


# Refused fields of entries


@pytest.mark.parametrize(("content", "other"), [("a boat", "a car"), ("一条船", "一辆车")])
def test_a_refused_field_is_refused_of_its_entry_alone(content: str, other: str) -> None:
    """Another entry may say the same."""
    known = [
        memory("Note", {"context": "c", "content": other}, key=key) for key in ("mine", "another")
    ]
    blocked = replace(
        refused("Note", "/content", content), key=field_key("/content", content, "mine")
    )
    changes = [
        patch(target, {"op": "replace", "path": "/content", "value": content})
        for target in ("m1", "m2")
    ]

    outcomes = after(*changes, known=known, at_=[blocked])

    assert [("mine", "refused"), ("another", "changed")] == [
        (each.key, each.action) for each in outcomes
    ]


# Ends


def test_an_entry_ends_when_it_was_said_to() -> None:
    """Or at the date that was named."""
    known = memory("Note", {"context": "c", "content": "I own a boat"})
    ends = [
        End(call="e", target="m1", because=(cited(3),), at=date) for date in (None, "2026-01-01")
    ]

    moments = [after(end, known=[known])[0].write for end in ends]

    assert [window().lines[2].message.time, at(2026)] == [
        each.at for each in moments if isinstance(each, EndMemory)
    ]


def test_nothing_ends_before_it_began() -> None:
    """A date before that is left out: it ends when that was said, unless that is before as well."""
    note = {"context": "c", "content": "I own a boat"}
    end = End(call="e", target="m1", because=(cited(3),), at="2020-01-01")
    before, behind = (memory("Note", note, valid_from=at(year)) for year in (2021, 2098))

    (ended,) = after(end, known=[before])

    assert isinstance(ended.write, EndMemory)
    assert ended.write.at > at(2021)
    assert ["refused"] == actions(after(end, known=[behind]))


@pytest.mark.parametrize("trust", ["assistant", "external"])
def test_less_trusted_words_end_nothing_by_themselves(trust: Trust) -> None:
    """A person decides; until then it holds."""
    known = memory("Note", {"context": "c", "content": "I own a boat"})
    end = trusted(End(call="e", target="m1", because=(cited(3),)), trust)

    (outcome,) = after(end, known=[known])

    assert ("quarantined", "quarantined") == (outcome.action, put(outcome).state)
    assert put(outcome).key.startswith(f"{known.key}~1~")


# Trust and doubt


@pytest.mark.parametrize("trust", ["user", "assistant", "external"])
@pytest.mark.parametrize("of", ["user", "assistant", "external"])
def test_a_document_is_as_trusted_as_its_least_trusted_words(trust: Trust, of: Trust) -> None:
    """Those of before count, and those of a proposal as well."""
    known = memory("User", {"home": "Bergen"}, trust=of)
    least = max(trust, of, key=("user", "assistant", "external").index)
    change = patch("m1", PARTS[2])
    waiting = Grounded(operation=change, grounds=Grounds(doubts=("?",), trust=trust))

    outcomes = [after(each, known=[known])[0] for each in (trusted(change, trust), waiting)]

    assert [least, least] == [put(each).trust for each in outcomes]


def test_less_trusted_words_are_no_evidence_of_what_is_trusted() -> None:
    """Otherwise it would rest on them alone, as trusted as before, once the others are erased."""
    known = memory("Note", {"context": "in passing", "content": "I own a boat"})

    (outcome,) = after(trusted(note("I own a boat"), "external"), known=[known])

    assert "unchanged" == outcome.action


def test_of_equal_entries_the_certain_one_counts() -> None:
    """An injected copy of it does not send it to quarantine."""
    outcomes = after(doubtful(note("I own a boat", 3), "external"), note("I own a boat"))

    assert ["merged", "stored"] == actions(outcomes)
    assert ("active", "user", ["id2"]) == (
        put(outcomes[1]).state, put(outcomes[1]).trust, messages(outcomes[1]),
    )  # fmt: skip


def test_what_waits_is_released_by_who_says_it_beyond_doubt() -> None:
    """It rests from then on those words alone."""
    value: JsonObject = {"context": "in passing", "content": "I own a boat"}
    waiting = memory("Note", value, state="quarantined", trust="external")

    (outcome,) = after(note("I own a boat"), at_=[waiting])

    assert ("stored", "active", "user") == (
        outcome.action, put(outcome).state, put(outcome).trust,
    )  # fmt: skip
    assert ["id2"] == messages(outcome)


def test_a_doubtful_document_does_not_take_the_place_of_a_certain_one() -> None:
    """It waits beside it, as the version after."""
    outcomes = after(doubtful(user(2, age=30)), user(home="Bergen"))

    assert {"stored": "User", "quarantined": put(outcomes[1]).key} == {
        each.action: each.key for each in outcomes
    }
    assert put(outcomes[1]).key.startswith("User~1~")
    assert {"home": "Bergen", "age": 30} == put(outcomes[1]).value


def test_expiry_is_reckoned_from_the_formation() -> None:
    """And begins anew when the same is said again."""
    brief = replace(NOTE, expires_after_s=60.0)
    known = memory(
        "Note",
        {"context": "in passing", "content": "It rains"},
        expires_at=NOW + timedelta(seconds=5),
    )

    outcomes = after(note("I own a boat"), note("It rains", 3), known=[known], types=(brief,))

    assert [NOW + timedelta(seconds=60)] * 2 == [put(each).expires_at for each in outcomes]


def test_no_two_writes_go_to_one_address() -> None:
    """Whatever an answer asks for."""
    known = [
        memory("User", {"home": "Bergen"}),
        memory("Note", {"context": "in passing", "content": "I own a boat"}),
    ]
    outcomes = after(
        user(home="Oslo"), patch("m1", PARTS[2]), doubtful(patch("m1", PARTS[0])),
        note("I own a boat"), End(call="e", target="m2", because=(cited(2),)),
        note("a"), note("A!"), fact("Oslo"), fact("Oslo", several=True),
        known=known,
    )  # fmt: skip

    written = [(each.type, each.key) for each in outcomes if each.write is not None]
    assert len(written) == len(set(written))
    assert all(each.reason for each in outcomes if each.action == "refused")
