"""A second reading holds back what a model does not call right, and lets nothing through."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from recollect.formation.config import Assistants, FormationSettings, with_settings
from recollect.formation.formation_receipt import ModelExchanges
from recollect.formation.offer import offer_of
from recollect.formation.operations import End, Insert, Patch
from recollect.formation.prompt_texts import TEXTS, FormationPrompts, PromptLanguage
from recollect.formation.second_reader import JUDGE, UNREAD, WRONG_CHARACTERS_MAX
from recollect.formation.types import NOTE, USER
from recollect.formation.window import Window, WindowLine
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import Json
from recollect.stores.reader_quotes import DENIED
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker.model_calls import FormationDialogue
from tests.harness.sample_contents import sample_memory, sample_message

AT: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORDS: Final = "I moved to Porto, I am 40. I own a boat. I like tea."
NOTHING: Final = ToolCall(name="remember_nothing", arguments="{}")


def note(content: str, quote: str | None = None) -> ToolCall:
    """Return the call that keeps a note."""
    value = {"context": "in passing", "content": content}
    because = [f"1: {quote or content}"]
    return ToolCall(name="Note", arguments=json.dumps({"value": value, "because": because}))


def profile(**changes: Json) -> ToolCall:
    """Return the call that changes the profile, which is m1."""
    written = [
        {
            "op": "add",
            "path": f"/{name}",
            "value": value,
            "because": ["1: I moved to Porto, I am 40"],
        }
        for name, value in changes.items()
    ]
    arguments = json.dumps({"id": "m1", "changes": written})
    return ToolCall(name="patch_memory", arguments=arguments)


def verdicts(*wrong: str) -> ToolCall:
    """Return the call that judges the lines from 1 on: what is wrong with each, "" for nothing."""
    told = [
        {"number": number, "right": not each, **({"wrong": each} if each.strip() else {})}
        for number, each in enumerate(wrong, start=1)
    ]
    return ToolCall(name=JUDGE, arguments=json.dumps({"verdicts": told}))


async def read_again(
    formed: Sequence[ToolCall],
    judged: ScriptedAnswer,
    *,
    prompts: FormationPrompts | None = None,
    language: PromptLanguage = "en",
) -> tuple[ModelExchanges, ScriptedModel]:
    """Return what comes of an answer after the second reading, and the second reader."""
    message = sample_message(id="id1", text=WORDS, time=AT)
    line = WindowLine(number=1, message=message, text=WORDS, new=True)
    window = Window(scope=("u",), lines=(line,), watermarks={"talk": 1})
    settings = FormationSettings(types=(USER, NOTE), prompts=prompts or FormationPrompts())
    known = sample_memory(type="User", key="User", value={"home": "Oslo"}, at=AT)
    home = sample_memory(type="Note", key="n", value={"content": "lives in Oslo"}, at=AT)
    offer = offer_of(settings.types, [known, home], WORDS, texts=TEXTS[language])
    reader = ScriptedModel([judged])
    model = ScriptedModel([formed])
    dialogue = FormationDialogue(model, window, offer, settings, reader=reader)
    return await dialogue.ask(), reader


def kept(asked: ModelExchanges) -> dict[str, str]:
    """Return the doubts of each operation, "" for none, by what it says."""
    found = {}
    for each in asked.grounded:
        operation = each.operation
        if isinstance(operation, Insert):
            said = str(operation.value["content"])
        elif isinstance(operation, Patch):
            said = " ".join(str(change.operation["path"]) for change in operation.changes)
        else:
            said = operation.target
        found[said] = "; ".join(each.grounds.doubts)
    return found


async def test_what_is_called_wrong_waits_and_the_rest_is_kept() -> None:
    """Its reason is the reader's, and both calls are counted."""
    formed = [note("I own a boat"), note("I like tea")]

    asked, _ = await read_again(formed, [verdicts("it was a canoe", "")])

    assert {"I own a boat": f"{DENIED}: it was a canoe", "I like tea": ""} == kept(asked)
    assert 2 == asked.calls


async def test_each_field_of_a_document_is_judged_by_itself() -> None:
    """A wrong field holds up no other; a document that is right stays one operation."""
    formed = [profile(home="Porto", age=40)]

    wrong, reader = await read_again(formed, [verdicts("", " ")])
    right, _ = await read_again(formed, [verdicts("", "")])

    assert {"/home": "", "/age": DENIED} == kept(wrong)
    assert {"/home /age": ""} == kept(right)
    shown = reader.requests[0].turns[0].text.splitlines()
    assert ['1 {"change":"m1"', '2 {"change":"m1"'] == [each[:16] for each in shown[-2:]]


async def test_an_end_is_judged() -> None:
    """It is shown with its memory, and waits if it is wrong."""
    end = {"id": "m2", "because": ["1: I moved to Porto"], "at": "2026-05-01"}
    formed = [ToolCall(name="end_memory", arguments=json.dumps(end))]

    asked, reader = await read_again(formed, [verdicts(" ")])

    assert [DENIED] == [d for e in asked.grounded for d in e.grounds.doubts]
    assert isinstance(asked.grounded[0].operation, End)
    assert '1 {"over":"m2","at":"2026-05-01","because":[1]}' in reader.requests[0].turns[0].text


@pytest.mark.parametrize(
    "answer",
    [
        [ToolCall(name=JUDGE, arguments="{}")],
        [ToolCall(name=JUDGE, arguments="no JSON")],
        [ToolCall(name=JUDGE, arguments='{"verdicts": [{"number": 2, "right": true}]}')],
        [ToolCall(name=JUDGE, arguments='{"verdicts": [{"number": true, "right": true}]}')],
        [ToolCall(name=JUDGE, arguments='{"verdicts": [{"number": 1, "right": "yes"}]}')],
        [ToolCall(name=JUDGE, arguments='{"verdicts": "all right"}')],
        ModelAnswer(text="They are all right."),
        ModelAnswer(stopped="refusal"),
    ],
)
async def test_what_the_answer_says_nothing_of_waits(answer: ScriptedAnswer) -> None:
    """A reader that cannot be read lets nothing through."""
    asked, _ = await read_again([note("I own a boat")], answer)

    assert {"I own a boat": UNREAD} == kept(asked)


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "judge_notes", "verdicts": [{"number": 1, "right": true}]}',
        '```json\n[{"name": "judge_notes", "verdicts": [{"number": 1, "right": true}]}]\n```',
    ],
)
async def test_an_answer_in_text_is_read(text: str) -> None:
    """As the answers of formation are."""
    asked, _ = await read_again([note("I own a boat")], ModelAnswer(text=text))

    assert {"I own a boat": ""} == kept(asked)


async def test_it_lets_nothing_through() -> None:
    """What the rules doubt or refuse is not asked about, and waits whatever the reader says."""
    doubted = note("I own a boat of 12 metres", "I own a boat")
    invented = note("I own a car", "I own a car")
    formed = [doubted, invented, note("I like tea")]
    again = [doubted, invented]
    message = sample_message(id="id1", text=WORDS, time=AT)
    line = WindowLine(number=1, message=message, text=WORDS, new=True)
    window = Window(scope=("u",), lines=(line,), watermarks={"talk": 1})
    settings = FormationSettings(types=(USER, NOTE))
    offer = offer_of(settings.types, [], WORDS)
    reader = ScriptedModel([[verdicts(*[""] * 9)]])
    model = ScriptedModel([formed, again, again])

    asked = await FormationDialogue(model, window, offer, settings, reader=reader).ask()

    found = kept(asked)
    assert {"I own a boat of 12 metres", "I like tea"} == set(found)
    assert "" == found["I like tea"]
    assert "the number 12" in found["I own a boat of 12 metres"]
    shown = reader.requests[0].turns[0].text
    assert 1 == shown.count('{"new":')
    assert "12 metres" not in shown


async def test_where_nothing_is_kept_nobody_is_asked() -> None:
    """One call, as without a second reader."""
    asked, reader = await read_again([NOTHING], [verdicts("")])

    assert (1, []) == (asked.calls, reader.requests)


async def test_a_long_reason_is_cut_and_stands_on_one_line() -> None:
    """It is shown to a person, and kept with the memory."""
    asked, _ = await read_again([note("I own a boat")], [verdicts("a\nb" + "x" * 900)])

    (told,) = kept(asked).values()
    assert "\n" not in told
    assert len(told) < len(DENIED) + WRONG_CHARACTERS_MAX + 60


@pytest.mark.parametrize(
    ("language", "heading"),
    [("en", "To be checked:"), ("zh", "待核对："), ("zh-hant", "待核對：")],
)
async def test_the_request_is_in_the_language_of_the_talk(
    language: PromptLanguage, heading: str
) -> None:
    """What was said stands on lines of its own, behind what stays the same."""
    _, reader = await read_again([note("I own a boat")], [verdicts("")], language=language)

    (request,) = reader.requests
    said, checked = request.turns[0].text.split(heading)
    assert JUDGE in request.system
    assert WORDS in said
    value = {"context": "in passing", "content": "I own a boat"}
    written = {"new": "Note", "value": value, "because": [1]}
    number, line = checked.strip().split(" ", 1)
    assert ("1", written) == (number, json.loads(line))


async def test_its_instructions_can_be_replaced() -> None:
    """Under the same tool."""
    prompts = FormationPrompts(second_reading="Be strict. Call {judge}.")

    _, reader = await read_again([note("I own a boat")], [verdicts("")], prompts=prompts)

    assert "Be strict. Call judge_notes." == reader.requests[0].system


@pytest.mark.parametrize("value", [1, None, ["a"]])
def test_a_setting_of_another_kind_is_refused(value: Json) -> None:
    """It says what it takes."""
    with pytest.raises(Exception, match="true, false or the name of a model"):
        with_settings(FormationSettings(), {"second_reading": value})


def test_a_request_names_no_object_of_a_module() -> None:
    """Importing it would run its code."""
    named: dict[str, Any] = {"second_reading": "app.models:reader"}

    with pytest.raises(Exception, match="only a configuration may name an object"):
        Assistants().of(named)
