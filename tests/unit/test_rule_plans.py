"""The chat of rules lists the user's plans, and follows those whose day is moved or that end."""

import asyncio
from typing import Final

import pytest

from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_plans import SHOWN_MAX, is_plan, plans_asked
from tests.harness.rule_chat import answer_after

TALKS: Final = [
    (
        (
            "I'm flying to Oslo on 12 December with my sister",
            "I have a dentist appointment on Thursday at 3pm",
            "I like rowing",
            "the dentist moved to Friday",
        ),
        "what are my plans?",
        ("Oslo on 12 December", "appointment on Thursday", "moved to Friday"),
        ("rowing",),
    ),
    (
        ("I'm flying to Oslo in May", "We've booked a table for Sunday", "Oslo is cancelled"),
        "any plans?",
        ("a table for Sunday",),
        ("Oslo",),
    ),
    (
        ("我下週六要去花蓮看我姐", "我喜歡划船", "禮拜五有個面試"),
        "我接下來有什麼安排？",
        ("花蓮", "面試"),
        ("划船",),
    ),
    (("我下週六要去花蓮看我姐", "花蓮不去了"), "我有什麼計劃？", (), ("看我姐",)),
    (
        ("I have a dentist appointment on Thursday at 3pm", "the dentist moved to Friday"),
        "when is my dentist appointment?",
        ("moved to Friday",),
        ("Thursday",),
    ),
    (
        ("my exam is on 3 December", "the exam has been postponed to 10 December"),
        "when is my exam?",
        ("10 December",),
        ("on 3 December",),
    ),
    (
        ("I have a dentist appointment on Thursday at 3pm", "the dentist moved a gym to Friday"),
        "when is my dentist appointment?",
        ("Thursday at 3pm",),
        ("gym",),
    ),
]


@pytest.mark.parametrize(("talk", "asked", "told", "untold"), TALKS)
def test_plans_are_told_as_they_are_now(
    talk: tuple[str, ...], asked: str, told: tuple[str, ...], untold: tuple[str, ...]
) -> None:
    answer = asyncio.run(answer_after(talk, asked))
    assert [each for each in told if each not in answer] == []
    assert [each for each in untold if each in answer] == []


def test_without_a_plan_nothing_else_is_quoted() -> None:
    answer = asyncio.run(answer_after(["My plan for the atlas was bad"], "what are my plans?"))

    assert answer.startswith("I remember nothing")


@pytest.mark.parametrize(
    "said",
    [
        "what are my plans?",
        "What's coming up?",
        "do I have anything planned?",
        "any plans",
        "我最近有什么安排？",
        "我的行程有哪些",
    ],
)
def test_a_question_for_all_plans_is_one(said: str) -> None:
    assert plans_asked(said, []) == []


@pytest.mark.parametrize(
    "said", ["what are my plans for Mira's birthday?", "what is my name?", "我有什麼過敏？"]
)
def test_a_question_for_something_else_is_none(said: str) -> None:
    assert plans_asked(said, []) is None


@pytest.mark.parametrize(
    "said",
    [
        "I'm going to be late",
        "I'm not going to Oslo",
        "I never go to Oslo",
        "Are we going to Oslo?",
        "我不打算去花蓮",
        "I like going to the sea",
    ],
)
def test_what_is_no_plan_is_not_listed(said: str) -> None:
    assert not is_plan(said)


def test_the_newest_plans_are_listed_once_and_none_of_an_assistant() -> None:
    said = [RememberedLine(text=f"I'm flying to Town{n}.", speaker="user") for n in range(9)]
    assistant = RememberedLine(text="I'm going to the library for you.", speaker="assistant")
    assert plans_asked("any plans?", [*said, *said, assistant]) == said[-SHOWN_MAX:]
