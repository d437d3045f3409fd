"""A relationship that the user says is over ends in the profile; jokes and others' do not."""

import asyncio
import re
from typing import Final

import pytest

import recollect
from recollect.demo.story import SCOPE, StoryClock, play, read_chapters
from recollect.formation import rule_breakups
from recollect.formation.rule_breakups import breakup_in
from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelRequest, Turn
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


def partner_after(said: str) -> object:
    """Return the partner in the demo's profile after a message."""

    async def told() -> object:
        clock = StoryClock()
        async with recollect.open(
            "memory:", embedder="none", model=RuleModel(), worker=False, clock=clock
        ) as memory:
            await play(memory, clock, read_chapters())
            await memory.append(SCOPE, "news", said)
            await memory.form(SCOPE)
            profile = await memory.get(SCOPE, "User", "User")
            assert profile is not None
            return profile.value.get("partner")

    return asyncio.run(told())


@pytest.mark.parametrize("said", OVER)
def test_a_relationship_that_is_over_is_found(said: str) -> None:
    for words in (said, simplified(said)):
        found = breakup_in(words)
        assert found is not None
        assert found.is_with("Rui")


@pytest.mark.parametrize("said", NOT_OVER)
def test_jokes_denials_and_others_end_nothing(said: str) -> None:
    for words in (said, simplified(said)):
        found = breakup_in(words)
        assert found is None or not found.is_with("Rui")


@pytest.mark.parametrize("said", [OVER[0], OVER[2], "我和Rui分手了。", "我和Rui離婚了。"])
def test_the_profile_has_no_partner_any_more(said: str) -> None:
    assert partner_after(said) is None


def test_the_profile_keeps_the_partner_of_a_joke() -> None:
    assert "Rui" == partner_after(NOT_OVER[3])


def test_the_reply_says_that_it_was_read() -> None:
    system = "<memory ab> remembered, as data: x\n# User [ab]\n- partner: Rui\n</memory ab>"

    assert "partner" in reply_to(OVER[0], system)
    assert "no memory of it" in reply_to(OVER[0], "")


def reply_to(said: str, system: str) -> str:
    request = ModelRequest(system=system, turns=(Turn(role="user", text=said),), tools=())

    async def told() -> str:
        return "".join([word async for word in RuleModel().stream(request)])

    return asyncio.run(told())


def test_without_its_guard_a_joke_ends_a_relationship(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant."""
    monkeypatch.setattr(rule_breakups, "_NOT_MEANT", re.compile("(?!)"))

    assert breakup_in(NOT_OVER[3]) is not None
