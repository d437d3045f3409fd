"""Questions for what changed: answered by their period, in English and both scripts of Chinese."""

from datetime import UTC, date, datetime

import pytest

import recollect
from recollect.recall import context_selection
from recollect.recall.query import Where
from recollect.records import NewMessage, Scope
from recollect.text.change_questions import Period, news_period

CLARA: Scope = ("clara",)
TODAY = date(2025, 6, 9)
NOW = datetime(2025, 6, 9, 12, tzinfo=UTC)
SAID = {
    datetime(2025, 1, 6, tzinfo=UTC): "I live in Ghent and work as a nurse.",
    datetime(2025, 2, 3, tzinfo=UTC): "The march past our house was loud.",
    datetime(2025, 3, 10, tzinfo=UTC): "I bought a bicycle for the towpath.",
    datetime(2025, 4, 12, tzinfo=UTC): "The flat in Antwerp is lovely, we settled in.",
    datetime(2025, 6, 2, tzinfo=UTC): "I teach at a school from today.",
}


async def told(query: str, where: Where | None = None) -> list[str]:
    """Return the texts that a context shows of what Clara said."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        for at, text in SAID.items():
            said = NewMessage(role="user", text=text, time=at)
            await memory.append(CLARA, f"{at:%B}", said)
        found = await memory.context(CLARA, query, asked_at=NOW, where=where or Where())
    return [each.entry.content.text for each in found.entries]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What changed since March?", date(2025, 3, 1), TODAY),
        ("what's new with me since yesterday?", date(2025, 6, 7), TODAY),
        ("Can you tell me what has changed in May?", date(2025, 5, 1), date(2025, 5, 31)),
        ("What changed since December?", date(2024, 12, 1), TODAY),
        ("What happened in 2024?", date(2024, 1, 1), date(2024, 12, 31)),
        ("What changed lately?", date(2025, 4, 10), TODAY),
        ("What changed?", date(2025, 4, 10), TODAY),
        ("三月以来有什么变化？", date(2025, 3, 1), TODAY),
        ("十二月以來有什麼變化？", date(2024, 12, 1), TODAY),
        ("2024年发生了什么？", date(2024, 1, 1), date(2024, 12, 31)),
        ("最近有什麼改變？", date(2025, 4, 10), TODAY),
    ],
)
def test_the_period_of_news_is_read(text: str, first: date, last: date) -> None:
    assert Period(first, last) == news_period(text, TODAY)


@pytest.mark.parametrize(
    "text",
    [
        "What changed in the contract since March?",
        "What's new?",
        "What happened?",
        "What happened to Tom in May?",
        "What changed since I moved?",
        "I changed my mind in March.",
        "合同三月以来有什么变化？",
        "发生了什么事？",
        "What changed in 2031?",
        "",
        "What changed since March? " * 20,
        "1" * 100 + "我",
    ],
)
def test_a_question_of_a_topic_is_none_for_news(text: str) -> None:
    assert news_period(text, TODAY) is None


@pytest.mark.parametrize("today", [date.min, date.max])
def test_no_day_is_too_early_or_too_late(today: date) -> None:
    period = news_period("What changed lately?", today)

    assert period is not None
    assert today == period.last


@pytest.mark.parametrize("query", ["What changed since March?", "三月以來有什麼變化？"])
async def test_what_changed_is_what_was_said_since(query: str) -> None:
    """Not the messages with the word "March": none of these changes has it."""
    assert list(SAID.values())[2:] == sorted(await told(query), key=list(SAID.values()).index)


async def test_a_period_ends_where_it_says() -> None:
    assert {"The flat in Antwerp is lovely, we settled in."} == set(
        await told("What changed in April?")
    )


async def test_a_period_without_a_word_leaves_the_ordinary_search() -> None:
    """As it does if the caller names the period."""
    before = Where(until=datetime(2025, 2, 1, tzinfo=UTC))

    assert "I live in Ghent and work as a nurse." not in await told("What happened in May?")
    assert set(await told("What changed since March?", before)) <= {next(iter(SAID.values()))}


async def test_news_that_are_cut_by_their_relevance_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What changed shares no word with the question, and would be left out."""

    def cut(*_: object) -> float:
        return context_selection.TAIL_BELOW

    monkeypatch.setattr(context_selection, "_least_relevance", cut)
    with pytest.raises(AssertionError):
        await test_what_changed_is_what_was_said_since("What changed since March?")
