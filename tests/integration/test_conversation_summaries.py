"""A summary that outlives its process, lags without losing anything, and goes with its messages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import recollect
from recollect import ModelError, Recollect, SyncRecollect, UsageError
from recollect.conversation import (
    ChatHistory,
    ConversationSummaryBufferMemory,
    ConversationSummaryMemory,
)
from recollect.ports import ModelRequest
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.testing import ScriptedModel
from tests.harness.memory_states import NOT_IN_FORCE, take_out_of_force

ADA = ("users", "ada")
TALK = "talk"


def joined(request: ModelRequest) -> str:
    """Return the summary that is nothing but all lines; they stand at the end of the prompt."""
    asked = request.turns[-1].text.rsplit("Summary so far:\n", 1)[1]
    summary, lines = asked.split("\nNew lines:\n")
    lines = lines.removesuffix("\nNew summary:\n").replace("\n", " / ")
    return f"{summary} / {lines}" if summary else lines


def said(memory: Any, *numbers: int) -> None:
    for number in numbers:
        memory.save_context({"input": f"q{number}"}, {"output": f"a{number}"})


def text_of(numbers: range) -> str:
    return " / ".join(f"Human: q{n} / AI: a{n}" for n in numbers)


@pytest.fixture
def store() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none") as memory:
        yield memory


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(joined)


def failing(after: int) -> ScriptedModel:
    """Return a model whose call after *after* good ones fails, and all others do not."""
    calls = iter(range(100))
    return ScriptedModel(lambda r: ModelError("away") if next(calls) == after else joined(r))


def test_a_summary_outlives_its_process(tmp_path: Path, model: ScriptedModel) -> None:
    """Opened again it goes on, and asks for the new turn alone."""
    for number in (1, 2):
        with recollect.open_sync(str(tmp_path / "memory.db"), embedder="none") as store:
            said(ConversationSummaryMemory(store, ADA, TALK, llm=model), number)
            buffer = ConversationSummaryMemory(store, ADA, TALK, llm=model).buffer

    assert text_of(range(1, 3)) == buffer
    assert 2 == len(model.requests)


def test_a_summary_gives_back_what_it_stands_for(
    store: SyncRecollect, model: ScriptedModel
) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)
    said(memory, 1, 2)

    assert ["q1", "a1", "q2", "a2"] == [each.content for each in memory.expand()]


@pytest.mark.parametrize(
    "options", [{"every_turns": 3}, {"every_tokens": 12}, {"background": True, "every_turns": 3}]
)
def test_what_is_not_summarised_yet_is_shown(
    store: SyncRecollect, model: ScriptedModel, options: dict[str, Any]
) -> None:
    """A load before the flush misses nothing; after it, all is in the summary."""
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model, **options)

    for number in range(1, 6):
        said(memory, number)
        shown = memory.load_memory_variables({})["history"]
        assert all(f"{who}{n}" in shown for who in "qa" for n in range(1, number + 1))
    memory.flush()

    assert text_of(range(1, 6)) == memory.buffer == memory.load_memory_variables({})["history"]
    assert len(model.requests) <= 3


async def test_in_the_background_a_save_does_not_wait() -> None:
    """The model answers when it likes; what it is asked about is shown meanwhile."""
    may_answer = anyio.Event()

    async def slow(request: ModelRequest) -> str:
        await may_answer.wait()
        return joined(request)

    async with recollect.open(embedder="none") as store:
        memory = ConversationSummaryMemory(
            store, ADA, TALK, llm=ScriptedModel(slow), background=True
        )
        await memory.asave_context({"input": "q1"}, {"output": "a1"})
        before = await memory.aload_memory_variables({})
        may_answer.set()
        with anyio.fail_after(30):
            await memory.aflush()

        assert {"history": "Human: q1\nAI: a1"} == before
        assert text_of(range(1, 2)) == await memory.abuffer()


def test_a_background_that_failed_says_so_and_is_caught_up(store: SyncRecollect) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=failing(0), background=True)
    said(memory, 1)
    memory.flush()

    assert "Human: q1 / AI: a1" == memory.buffer
    assert memory.failure is None


@pytest.mark.parametrize("kind", [ConversationSummaryMemory, ConversationSummaryBufferMemory])
def test_a_model_that_fails_leaves_the_turn_kept(store: SyncRecollect, kind: Any) -> None:
    """The summary lags, the prompt has all, and the next save catches up."""
    limit = {} if kind is ConversationSummaryMemory else {"max_token_limit": 0}
    memory = kind(store, ADA, TALK, llm=failing(1), **limit)
    said(memory, 1)

    with pytest.raises(ModelError, match="away"):
        said(memory, 2)
    lagging = memory.load_memory_variables({})["history"]
    said(memory, 3)

    assert "System: Human: q1 / AI: a1\nHuman: q2\nAI: a2" == lagging
    assert 6 == len(memory.chat_memory.messages)
    assert text_of(range(1, 4)) in memory.load_memory_variables({})["history"]


@pytest.mark.parametrize("nonsense", ["", " \n"])
def test_an_empty_answer_does_not_wipe_the_summary(store: SyncRecollect, nonsense: str) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=ScriptedModel(["fine", nonsense]))
    said(memory, 1)

    with pytest.raises(ModelError, match="empty summary"):
        said(memory, 2)

    assert "fine" == memory.buffer


def test_erasing_the_thread_takes_the_summary(store: SyncRecollect, model: ScriptedModel) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)
    said(memory, 1, 2)

    store.erase(ADA, EraseThread(thread=TALK))

    assert () == store.memories(ADA).rows
    assert {"history": ""} == memory.load_memory_variables({})


@pytest.mark.parametrize("turn", [1, 4, 9])
def test_erasing_a_turn_takes_every_summary_that_holds_it(
    store: SyncRecollect, model: ScriptedModel, turn: int
) -> None:
    """Also those made of older summaries; the next one is made of the messages left."""
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)
    said(memory, *range(1, 10))
    words = {f"q{turn}", f"a{turn}"}
    ids = [each.id for each in store.messages(ADA, TALK).rows if each.text in words]

    store.erase(ADA, EraseMessages(thread=TALK, messages=ids))
    kept = [each.text for each in store.memories(ADA).rows]
    said(memory, 10)

    assert not any(f"q{turn} " in each for each in kept)
    assert " / ".join(f"Human: q{n} / AI: a{n}" for n in range(1, 11) if n != turn) == memory.buffer


@pytest.mark.parametrize("erased", ["q2", "a2", "q4"])
def test_erasing_one_message_takes_every_summary_that_holds_it(
    store: SyncRecollect, model: ScriptedModel, erased: str
) -> None:
    """Two turns are worked in by one call: of that nobody can tell whose words are whose."""
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model, every_turns=2)
    said(memory, 1, 2, 3, 4)
    assert erased in memory.buffer
    ids = [each.id for each in store.messages(ADA, TALK).rows if each.text == erased]

    store.erase(ADA, EraseMessages(thread=TALK, messages=ids))

    kept = [store.history(ADA, each.type, each.key) for each in store.memories(ADA).rows]
    assert erased not in repr([kept, store.memories(ADA).rows])
    said(memory, 5, 6)
    assert erased not in memory.buffer
    assert "q1" in memory.buffer


async def test_an_erase_while_the_model_answers_wins() -> None:
    """What was read before it is not written after it."""
    async with recollect.open(embedder="none") as store:

        async def erasing(request: ModelRequest) -> str:
            await store.erase(ADA, EraseThread(thread=TALK))
            return joined(request)

        memory = ConversationSummaryMemory(store, ADA, TALK, llm=ScriptedModel(erasing))
        await memory.asave_context({"input": "secret"}, {"output": "a1"})

        assert () == (await store.memories(ADA)).rows
        assert {"history": ""} == await memory.aload_memory_variables({})


async def test_a_summary_of_erased_words_never_reaches_the_file(tmp_path: Path) -> None:
    """Not even to be removed again: removed bytes stay in the file until the next erase."""
    async with recollect.open(str(tmp_path / "talk.db"), embedder="none") as store:

        async def erasing(request: ModelRequest) -> str:
            summary = joined(request)
            await store.erase(ADA, EraseThread(thread=TALK))
            return summary

        memory = ConversationSummaryMemory(store, ADA, TALK, llm=ScriptedModel(erasing))
        await memory.asave_context({"input": "zanzibar"}, {"output": "a1"})

        assert [] == [each for each in tmp_path.iterdir() if b"zanzibar" in each.read_bytes()]


@pytest.mark.parametrize("how", NOT_IN_FORCE)
def test_a_summary_that_is_not_in_force_is_not_shown_and_made_anew(
    store: SyncRecollect, model: ScriptedModel, how: str
) -> None:
    """The messages that it covered are shown until then, and all summarised with the next turn."""
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)
    said(memory, 1)
    take_out_of_force(store, ADA, "Summary", how)

    shown = memory.load_memory_variables({})
    said(memory, 2)

    assert {"history": "Human: q1\nAI: a1"} == shown
    assert [1, 1] == [memory.buffer.count("q1"), memory.buffer.count("q2")]


@pytest.mark.parametrize("how", NOT_IN_FORCE)
def test_a_summary_that_is_not_in_force_is_in_no_context(store: SyncRecollect, how: str) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=ScriptedModel(lambda _: "a talk"))
    said(memory, 1, 2, 3, 4)

    before = store.context(ADA, "?", thread=TALK, history_tokens=15)
    take_out_of_force(store, ADA, "Summary", how)
    after = store.context(ADA, "?", thread=TALK, history_tokens=15)

    assert ("a talk", "") == (before.summary, after.summary)


async def test_two_writers_lose_nothing_and_double_nothing() -> None:
    """Both turns are in the summary once, whoever was first."""
    async with recollect.open(embedder="none") as store:
        both_asked = anyio.Event()

        async def slow(request: ModelRequest) -> str:
            if len(writer.requests) >= 2:
                both_asked.set()
            await both_asked.wait()
            return joined(request)

        writer = ScriptedModel(slow)

        async def one(number: int) -> None:
            memory = ConversationSummaryMemory(store, ADA, TALK, llm=writer)
            await memory.asave_context({"input": f"q{number}"}, {"output": f"a{number}"})

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(one, 1)
                group.start_soon(one, 2)

        summary = await ConversationSummaryMemory(store, ADA, TALK, llm=writer).abuffer()
        assert [1, 1] == [summary.count("q1"), summary.count("q2")]


def test_a_given_summary_stands_for_what_was_said_before(
    store: SyncRecollect, model: ScriptedModel
) -> None:
    """As the original: nothing before it is asked about again."""
    history = ChatHistory(store, ADA, TALK)
    history.add_user_message("long ago")
    memory = ConversationSummaryMemory(llm=model, chat_memory=history, buffer="Old times.")

    assert {"history": "Old times."} == memory.load_memory_variables({})
    said(memory, 1)

    assert "Old times. / Human: q1 / AI: a1" == memory.buffer


def test_what_was_said_before_is_shown_then_summarised(
    store: SyncRecollect, model: ScriptedModel
) -> None:
    history = ChatHistory(store, ADA, TALK)
    history.add_user_message("long ago")
    memory = ConversationSummaryMemory(llm=model, chat_memory=history)

    assert {"history": "Human: long ago"} == memory.load_memory_variables({})
    said(memory, 1)

    assert "Human: long ago / Human: q1 / AI: a1" == memory.buffer


def test_from_messages_goes_on_from_a_summary_that_is_kept(
    store: SyncRecollect, model: ScriptedModel
) -> None:
    history = ChatHistory(store, ADA, TALK)
    said(ConversationSummaryMemory(llm=model, chat_memory=history), 1)

    ConversationSummaryMemory.from_messages(model, history)

    assert 1 == len(model.requests)
    with pytest.raises(UsageError, match="at least 1 message"):
        ConversationSummaryMemory.from_messages(model, history, summarize_step=0)


def test_the_buffer_can_be_written(store: SyncRecollect, model: ScriptedModel) -> None:
    memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)
    said(memory, 1)

    memory.buffer = "Better."

    assert {"history": "Better."} == memory.load_memory_variables({})
    memory.clear()
    assert "" == memory.buffer


@pytest.mark.parametrize("kind", [ConversationSummaryMemory, ConversationSummaryBufferMemory])
@pytest.mark.parametrize("prompt", ["{summary}", "{summary}{new_lines}{mood}"])
def test_a_prompt_with_other_variables_is_refused(kind: Any, prompt: str) -> None:
    with pytest.raises(ValueError, match="Got unexpected prompt input variables"):
        kind(llm=None, prompt=prompt)


def test_all_over_the_limit_is_one_call_and_nothing_is_removed(
    store: SyncRecollect, model: ScriptedModel
) -> None:
    """Also where the conversation was long before this memory came; see the original's fault."""
    ChatHistory(store, ADA, TALK).add_messages([f"m{n}" for n in range(120)])
    memory = ConversationSummaryBufferMemory(
        store, ADA, TALK, llm=model, max_token_limit=10, count_tokens=lambda _: 1
    )

    said(memory, 1)
    said(memory, 2)

    assert 2 == len(model.requests)
    assert 1 == memory.moving_summary_buffer.count("m7 ")
    assert 124 == len(memory.chat_memory.messages)
    assert 10 + 1 == len(memory.buffer.splitlines())


@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_below_one_message_summarises_all(
    store: SyncRecollect, model: ScriptedModel, limit: int
) -> None:
    memory = ConversationSummaryBufferMemory(
        store, ADA, TALK, llm=model, max_token_limit=limit, count_tokens=len
    )
    said(memory, 1)

    assert {"history": "System: Human: q1 / AI: a1"} == memory.load_memory_variables({})


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(UsageError, match="give 0 to summarise everything"):
        ConversationSummaryBufferMemory(llm=None, max_token_limit=-1)


ASKED: Any = ("human", "q")
CALL: Any = {"role": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c1"}]}
RESULT: Any = {"role": "tool", "content": "42", "tool_call_id": "c1"}


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_tool_pair_is_not_parted(store: SyncRecollect, model: ScriptedModel, limit: int) -> None:
    """With *whole_pairs*, what is shown never begins with a result."""
    memory = ConversationSummaryBufferMemory(
        store,
        ADA,
        TALK,
        llm=model,
        max_token_limit=limit,
        count_tokens=lambda _: 1,
        whole_pairs=True,
        return_messages=True,
    )
    memory.chat_memory.add_messages([ASKED, CALL, RESULT])
    memory.prune()
    shown = [each.type for each in memory.load_memory_variables({})["history"]]

    assert "tool" not in shown or shown.index("ai") < shown.index("tool")


def test_a_call_waits_for_its_result(store: SyncRecollect, model: ScriptedModel) -> None:
    memory = ConversationSummaryBufferMemory(
        store, ADA, TALK, llm=model, max_token_limit=0, whole_pairs=True
    )
    memory.chat_memory.add_messages([ASKED, CALL])
    memory.prune()

    assert ["q"] == [each.content for each in memory.expand()]


async def test_awaited_memories_are_told_so(model: ScriptedModel) -> None:
    async with recollect.open(embedder="none") as store:
        memory = ConversationSummaryMemory(store, ADA, TALK, llm=model)

        with pytest.raises(UsageError, match="awaited"):
            memory.load_memory_variables({})
        assert isinstance(store, Recollect)
