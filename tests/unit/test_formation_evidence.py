"""What each part of a document rests on, however it came to stand where it stands."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation import evidence as evidencing
from recollect.formation.evidence import (
    QUOTE_CHARACTERS_MAX,
    TracedOperation,
    evidence_of,
    traced,
    within,
)
from recollect.formation.operations import Citation
from recollect.formation.patch import PatchError
from recollect.formation.window import Window, WindowLine
from recollect.records import Evidence, EvidenceMap, Json, JsonObject
from recollect.stores.json_pointers import covers, is_list, leaves, value_at
from recollect.stores.remainder import remainder_of
from tests.harness.sample_contents import sample_message

AT = datetime(2026, 5, 1, tzinfo=UTC)


def window_of(*texts: str) -> Window:
    """Return a window over messages of the user with these texts."""
    lines = tuple(
        WindowLine(
            number=number,
            message=sample_message(id=f"id{number}", position=number, text=text, time=AT),
            text=text,
            new=True,
        )
        for number, text in enumerate(texts, start=1)
    )  # fmt: skip
    return Window(scope=("u",), lines=lines, watermarks={})


def said(message: str) -> tuple[Evidence, ...]:
    """Return evidence in one message."""
    return (Evidence(thread="talk", message=message, quote=message),)


def step(op: str, path: str, message: str = "", **more: Json) -> TracedOperation:
    """Return a step whose value, if it has one, rests on one message."""
    evidence = {"": said(message)} if message else {}
    return TracedOperation(operation={"op": op, "path": path, **more}, evidence=evidence)


def test_a_quote_is_kept_in_the_words_of_its_message() -> None:
    """However it was written by the model, and at the place that it was cited for."""
    window = window_of("Well, I LIKE “tea”.")
    cited = [Citation(message=1, quote="i like tea", path="/drink")]

    (found,) = evidence_of(cited, window)["/drink"]

    assert ("talk", "id1", "I LIKE “tea") == (found.thread, found.message, found.quote)


@pytest.mark.parametrize("cited", [(2, "tea"), (0, "tea"), (1, "coffee"), (1, "")])
def test_what_was_not_said_is_no_evidence(cited: tuple[int, str]) -> None:
    """Neither a message that there is not, nor words that it does not hold."""
    message, quote = cited

    assert {} == evidence_of([Citation(message=message, quote=quote)], window_of("I like tea."))


def test_a_long_quote_is_cut() -> None:
    """What is kept of it stands in the message all the same."""
    text = "tea and " * 500

    ((found,),) = evidence_of([Citation(message=1, quote=text)], window_of(text)).values()

    assert found.quote is not None
    assert QUOTE_CHARACTERS_MAX == len(found.quote)
    assert found.quote in text


def test_the_same_words_are_evidence_once() -> None:
    """However often they are cited."""
    cited = [Citation(message=1, quote="I like tea"), Citation(message=1, quote="i like tea")]

    assert [1] == [len(each) for each in evidence_of(cited, window_of("I like tea.")).values()]


def test_a_part_rests_on_what_was_cited_for_what_holds_it() -> None:
    """And on what was cited for its own parts, seen from where it stands."""
    found = within("/pets", {"": said("m1"), "/pets/0": said("m2"), "/home": said("m3")})

    assert {"": said("m1"), "/0": said("m2")} == found


@pytest.mark.parametrize(
    ("steps", "value", "evidence"),
    [
        ([], {"a": "x", "l": ["y", "z"]}, {"/a": "m1", "/l/0": "m2", "/l/1": "m3"}),
        (
            [step("replace", "/a", "m4", value="w")],
            {"a": "w", "l": ["y", "z"]},
            {"/a": "m4", "/l/0": "m2", "/l/1": "m3"},
        ),
        ([step("remove", "/l/0")], {"a": "x", "l": ["z"]}, {"/a": "m1", "/l": "m3"}),
        (
            [step("add", "/l/0", "m4", value="w")],
            {"a": "x", "l": ["w", "y", "z"]},
            {"/a": "m1", "/l/0": "m4", "/l/1": "m2", "/l/2": "m3"},
        ),
        (
            [step("move", "/b", **{"from": "/l/1"})],
            {"a": "x", "l": ["y"], "b": "z"},
            {"/a": "m1", "/l": "m2", "/b": "m3"},
        ),
        (
            [step("copy", "/l/-", **{"from": "/a"})],
            {"a": "x", "l": ["y", "z", "x"]},
            {"/a": "m1", "/l/0": "m2", "/l/1": "m3", "/l/2": "m1"},
        ),
        (
            [step("add", "/o", "m4", value={"p": ["q"]}), step("add", "/o/p/-", "m5", value="r")],
            {"a": "x", "l": ["y", "z"], "o": {"p": ["q", "r"]}},
            {"/a": "m1", "/l/0": "m2", "/l/1": "m3", "/o/p/0": "m4", "/o/p/1": "m5"},
        ),
        ([step("test", "/a", value="x"), step("remove", "/l")], {"a": "x"}, {"/a": "m1"}),
    ],
)
def test_evidence_goes_where_its_value_goes(
    steps: Sequence[TracedOperation], value: JsonObject, evidence: dict[str, str]
) -> None:
    """Whatever is set, moved, copied, inserted or cut around it."""
    before: JsonObject = {"a": "x", "l": ["y", "z"]}
    rests: EvidenceMap = {"/a": said("m1"), "/l/0": said("m2"), "/l/1": said("m3")}

    after, found = traced(before, rests, steps)

    assert value == after
    assert evidence == {pointer: each[0].message for pointer, each in found.items()}


def test_what_is_said_again_rests_on_both() -> None:
    """A field that is set to what it was keeps what it rested on."""
    _, found = traced({"a": "x"}, {"/a": said("m1")}, [step("replace", "/a", "m2", value="x")])

    assert {"/a": (*said("m1"), *said("m2"))} == found


@pytest.mark.parametrize("pair", [(1, True), (0, False), (1, 2), ("x", "y")])
def test_what_is_said_otherwise_rests_on_the_new_words_alone(pair: tuple[Json, Json]) -> None:
    """Also where Python would take the two for equal."""
    before, after = pair

    _, found = traced({"a": before}, {"/a": said("m1")}, [step("add", "/a", "m2", value=after)])

    assert {"/a": said("m2")} == found


def test_evidence_of_the_whole_is_divided_among_its_fields() -> None:
    """A field that is patched later then loses what it rested on, and no other does."""
    before: JsonObject = {"a": "x", "b": {"c": "y"}}

    _, found = traced(before, {"": said("m1")}, [step("replace", "/a", "m2", value="z")])

    assert {"/a": said("m2"), "/b": said("m1")} == found


def test_a_step_that_cannot_be_carried_out_is_refused() -> None:
    """With nothing changed."""
    with pytest.raises(PatchError):
        traced({"a": "x"}, {}, [step("remove", "/b")])


Grown = tuple[JsonObject, dict[str, tuple[Evidence, ...]], int]


def grown(seed: int, length: int) -> Grown:
    """Return a document that random patches made; each text is the id of its message."""
    chance = random.Random(seed)  # noqa: S311 (it protects nothing)
    value: JsonObject = {}
    rests: dict[str, tuple[Evidence, ...]] = {}
    spoken = 0
    for _ in range(length):
        steps = []
        for _ in range(chance.randint(1, 3)):
            spoken += 1
            steps.append(_step_of(chance, value, f"id{spoken}"))
        try:
            value, rests = traced(value, rests, steps)
        except PatchError:
            continue
    return value, rests, spoken


def _step_of(chance: random.Random, value: JsonObject, message: str) -> TracedOperation:
    places = ["", *_places(value)]
    place = chance.choice(places)
    there = value_at(value, place)
    fresh = chance.choice(
        list[Json](
            [
                message,
                [message],
                {"p": message, "q": [message, message]},
                {},
                [message, {"r": message}],
            ]
        )
    )
    kind = chance.choice(["add", "add", "add", "replace", "remove", "move", "copy"])
    end = f"{place}/{chance.choice('abc')}"
    if is_list(there):
        end = f"{place}/{chance.choice(['-', str(chance.randint(0, len(there)))])}"
    if kind == "add":
        return step("add", end, message, value=fresh)
    if kind == "replace":
        return step("replace", place or "/a", message, value=fresh)
    if kind == "remove":
        return step("remove", place or "/b")
    return step(kind, end, **{"from": chance.choice(places) or "/c"})


def _places(value: Json, at: str = "") -> list[str]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[arg-type]
    found = []
    for name, each in inner:
        found.append(f"{at}/{name}")
        if isinstance(each, dict | list):
            found += _places(each, f"{at}/{name}")
    return found


def resting(pointer: str, rests: EvidenceMap) -> set[str]:
    """Return the messages that the value at *pointer* rests on."""
    return {e.message for place, each in rests.items() if covers(place, pointer) for e in each}


@given(st.integers(0, 10**9), st.integers(1, 12))
def test_every_part_rests_on_its_own_message_after_any_patches(seed: int, length: int) -> None:
    """Exactly on the one that said it, and evidence stands for nothing that is not there."""
    value, rests, _ = grown(seed, length)

    assert {at: {leaf} for at, leaf in leaves(value)} == {
        at: resting(at, rests) for at, _ in leaves(value)
    }
    for place in rests:
        value_at(value, place)


@given(st.integers(0, 10**9), st.integers(1, 12), st.integers(1, 36))
def test_erasing_a_message_takes_what_rested_on_it_and_nothing_else(
    seed: int, length: int, number: int
) -> None:
    """All else stands, in its order, and rests on what it did."""
    value, rests, _ = grown(seed, length)
    erased = f"id{number}"

    left = erased_from(value, rests, erased)

    assert [leaf for _, leaf in leaves(value) if leaf != erased] == [
        leaf for _, leaf in leaves(left[0])
    ]
    assert {at: {leaf} for at, leaf in leaves(left[0])} == {
        at: resting(at, left[1]) for at, _ in leaves(left[0])
    }


def erased_from(
    value: JsonObject, rests: EvidenceMap, message: str
) -> tuple[JsonObject, EvidenceMap]:
    """Return what is left of a document when a message is erased."""
    sources = {
        at: tuple((each.thread, each.message, each.quote) for each in found)
        for at, found in rests.items()
    }
    left = remainder_of(value, sources, {("talk", message)})
    if left is None:
        return {}, {}
    return left.value, {
        at: tuple(Evidence(thread=t, message=m, quote=q) for t, m, q, *_ in found)
        for at, found in left.evidence.items()
    }


def test_evidence_by_place_alone_is_seen_to_go_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: evidence stays at its pointer, whatever comes to stand there."""

    def by_place(
        value: JsonObject, evidence: EvidenceMap, steps: Sequence[TracedOperation]
    ) -> tuple[JsonObject, dict[str, tuple[Evidence, ...]]]:
        after, _ = traced(value, evidence, steps)
        found = dict(evidence)
        for each in steps:
            found.update({str(each.operation["path"]): each.evidence.get("", ())})
        return after, {at: tuple(each) for at, each in found.items()}

    monkeypatch.setattr(evidencing, "traced", by_place)
    before: JsonObject = {"l": ["id1", "id2"]}
    rests: EvidenceMap = {"/l/0": said("id1"), "/l/1": said("id2")}

    value, found = evidencing.traced(before, rests, [step("remove", "/l/0")])

    assert {"id2"} != resting("/l/0", found)
    assert {"l": ["id2"]} == value
