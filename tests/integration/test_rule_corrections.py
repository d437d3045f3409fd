"""What a user corrects in a talk with the rule model: one value stands afterwards."""

import asyncio

import pytest

import recollect
from recollect.chat import Chatbot
from recollect.formation.rule_model import RuleModel
from recollect.records import JsonObject, PutMemory
from tests.unit.test_rule_answer_questions import demo

SCOPE = ("ada",)


async def told(*said: str, asked: str = "") -> tuple[set[str], str]:
    """Return what stands in force after some messages, each formed, and the answer to another."""
    model = RuleModel()
    async with recollect.open("memory:", embedder="none", model=model, worker=False) as memory:
        for each in said:
            await memory.append(SCOPE, "talk", [each])
            await memory.form(SCOPE)
        found = (await memory.memories(SCOPE, state="active")).rows
        answer = await Chatbot(memory, model, SCOPE).reply(asked) if asked else ""
    return {str(each.value.get("content", each.text)) for each in found}, answer


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        (
            ("My birthday is on 4 May.", "No wait, my birthday is on 5 May."),
            {"my birthday is on 5 May"},
        ),
        (
            ("My favourite colour is blue.", "My favourite colour is green now."),
            {"My favourite colour is green now"},
        ),
        (("I live in Bergen.", "Change of mind: I moved to Madrid."), {"home: Madrid"}),
        (("我的生日是五月四号。", "等等，我的生日是五月五号。"), {"我的生日是五月五号"}),
        (("我的生日是五月四號。", "不對，我的生日是五月五號。"), {"我的生日是五月五號"}),
    ],
)
async def test_a_corrected_value_stands_alone(said: tuple[str, ...], stands: set[str]) -> None:
    assert stands == (await told(*said))[0]


@pytest.mark.parametrize(
    "said",
    [
        ("My sister is a nurse.", "My sister is in Rome."),
        ("My favourite colour is blue.", "My favourite song is Yesterday."),
    ],
)
async def test_two_things_both_stand(said: tuple[str, ...]) -> None:
    """Of a sister more than one thing may be told, and two favourites are two."""
    assert {each.rstrip(".") for each in said} == (await told(*said))[0]


async def test_every_allergy_is_answered() -> None:
    """One of two would be no answer to what somebody may eat."""
    said = ("I am allergic to peanuts.", "I'm allergic to shrimp.", "I like tea.")

    _, answer = await told(*said, asked="What am I allergic to?")

    assert all(each in answer for each in ("peanuts", "shrimp"))
    assert "tea" not in answer


@pytest.mark.parametrize(
    ("said", "ends", "stays"),
    [
        ("I work as a beekeeper.", "job-museum", "home-porto"),
        ("I live in Seville.", "home-porto", "job-museum"),
    ],
)
def test_a_new_value_ends_the_users_own_fact(said: str, ends: str, stays: str) -> None:
    """A sister keeps her work and her home."""
    ended = asyncio.run(ended_by(said))

    assert ends in ended
    assert not ended & {stays, "ines-job", "ines-home"}


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I moved to Bergen on 10 April.", "2025-04-10"),
        ("I moved to Bergen yesterday.", "2025-04-13"),
        ("I moved to Bergen in April.", "2025-04-01"),
        ("我昨天搬到卑尔根了。", "2025-04-13"),
        ("我昨天搬到卑爾根了。", "2025-04-13"),
        ("I moved to Bergen in March.", "2025-04-14"),
        ("I moved to Bergen last week.", "2025-04-14"),
    ],
)
def test_a_home_ends_on_the_day_that_the_move_names(said: str, day: str) -> None:
    """If it had begun by then, as the home in Porto on 29 March; else when it was said."""
    assert day == asyncio.run(end_of_porto(said))


async def end_of_porto(said: str) -> str:
    """Return the day on which a message of the demonstration's user ends the home in Porto."""
    async with demo() as (memory, place):
        scope = tuple(place)
        await memory.append(scope, "later", [said])
        await memory.form(scope)
        home = await memory.get(scope, "Fact", "home-porto")
    return str(home.valid_until.date()) if home and home.valid_until else ""


async def ended_by(said: str) -> set[str]:
    """Return the keys of the facts that a message of the demonstration's user ends."""
    async with demo() as (memory, place):
        scope = tuple(place)
        for key, predicate in {"ines-job": "works as", "ines-home": "lives in"}.items():
            value: JsonObject = {"subject": "Ines", "predicate": predicate, "object": "Ghent"}
            await memory.apply(scope, [PutMemory(type="Fact", key=key, value=value)])
        before = await ended_in(memory, scope)
        await memory.append(scope, "later", [said])
        await memory.form(scope)
        return await ended_in(memory, scope) - before


async def ended_in(memory: recollect.Recollect, scope: tuple[str, ...]) -> set[str]:
    found = (await memory.memories(scope, type_="Fact")).rows
    return {each.key for each in found if each.valid_until}


@pytest.mark.parametrize(
    ("said", "told", "since"),
    [
        ("I moved to Lisbon on 10 April.", "Mira lives in Lisbon", "2025-04-10"),
        ("We've just moved to Braga.", "Mira lives in Braga", ""),
        ("我昨天搬到布拉加了。", "Mira 住在 布拉加", "2025-04-13"),
        ("I work as an actor now.", "Mira works as an actor", ""),
    ],
)
def test_a_fact_goes_on_in_a_fact(said: str, told: str, since: str) -> None:
    """The graph and the timeline would lose a home that the profile alone tells."""
    profile, facts = asyncio.run(known_after(said))

    assert not profile & {"home", "occupation"}
    assert since == facts[told]


def test_what_a_fact_tells_already_is_told_once() -> None:
    """Neither the profile nor another fact says it again."""
    profile, facts = asyncio.run(known_after("I moved to Braga.", "I live in Braga."))

    assert "home" not in profile
    assert ["Mira lives in Braga"] == [each for each in facts if "Braga" in each]


def test_a_profile_that_has_a_home_keeps_it_up_to_date() -> None:
    """Two homes in force would contradict each other."""
    home: JsonObject = {"name": "Mira", "home": "Porto"}

    told = known_after("I moved to Braga.", PutMemory(type="User", key="User", value=home))
    profile, facts = asyncio.run(told)

    assert "home" in profile
    assert not [each for each in facts if "Braga" in each]


async def known_after(*told: str | PutMemory) -> tuple[set[str], dict[str, str]]:
    """Return the profile's fields and the facts in force, with their first days, in the demo."""
    async with demo() as (memory, place):
        scope = tuple(place)
        await memory.apply(scope, [each for each in told if isinstance(each, PutMemory)])
        for said in (each for each in told if isinstance(each, str)):
            await memory.append(scope, "later", [said])
            await memory.form(scope)
        profile = await memory.get(scope, "User", "User")
        facts = (await memory.memories(scope, type_="Fact")).rows
    return set(profile.value if profile else ()), {
        " ".join(map(str, each.value.values())): str(each.valid_from or "")[:10]
        for each in facts
        if each.valid_until is None
    }
