"""Questions for what is coming: answered by the days that entries name, in both languages."""

from datetime import UTC, date, datetime
from typing import Final

import pytest

import recollect
from recollect.formation.plan_questions import (
    ComingDays,
    coming_days,
    first_day_within,
    written_days,
)
from recollect.recall import coming_entries
from recollect.records import NewMessage, PutMemory, Scope

CLARA: Final[Scope] = ("clara",)
TODAY: Final = date(2025, 6, 9)
NOW: Final = datetime(2025, 6, 9, 12, tzinfo=UTC)
BOAT: Final = "The boat is repaired on 2025-07-30."
DENTIST: Final = "Dentist Okafor at nine on 2025-06-12."
RETURN: Final = "Otto is back from Lyon."
LESSON: Final = "swimming starts next tuesday, bring the blue bag"
OVER: Final = "Choir trip to Ghent on 2025-06-05."


async def shown(query: str, *, fillers: int = 0, min_score: float | None = None) -> list[str]:
    """Return the texts of a context that has room for a few lines, in their order of choice."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        said = NewMessage(role="user", text=LESSON, time=datetime(2025, 6, 8, 9, tzinfo=UTC))
        await memory.append(CLARA, "talk", said)
        writes = [
            PutMemory(type="Note", key=text[:5], value={"content": text})
            for text in (BOAT, DENTIST, OVER)
        ]
        begins = datetime(2025, 6, 20, tzinfo=UTC)
        writes.append(
            PutMemory(type="Note", key="otto", value={"content": RETURN}, valid_from=begins)
        )
        for number in range(fillers):
            text = f"Paid {number} for the {number}th box of tiles on 2024-0{number % 9 + 1}-12."
            writes.append(PutMemory(type="Note", key=f"f{number}", value={"content": text}))
        await memory.apply(CLARA, writes)
        found = await memory.context(
            CLARA, query, asked_at=NOW, budget_tokens=300, min_score=min_score
        )
    return [each.entry.content.text.removeprefix("content: ") for each in found.entries]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Do I have anything on tomorrow?", date(2025, 6, 10), date(2025, 6, 10)),
        ("so what are my plans for the 20th?", date(2025, 6, 20), date(2025, 6, 20)),
        ("What do I have on this month?", TODAY, date(2025, 6, 30)),
        ("any plans for July", date(2025, 7, 1), date(2025, 7, 31)),
        ("明天我要做什么？", date(2025, 6, 10), date(2025, 6, 10)),
        ("我七月有什麼計畫？", date(2025, 7, 1), date(2025, 7, 31)),
        ("聽日有咩做？", date(2025, 6, 10), date(2025, 6, 10)),
        ("周六我有空吗", date(2025, 6, 14), date(2025, 6, 14)),
    ],
)
def test_the_days_of_plans_are_read(text: str, first: date, last: date) -> None:
    assert coming_days(text, TODAY) == ComingDays(first, last)


@pytest.mark.parametrize(
    "text", ["What's coming up?", "do I have any appointments", "what are my plans", "我有哪些安排"]
)
def test_plans_of_no_named_day_are_the_next_ones(text: str) -> None:
    asked = coming_days(text, TODAY)

    assert asked is not None
    assert (TODAY, False) == (asked.first, asked.is_named)


@pytest.mark.parametrize(
    "text",
    [
        "What do I have on my sandwich?",
        "What do I have?",
        "What's on?",
        "What did I have last week?",
        "What are my plans for Mira's birthday?",
        "When is my appointment?",
        "I have plans for Saturday.",
        "有什么事？",
        "下周的面试是几点？",
        "我有什么过敏？",
        "",
        "What's coming up? " * 20,
    ],
)
def test_a_question_of_a_topic_or_of_the_past_is_none_for_plans(text: str) -> None:
    assert coming_days(text, TODAY) is None


@pytest.mark.parametrize("today", [date.min, date.max])
def test_no_day_is_too_early_or_too_late(today: date) -> None:
    asked = coming_days("what's coming up tomorrow or soon?", today) or coming_days("plans?", today)

    assert asked is None
    assert coming_days("my plans", today) is not None
    assert written_days(ComingDays(today, today))


@pytest.mark.parametrize(
    ("text", "said_on", "first"),
    [
        ("the dentist is on 20 June", date(2025, 6, 8), date(2025, 6, 20)),
        ("it was lovely on 5 June", date(2025, 6, 8), None),
        ("swimming on friday", date(2025, 6, 8), date(2025, 6, 13)),
        ("swimming on friday", date(2025, 5, 1), None),
        ("下个星期三去看牙", date(2025, 6, 8), date(2025, 6, 11)),
        ("back on 2026-02-01, and off again on 2025-08-01", None, date(2025, 8, 1)),
        ("in 2026", None, None),
    ],
)
def test_a_day_is_that_of_the_message(text: str, said_on: date | None, first: date | None) -> None:
    """Of days that recur the next one counts, and a year is none."""
    assert first_day_within(ComingDays(TODAY, date(2026, 6, 9)), text, said_on) == first


@pytest.mark.parametrize(
    "query", ["What's coming up?", "我接下来有什么安排？", "我最近有什麼計畫？"]
)
async def test_what_names_a_coming_day_comes_first(query: str) -> None:
    """The nearest first, of a message by its own day; what is over does not come first."""
    found = await shown(query)

    assert {LESSON, DENTIST, RETURN} == set(found[:3])


async def test_plans_are_found_in_a_large_scope() -> None:
    found = await shown("What do I have on this week?", fillers=600)

    assert DENTIST in found[:2]


async def test_a_named_day_leaves_the_others_behind() -> None:
    assert BOAT == (await shown("Do I have anything on in July?"))[0]
    assert RETURN == (await shown("What is happening on 20 June?"))[0]


async def test_a_floor_of_relevance_leaves_the_ordinary_search() -> None:
    assert DENTIST not in await shown("What's coming up?", min_score=0.5)


async def test_plans_in_the_order_of_other_answers_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without their days they share no word with the question."""
    monkeypatch.setattr(coming_entries, "first_day_within", lambda *_: None)
    with pytest.raises(AssertionError):
        await test_what_names_a_coming_day_comes_first("What's coming up?")
