"""A slip of the tongue is put right in the profile; what only looks like one changes nothing."""

import asyncio
from typing import Final

import pytest

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.formation.rule_slips import put_right, told_in
from recollect.text.chinese_scripts import simplified

SLIPS: Final = [
    ("I moved to Braga last week.", "No wait, I meant Coimbra.", "home", "Coimbra"),
    ("I live in Braga.", "sorry, it's Coimbra", "home", "Coimbra"),
    ("I live in Braga.", "I meant Coimbra, not Braga.", "home", "Coimbra"),
    ("I live in Braga.", "I meant to write Nova Gaia", "home", "Nova Gaia"),
    ("My name is Ana.", "Oops, make that Anna!", "user_name", "Anna"),
    ("I am 36.", "no, I meant 37", "age", "37"),
    ("I work as a nurse.", "Correction: I meant a teacher.", "occupation", "teacher"),
    ("My name is Ada. I live in Lisbon.", "I meant Sintra, not Lisbon.", "home", "Sintra"),
    ("我住在台中", "說錯了，是台南", "home", "台南"),
    ("我住在杭州。", "不对，我是说苏州。", "home", "苏州"),
    ("我住在杭州。", "應該是蘇州，不是杭州", "home", "蘇州"),
    ("我今年35岁", "打错了，是36", "age", "36"),
]
NO_SLIPS: Final = [
    ("I live in Braga.", "I meant tomorrow."),
    ("I live in Braga.", "I meant Monday."),
    ("I live in Braga.", "It's Coimbra."),
    ("I live in Braga.", "I meant Coimbra, not Porto."),
    ("I live in Braga.", "Did I mean Coimbra?"),
    ("I live in Braga.", "I meant what I said."),
    ("I live in Braga.", "I meant Braga."),
    ("I like rowing.", "No, I meant sailing."),
    ("My sister lives in Braga.", "No wait, I meant Coimbra."),
    ("My name is Ada. I live in Lisbon.", "No wait, I meant Sintra."),
    ("Where is Braga?", "No wait, I meant Coimbra."),
    ("", "No wait, I meant Coimbra."),
    ("我住在杭州。", "是苏州"),
    ("我住在杭州。", "不对，我是说明天。"),
    ("我住在杭州。", "不對，我是說笑的"),
]
WITHIN: Final = [
    ("我的貓叫湯圓。說錯了，是叫團子。", [("note", "我的貓叫團子")]),
    ("我喜歡吃辣，不對，是喜歡吃甜的。", [("interests", "吃甜")]),
    ("我的生日是六月一日，講錯了，是七月一日。", [("note", "我的生日是七月一日")]),
    ("我叫林嵐。我住在杭州，不對，蘇州。", [("user_name", "林嵐"), ("home", "蘇州")]),
    ("我的貓叫湯圓。我住在杭州，不對，蘇州。", [("note", "我的貓叫湯圓"), ("home", "蘇州")]),
    ("我今年35歲，說錯了，是46歲。", [("age", 46)]),
    ("我是護士，說錯了，是醫生", [("occupation", "醫生")]),
    ("我住在杭州。不對，明天", []),
    ("我住在杭州。不對，今天不是週一。", []),
    ("I live in Braga. No wait, Coimbra.", [("home", "Coimbra")]),
    ("I live in Braga — no wait, Coimbra!", [("home", "Coimbra")]),
    ("I like tea. No wait, I like coffee.", [("interests", "coffee")]),
    ("I work as a nurse. Scratch that, a teacher.", [("occupation", "teacher")]),
    ("I am 36 years old. Oops, I meant 37.", [("age", 37)]),
    ("My cat is called Tom. No wait, Tim.", [("note", "My cat is called Tim")]),
]
NOT_WITHIN: Final = [
    ("I live in Braga. Oops, it is late.", [("home", "Braga")]),
    ("I live in Braga. No wait, tomorrow.", [("home", "Braga")]),
    ("I live in Braga. I mean what I say.", [("home", "Braga")]),
    ("I live in Braga. No wait, did I say Coimbra?", [("home", "Braga")]),
    ("我住在杭州，不是蘇州。", [("home", "杭州")]),
    ("我住在杭州，不對的地方請指出", [("home", "杭州")]),
    ("我住在杭州。說錯了，我養了一隻貓", [("home", "杭州")]),
    ("這樣做不對，我住在杭州", [("home", "杭州")]),
    ("他說不對，我住在杭州", []),
    ("我住在杭州，不對嗎？", []),
]


@pytest.mark.parametrize(("words", "told"), [*WITHIN, *NOT_WITHIN])
def test_a_slip_is_put_right_within_one_message(
    words: str, told: list[tuple[str, str | int]]
) -> None:
    simple = [(name, simplified(each) if isinstance(each, str) else each) for name, each in told]

    assert told == [(each.field, each.value) for each in told_in(1, "user", words)]
    assert simple == [(e.field, e.value) for e in told_in(1, "user", simplified(words))]


def test_a_note_that_its_message_puts_right_is_formed() -> None:
    with recollect.open_sync("memory:", embedder="none", model=RuleModel(), worker=False) as memory:
        memory.append("lin", "talk", WITHIN[0][0])
        memory.form("lin")
        (note,) = memory.memories("lin").rows

    assert "我的貓叫團子" == note.value["content"]


@pytest.mark.parametrize(("before", "words", "field", "value"), SLIPS)
def test_a_slip_is_put_right(before: str, words: str, field: str, value: str) -> None:
    (right,) = put_right(2, "user", words, before)
    assert (right.field, str(right.value), right.quote) == (field, value, words)


@pytest.mark.parametrize(("before", "words"), NO_SLIPS)
def test_what_only_looks_like_a_slip_changes_nothing(before: str, words: str) -> None:
    assert put_right(2, "user", words, before) == []


@pytest.mark.parametrize("formed_between", [True, False])
def test_the_profile_holds_the_value_that_was_meant(*, formed_between: bool) -> None:
    async def scenario() -> None:
        async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
            for text in ("I moved to Braga last week.", "No wait, I meant Coimbra."):
                await memory.append("ana", "talk", [{"role": "user", "content": text}])
                if formed_between:
                    await memory.form("ana")
            await memory.form("ana")
            profile = await memory.get("ana", "User", "User")
            assert profile is not None
            assert profile.value["home"] == "Coimbra"
            (evidence,) = profile.evidence["/home"]
            assert evidence.quote == "No wait, I meant Coimbra"

    asyncio.run(scenario())


def test_a_slip_of_one_speaker_is_not_put_right_by_another() -> None:
    async def scenario() -> None:
        async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
            said = (("Ana", "I live in Braga."), ("Rui", "No wait, I meant Coimbra."))
            for name, text in said:
                message = recollect.NewMessage(role="user", name=name, text=text)
                await memory.append("home", "talk", [message])
            await memory.form("home")
            page = await memory.memories("home")
            assert [each.value.get("home") for each in page.rows] == ["Braga"]

    asyncio.run(scenario())
