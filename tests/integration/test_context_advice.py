"""Requests for advice, whose words nobody said, and turns that tell a context nothing."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

import recollect
from benchmarks.idle_queries import FITTED, SECOND_UNSEEN, UNSEEN
from recollect import Evidence, NewMessage
from recollect.recall import context_packing, context_selection
from recollect.recall.advice_requests import asks_for_advice
from recollect.records import PutMemory, Scope

pytestmark = pytest.mark.anyio

ADA: Scope = ("ada",)
REQUESTS = (
    *("Suggest a dessert", "Recommend a restaurant", "Bake me a cake", "Any ideas for dinner?"),
    *("Can you recommend a film?", "What should I cook tonight?", "Help me choose a gift"),
    *("Plan a weekend in Rome", "Write an email to the landlord", "Give me a recipe"),
    *("推荐一道甜点", "附近有什么好餐厅？", "今天晚饭吃什么好？", "今晚吃什麼好", "推薦一家餐廳"),
    *("帮我安排一下周末", "送什么礼物好？", "写一封求职信", "給我一點建議"),
)
NO_REQUESTS = (
    *("What did you recommend?", "Which restaurant did Bob recommend?", "My plan is simple."),
    *("Write a haiku about leaves", "Who wrote the letter?", "I like to cook."),
    *("他推荐的餐厅叫什么", "Let me know. " * 30 + "Any ideas for dinner?"),
)
ALLERGY, LIKING = "The user is allergic to nuts.", "The user likes sour apples."
OTHERS = ("The boat is red.", "The car is at the garage.", "The lease ends in May.")


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_for_advice_is_known(text: str) -> None:
    assert asks_for_advice(text)


@pytest.mark.parametrize("text", [*NO_REQUESTS, *FITTED, *UNSEEN, *SECOND_UNSEEN])
def test_what_asks_for_nothing_or_for_the_past_is_no_request(text: str) -> None:
    assert not asks_for_advice(text)


async def notes(memory: recollect.Recollect, *texts: str) -> None:
    for at, each in enumerate(texts):
        put = PutMemory(type="Note", key=f"n{at}", value={"content": each})
        await memory.apply(ADA, [put])


@pytest.mark.parametrize("asked", REQUESTS)
async def test_advice_is_told_what_a_person_must_not_and_likes(asked: str) -> None:
    """First of all, and no more memories than a few; a question about the world gets none."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await notes(memory, *OTHERS, LIKING, ALLERGY, "The dog is old.", "It rains in Bergen.")

        context = await memory.context(ADA, asked)
        small = await memory.context(ADA, asked, budget_tokens=50)
        idle = await memory.context(ADA, "Who painted the Mona Lisa?")

    texts = [each.text for each in context.entries]
    assert [ALLERGY, LIKING] == texts[:2]
    assert len(texts) <= 5 or "I " in asked
    assert ALLERGY == small.entries[0].text
    assert not idle.entries


async def test_a_diet_goes_before_what_bears_on_the_words_of_the_request() -> None:
    """However little room there is; a liking is shown where there is room."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        said = [f"On Sunday number {at} the cake was good." for at in range(30)]
        await memory.append(ADA, "t", said)
        await notes(memory, ALLERGY, LIKING)

        tight = await memory.context(ADA, "Suggest a cake for Sunday", budget_tokens=120)
        wide = await memory.context(ADA, "Suggest a cake for Sunday", budget_tokens=4_000)

    assert ALLERGY == tight.entries[0].text
    assert len(tight.entries) > 1
    assert {ALLERGY, LIKING} <= {each.text for each in wide.entries}


async def test_advice_without_what_goes_ahead_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = context_selection.select_entries

    def behind(*given: object) -> object:
        chosen = real(*given)  # type: ignore[arg-type] # passed on
        chosen.bearing.extend(chosen.ahead)
        chosen.ahead.clear()
        return chosen

    monkeypatch.setattr(context_packing, "select_entries", behind)
    with pytest.raises(AssertionError):
        await test_a_diet_goes_before_what_bears_on_the_words_of_the_request()


async def test_advice_is_told_a_users_own_words_where_no_memory_was_formed() -> None:
    """A question is no attitude, and neither is what the assistant says."""
    talk = [
        NewMessage(role="user", text="I can't stand coriander."),
        NewMessage(role="assistant", text="I love coriander!"),
        NewMessage(role="user", text="Do you like mint?"),
        NewMessage(role="user", text="我对花生过敏。"),
        NewMessage(role="user", text="The boat is red."),
    ]
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", talk)

        context = await memory.context(ADA, "Suggest a dessert")
        shown = await memory.context(ADA, "Suggest a dessert", thread="t", recent=5)

    told = [each.entry.text for each in context.entries]
    assert ["我对花生过敏。", "I can't stand coriander."] == told
    assert not shown.entries


async def test_an_attitude_stands_under_the_day_of_its_speaker() -> None:
    """Also one that only the search for attitudes found: 23:15 UTC is the next day in Shanghai."""
    late = datetime(2025, 4, 3, 23, 15, tzinfo=UTC)
    said = NewMessage(role="user", text="I am a vegan.", time=late)
    day = datetime(2025, 4, 30, tzinfo=UTC)
    newer = [NewMessage(role="user", text=f"Train {at} is late.", time=day) for at in range(100)]
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", [said])
        await memory.append(ADA, "u", newer)
        asked_at = datetime(2025, 5, 1, tzinfo=ZoneInfo("Asia/Shanghai"))

        context = await memory.context(ADA, "Suggest a train", asked_at=asked_at)

    assert "# Fri 4 April 2025" in context.text


async def test_an_attitude_that_has_ended_is_not_told() -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        ended = datetime(2025, 1, 1, tzinfo=UTC)
        note = PutMemory(type="Note", key="n", value={"content": LIKING}, valid_until=ended)
        await memory.apply(ADA, [note])

        context = await memory.context(ADA, "Suggest a dessert")

    assert not context.entries


@pytest.mark.parametrize(
    ("said", "kept", "query"),
    [
        (
            "I'm allergic to nuts, and Jonas can't eat prawns.",
            "I'm allergic to nuts",
            "Suggest lunch",
        ),
        ("我對花生過敏，阿哲不吃香菜。", "我對花生過敏", "週末聚餐吃什麼好？"),
    ],
)
async def test_what_a_memory_of_a_diet_leaves_out_is_told(said: str, kept: str, query: str) -> None:
    """Who shares the meal has a diet too, in a clause that no memory was formed of."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        (message,) = await memory.append(ADA, "t", said)
        evidence = {"": [Evidence(thread="t", message=message.id)]}
        note = PutMemory(type="Note", key="diet", value={"content": kept}, evidence=evidence)
        await memory.apply(ADA, [note])

        text = str(await memory.context(ADA, query))

    assert kept in text
    assert said in text


async def test_the_evidence_of_an_attitude_is_not_told_beside_it() -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        (said,) = await memory.append(ADA, "t", ["I'm allergic to nuts, as is my brother Paul."])
        evidence = {"/content": [Evidence(thread="t", message=said.id)]}
        note = PutMemory(type="Note", key="n", value={"content": ALLERGY}, evidence=evidence)
        await memory.apply(ADA, [note])

        context = await memory.context(ADA, "Suggest a dessert")

    assert ["Note/n"] == [each.source for each in context.entries]


@pytest.mark.parametrize(
    "empty",
    [
        *("Where do I live?", "What is my boat called?", "Do you remember where I live?"),
        *("thanks!", "Hello!", "Good morning, thanks a lot!"),
        *("我住在哪里？", "你记得我叫什么吗？", "谢谢！"),
    ],
)
async def test_a_users_turn_that_tells_nothing_is_not_shown(empty: str) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        told = "I live in Oslo on a boat called Ida."
        await memory.append(ADA, "t", [empty, told])

        context = await memory.context(ADA, "Which place is it that I live in? 我现在住什么地方？")

    assert [told] == [each.entry.text for each in context.entries]


@pytest.mark.parametrize(
    "telling",
    [
        *("Yes, please.", "ok", "好的", "What should I cook for my vegan sister?"),
        *("Where do I park my new Tesla near the clinic in Oslo on Sundays?", "I live in Oslo."),
        *("我住在哪里好？我姐姐是素食者。", "Which hotel? I like the sea."),
    ],
)
async def test_a_users_turn_that_tells_something_is_shown(telling: str) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", [telling])

        context = await memory.context(ADA, "What is it about me?")

    assert [telling] == [each.entry.text for each in context.entries]


async def test_a_question_is_shown_to_whom_asks_for_earlier_answers() -> None:
    talk = [
        NewMessage(role="user", text="What is my PIN?"),
        NewMessage(role="assistant", text="It is 4711."),
    ]
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", talk)

        context = await memory.context(ADA, "Remind me what you told me about my PIN")

    assert {each.text for each in talk} == {each.entry.text for each in context.entries}


async def test_a_context_that_a_model_repeats_is_not_shown_again() -> None:
    """Its own words are; a reply that is nothing else is left out."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await memory.append(ADA, "one", ["My cat is called Tom."])
        told = str(await memory.context(ADA, "What is my cat called?"))
        parrot = [f"{told}\nTom is a fine name for a cat.", told]
        replies = [NewMessage(role="assistant", text=each) for each in parrot]
        await memory.append(ADA, "two", replies)

        context = await memory.context(ADA, "What is my cat called?")

    assert 1 == context.text.count("My cat is called Tom.")
    assert 1 == context.text.count("<memory ")
    assert "assistant: Tom is a fine name for a cat." in context.text
    (reply,) = (each for each in context.entries if "fine name" in each.text)
    assert parrot[0] == context.expand(reply.handle)
