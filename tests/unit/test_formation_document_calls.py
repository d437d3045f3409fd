"""A call that makes a document anew, while it exists, is read as a patch of it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

import recollect
from recollect.formation.answer import ReadAnswer, read_answer
from recollect.formation.offer import offer_of
from recollect.formation.operations import Patch
from recollect.formation.types import NOTE, USER
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import Json, JsonObject, Memory
from tests.harness.sample_contents import sample_memory

AT = datetime(2026, 5, 1, tzinfo=UTC)
BEFORE: JsonObject = {"home": "Bergen", "age": 40, "interests": ["tea"]}


def document(key: str = "User") -> Memory:
    """Return a profile that exists."""
    return sample_memory(type="User", key=key, value=BEFORE, at=AT)


OFFER = offer_of((USER, NOTE), (document(),), "home")


def read(value: Json, *because: str) -> ReadAnswer:
    """Return what a call of the tool that is not offered says."""
    arguments = json.dumps({"value": value, "because": list(because)})
    return read_answer(ModelAnswer(calls=(ToolCall(name="User", arguments=arguments),)), OFFER)


def written(reading: ReadAnswer) -> Sequence[JsonObject]:
    """Return the operations of the one patch that was read."""
    (patch,) = reading.operations
    assert isinstance(patch, Patch)
    assert (patch.target, reading.faults, reading.is_whole) == ("m1", (), True)
    return [change.operation for change in patch.changes]


def test_a_field_is_changed_with_its_own_words() -> None:
    """And a field that says what stands already is no change."""
    reading = read({"home": "Oslo", "age": 40}, "2 /home: we moved to Oslo", "3 /age: I am 40")

    assert [{"op": "add", "path": "/home", "value": "Oslo"}] == written(reading)
    (patch,) = reading.operations
    assert isinstance(patch, Patch)
    assert (2, "we moved to Oslo") == (
        patch.changes[0].because.message,
        patch.changes[0].because.quote,
    )


def test_what_the_call_leaves_out_stays() -> None:
    """Elements are added to a list, and an empty field takes nothing away."""
    value = {"interests": ["rowing", "tea"], "home": None, "occupation": ""}
    reading = read(value, "1: I row")

    assert [{"op": "add", "path": "/interests/-", "value": "rowing"}] == written(reading)


def test_a_document_that_says_nothing_new_is_nothing_to_remember() -> None:
    """No operation and no fault."""
    reading = read({"home": "Bergen", "interests": ["tea"]}, "1: I live in Bergen")

    assert ((), (), True) == (reading.operations, reading.faults, reading.is_whole)


@pytest.mark.parametrize(
    ("value", "because", "told"),
    [
        ({"home": "Oslo"}, "1 /age: I am 40", "/home cites no message"),
        ({"age": "old"}, "1: I am old", "does not fit User"),
        ({"hme": "Oslo"}, "1: Oslo", "does not fit User"),
        ([], "1: Oslo", "'value' must be a JSON object"),
    ],
)
def test_what_is_wrong_is_told(value: Json, because: str, told: str) -> None:
    """As of any other call."""
    (fault,) = read(value, because).faults

    assert told in fault.reason


def test_of_several_documents_none_is_guessed() -> None:
    """The reason names them, and the tool that changes one."""
    offer = offer_of((USER, NOTE), (document("User"), document("@ines")), "home")
    call = ToolCall(name="User", arguments='{"value": {"home": "Oslo"}, "because": ["1: Oslo"]}')
    (fault,) = read_answer(ModelAnswer(calls=(call,)), offer).faults

    assert "there is no tool 'User': change m1, m2 with patch_memory" == fault.reason


def test_a_function_that_always_answers_alike_forms_a_correction() -> None:
    """The messages of a customer who changes plans do not fail until they are given up."""

    def model(request: ModelRequest) -> str:
        *_, last = request.turns[0].text.splitlines()
        number, words = last.split(" user: ")
        plan = {"plan": words.split()[-2]}
        return json.dumps([{"tool": "Account", "value": plan, "because": [f"{number}: {words}"]}])

    account: JsonObject = {
        "name": "Account",
        "description": "The plan of the customer",
        "update_mode": "patch",
        "parameters": {"type": "object", "properties": {"plan": {"type": "string"}}},
    }
    settings = recollect.FormationSettings(types=[account])
    with recollect.open_sync(
        "memory:", embedder="none", worker=False, model=model, formation=settings
    ) as memory:
        for plan in ("gold", "silver"):
            memory.append("ann", "chat", f"I am on the {plan} plan")
            (result,) = memory.form("ann")
            assert (result.end, result.refused) == ("formed", ())
        history = memory.history("ann", "Account", "Account")
    assert [{"plan": "gold"}, {"plan": "silver"}] == [each.value for each in history]
