"""What the user says is over ends in the profile; jokes, denials and what is others' do not."""

import asyncio
import re
from typing import Final

import pytest

import recollect
from recollect.demo.story import SCOPE, StoryClock, play, read_chapters
from recollect.formation import rule_ends
from recollect.formation.rule_ends import ends_in
from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelRequest, Turn
from recollect.records import Json
from recollect.text.chinese_scripts import simplified

OVER: Final = [
    "Rui and I broke up.",
    "Rui and I have split up, sadly.",
    "I broke up with Rui last week.",
    "I've just broken up with Rui.",
    "Rui and I got divorced.",
    "Rui and I are no longer together.",
    "My husband and I are divorced.",
    "I'm no longer with Rui.",
    "我和Rui分手了。",
    "我跟Rui離婚了。",
    "Rui和我已經分開了。",
    "我和老公離婚了",
    "我不跟Rui在一起了。",
]
NOT_OVER: Final = [
    "My sister broke up with Tom.",
    "My sister and Rui broke up.",
    "Tom and I broke up.",
    "Rui and I broke up. Just kidding!",
    "Rui and I almost broke up.",
    "If Rui and I broke up, I would move.",
    "Did Rui and I break up?",
    "Rui and I never broke up.",
    "Rui and I broke up the old sofa.",
    "She wrote: Rui and I broke up.",
    "My friend said 'Rui and I broke up.'",
    "Rui and I broke up in the film.",
    "I dreamt that Rui and I broke up.",
    "Rui and I broke up, but we are back together.",
    "我妹妹和Tom分手了。",
    "我和Rui沒有分手。",
    "我和Rui差點分手了。",
    "我和Rui分手了，開玩笑的。",
    "我和Rui分手了嗎？",
    "如果我和Rui分手了，我會搬家。",
    "她寫道：我和Rui分手了。",
]
HOME: Final = "Mira lives in Porto, Rua das Amoreiras 18"
ENDS: Final = [
    ("I don't live in Porto any more.", "home", "Porto"),
    ("I don\u2019t live in Porto anymore!", "home", "Porto"),
    ("By the way, I no longer live in Porto.", "home", "Porto"),
    ("I've just moved away from Porto.", "home", "Porto"),
    ("我不住在Porto了。", "home", "Porto"),
    ("我已經不住台北了。", "home", "台北"),
    ("我不再住在杭州。", "home", "杭州"),
    ("我不在杭州住了。", "home", "杭州"),
    ("我從台北搬走了。", "home", "台北"),
    ("I no longer work as an exhibition writer.", "occupation", "exhibition writer"),
    ("I don't work as a nurse any longer.", "occupation", "nurse"),
    ("I'm not a nurse any more.", "occupation", "nurse"),
    ("I quit my job last week.", "occupation", "nurse"),
    ("I've retired.", "occupation", "nurse"),
    ("I've quit my job at the museum.", "occupation", "nurse"),
    ("我不當護士了。", "occupation", "护士"),
    ("我上周辞职了。", "occupation", "护士"),
    ("I'm not allergic to shrimp any more.", "allergy", "shrimp only"),
    ("I am no longer allergic to shrimp.", "allergy", "shrimp only"),
    ("我不再對蝦過敏了。", "allergy", "只对虾过敏"),
    ("我对虾不过敏了。", "allergy", "只对虾过敏"),
    ("I don't like tea any more.", "interests", "tea"),
    ("I no longer enjoy rowing.", "interests", "rowing"),
    ("我不喜歡咖啡了。", "interests", "咖啡"),
    ("我已經不爬山了，膝蓋不好。", "interests", "爬山"),
    ("我不再爬山了", "interests", "爬山"),
    ("我不在字節跳動上班了，現在在 Stripe 工作。", "occupation", "在字节跳动上班"),
    ("我不在美團了", "occupation", "在美团做运营"),
    ("我從Google離職了", "occupation", "在Google做分析师"),
]
NO_ENDS: Final = [
    "I don't live in Porto.",
    "I live in Porto.",
    "My sister no longer lives in Porto.",
    "If I no longer live in Porto by then, I will call.",
    "She said I don't live in Porto any more.",
    "I might have moved away from Porto.",
    "I left the house in Porto.",
    "I don't work on Sundays any more.",
    "I quit my job in a dream, just joking.",
    "Should I say that I no longer live in Porto?",
    "我不住在Porto。",
    "我妹妹不住在Porto了。",
    "如果我不住在Porto了怎麼辦",
    "我還沒辭職。",
    "我想辞职了",
    "I'm not allergic to shrimp.",
    "My son is not allergic to shrimp any more.",
    "我对虾不过敏。",
    "我妈对虾不过敏了。",
    "我今天不爬山了",
    "我不想爬山了",
    "我爸已經不爬山了",
    "我已經不爬山了嗎？",
    "我不在上海了",
    "我不在公司了",
    "他從Google離職了",
    "我想從Google離職",
]
LEFT_ALL = "I can't stand tea anymore. I quit my job. I no longer like jazz."


@pytest.mark.parametrize(("said", "field", "value"), ENDS)
def test_an_end_of_a_home_or_a_job_is_found(said: str, field: str, value: str) -> None:
    (found,) = ends_in(said)

    assert found.field == field
    assert found.ends(value)
    assert not found.of or not found.ends("another")


async def test_every_end_of_a_message_leaves_the_profile() -> None:
    """A later end, or another item of one list, is no less over than the first."""
    said = ("I like tea. I like chess. I like jazz. I work as a nurse.", LEFT_ALL)
    async with recollect.open(
        "memory:", embedder="none", model=RuleModel(), worker=False
    ) as memory:
        for text in said:
            await memory.append("ada", "talk", text)
            await memory.form("ada")
        (profile,) = (await memory.memories("ada", type_="User")).rows

    assert {"interests": ["chess"]} == profile.value


@pytest.mark.parametrize("said", NO_ENDS)
def test_what_is_not_said_to_be_over_stays(said: str) -> None:
    assert [] == ends_in(said)


def partner_after(said: str) -> object:
    return profile_after(said).get("partner")


def profile_after(said: str) -> dict[str, Json]:
    """Return the demo's profile after a message."""

    async def told() -> dict[str, Json]:
        clock = StoryClock()
        async with recollect.open(
            "memory:", embedder="none", model=RuleModel(), worker=False, clock=clock
        ) as memory:
            await play(memory, clock, read_chapters())
            await memory.append(SCOPE, "news", said)
            await memory.form(SCOPE)
            profile = await memory.get(SCOPE, "User", "User")
            assert profile is not None
            return dict(profile.value)

    return asyncio.run(told())


@pytest.mark.parametrize("said", OVER)
def test_a_relationship_that_is_over_is_found(said: str) -> None:
    for words in (said, simplified(said)):
        (found,) = ends_in(words)
        assert found.ends("Rui")


@pytest.mark.parametrize("said", NOT_OVER)
def test_jokes_denials_and_others_end_nothing(said: str) -> None:
    for words in (said, simplified(said)):
        assert not any(each.ends("Rui") for each in ends_in(words))


@pytest.mark.parametrize("said", [OVER[0], OVER[2], "我和Rui分手了。", "我和Rui離婚了。"])
def test_the_profile_has_no_partner_any_more(said: str) -> None:
    assert partner_after(said) is None


@pytest.mark.parametrize("said", ["I'm not allergic to shrimp any more.", "我對蝦不過敏了。"])
def test_the_profile_has_no_allergy_any_more(said: str) -> None:
    assert "allergy" not in profile_after(said)
    assert "allergy" in profile_after("I'm not allergic to nuts any more.")


def test_the_profile_keeps_the_partner_of_a_joke() -> None:
    assert "Rui" == partner_after(NOT_OVER[3])


@pytest.mark.parametrize(
    ("said", "home"),
    [
        ("I don't live in Porto any more.", []),
        ("我不住在Porto了。", []),
        ("I don't live in Ghent any more.", [HOME]),
        ("My sister doesn't live in Porto any more.", [HOME]),
    ],
)
def test_the_fact_of_a_home_that_is_over_ends(said: str, home: list[str]) -> None:
    assert facts_after(said, "lives") == home


def test_a_home_in_a_profile_that_is_over_leaves_it() -> None:
    told = ["I live in Oslo. I work as a nurse.", "I don't live in Oslo any more."]
    assert profile_of(*told) == {"occupation": "nurse"}
    assert profile_of(*told, "I live in Turku.")["home"] == "Turku"
    assert profile_of(told[0], f"{told[1]} I live in Turku.")["home"] == "Turku"
    assert profile_of(*told[:1], "I don't live in Bergen any more.")["home"] == "Oslo"
    assert profile_of(*told[:1], "I've retired.") == {"home": "Oslo"}
    assert profile_of(told[0], "I like chess.", told[1], "I've retired.") == {
        "interests": ["chess"]
    }
    assert profile_of(told[0], f"{told[1]} I like chess.")["interests"] == ["chess"]


def test_the_only_job_that_is_known_ends() -> None:
    assert facts_after("I've quit my job.", "works") == []
    assert facts_after("I live in Lisbon.", "works") == [
        "Mira works as exhibition writer at the Museu do Sal in Porto"
    ]


def facts_after(said: str, verb: str) -> list[str]:
    """Return what the demo's facts in force say with *verb* after a message."""

    async def told() -> list[str]:
        clock = StoryClock()
        async with recollect.open(
            "memory:", embedder="none", model=RuleModel(), worker=False, clock=clock
        ) as memory:
            await play(memory, clock, read_chapters())
            await memory.append(SCOPE, "news", said)
            await memory.form(SCOPE)
            facts = (await memory.memories(SCOPE, limit=100)).rows
            return [
                each.text for each in facts if not each.valid_until and f" {verb} " in each.text
            ]

    return asyncio.run(told())


def profile_of(*said: str) -> dict[str, Json]:
    """Return the profile that the rules form of these messages, one after the other."""

    async def told() -> dict[str, Json]:
        async with recollect.open(
            "memory:", embedder="none", model="rules", worker=False
        ) as memory:
            for each in said:
                await memory.append("u", "t", each)
                await memory.form("u")
            profile = await memory.get("u", "User", "User")
            assert profile is not None
            return dict(profile.value)

    return asyncio.run(told())


def test_the_reply_says_that_it_was_read() -> None:
    system = "<memory ab> remembered, as data: x\n# User [ab]\n- partner: Rui\n</memory ab>"

    assert "partner" in reply_to(OVER[0], system)
    home = "<memory ab> x\n## Facts\n[home] Mira lives in Porto (since 3 May 2025)\n</memory ab>"
    assert "where you live" in reply_to(ENDS[0][0], home)
    assert "no memory of it" in reply_to(OVER[0], "")


def reply_to(said: str, system: str) -> str:
    request = ModelRequest(system=system, turns=(Turn(role="user", text=said),), tools=())

    async def told() -> str:
        return "".join([word async for word in RuleModel().stream(request)])

    return asyncio.run(told())


def test_without_its_guard_a_joke_ends_a_relationship(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant."""
    monkeypatch.setattr(rule_ends, "_NOT_MEANT", re.compile("(?!)"))

    assert ends_in(NOT_OVER[3])
