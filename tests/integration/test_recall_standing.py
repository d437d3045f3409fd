"""What is over, and questions that were asked before, stand behind what answers a question."""

from datetime import UTC, datetime, timedelta

import pytest

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.recall.rank_corrections import ASKED, OVER, PERSONAL, REPEATED, STANDING
from recollect.recall.results import Recall
from recollect.records import JsonObject, NewMessage, Scope
from recollect.testing import FrozenClock
from recollect.text.chinese_scripts import simplified

ADA: Scope = ("ada",)
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
OLD, NEW, AGAIN = "I live in Faro.", "No, that is wrong, I live in Evora.", "Where do I live?"
QUERY = "Where does Ada live?"


async def told(memory: recollect.Recollect, clock: FrozenClock, *texts: str) -> None:
    """Say and form one sentence after the other."""
    for number, text in enumerate(texts):
        clock.advance(3_600)
        await memory.append(ADA, "talk", [NewMessage(role="user", id=f"m{number}", text=text)])
        clock.advance(60)
        await memory.form(ADA)


def open_memory(clock: FrozenClock) -> recollect.Recollect:
    return recollect.open("memory:", embedder="none", model=RuleModel(), worker=False, clock=clock)


def lowered_in(found: Recall) -> dict[str, float]:
    """Return how far the entries that do not stand were lowered."""
    return {each.text: each.signals[STANDING] for each in found.entries if STANDING in each.signals}


async def test_what_holds_comes_before_what_is_over() -> None:
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, OLD, NEW, AGAIN, "Since when do I live there?")
        found = await memory.recall(ADA, "Where do I live?")

    texts = [each.text for each in found.entries]
    assert {NEW, "home: Evora"} == set(texts[:2])
    assert {OLD: OVER, AGAIN: REPEATED, "Since when do I live there?": REPEATED} == (
        lowered_in(found)
    )
    assert AGAIN in texts[-2:]
    assert all(abs(sum(each.signals.values()) - each.score) < 1e-4 for each in found.entries)


CHINESE: tuple[str, ...] = (
    "我叫王淑芬，我住在台北市大安區。",
    "我在台積電當軟體工程師。",
    "我搬到新竹了。",
    "我以前住哪裡？",
    "我在哪間公司上班？",
    "我先生是做什麼的？",
    "你记得我喜欢什么吗？",
)


@pytest.mark.parametrize(
    ("query", "answer"), [("我住在哪裡", "home: 新竹"), ("我在哪里工作", "在台積電當軟體工程師")]
)
async def test_what_was_only_asked_in_chinese_comes_behind_the_answer(
    query: str, answer: str
) -> None:
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, *CHINESE)
        found = await memory.recall(ADA, query)

    assert answer in found.entries[0].text
    assert dict.fromkeys(CHINESE[3:], REPEATED) == {
        text: part for text, part in lowered_in(found).items() if part == REPEATED
    }


@pytest.mark.parametrize(
    "text",
    [
        "我什麼都吃",
        "我喜歡跑步什麼的",
        "我買了幾本書",
        "我忘了密碼是什麼",
        "我知道他在哪裡",
        "我要買什麼？",
        "我在北京出差，住什麼酒店？",
        "我哪兒也沒去",
        "我住在上海",
        "我搬到新竹了，你呢？",
    ],
)
async def test_a_chinese_message_that_tells_something_is_not_lowered(text: str) -> None:
    for words in (text, simplified(text)):
        clock = FrozenClock(START)
        async with open_memory(clock) as memory:
            await told(memory, clock, words)
            assert {} == lowered_in(await memory.recall(ADA, "我住在哪裡"))


@pytest.mark.parametrize(
    "query", ["Where did I live before?", "What was my home in 2025?", "我以前住在哪里？"]
)
async def test_a_question_about_the_past_lowers_nothing_that_is_over(query: str) -> None:
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, OLD, NEW)
        assert {} == lowered_in(await memory.recall(ADA, query))


async def test_an_ended_memory_comes_behind_one_that_holds() -> None:
    """Where ended ones are asked for as well; none is lowered at a time when it held."""
    clock = FrozenClock(START)
    ended = {"old": START - timedelta(days=9), "new": None}
    async with open_memory(clock) as memory:
        for key, until in ended.items():
            fact = {"subject": "Ada", "predicate": "lives in", "object": key}
            await memory.put(ADA, "Fact", key, fact, valid_until=until)
        ever = await memory.recall(ADA, QUERY, where=recollect.Where(valid_at="ever"))
        before = recollect.Where(valid_at=START - timedelta(days=10))
        then = await memory.recall(ADA, QUERY, where=before)

    assert ["Fact/new", "Fact/old"] == [each.source for each in ever.entries]
    assert [OVER] == list(lowered_in(ever).values())
    assert {} == lowered_in(then)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("Where do I live?", {"home": "Evora"}),
        ("What do I do for work?", {"occupation": "a nurse"}),
        ("How old is she?", {"age": 44}),
        ("我住在哪里？", {"home": "埃武拉"}),
        ("我住在哪裡？", {"住址": "埃武拉"}),
        ("Where does Ada work?", {"subject": "Ada", "predicate": "works at", "object": "Lume"}),
        ("What is her job?", {"subject": "Ada", "predicate": "works as", "object": "baker"}),
    ],
)
async def test_a_field_is_found_by_the_words_in_which_people_ask_for_it(
    query: str, value: JsonObject
) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.put(ADA, "Card", "one", value)
        await memory.put(
            ADA, "Card", "two", {"subject": "Ada", "predicate": "likes", "object": "tea"}
        )
        await memory.append(ADA, "talk", ["The boat is red.", "It rains in Porto.", "我们明天见。"])

        found = await memory.recall(ADA, query, limit=1)

    assert ["Card/one"] == [each.source for each in found.entries]


MANY: tuple[str, ...] = (
    "My name is Ada.",
    "I work as a nurse.",
    "I like rowing.",
    "My sister lives in Ghent.",
    "I live for my work these days.",
    "The house where we lived is sold.",
)


@pytest.mark.parametrize("query", ["Where do I live?", "What is my address?", "我住在哪里？"])
async def test_the_profile_that_has_the_answer_comes_first(query: str) -> None:
    """However many fields it has: among them its words count for little."""
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, NEW, *MANY)
        found = await memory.recall(ADA, query)

    assert "home: Evora" in found.entries[0].text
    assert ASKED == found.entries[0].signals[PERSONAL]
    assert all(abs(sum(each.signals.values()) - each.score) < 1e-4 for each in found.entries)


@pytest.mark.parametrize(
    "query", ["Where does my sister live?", "Where does Ada live?", "How is the weather?"]
)
async def test_no_profile_is_raised_by_a_question_for_something_else(query: str) -> None:
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, NEW, *MANY)
        found = await memory.recall(ADA, query)

    assert ASKED not in [each.signals.get(PERSONAL) for each in found.entries]


async def together(*texts: str, query: str) -> dict[str, float]:
    """Say the sentences at once, form them, and return what a query lowers."""
    clock = FrozenClock(START)
    async with open_memory(clock) as memory:
        await told(memory, clock, "I work as a nurse.", "The boat is red.")
        said = [NewMessage(role="user", id=f"t{at}", text=each) for at, each in enumerate(texts)]
        await memory.append(ADA, "talk", said)
        await memory.form(ADA)
        return lowered_in(await memory.recall(ADA, query, limit=30))


@pytest.mark.parametrize(
    ("texts", "query", "lowered"),
    [
        (("I don't live in Faro any more.",), "Where do I live?", {0}),
        (("I no longer live in Faro.",), "Where do I live?", {0}),
        (("我不住在杭州了。",), "我住在哪里？", {0}),
        (("我已經不住在杭州了。",), "我住在哪裡？", {0}),
        (("I don't live in Faro any more.",), "Do I live in Faro?", set()),
        (("I don't live in Faro any more, but in Evora.",), "Where do I live?", set()),
        (("I no longer have a cat.",), "Do I have a cat?", set()),
        (("I moved to Faro.", "No wait, I meant Evora."), "Where do I live?", {0}),
        (("我搬到杭州了。", "說錯了，是蘇州。"), "我住在哪裡？", {0}),
        (("I moved to Faro.", "No wait, I forgot the keys."), "Where do I live?", set()),
        (("I moved to Faro.", "I meant well."), "Where do I live?", set()),
        (("I moved to Faro.", "No wait, I meant Evora."), "Where did I live before?", set()),
    ],
)
async def test_what_its_own_words_say_is_over_comes_behind(
    texts: tuple[str, ...], query: str, lowered: set[int]
) -> None:
    found = await together(*texts, query=query)

    assert dict.fromkeys((texts[at] for at in lowered), OVER) == found


@pytest.mark.parametrize(
    ("told_first", "query"),
    [
        ("I live in Faro, near the harbour.", "Where do I live?"),
        ("我住在里斯本，离海很近。", "我住在哪里？"),
        ("我住在里斯本，離海很近。", "我住在哪裡？"),
    ],
)
async def test_an_answer_bears_as_much_on_a_question_that_was_asked_before(
    told_first: str, query: str
) -> None:
    """The earlier question outscores every answer, which is no less relevant for that."""
    clock = FrozenClock(START)

    async def relevance(memory: recollect.Recollect) -> float:
        found = (await memory.recall(ADA, query)).entries
        return next(each.relevance for each in found if each.text == told_first)

    async with open_memory(clock) as memory:
        others = [f"Row {number} of the tiles is blue, 第{number}排。" for number in range(40)]
        for number, text in enumerate([*others, told_first]):
            message = NewMessage(role="user", id=f"m{number}", text=text)
            await memory.append(ADA, f"talk-{number}", [message])
        before = await relevance(memory)
        await memory.append(ADA, "asked", [NewMessage(role="user", text=query)])
        asked = await relevance(memory)

    # The words of the question are less rare by then, which is all that may count.
    assert 0.95 * before < asked
