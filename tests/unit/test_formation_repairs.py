"""Repairs: only what was faulty goes out again, and only that may come back."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.formation_receipt import ModelExchanges
from recollect.formation.offer import offer_of
from recollect.formation.operations import Insert, Patch
from recollect.formation.prompt_texts import ENGLISH, TEXTS, PromptLanguage, PromptTexts
from recollect.formation.repairs import UNASKED
from recollect.formation.types import NOTE, USER
from recollect.formation.window import Window, WindowLine
from recollect.ports import ToolCall
from recollect.records import Json, JsonObject, Memory
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker import model_calls
from recollect.worker.model_calls import FormationDialogue
from tests.harness.sample_contents import sample_memory, sample_message

AT: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
TALKS: Final = {
    "english": [
        "I live in Porto", "My boat is called Ida", "I work as a baker", "The rent is 900 euros",
        "We have two cats", "My sister visits in June",
    ],
    "simplified": [
        "我住在杭州", "我的船叫艾达", "我是面包师", "房租九百块", "我们养了两只猫", "我姐姐六月来",
    ],
    "traditional": [
        "我住在高雄", "我的船叫艾達", "我是麵包師", "房租九百塊", "我們養了兩隻貓", "我姊姊六月來",
    ],
}  # fmt: skip


def memory(type_: str, key: str, value: JsonObject) -> Memory:
    """Return a memory."""
    return sample_memory(type=type_, key=key, value=value, at=AT)


PROFILE: Final = memory("User", "User", {"home": "Oslo", "interests": ["tea"]})
OLD: Final = memory("Note", "n1", {"content": "an old note"})


def window(said: Sequence[str]) -> Window:
    """Return a talk of one user."""
    lines = tuple(
        WindowLine(
            number=n,
            text=text,
            new=True,
            message=sample_message(
                thread="t", id=f"i{n}", position=n, text=text, time=AT + timedelta(minutes=n)
            ),
        )
        for n, text in enumerate(said, start=1)
    )
    return Window(scope=("u",), lines=lines, watermarks={"t": len(said)})


def note(number: int, content: str, quote: str = "") -> ToolCall:
    """Return the call that keeps a note."""
    arguments = {"value": {"content": content}, "because": [f"{number}: {quote or content}"]}
    return ToolCall(name="Note", arguments=json.dumps(arguments, ensure_ascii=False))


def patch(path: str, value: Json, because: str) -> ToolCall:
    """Return the call that changes the profile."""
    change = {"op": "add", "path": path, "value": value, "because": because}
    return ToolCall(name="patch_memory", arguments=json.dumps({"id": "m1", "changes": [change]}))


async def ask(
    said: Sequence[str], *answers: ScriptedAnswer, texts: PromptTexts = ENGLISH
) -> tuple[ModelExchanges, ScriptedModel]:
    """Return what came of these answers, and the model that gave them."""
    model = ScriptedModel(answers)
    settings = FormationSettings(types=(USER, NOTE), limits=FormationLimits(repairs=1))
    offer = offer_of(settings.types, [PROFILE, OLD], "", texts=texts)
    return await FormationDialogue(model, window(said), offer, settings).ask(), model


def kept(asked: ModelExchanges) -> list[str]:
    """Return the notes and changes that are kept."""
    found: list[str] = []
    for each in asked.grounded:
        if isinstance(each.operation, Insert):
            found.append(str(each.operation.value["content"]))
        elif isinstance(each.operation, Patch):
            found += [
                f"{e.operation['path']}={e.operation['value']}" for e in each.operation.changes
            ]
    return sorted(found)


@pytest.mark.parametrize("script", TALKS)
async def test_only_the_faulty_call_and_its_lines_are_sent_again(script: str) -> None:
    """In the same system prompt with the same tools, so that a provider's cache holds."""
    said = TALKS[script]
    wrong = note(4, said[3].replace("900", "700").replace("九", "七"), said[3])

    asked, model = await ask(said, [note(1, said[0]), wrong], [note(4, said[3])])

    first, second = model.requests
    shown = second.turns[0].text
    assert [False, False, True, True, False, False] == [each in shown for each in said]
    assert f"4 user: {said[3]}" in shown
    assert "an old note" not in shown
    assert "Oslo" not in shown
    assert (first.system, first.tools) == (second.system, second.tools)
    assert [[wrong.arguments]] == [
        [call.arguments for call in turn.calls] for turn in second.turns if turn.calls
    ]
    assert sorted([said[0], said[3]]) == kept(asked)
    assert () == asked.refused


@pytest.mark.parametrize(
    ("before", "wrong", "is_shown"),
    [
        ("my boss is hiring again", "he says I get 900 now", True),
        ("my sister rang", "oh and she's moved to Bergen with 900 books", True),
        ("院长一直在招人", "他说给我涨到九百", True),
        ("老闆請人", "對啊，佢話加到九百", True),
        ("my boss is hiring again", "I get 900 now, he says", False),
        ("my sister rang", "Heike moved to Bergen with 900 books", False),
        ("院长一直在招人", "我现在九百，他说的", False),
    ],
)
async def test_a_repair_shows_whom_a_message_means_that_begins_with_a_pronoun(
    before: str, wrong: str, *, is_shown: bool
) -> None:
    """Else nobody could put right whose words they are; the message between may be an answer."""
    said = ["I moved to Porto", before, "I like rowing", wrong, "I work as a baker"]

    _, model = await ask(said, [note(1, said[0]), note(4, f"{wrong} 777", wrong)], [])

    shown = model.requests[1].turns[0].text
    assert [False, is_shown, True, True, False] == [each in shown for each in said]


@pytest.mark.parametrize("script", TALKS)
async def test_a_repair_changes_nothing_that_was_right(script: str) -> None:
    """What else it calls is refused, and told."""
    said = TALKS[script]
    right, wrong = note(1, said[0]), note(4, "costs 123", said[3])
    more = [note(4, said[3]), note(1, f"{said[0]}!!", said[0]), note(6, said[5])]

    asked, _ = await ask(said, [right, wrong], more)

    assert sorted([said[0], said[3]]) == kept(asked)
    assert [UNASKED] * 2 == [fault.reason for _, fault in asked.refused]


async def test_a_repair_does_not_patch_again_what_was_patched_right() -> None:
    """Another field of the same document may be mended, and a list added to."""
    said = ["I moved to Porto", "I like rowing", "I work as a baker"]
    home = patch("/home", "Porto", "1: I moved to Porto")
    rowing = patch("/interests/-", "rowing", "2: I like rowing")
    wrong = patch("/occupation", "baker", "3: I am a baker by trade")
    mended = patch("/occupation", "baker", "3: I work as a baker")
    worse = patch("/home", "baker", "3: I work as a baker")

    asked, _ = await ask(said, [home, rowing, wrong], [mended])
    spoilt, _ = await ask(said, [home, rowing, wrong], [worse])

    assert ["/home=Porto", "/interests/-=rowing", "/occupation=baker"] == kept(asked)
    assert ["/home=Porto", "/interests/-=rowing"] == kept(spoilt)
    assert UNASKED in {fault.reason for _, fault in spoilt.refused}


async def test_what_is_patched_and_all_lines_are_shown_where_they_are_needed() -> None:
    """A faulty patch its memory, a call that cannot be read every line."""
    said = TALKS["english"]

    _, patched = await ask(said, [patch("/age", 3, "3: I am three")], [])
    _, broken = await ask(said, [note(1, said[0]), ToolCall(name="Note", arguments="{")], [])

    assert "Oslo" in patched.requests[1].turns[0].text
    assert "an old note" not in patched.requests[1].turns[0].text
    assert all(each in broken.requests[1].turns[0].text for each in said)


@pytest.mark.parametrize(
    ("language", "reason"),
    [
        ("en", "message 4 does not say 'no such words': quote its words"),
        ("zh", "第4则消息没有说'no such words'：引用它的原话"),
        ("zh-hant", "第4則訊息沒有說'no such words'：引用它的原話"),
    ],
)
async def test_a_repair_is_asked_for_in_the_language_of_the_request(
    language: PromptLanguage, reason: str
) -> None:
    """With the headings and the reason in it; receipts tell the reason in English."""
    said, texts = TALKS["traditional"], TEXTS[language]
    wrong = note(4, said[3], "no such words")

    asked, model = await ask(said, [wrong], [wrong], texts=texts)

    repair = model.requests[1]
    assert f"{texts.new_messages}\n" in repair.turns[0].text
    assert f"{texts.repair} {reason}" == repair.turns[-1].text
    assert ["message 4 does not say 'no such words': quote its words"] == [
        fault.reason for _, fault in asked.refused
    ]


async def test_an_answer_without_a_call_is_asked_for_in_full() -> None:
    """There is nothing of it to put right."""
    said = TALKS["english"]

    asked, model = await ask(said, "I shall remember.", [note(1, said[0])])

    assert model.requests[0].turns == model.requests[1].turns[:1]
    assert [said[0]] == kept(asked)


async def test_the_check_of_repairs_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: without it a repair adds a second form of what was right."""
    said = TALKS["english"]
    monkeypatch.setattr(model_calls, "only_repairs", lambda operations, *_: (operations, []))
    again = [note(4, said[3]), note(1, f"{said[0]}!!", said[0])]

    asked, _ = await ask(said, [note(1, said[0]), note(4, "costs 123", said[3])], again)

    assert 3 == len(kept(asked))
