"""Tools as the form of an answer: the schema, the words, and reading calls as they were written."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models import PromptedModel
from recollect.models.structured_output import calls_schema, in_words, read_calls, with_calls
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn
from recollect.testing.scripted_model import ScriptedModel

NOTE = Tool(name="note", description="Keep a note.", parameters={"type": "object"})
NODE = Tool(
    name="a/node",
    description="Keep a tree.",
    parameters={
        "$defs": {"leaf": {"type": "object", "properties": {"next": {"$ref": "#"}}}},
        "type": "object",
        "properties": {"leaf": {"$ref": "#/$defs/leaf"}},
    },
)
REQUEST = ModelRequest(
    system="Remember.", turns=(Turn(role="user", text="I am Ada."),), tools=(NOTE,), must_call=True
)
WHOLE = (
    '{"calls": [{"tool": "note", "arguments": {"text": "a \\"}] b", "n": [1, {"x": null}]}}, '
    '{"tool": "note", "arguments": {"text": "我养猫"}}]}'
)


def parts(text: str) -> list[tuple[str, object]]:
    """Return name and arguments of each call in *text*."""
    return [(call.name, call.arguments) for call in read_calls(text) or ()]


def test_calls_come_back_as_they_were_written() -> None:
    """Doubled keys, numbers of any length and what is no JSON are for the strict reader."""
    raw = '{"age": 1, "age": NaN,\n "n": ' + "9" * 5_000 + "}"

    found = parts(f'{{"calls": [{{"tool": "note", "arguments": {raw}}}]}}')

    assert [("note", raw)] == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"calls": []}', []),
        ('Sure!\n```json\n{"calls": [{"tool": "a", "arguments": {}}]}\n```', [("a", "{}")]),
        ('{"thought": "[hm]", "calls": [{"arguments": {}, "tool": "a"}]}', [("a", "{}")]),
        ('[{"tool": "a", "arguments": {}}]', [("a", "{}")]),
        ('{"tool": "a", "arguments": {"b": 1}}', [("a", '{"b": 1}')]),
        ('{"calls": [{"tool": "a", "arguments": "{\\"b\\": 1}"}]}', [("a", '{"b": 1}')]),
        ('{"calls": [{"tool": "a"}]}', [("a", '{"tool": "a"}')]),
        ('{"calls": [7, null]}', [("", "7"), ("", "null")]),
        ('{"calls": [{"tool": 7, "arguments": {}}]}', [("", "{}")]),
        ('{"calls": [{"tool": "a", "arguments": {}},]}', [("a", "{}")]),
        ('{"calls": [', [("", "")]),
        ('{"calls": [{"tool": "a", "arguments": {}}', [("a", "{}"), ("", "")]),
        ('{"calls": [{"tool": "a", "arguments": {"b', [("a", '{"tool": "a", "arguments": {"b')]),
        (
            '{"calls": [{"tool": "a", "arguments": {]}]}',
            [("a", '{"tool": "a", "arguments": {]}]}')],
        ),
        ('{"calls": [{"tool": "a", "arguments": {}} {"tool"', [("a", "{}"), ("", '{"tool"')]),
    ],
)
def test_the_forms_of_calls(text: str, expected: list[tuple[str, object]]) -> None:
    """What is whole is read; of the rest, what there is of it."""
    assert expected == parts(text)


@pytest.mark.parametrize(
    "text", ["", "Nothing new.", "I see [one] {thing}", '{"cal', '"calls": []']
)
def test_a_text_without_calls_has_none(text: str) -> None:
    """It is not taken for an empty list of them."""
    assert read_calls(text) is None


def is_sound(call: ToolCall) -> bool:
    """Return True if a strict reader takes *call*."""
    try:
        return call.name == "note" and isinstance(json.loads(str(call.arguments)), dict)
    except ValueError:
        return False


def test_an_answer_cut_anywhere_shows_its_cut() -> None:
    """At every length: the sound calls are true ones, and fewer than all means a broken one."""
    whole = [call.arguments for call in read_calls(WHOLE) or ()]

    for length in range(1, len(WHOLE)):
        text = ModelAnswer(text=WHOLE[:length])
        calls = with_calls(text, REQUEST).calls
        sound = [call.arguments for call in calls if is_sound(call)]
        assert whole[: len(sound)] == sound
        assert len(sound) < len(calls) or sound == whole


def test_a_reader_that_stops_at_the_last_whole_call_hides_the_cut() -> None:
    """The mutant that the test above must catch."""
    cut = WHOLE[: WHOLE.index(', {"tool"')]
    mutant = [call for call in read_calls(cut) or () if is_sound(call)]

    assert 1 == len(mutant) < len(read_calls(cut) or ())


@pytest.mark.parametrize("text", ["[" * 100_000, '{"calls":[' * 50_000, '{"a":' * 100_000])
def test_depth_is_no_failure(text: str) -> None:
    """Nothing recurses."""
    answer = with_calls(ModelAnswer(text=text), REQUEST)

    assert [False] == [is_sound(call) for call in answer.calls]


@given(st.text(alphabet='{}[]",: \\calstorgumen1\n', max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """And no answer with words in it vanishes."""
    answer = with_calls(ModelAnswer(text=text), REQUEST)

    assert answer.calls or not text.strip() or read_calls(text) == ()


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
))  # fmt: skip
def test_any_arguments_come_back(value: Any) -> None:
    """Whatever JSON holds, with and without escapes."""
    written = json.dumps({"of": value}, ensure_ascii=False)

    (call,) = read_calls(f'{{"calls": [{{"tool": "note", "arguments": {written}}}]}}') or ()

    assert written == call.arguments


def test_noise_is_a_nameless_call() -> None:
    """So that it is refused with its reason; a refusal and silence stay what they are."""
    noise = with_calls(ModelAnswer(text="Well…"), REQUEST)
    refusal = with_calls(ModelAnswer(text="No.", stopped="refusal"), REQUEST)
    silence = with_calls(ModelAnswer(text=" "), REQUEST)

    assert [ToolCall(name="", arguments="Well…", id="call_1")] == [*noise.calls]
    assert ("No.", ()) == (refusal.text, refusal.calls)
    assert () == silence.calls


def test_references_move_with_their_tool() -> None:
    """Below ``$defs``, escaped, so that each still points at what it meant."""
    schema: Any = calls_schema([NOTE, NODE], must_call=True)

    moved = schema["$defs"]["a/node"]
    kinds = schema["properties"]["calls"]["items"]["anyOf"]
    assert {"$ref": "#/$defs/a~1node"} == kinds[1]["properties"]["arguments"]
    assert {"$ref": "#/$defs/a~1node/$defs/leaf"} == moved["properties"]["leaf"]
    assert {"$ref": "#/$defs/a~1node"} == moved["$defs"]["leaf"]["properties"]["next"]
    assert {"type": "object"} == kinds[0]["properties"]["arguments"]
    assert 1 == schema["properties"]["calls"]["minItems"]


def test_earlier_calls_become_text() -> None:
    """A model without tools sees what it said, and what was wrong with it."""
    turns = (
        Turn(role="assistant", text="", calls=(ToolCall(name="note", arguments="{x", id="c1"),)),
        Turn(role="tool", text="no JSON", answers="c1"),
    )
    request = ModelRequest(system="S", turns=turns, tools=(NOTE,), must_call=True)

    told = in_words(request, describe=True)

    assert ((), False) == (told.tools, told.must_call)
    assert ["assistant", "user"] == [turn.role for turn in told.turns]
    assert '{"tool": "note", "arguments": {x}' in told.turns[0].text
    assert "Answer to call c1: no JSON" == told.turns[1].text
    assert told.system.startswith("S\n\nAnswer with one JSON object")


@pytest.mark.anyio
async def test_a_prompted_model_is_told_of_its_tools() -> None:
    """In the system text; new ids follow those of the turns."""
    model = ScriptedModel([WHOLE, "plain", "piece by piece"])
    before = Turn(role="assistant", text="", calls=(ToolCall(name="note", arguments={}, id="c"),))
    request = ModelRequest(system="S", turns=(before,), tools=(NOTE,))

    answer = await PromptedModel(model).answer(request)
    plain = await PromptedModel(model).answer(ModelRequest(system="S", turns=()))
    pieces = [piece async for piece in PromptedModel(model).stream(request)]

    assert ["call_2", "call_3"] == [call.id for call in answer.calls]
    assert '"tool": "note"' in model.requests[0].system
    assert "Make at least one call" not in model.requests[0].system
    assert "plain" == plain.text
    assert "piece by piece" == "".join(pieces)
    assert re.fullmatch("S", model.requests[2].system)
