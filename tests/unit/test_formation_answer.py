"""Reading an answer: which operations it asks for, and exactly what is wrong with the rest."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.answer import OPERATIONS_MAX, ReadAnswer, read_answer
from recollect.formation.citations import CITATIONS_MAX, CITED_FORM, cited_words
from recollect.formation.offer import Offer, offer_of
from recollect.formation.operations import Citation, End, Insert, Patch
from recollect.formation.prompt_texts import FormationPrompts
from recollect.formation.types import NOTE, USER
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import Json, JsonObject, Memory
from tests.harness.sample_contents import sample_memory

AT = datetime(2026, 5, 1, tzinfo=UTC)
CITED: dict[str, Json] = {"message": 1, "quote": "I own a boat"}
BECAUSE: list[Json] = [CITED]
VALUE: dict[str, Json] = {"context": "c", "content": "I own a boat"}


def memory(type_: str, value: JsonObject) -> Memory:
    """Return an active memory."""
    return sample_memory(type=type_, key=type_, value=value, at=AT)


LARGE = replace(USER, section_bytes_max=100)
OFFER = offer_of(
    (LARGE, NOTE),
    (
        memory("User", {"home": "Bergen", "interests": ["tea"], "occupation": "baker " * 40}),
        memory("Note", VALUE),
    ),
    "home",
)
EMPTY = offer_of((USER, NOTE), (), "")


def ended(id_: Json, call_id: str = "") -> ToolCall:
    """Return the call that ends a memory."""
    arguments = json.dumps({"id": id_, **CITED})
    return ToolCall(name="end_memory", arguments=arguments, id=call_id)


def call(name: str, id_: str = "", **arguments: Json) -> ToolCall:
    """Return a call."""
    return ToolCall(name=name, arguments=json.dumps(arguments), id=id_)


def change(op: str = "replace", path: Json = "/home", **more: Json) -> dict[str, Json]:
    """Return an operation with the words that cause it."""
    value = {"value": "Oslo"} if op in {"add", "replace", "test"} else {}
    return {"op": op, "path": path, "message": 1, "quote": "I moved", **value, **more}


def patch(*changes: Json, id_: str = "m1", call_id: str = "") -> ToolCall:
    """Return a call that patches."""
    return call("patch_memory", call_id, id=id_, changes=list(changes))


def read(*calls: ToolCall, offer: Offer = OFFER, **answer: str) -> ReadAnswer:
    """Return what an answer with these calls says."""
    return read_answer(ModelAnswer(calls=calls, **answer), offer)  # type: ignore[arg-type]


def reason(reading: ReadAnswer) -> str:
    """Return the one thing that is wrong."""
    (fault,) = reading.faults
    return fault.reason


def test_each_call_becomes_its_operation() -> None:
    """With what it cites."""
    reading = read(
        call("Note", "a", value=VALUE, because=BECAUSE, since="2024-05-07"),
        patch(change(), call_id="b"),
        ended("m2", "c"),
        call("remember_nothing", "d"),
    )

    cited = Citation(message=1, quote="I own a boat")
    insert, patched, end = reading.operations
    assert (
        Insert(call="a", type="Note", value=VALUE, because=(cited,), since="2024-05-07") == insert
    )
    assert isinstance(patched, Patch)
    assert {"op": "replace", "path": "/home", "value": "Oslo"} == patched.changes[0].operation
    assert Citation(message=1, quote="I moved") == patched.changes[0].because
    assert End(call="c", target="m2", because=(cited,)) == end
    assert ((), True) == (reading.faults, reading.is_whole)


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("3 /home: we moved", Citation(message=3, quote="we moved", path="/home")),
        ("3: we moved", Citation(message=3, quote="we moved")),
        (" 12 /a~1b/0:  we: moved", Citation(message=12, quote="we: moved", path="/a~1b/0")),
        ("3 /open: at 9: sharp", Citation(message=3, quote="at 9: sharp", path="/open")),
        ("3 /at 12:30: noon", Citation(message=3, quote="noon", path="/at 12:30")),
        ("3: /home is a folder", Citation(message=3, quote="/home is a folder")),
        ("3 Ada Lovelace: we moved", Citation(message=3, quote="we moved")),
        ("#3: one\ntwo", Citation(message=3, quote="one\ntwo")),
        ("3 /home：我们搬到了厦门", Citation(message=3, quote="我们搬到了厦门", path="/home")),
        ("3：我们搬家了：真的", Citation(message=3, quote="我们搬家了：真的")),
    ],
)
def test_a_citation_is_read_from_one_line(written: str, cited: Citation) -> None:
    """Number, field and words; the speaker's name, as the talk has it, is skipped."""
    for because in ([written], written):
        (insert,) = read(call("Note", value=VALUE, because=because)).operations

        assert isinstance(insert, Insert)
        assert (cited,) == insert.because


@given(
    st.integers(1, 10**6),
    st.text(
        st.characters(exclude_characters=":：", exclude_categories=["Cs", "Z", "Cc"]), max_size=9
    ),
    st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=20),
)
def test_a_citation_that_is_written_is_read_again(number: int, field: str, quote: str) -> None:
    """Whatever the words are."""
    path = f"/{field}" if field else ""
    because = cited_words(number, quote, path)

    (insert,) = read(call("Note", value=VALUE, because=because)).operations

    assert isinstance(insert, Insert)
    assert (Citation(message=number, quote=quote, path=path),) == insert.because


def test_a_change_and_an_ending_cite_in_one_line() -> None:
    """One line or several; a field named there is the one that the change names already."""
    because: list[Json] = ["1 /home: I moved", {"message": 2, "quote": "to Oslo"}]
    patched = {"op": "replace", "path": "/home", "value": "Oslo", "because": because}

    reading = read(patch(patched), call("end_memory", id="m2", because="1: I sold the boat"))

    change, end = reading.operations
    assert isinstance(change, Patch)
    assert isinstance(end, End)
    assert {"op": "replace", "path": "/home", "value": "Oslo"} == change.changes[0].operation
    assert Citation(message=1, quote="I moved") == change.changes[0].because
    assert (Citation(message=2, quote="to Oslo"),) == change.changes[0].besides
    assert (Citation(message=1, quote="I sold the boat"),) == end.because


def test_the_prompt_shows_a_citation_as_it_is_read() -> None:
    """The one example of it that a model sees."""
    (insert,) = read(call("Note", value=VALUE, because=[CITED_FORM])).operations

    assert isinstance(insert, Insert)
    assert (Citation(message=3, quote="we moved to Oslo", path="/home"),) == insert.because
    assert f'"{CITED_FORM}"' in FormationPrompts().texts("en").extraction


def test_arguments_that_a_client_has_parsed_are_read_alike() -> None:
    """An object as well as its text."""
    parsed = ToolCall(name="Note", arguments={"value": VALUE, "because": BECAUSE}, id="a")

    assert (
        read(call("Note", "a", value=VALUE, because=BECAUSE)).operations == read(parsed).operations
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call("Fact"), "there is no tool 'Fact'; the tools are Note, patch_memory"),
        (call("User", value=[], because=BECAUSE), "'value' must be a JSON object"),
        (ToolCall(name="Note", arguments="{"), "the arguments cannot be read: it is no JSON"),
        (ToolCall(name="Note", arguments='{"a":1,"a":2}'), "names the field 'a' twice"),
        (ToolCall(name="Note", arguments="[]"), "must be a JSON object"),
        (call("Note", value=VALUE), "the arguments must have because"),
        (call("Note", value=VALUE, because=BECAUSE, why=1), "must not have why"),
        (call("Note", value=[], because=BECAUSE), "'value' must be a JSON object"),
        (call("Note", value={"context": "x"}, because=BECAUSE), "does not fit Note"),
        (call("Note", value=VALUE, because=[]), "must cite at least one message"),
        (
            call("Note", value=VALUE, because=BECAUSE * (CITATIONS_MAX + 1)),
            "51 citations; at most 50",
        ),
        (call("Note", value=VALUE, because=["x"]), "because[0] must begin with the number of"),
        (call("Note", value=VALUE, because=["1: "]), "because[0] must hold words of the message"),
        (call("Note", value=VALUE, because=[1]), "because[0] must be text such as '3 /home: we"),
        (call("Note", value=VALUE, because=[{"message": 1}]), "because[0] must have quote"),
        (
            call("Note", value=VALUE, because=[{"message": "1", "quote": "x"}]),
            "the number of a message",
        ),
        (
            call("Note", value=VALUE, because=[{"message": True, "quote": "x"}]),
            "the number of a message",
        ),
        (call("Note", value=VALUE, because=[{"message": 1, "quote": " "}]), "must hold words"),
        (
            call("Note", value=VALUE, because=[{"message": 1, "quote": "x", "path": "a"}]),
            "JSON pointer",
        ),
        (call("Note", value=VALUE, because=BECAUSE, since=3), "'since' must be a date as text"),
        (patch(change(), id_="m3"), "there is no memory 'm3'; there are: m1, m2"),
        (patch(), "a list of at least one operation"),
        (patch(*[change()] * (OPERATIONS_MAX + 1)), "101 changes; at most 100"),
        (patch(change(quote="")), "changes[0].quote must hold words"),
        (
            patch(change("replace", "/age")),
            "the patch does not apply: operation 0 (replace '/age')",
        ),
        (patch(change("add", "/age", value=-3)), "the patched document does not fit User: /age"),
        (patch(change("replace", "/occupation")), "/occupation was not shown to you"),
        (
            patch(change("copy", "/home", **{"from": "/occupation"})),
            "/occupation was not shown to you",
        ),
        (patch(change("replace", "", value={})), "'path' is the whole document"),
        (patch(change("copy", "/home", **{"from": ""})), "'from' is the whole document"),
        (ended("m1"), "a document of its own: patch it"),
        (ended(["m1"]), "there is no memory"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(wrong: ToolCall, told: str) -> None:
    """So that a model can put it right; the calls around it are kept."""
    good = call("Note", value=VALUE, because=BECAUSE)

    alone, beside = read(wrong), read(good, wrong, patch(change("add", "/age", value=3)))

    assert told in reason(alone)
    assert () == alone.operations
    assert reason(alone) == reason(beside)
    assert [Insert, Patch] == [type(each) for each in beside.operations]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (ModelAnswer(), "no tool was called"),
        (ModelAnswer(text="Nothing to remember."), "no tool was called"),
        (ModelAnswer(stopped="refusal"), "a refusal"),
        (ModelAnswer(stopped="length"), "cut off"),
        (
            ModelAnswer(calls=(call("Note", value=VALUE, because=BECAUSE),), stopped="length"),
            "cut off",
        ),
        (ModelAnswer(calls=(ToolCall(name="Note", arguments="{"),)), "no JSON"),
        (ModelAnswer(calls=(call("Nothing"),)), "no tool 'Nothing'"),
    ],
)
def test_an_answer_without_a_call_that_can_be_read_is_not_whole(
    answer: ModelAnswer, told: str
) -> None:
    """It must not count as nothing to remember."""
    reading = read_answer(answer, OFFER)

    assert not reading.is_whole
    assert told in reason(reading)


def test_nothing_to_remember_is_an_answer() -> None:
    """Also with words around it."""
    reading = read_answer(ModelAnswer(text="Well.", calls=(call("remember_nothing"),)), OFFER)

    assert ((), (), True) == (reading.operations, reading.faults, reading.is_whole)


def test_calls_beyond_the_limit_are_not_read_and_that_is_told() -> None:
    """Once, however many there are."""
    reading = read(*[call("Note", value=VALUE, because=BECAUSE)] * 10_000)

    assert "10000 calls in one answer: only the first 100 were read" == reason(reading)
    assert OPERATIONS_MAX == len(reading.operations) == len(reading.calls)


def test_a_memory_is_not_both_patched_and_ended() -> None:
    """The second call is refused, whichever it is."""
    entry = patch(change("replace", "/content"), id_="m2")
    end = ended("m2")

    assert "m2 is patched in another call: do one of both" == reason(read(entry, end))
    assert "m2 is ended in another call: do one of both" == reason(read(end, entry))
    assert "m2 is ended in another call: do one of both" == reason(read(end, end))


def test_patches_of_one_document_build_on_each_other() -> None:
    """In one answer, and on what was kept of an earlier one."""
    first = patch(change("remove", "/interests"), call_id="a")
    second = patch(change("add", "/interests", value=["go"]), call_id="b")
    third = patch(change("add", "/interests/-", value="chess"), call_id="c")

    together = read(first, second, third)
    kept = read(first, second).operations
    later = read_answer(ModelAnswer(calls=(third,)), OFFER, kept=kept)

    assert ["a", "b", "c"] == [each.call for each in together.operations]
    assert ((), 1) == (later.faults, len(later.operations))
    assert "does not apply" in reason(read(first, third))


def test_what_was_kept_before_is_not_asked_for_again() -> None:
    """However it is quoted this time; what is new in the same call is."""
    add = change("add", "/interests/-", value="go")
    kept = read(patch(add)).operations
    again, age = {**add, "quote": "go"}, change("add", "/age", value=3)

    repeated = read_answer(ModelAnswer(calls=(patch(again),)), OFFER, kept=kept)
    mixed = read_answer(ModelAnswer(calls=(patch(again, age),)), OFFER, kept=kept)

    assert ((), ()) == (repeated.operations, repeated.faults)
    (patched,) = mixed.operations
    assert isinstance(patched, Patch)
    assert ["/age"] == [each.operation["path"] for each in patched.changes]


def test_every_call_gets_an_id_of_its_own() -> None:
    """Whatever ids it came with, and those of earlier answers among them."""
    ids = ["", "", "1", "1", "call-2", "\ud800", "x" * 1_000, "\0", "fine"]
    calls = tuple(replace(call("remember_nothing"), id=each) for each in ids)

    reading = read_answer(ModelAnswer(calls=calls), OFFER, taken={"call-1", "fine"})

    named = [each.id for each in reading.calls]
    assert len(ids) == len({*named} - {"call-1", "fine"})
    assert all(each.isprintable() and len(each) <= 256 for each in named)


def test_a_fault_names_the_call_it_is_of() -> None:
    """Its tool, and the memory that was meant, as far as they could be read."""
    reading = read(
        call("Nowhere", "a"), ToolCall(name="Note", arguments="{", id="b"),
        patch(change("replace", "/age"), call_id="c"), patch(id_="m9", call_id="d"),
    )  # fmt: skip

    assert [
        ("a", None, None), ("b", "Note", None), ("c", "patch_memory", "m1"),
        ("d", "patch_memory", None),
    ] == [(each.call, each.tool, each.target) for each in reading.faults]  # fmt: skip


NAMES = ["id", "value", "because", "changes", "message", "quote", "path", "op", "from"]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(NAMES)
        | st.text(max_size=4), inner, max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    st.lists(
        st.tuples(st.sampled_from(["Note", "patch_memory", "end_memory", "x"]), JUNK), max_size=4
    ),
    st.booleans(),
)
def test_any_answer_is_read(calls: list[tuple[str, Json]], parsed: bool) -> None:  # noqa: FBT001
    """Each call is an operation, or a fault that says something."""
    given_calls = tuple(
        ToolCall(
            name=name, arguments=junk if parsed and isinstance(junk, Mapping) else json.dumps(junk)
        )
        for name, junk in calls
    )

    for offer in (OFFER, EMPTY):
        reading = read_answer(ModelAnswer(calls=given_calls), offer)

        assert all(fault.reason for fault in reading.faults)
        assert len(reading.operations) + len(reading.faults) == max(1, len(calls))
        for fault in reading.faults:
            fault.reason.encode()
