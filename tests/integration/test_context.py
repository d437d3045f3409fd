"""`Recollect.context` over stores: what a prompt gets, and bad input."""

import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

import recollect
from recollect.errors import UsageError
from recollect.recall.context_plan import ContextPlan
from recollect.records import Json, NewMessage, PutMemory, Scope
from recollect.testing import HashedEmbedder
from recollect.text.token_estimate import estimated_tokens

ADA: Scope = ("ada",)
APRIL = datetime(2025, 4, 3, 12, tzinfo=UTC)
JANUARY = datetime(2025, 1, 3, 12, tzinfo=UTC)


@pytest.fixture(params=["memory:", "sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else "memory:"


async def filled(memory: recollect.Recollect) -> None:
    """Keep a talk, a profile and two facts of which one followed the other."""
    await memory.append(
        ADA,
        "april",
        [
            NewMessage(role="user", text="We moved from Utrecht to Porto.", time=APRIL),
            NewMessage(role="assistant", text="How do you like Porto?", time=APRIL),
        ],
    )
    await memory.put(ADA, "User", "User", {"user_name": "Ada", "home": "Porto"})
    fact = {"subject": "Ada", "predicate": "lives in"}
    await memory.apply(
        ADA,
        [
            PutMemory(type="Fact", key="new", value={**fact, "object": "Porto"}, valid_from=APRIL),
            PutMemory(
                type="Fact",
                key="old",
                value={**fact, "object": "Utrecht"},
                valid_from=JANUARY,
                valid_until=APRIL,
            ),
        ],
    )


async def test_what_is_in_force_and_what_was_before(address: str) -> None:
    """What has ended is told where the question asks for it."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await filled(memory)

        now = str(await memory.context(ADA, "Where does Ada live?"))
        before = str(await memory.context(ADA, "Where did Ada live before?"))

    assert "Ada lives in Porto (since 3 April 2025)" in now
    assert "- home: Porto" in now
    assert "Ada lives in Utrecht" not in now
    assert "# No longer so" in before
    assert "Ada lives in Utrecht (3 January 2025 until 3 April 2025)" in before


async def test_what_a_memory_said_before_it_changed_is_told_to_whom_it_asks_for(
    address: str,
) -> None:
    """Of a note as of a profile; the question for what is so now gets that alone."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await memory.put(ADA, "Note", "rota", {"content": "Ada is on call every third week."})
        await memory.put(ADA, "Note", "rota", {"content": "Ada is on call every fifth week."})

        now = str(await memory.context(ADA, "When is Ada on call?"))
        before = str(await memory.context(ADA, "How often was Ada on call before?"))

    assert "third week" not in now
    assert "Ada is on call every fifth week. (before: Ada is on call every third week.)" in before


async def test_a_plan_for_a_day_to_come_is_told_as_still_so(address: str) -> None:
    """As the question's own day has it, not today's."""
    trip = PutMemory(
        type="Note", key="trip", value={"content": "Ada goes to Rome."}, valid_until=APRIL
    )
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await memory.apply(ADA, [trip])

        before = str(await memory.context(ADA, "Where do I go?", asked_at=JANUARY))
        later = str(await memory.context(ADA, "Where did I go before?"))

    assert "# Known\n" in before
    assert "Ada goes to Rome. (until 3 April 2025)" in before
    assert "# No longer so\n" in later


@pytest.mark.parametrize("query", ["Hello!", "asdf", "ok thanks", "👍", "你好", "", "   "])
async def test_small_talk_gets_the_profile_alone(address: str, query: str) -> None:
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await filled(memory)

        context = await memory.context(ADA, query)

    assert not context.entries
    assert "- home: Porto" in str(context)


async def test_small_talk_in_the_words_of_the_scope_gets_nothing_unless_a_score_is_given(
    address: str,
) -> None:
    """What was said in the same words bears on it by its words alone; `min_score` shows it."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        said = ["Tell me a joke!", "What is a good joke?", "Tell me a joke, thanks."]
        await memory.append(ADA, "jokes", [NewMessage(role="user", text=each) for each in said])

        told = await memory.context(ADA, "Thanks! Tell me a joke.")
        asked = await memory.context(ADA, "Which joke did I tell?")
        scored = await memory.context(ADA, "Thanks! Tell me a joke.", min_score=0.0)

    assert (told.entries, told.text) == ((), "")
    assert asked.entries
    assert len(scored.entries) == 3


@pytest.mark.parametrize("embedder", ["none", HashedEmbedder()], ids=["words", "vectors"])
@pytest.mark.parametrize("query", ["What is my hobby?", "我的爱好是什么？"])
async def test_a_question_about_oneself_is_answered_in_words_that_were_not_said(
    address: str, query: str, embedder: str | HashedEmbedder
) -> None:
    """It asks for memories, unlike a question about the world."""
    async with recollect.open(address, embedder=embedder, worker=False) as memory:
        await filled(memory)

        context = await memory.context(ADA, query)
        idle = await memory.context(ADA, "Who painted the Mona Lisa?")

    assert "We moved from Utrecht to Porto." in str(context)
    assert not idle.entries


async def test_what_the_thread_shows_is_left_out(address: str) -> None:
    """The newest messages that the caller names, or the texts; another thread shows them."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await filled(memory)
        query = "Did we move to Porto?"

        elsewhere = await memory.context(ADA, query, thread="may")
        unseen = await memory.context(ADA, query, thread="april")
        same = await memory.context(ADA, query, thread="april", recent=2)
        given = await memory.context(ADA, query, recent=["We moved from Utrecht to Porto."])
        with_history = await memory.context(ADA, query, thread="april", history_tokens=100)

    assert "moved from Utrecht" in str(elsewhere)
    assert "moved from Utrecht" in str(unseen)
    assert "moved from Utrecht" not in str(same)
    assert "moved from Utrecht" not in str(given)
    assert ["user", "assistant"] == [each.role for each in with_history.history]


@pytest.mark.parametrize("history_tokens", [0, 10, 300, 1_000, 4_000])
async def test_each_message_stands_in_the_history_or_in_the_entries(
    address: str, history_tokens: int
) -> None:
    """A message that the history has no room for is not taken for shown."""
    long = "Trains run on rails through the hills of many lands. " * 60
    said = ["I am allergic to nuts.", f"Noted. {long}", "Tell me about trains.", long]
    talk = [
        NewMessage(role="assistant" if at % 2 else "user", text=text)
        for at, text in enumerate(said)
    ]
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", talk)

        context = await memory.context(
            ADA,
            "What am I allergic to?",
            thread="t",
            history_tokens=history_tokens,
            budget_tokens=5_000,
        )

    told = [each.text for each in context.history] + [each.text for each in context.entries]
    assert 1 == sum("allergic to nuts" in each for each in told)


async def test_a_memory_of_what_the_prompt_shows_is_left_out(address: str) -> None:
    """As long as all that it rests on is among the texts that are given."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        (kept,) = await memory.append(ADA, "t", ["I keep bees in the garden."])
        evidence = {"/content": [recollect.Evidence(thread="t", message=kept.id)]}
        note = {"content": "Ada keeps bees."}
        await memory.apply(ADA, [PutMemory(type="Note", key="n", value=note, evidence=evidence)])

        shown = await memory.context(ADA, "Do I keep bees?", recent=[kept.text])
        other = await memory.context(ADA, "Do I keep bees?", recent=["I keep hens."])

    assert "" == shown.text
    assert "Ada keeps bees." in other.text


async def test_the_summary_of_a_thread_tells_what_its_newest_messages_do_not(
    address: str,
) -> None:
    """As a summary memory keeps it; another thread has none."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        said = [NewMessage(role="user", text=f"Box {at} is packed.") for at in range(40)]
        await memory.append(ADA, "move", said)
        value: dict[str, Json] = {"content": "Ada packs forty boxes.", "until": 30}
        await memory.apply(ADA, [PutMemory(type="Summary", key="summary/move", value=value)])

        told = await memory.context(ADA, "Hello!", thread="move", history_tokens=100)
        plain = await memory.context(ADA, "Hello!", thread="move")
        other = await memory.context(ADA, "Hello!", thread="april", history_tokens=100)

    assert "Ada packs forty boxes." == told.summary
    assert "Box 39 is packed." == told.history[-1].text
    assert ("", "") == (plain.summary, other.summary)


async def test_simplified_and_traditional_are_one_language(address: str) -> None:
    """A question in either script finds what was said in the other, and it is shown as said."""
    said = "我上個月搬到臺北，住在圖書館旁邊。"
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await memory.append(ADA, "t", [NewMessage(role="user", text=said)])

        found = [
            await memory.context(ADA, query)
            for query in ("我住在图书馆旁边吗？", "我住在圖書館旁邊嗎？")
        ]

    assert [[said], [said]] == [[each.entry.text for each in one.entries] for one in found]
    assert found[0].entries[0].entry.relevance == found[1].entries[0].entry.relevance


async def test_what_was_just_written_is_found_by_its_meaning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A context waits for the vectors of what this process wrote; longer on a busy machine."""
    monkeypatch.setattr("recollect.memory.context_calls.VECTORS_WAIT_S", 20)
    async with recollect.open("memory:", embedder=HashedEmbedder(32), worker=False) as memory:
        said = ("The boat is called Ida.", "Rain is expected.", "The boat leaks.")
        await memory.append(ADA, "t", [NewMessage(role="user", text=each) for each in said])

        context = await memory.context(ADA, "What is the boat called?")

    assert not context.awaits_vectors
    assert all("dense" in each.entry.signals for each in context.entries)


async def test_a_counter_that_may_be_slow_never_runs_on_the_event_loop(address: str) -> None:
    """Our own estimate does for little text; both give the same context."""
    threads = set[int]()

    def counted(text: str) -> int:
        threads.add(threading.get_ident())
        return estimated_tokens(text)

    async with recollect.open(address, embedder="none", worker=False) as memory:
        await filled(memory)
        own = await memory.context(ADA, "Where does Ada live?")
        given = await memory.context(ADA, "Where does Ada live?", count_tokens=counted)

    assert threads
    assert threading.get_ident() not in threads
    assert (own.text, own.tokens, own.left_out) == (given.text, given.tokens, given.left_out)


@pytest.mark.parametrize("budget", [1, 2, 10, 30, 60, 4_000])
async def test_any_budget_is_kept(address: str, budget: int) -> None:
    """Also one in which nothing fits, and a message of a megabyte."""
    async with recollect.open(address, embedder="none", worker=False) as memory:
        await filled(memory)
        long = "Porto is by the sea. " * 47_000
        await memory.append(ADA, "t", [NewMessage(role="user", text=long)])

        context = await memory.context(ADA, "Where is Porto?", budget_tokens=budget)

    assert context.tokens <= budget


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget_tokens": 0},
        {"budget_tokens": -5},
        {"budget_tokens": 1.5},
        {"min_score": 1.5},
        {"min_score": "high"},
        {"recent": -1},
        {"history_tokens": -1},
        {"recent": 6},
        {"history_tokens": 100},
    ],
)
async def test_bad_arguments_are_named(wrong: dict[str, object]) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match=next(iter(wrong))):
            await memory.context(ADA, "Porto", **wrong)  # type: ignore[arg-type]


async def test_a_history_of_no_thread_is_refused() -> None:
    """A chat that forgets the thread would go on without a history, and nobody would know."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match="history_tokens is 100, of no thread: name"):
            await memory.context(ADA, "Porto", history_tokens=100)
        named = await memory.context(ADA, "Porto", thread="new", history_tokens=100, recent=2)
        given = await memory.context(ADA, "Porto", recent=["Porto"])

    assert () == named.history == given.history


async def test_a_long_query_and_a_thread_that_is_not_there_are_answered() -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await filled(memory)

        context = await memory.context(ADA, "Where is Porto? " * 20_000, thread="nowhere")

    assert context.entries


async def test_recall_takes_a_lowest_score() -> None:
    """What is below is dropped, and says why."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await filled(memory)

        recall = await memory.recall(ADA, "Where does Ada live?", min_score=0.9)

    assert not recall.entries
    assert {"score"} == {each.reason for each in recall.dropped}
    assert all(0 <= each.entry.relevance <= 1 for each in recall.dropped)


def test_a_plan_needs_little() -> None:
    assert ContextPlan(scope=ADA, query="q", budget_tokens=1).min_score is None


@pytest.mark.parametrize("query", [None, 5, b"Porto"])
async def test_a_query_that_is_no_text_is_named(query: object) -> None:
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match=f"a query must be text, not {type(query).__name__}"):
            await memory.context(ADA, query)  # type: ignore[arg-type] # the fault


@pytest.mark.parametrize("given", [7, UUID(int=7)], ids=["a number", "a UUID"])
async def test_the_error_of_an_id_that_is_no_text_names_the_text(given: object) -> None:
    hint = re.escape(f"give str(…) of it, {str(given)!r}")
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match=hint):
            await memory.context(given, "Porto")  # type: ignore[arg-type] # the fault
        with pytest.raises(UsageError, match=hint):
            await memory.append(ADA, given, "Porto")  # type: ignore[arg-type] # the fault
        with pytest.raises(UsageError, match=hint):
            await memory.context(ADA, "Porto", thread=given)  # type: ignore[arg-type] # the fault
