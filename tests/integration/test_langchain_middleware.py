"""Agents of LangChain remember: recall, formation and compaction as middleware, in both forms."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import recollect
from recollect import (
    EraseThread,
    NewMessage,
    SyncRecollect,
    UsageError,
)
from recollect.agents.examples import Examples
from recollect.agents.instructions import Instructions
from recollect.agents.tools import MemoryTools
from recollect.formation import window
from recollect.integrations.langchain import memory_tools
from recollect.integrations.langchain.middleware import (
    CallersMemoryTools,
    CompactionMiddleware,
    ExamplesMiddleware,
    FormationMiddleware,
    GraphCaller,
    InstructionsMiddleware,
    RecallMiddleware,
)
from recollect.integrations.langchain.middleware import formation_middleware as forming
from recollect.integrations.langchain.middleware import recall_middleware as recalling
from recollect.integrations.langgraph import checkpointer, thread_id_of
from recollect.recall.context_text import PREAMBLE, rendered
from recollect.recall.rendering import Record, render_block
from recollect.testing import RuleModel, ScriptedModel
from recollect.text.token_estimate import estimated_tokens
from tests.harness.agent_models import BLOCK, Reader, in_thread, records_in, turn

new_agent: Any = create_agent  # its own types are too many to be told apart here
ADA, BEA = ("users", "ada"), ("users", "bea")
SAID = "My dog hates rain"
NOTE = {"context": "said in passing", "content": SAID}
SAVING: Any = {"memory": {"type": "Note", "value": NOTE}, "quotes": [SAID]}
"""What an agent saves of what a person said."""


@pytest.fixture
def former() -> RuleModel:
    return RuleModel()


@pytest.fixture
def memory(tmp_path: Path, former: RuleModel) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", model=former, worker=False) as memory:
        yield memory


@pytest.fixture
def reader() -> Reader:
    return Reader(answers=[], requests=[])


def remembering(reader: Reader, memory: Any, **options: Any) -> Any:
    """Return an agent that recalls and forms in Ada's scope."""
    return new_agent(
        reader,
        tools=[],
        system_prompt="Be kind.",
        middleware=[RecallMiddleware(memory, ADA), FormationMiddleware(memory, ADA)],
        checkpointer=InMemorySaver(),
        **options,
    )


# Recall


def test_recall_leaves_all_before_the_last_words_as_it_was(
    memory: SyncRecollect, reader: Reader
) -> None:
    """The system text and the talk before are those of the state: a prompt cache serves them."""
    agent = remembering(reader, memory)
    agent.invoke(turn("I live in Turku."), in_thread("one"))
    memory.form(ADA)
    agent.invoke(turn("Hello again."), in_thread("two"))
    result = agent.invoke(turn("Where do I live?"), in_thread("two"))

    request = reader.requests[-1]
    assert "Be kind." == request[0].content
    assert result["messages"][:2] == request[1:3]
    assert ["system", "human", "ai", "human"] == [each.type for each in request]
    assert request[-1].text.endswith(
        "</memory " + BLOCK.findall(request[-1].text)[0] + ">\n\nWhere do I live?"
    )


def test_recall_does_not_change_the_state(memory: SyncRecollect, reader: Reader) -> None:
    agent = remembering(reader, memory)
    agent.invoke(turn("I live in Turku."), in_thread("one"))
    memory.form(ADA)

    result = agent.invoke(turn("Where do I live?"), in_thread("two"))

    assert records_in(reader.requests[-1]) != []
    assert records_in(result["messages"]) == []
    assert ["Where do I live?", "Turku"] == [each.content for each in result["messages"]]


@tool
def weather(city: str) -> str:
    """Return how the weather is."""
    return f"sunny in {city}"


def calling(name: str, call: str = "c1", **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call}])


def test_a_second_call_of_a_turn_begins_as_the_first(memory: SyncRecollect, reader: Reader) -> None:
    """The block is the same, marker and all, while the memory is."""
    memory.append(ADA, "old", [NewMessage(role="user", text="The weather in Turku bores me")])
    reader.answers += [calling("weather", city="Turku"), AIMessage("Sunny.")]
    agent = new_agent(reader, tools=[weather], middleware=[RecallMiddleware(memory, ADA)])

    agent.invoke(turn("How is the weather in Turku?"))

    first, second = reader.requests
    assert records_in(first) != []
    assert first == second[: len(first)]
    assert ["ai", "tool"] == [each.type for each in second[len(first) :]]


def test_a_random_marker_would_spoil_the_cache(
    memory: SyncRecollect, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant draws a new marker for every call, and the two requests differ."""
    monkeypatch.setattr(
        recalling,
        "text_within",
        lambda each, _: rendered(each.profile, each.entries, secrets.token_bytes(16)),
    )
    memory.append(ADA, "old", [NewMessage(role="user", text="The weather in Turku bores me")])
    reader.answers += [calling("weather", city="Turku"), AIMessage("Sunny.")]
    agent = new_agent(reader, tools=[weather], middleware=[RecallMiddleware(memory, ADA)])

    agent.invoke(turn("How is the weather in Turku?"))

    first, second = reader.requests
    assert first != second[: len(first)]


@pytest.mark.parametrize("budget_tokens", [1, 20, 60, 400])
def test_a_block_keeps_its_budget(
    memory: SyncRecollect, reader: Reader, budget_tokens: int
) -> None:
    """All of it counts, the marker and the sources too; nothing is shown if nothing fits."""
    said = [f"In Turku I saw the ship number {number} come in" for number in range(40)]
    memory.append(ADA, "old", [NewMessage(role="user", text=each) for each in said])
    recall = RecallMiddleware(memory, ADA, budget_tokens=budget_tokens, limit=40)
    agent = new_agent(reader, tools=[], middleware=[recall])

    agent.invoke(turn("Which ship did I see in Turku?"))

    found = BLOCK.search(reader.requests[-1][-1].text)
    assert (found is None) == (budget_tokens <= 20)
    assert found is None or estimated_tokens(found[0]) <= budget_tokens


def test_what_the_talk_shows_is_not_shown_again(memory: SyncRecollect, reader: Reader) -> None:
    """Its own messages are found by recall, and stand in the request already."""
    agent = remembering(reader, memory)
    agent.invoke(turn("The harbour of Turku freezes."), in_thread("one"))
    agent.invoke(turn("Does the harbour of Turku freeze?"), in_thread("one"))
    assert [] == records_in(reader.requests[-1])

    agent.invoke(turn("And the harbour of Turku?"), in_thread("two"))

    assert "The harbour of Turku freezes." in [e.text for e in records_in(reader.requests[-1])]


def test_a_greeting_gets_the_documents_alone(memory: SyncRecollect, reader: Reader) -> None:
    """Nothing that was said bears on it; a question gets at most so many entries."""
    memory.append(ADA, "old", ["The harbour freezes.", "The harbour is deep.", "I met Bea."])
    memory.put(ADA, "User", "User", {"home": "Turku"})
    memory.put(ADA, "House", "House", {"doors": 2})
    plain, other = RecallMiddleware(memory, ADA), RecallMiddleware(memory, ADA, documents=())
    few = RecallMiddleware(memory, ADA, limit=2)
    sure = RecallMiddleware(memory, ADA, min_score=1.0)

    for middleware, asked in (
        (plain, "Hello!"),
        (other, "Hello!"),
        (few, "How is the harbour?"),
        (sure, "How is the harbour?"),
    ):
        new_agent(reader, tools=[], middleware=[middleware]).invoke(turn(asked))

    greeted, bare, short, strict = ([e.text for e in records_in(each)] for each in reader.requests)
    assert ["home: Turku"] == greeted == strict
    assert [] == bare
    assert 2 == len(short)
    assert "home: Turku" == short[0]
    assert "harbour" in short[1]


@pytest.mark.parametrize("wrong", [{"budget_tokens": 0}, {"limit": 0}, {"min_score": 2}])
def test_options_out_of_range_are_refused(memory: SyncRecollect, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        RecallMiddleware(memory, ADA, **wrong)


def test_blocks_of_content_stay_blocks(memory: SyncRecollect, reader: Reader) -> None:
    """A message with a picture gets the block as one more text."""
    memory.append(ADA, "old", [NewMessage(role="user", text="My cat is Tom")])
    agent = new_agent(reader, tools=[], middleware=[RecallMiddleware(memory, ADA)])
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    asked: list[Any] = [{"type": "text", "text": "Is this my cat?"}, picture]

    agent.invoke({"messages": [HumanMessage(asked)]})

    content: Any = reader.requests[-1][-1].content
    assert asked == content[1:]
    assert "My cat is Tom" in content[0]["text"]


def test_a_scope_is_the_callers(memory: SyncRecollect, reader: Reader) -> None:
    """What a message says of who speaks counts for nothing."""

    @dataclass
    class Context:
        user: str

    def scope(caller: GraphCaller) -> tuple[str, ...]:
        return ("users", caller.context.user)

    memory.put(ADA, "User", "User", {"home": "Turku"})
    agent = new_agent(
        reader,
        tools=[],
        context_schema=Context,
        middleware=[RecallMiddleware(memory, scope), FormationMiddleware(memory, scope)],
    )
    asked = turn("I am Ada, the user 'ada'. Where do I live?")

    mine = agent.invoke(asked, in_thread("one"), context=Context("ada"))
    hers = agent.invoke(asked, in_thread("one"), context=Context("bea"))

    assert ("Turku", "I do not know") == (
        mine["messages"][-1].content,
        hers["messages"][-1].content,
    )
    assert [] == list(memory.messages(("users", "mallory"), "one").rows)
    assert 2 == len(memory.messages(BEA, "one").rows)


@pytest.mark.parametrize("other", ["x.db", None, 5])
def test_what_is_no_memory_is_refused(other: Any) -> None:
    """An address is opened by a program: what it makes is given to everything that needs one."""
    for needs_one in (lambda: RecallMiddleware(other, ADA), lambda: Examples(other, ADA)):
        with pytest.raises(UsageError, match=r"open one with recollect\.open"):
            needs_one()


def test_a_scope_that_is_none_is_refused(memory: SyncRecollect, reader: Reader) -> None:
    with pytest.raises(UsageError):
        RecallMiddleware(memory, 7)  # type: ignore[arg-type]
    agent = new_agent(
        reader,
        tools=[],
        middleware=[RecallMiddleware(memory, lambda _: 7)],  # type: ignore[arg-type,return-value]
    )
    with pytest.raises(UsageError):
        agent.invoke(turn("Hello"))

    assert [] == reader.requests


# Formation


def kept_in(memory: SyncRecollect, thread: str = "one") -> list[tuple[str, str]]:
    return [(each.role, each.text) for each in memory.messages(ADA, thread).rows]


def test_each_turn_is_kept_once(memory: SyncRecollect, reader: Reader) -> None:
    """With tools between, over several turns, and when a turn is run again."""
    reader.answers += [calling("weather", city="Turku"), AIMessage("Sunny."), AIMessage("Bye.")]
    agent = new_agent(
        reader,
        tools=[weather],
        middleware=[FormationMiddleware(memory, ADA)],
        checkpointer=InMemorySaver(),
    )

    agent.invoke(turn("How is it in Turku?"), in_thread("one"))
    agent.invoke(turn("Thanks!", id="thanks"), in_thread("one"))
    agent.invoke(turn("Thanks!", id="thanks"), in_thread("one"))

    assert [
        ("user", "How is it in Turku?"),
        ("assistant", ""),
        ("tool", "sunny in Turku"),
        ("assistant", "Sunny."),
        ("user", "Thanks!"),
        ("assistant", "Bye."),
    ] == kept_in(memory)[:6]
    assert 1 == kept_in(memory).count(("user", "Thanks!"))


def test_history_given_anew_is_not_kept_again(memory: SyncRecollect, reader: Reader) -> None:
    """A program without checkpoints gives the whole talk each time, without ids."""
    agent = new_agent(reader, tools=[], middleware=[FormationMiddleware(memory, ADA)])
    talk: list[Any] = []
    for text in ("I live in Turku.", "I like snow."):
        talk.append(("user", text))
        answer = agent.invoke({"messages": talk}, in_thread("one"))["messages"][-1]
        talk.append(("assistant", answer.content))

    assert [(role, text) for role, text in talk] == kept_in(memory)


def test_a_message_that_was_changed_takes_its_place(memory: SyncRecollect, reader: Reader) -> None:
    """Such as one from which another middleware took a number."""

    class Redacting(AgentMiddleware[Any, Any, Any]):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            (asked,) = state["messages"]
            return {"messages": [HumanMessage("My number is …", id=asked.id)]}

    agent = new_agent(reader, tools=[], middleware=[FormationMiddleware(memory, ADA), Redacting()])

    agent.invoke(turn("My number is 555 1234"), in_thread("one"))

    assert ("user", "My number is …") == kept_in(memory)[0]
    assert 2 == len(kept_in(memory))


def test_formation_waits_for_a_pause(memory: SyncRecollect, reader: Reader) -> None:
    """Two turns wait together, each later than the one before, and are one formation."""
    agent = remembering(reader, memory)

    agent.invoke(turn("I live in Turku."), in_thread("one"))
    first = memory.pending(ADA).rows[0].due
    agent.invoke(turn("I like rowing."), in_thread("one"))
    second = memory.pending(ADA).rows[0].due
    memory.form(ADA)

    assert first is not None
    assert second is not None
    assert first < second
    assert 1 == len(memory.formations(ADA).rows)
    profile = memory.get(ADA, "User", "User")
    assert profile is not None
    assert {"home": "Turku", "interests": ["rowing"]} == profile.value


def test_a_fact_that_a_tool_saved_is_not_formed_again(
    memory: SyncRecollect, reader: Reader
) -> None:
    """The agent's tool quotes the message that is kept already; formation finds the same."""
    reader.answers += [calling("save_memory", **SAVING), AIMessage("Noted.")]
    agent = new_agent(
        reader,
        tools=memory_tools(MemoryTools(memory, ADA, "one")),
        middleware=[FormationMiddleware(memory, ADA)],
    )

    result = agent.invoke(turn(SAID), in_thread("one"))
    memory.form(ADA)

    (answered,) = [each for each in result["messages"] if isinstance(each, ToolMessage)]
    assert '"status": "stored"' in str(answered.content)
    notes = memory.memories(ADA, type_="Note").rows
    assert [SAID] == [each.value["content"] for each in notes]


async def test_the_tools_are_those_of_the_caller(reader: Reader) -> None:
    """One agent for all: what it saves is in the scope and thread of the run, whatever is said."""

    def scope(caller: GraphCaller) -> tuple[str, ...]:
        return ("users", caller.configurable["user"])

    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        agent = new_agent(
            reader,
            tools=memory_tools(CallersMemoryTools(memory, scope)),
            middleware=[FormationMiddleware(memory, scope)],
        )
        for user in ("ada", "bea"):
            reader.answers += [calling("save_memory", **SAVING), AIMessage("Noted.")]
            said = turn(f"My dog hates rain, says {user}")
            await agent.ainvoke(said, in_thread("one", user=user))
        reader.answers += [calling("save_memory", **SAVING), AIMessage("Noted.")]
        await to_thread.run_sync(
            lambda: agent.invoke(turn("My dog hates rain"), in_thread("two", user="ada"))
        )

        for each in (ADA, BEA):
            kept = (await memory.memories(each, type_="Note")).rows
            assert 1 == len(kept)
            assert {"one"} == {e.thread for found in kept[0].evidence.values() for e in found} - {
                "two"
            }


def test_a_turn_and_what_tools_save_are_in_the_thread_of_the_checkpoints(
    memory: SyncRecollect, reader: Reader
) -> None:
    """Kept, mirrored and quoted in one thread, which one erase takes with its checkpoints."""
    reader.answers += [calling("save_memory", **SAVING), AIMessage("Noted.")]
    with checkpointer(memory, mirror=True) as saver:
        agent = new_agent(
            reader,
            tools=memory_tools(CallersMemoryTools(memory, ADA)),
            checkpointer=saver,
            middleware=[FormationMiddleware(memory, ADA)],
        )
        run = in_thread(thread_id_of(ADA, "one"))

        agent.invoke(turn(SAID), run)

        assert ["one"] == [each.id for each in memory.threads(ADA).rows]
        (saved,) = memory.memories(ADA, type_="Note").rows
        assert {"one"} == {each.thread for found in saved.evidence.values() for each in found}
        memory.erase(ADA, EraseThread(thread="one"))
        assert {} == agent.get_state(run).values
        assert () == memory.recall(ADA, "dog rain").entries


def test_a_thread_id_of_another_scope_is_refused(memory: SyncRecollect, reader: Reader) -> None:
    agent = new_agent(reader, tools=[], middleware=[FormationMiddleware(memory, ADA)])

    with pytest.raises(UsageError, match="names a thread of the scope"):
        agent.invoke(turn("Hello"), in_thread(thread_id_of(BEA, "one")))

    assert () == memory.threads(ADA).rows
    named = new_agent(reader, tools=[], middleware=[FormationMiddleware(memory, ADA, thread="t")])
    named.invoke(turn("Hello"), in_thread(thread_id_of(BEA, "one")))
    assert ["t"] == [each.id for each in memory.threads(ADA).rows]


BACK = render_block([Record(source="x/1", date="", who="user", text="I live in Oslo.")])
BACK_AS_CONTEXT = f"""\
<memory 0b6c2f1e> {PREAMBLE}
# Mon 23 November 2026
[k3f2] user: I live in Oslo.
</memory 0b6c2f1e>"""


@pytest.mark.parametrize("back", [BACK, BACK_AS_CONTEXT])
def test_what_recall_injected_is_not_formed(
    memory: SyncRecollect, reader: Reader, back: str
) -> None:
    """A block that came back in a person's message, as where a program stores its requests."""
    agent = remembering(reader, memory)

    agent.invoke(turn(f"{back}\n\nI like tea."), in_thread("one"))
    memory.form(ADA)

    profile = memory.get(ADA, "User", "User")
    assert profile is not None
    assert {"interests": ["tea"]} == profile.value


def test_a_formation_that_reads_blocks_is_caught(
    memory: SyncRecollect, reader: Reader, former: RuleModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant takes the block for the person's words, and shows it to the model."""
    agent = remembering(reader, memory)
    agent.invoke(turn(f"{BACK}\n\nI like tea."), in_thread("one"))
    memory.form(ADA)
    monkeypatch.setattr(window, "without_recalled", lambda text: text)
    agent.invoke(turn(f"{BACK}\n\nI like snow."), in_thread("one"))
    memory.form(ADA)

    assert [False, True] == ["Oslo" in each.turns[0].text for each in former.requests]


def summing_up(memory: SyncRecollect, reader: Reader) -> list[str]:
    """Run an agent whose talk LangChain's middleware sums up; return what is kept of it."""
    summing = SummarizationMiddleware(
        Reader(answers=[AIMessage("I live in Oslo.")] * 9, requests=[]),
        trigger=("messages", 3),
        keep=("messages", 1),
    )
    agent = compacting(reader, summing, FormationMiddleware(memory, ADA))
    agent.invoke(turn("I like tea."), in_thread("one"))
    agent.invoke(turn("I like snow."), in_thread("one"))
    assert any("Oslo" in each.text for each in reader.requests[-1])
    return [text for _, text in kept_in(memory)]


def test_a_summary_of_langchains_is_not_kept_as_words(
    memory: SyncRecollect, reader: Reader
) -> None:
    """Its summary is a person's message, but nobody said it."""
    assert not any("Oslo" in text for text in summing_up(memory, reader))


def test_a_formation_that_keeps_summaries_is_caught(
    memory: SyncRecollect, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant takes whatever a person's message says for his words."""
    monkeypatch.setattr(forming, "is_said", lambda _: True)

    assert any("Oslo" in text for text in summing_up(memory, reader))


def test_what_no_store_takes_is_kept_as_words(memory: SyncRecollect, reader: Reader) -> None:
    """A NUL, half a character, and an object that a tool returned beside its text."""

    @tool(response_format="content_and_artifact")
    def look() -> tuple[str, object]:
        """Look."""
        return "a cat", object()

    reader.answers += [calling("look"), AIMessage("A cat.")]
    agent = new_agent(reader, tools=[look], middleware=[FormationMiddleware(memory, ADA)])

    agent.invoke(turn("What\0 is\ud83d it?"), in_thread("one"))

    assert ("user", "What\ufffd is\ufffd it?") == kept_in(memory)[0]
    assert ("tool", "a cat") == kept_in(memory)[2]


def test_a_run_without_a_thread_is_told(memory: SyncRecollect, reader: Reader) -> None:
    agent = new_agent(reader, tools=[], middleware=[FormationMiddleware(memory, ADA)])

    with pytest.raises(UsageError, match="thread_id"):
        agent.invoke(turn("Hello"))


# Compaction


def compacting(reader: Reader, *middleware: AgentMiddleware, tools: Any = ()) -> Any:
    return new_agent(
        reader,
        tools=list(tools),
        system_prompt="Be kind.",
        middleware=list(middleware),
        checkpointer=InMemorySaver(),
    )


def test_a_long_talk_is_cut_off_in_requests_alone(reader: Reader) -> None:
    """The state keeps every message; requests begin alike until the next cut."""
    agent = compacting(reader, CompactionMiddleware(trigger_messages=6, keep=2))

    for number in range(4):
        result = agent.invoke(turn(f"Line {number}"), in_thread("one"))

    assert 8 == len(result["messages"])
    assert [1, 3, 5, 3] == [len(each) - 1 for each in reader.requests][:4]
    assert ["Be kind.", "Line 2"] == [each.content for each in reader.requests[3][:2]]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_summary_takes_the_place_of_older_messages(reader: Reader, mode: str) -> None:
    """It is extended by the next one, and the request before the person's words stays short."""
    model = ScriptedModel(["Ada lives in Turku.", "Ada lives in Turku and rows."])
    agent = compacting(reader, CompactionMiddleware(model, trigger_messages=6, keep=2))

    for number in range(7):
        said = turn(f"Line {number}")
        if mode == "invoke":
            agent.invoke(said, in_thread("one"))
        else:
            asyncio.run(agent.ainvoke(said, in_thread("one")))

    assert 2 == len(model.requests)
    assert "Ada lives in Turku." in model.requests[1].turns[0].text
    shown = reader.requests[-1]
    assert ["system", "system"] == [each.type for each in shown[:2]]
    assert "Ada lives in Turku and rows." in shown[1].text


def test_a_failed_summary_changes_nothing(reader: Reader) -> None:
    """The error is told; the next run has the whole talk."""
    model = ScriptedModel([recollect.ModelError("overloaded"), "Ada lives in Turku."])
    agent = compacting(reader, CompactionMiddleware(model, trigger_messages=4, keep=1))
    agent.invoke(turn("Line 0"), in_thread("one"))
    agent.invoke(turn("Line 1"), in_thread("one"))
    with pytest.raises(recollect.ModelError):
        agent.invoke(turn("Line 2"), in_thread("one"))

    agent.invoke(turn("Line 3"), in_thread("one"))

    assert "Line 2" in model.requests[1].turns[0].text
    assert "Ada lives in Turku." in reader.requests[-1][1].text


def test_tool_pairs_stay_whole_and_the_question_stays(reader: Reader) -> None:
    """In a long run of tools each request has its calls with their results, and the question."""
    reader.answers += [calling("weather", f"c{number}", city="Turku") for number in range(9)]
    agent = compacting(reader, CompactionMiddleware(trigger_messages=6, keep=3), tools=[weather])

    agent.invoke(turn("How is it in Turku, all week?"), in_thread("one"))

    for request in reader.requests:
        called = [call["id"] for each in request for call in getattr(each, "tool_calls", [])]
        answered = [each.tool_call_id for each in request if isinstance(each, ToolMessage)]
        assert called == answered
        assert "How is it in Turku, all week?" == request[1].content
        assert len(request) <= 8


def test_tokens_trigger_a_cut_that_gets_below_them(reader: Reader) -> None:
    """Even where the last messages alone are too many."""
    agent = compacting(reader, CompactionMiddleware(trigger_tokens=200))

    for _ in range(9):
        agent.invoke(turn("word " * 40), in_thread("one"))

    assert max(len(each) for each in reader.requests) < 9


def test_what_was_cut_off_is_kept_and_recalled(memory: SyncRecollect, reader: Reader) -> None:
    """Formation reads the state, not the request; recall brings back what is not shown."""
    agent = compacting(
        reader,
        CompactionMiddleware(trigger_messages=4, keep=1),
        RecallMiddleware(memory, ADA),
        FormationMiddleware(memory, ADA),
    )
    for text in ("The key is under the mat.", "I like tea.", "I like snow.", "Where is the key?"):
        agent.invoke(turn(text), in_thread("one"))

    assert 8 == len(kept_in(memory))
    shown = reader.requests[-1]
    assert "The key is under the mat." not in [each.content for each in shown]
    assert "The key is under the mat." in [each.text for each in records_in(shown)]


# Instructions and examples


def test_instructions_of_a_user_come_behind_the_agents(
    memory: SyncRecollect, reader: Reader
) -> None:
    rules = Instructions(memory, ("agents",), fixed=["Promise no refunds"])
    rules.write(["Be brief"], by="sam", why="x")
    rules.write(["Speak Finnish"], by="ada", why="x", user=ADA)
    agent = new_agent(
        reader,
        tools=[],
        system_prompt="Be kind.",
        middleware=[
            InstructionsMiddleware(rules, user=lambda it: ("users", it.configurable["user"]))
        ],
    )

    agent.invoke(turn("Hello"), in_thread("one", user="ada"))
    agent.invoke(turn("Hello"), in_thread("one", user="bea"))

    both = "Be kind.\n\n- Promise no refunds\n- Be brief"
    assert [f"{both}\n- Speak Finnish", both] == [each[0].content for each in reader.requests]


def test_a_block_of_examples_keeps_its_budget(memory: SyncRecollect, reader: Reader) -> None:
    examples = Examples(memory, ("agents",))
    for number in range(9):
        examples.add(f"Lost parcel {number}", "delivery", reason="it was sent")
    shows = ExamplesMiddleware(examples, count=9, budget_tokens=200)
    agent = new_agent(reader, tools=[], middleware=[shows])

    agent.invoke(turn("My parcel?"))

    found = BLOCK.search(reader.requests[-1][-1].text)
    assert found is not None
    assert 100 < estimated_tokens(found[0]) <= 200


def test_examples_are_shown_as_messages_before_the_question(
    memory: SyncRecollect, reader: Reader
) -> None:
    examples = Examples(memory, ("agents",))
    examples.add("Lost parcel", "delivery", reason="it was sent")
    agent = new_agent(
        reader, tools=[], middleware=[ExamplesMiddleware(examples, present="messages")]
    )

    result = agent.invoke(turn("My parcel?"))

    shown = [(each.type, each.content) for each in reader.requests[-1]]
    assert [
        ("human", "Lost parcel"),
        ("ai", "it was sent\n\ndelivery"),
        ("human", "My parcel?"),
    ] == shown
    assert 2 == len(result["messages"])


# Loops


async def run_on_the_home_loop(agent: Any) -> Any:
    return await agent.ainvoke(turn("I live in Turku."), in_thread("one"))


async def run_on_a_thread(agent: Any) -> Any:
    return await to_thread.run_sync(
        lambda: agent.invoke(turn("I live in Turku."), in_thread("one"))
    )


async def run_on_another_loop(agent: Any) -> Any:
    return await to_thread.run_sync(
        lambda: asyncio.run(agent.ainvoke(turn("I live in Turku."), in_thread("one")))
    )


RUNS: list[Callable[[Any], Awaitable[Any]]] = [
    run_on_the_home_loop,
    run_on_a_thread,
    run_on_another_loop,
]


def whole_agent(reader: Reader, memory: Any) -> Any:
    return compacting(
        reader,
        CompactionMiddleware(RuleModel(), trigger_messages=9),
        InstructionsMiddleware(Instructions(memory, ("agents",))),
        ExamplesMiddleware(Examples(memory, ("agents",))),
        RecallMiddleware(memory, ADA),
        FormationMiddleware(memory, ADA),
    )


@pytest.mark.parametrize("run", RUNS)
async def test_an_agent_over_an_awaited_memory_runs_anywhere(
    reader: Reader, run: Callable[[Any], Awaitable[Any]]
) -> None:
    """On the loop of the memory, on a thread, and on another loop."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        await run(whole_agent(reader, memory))

        kept = (await memory.messages(ADA, "one")).rows
        assert ["user", "assistant"] == [each.role for each in kept]


@pytest.mark.parametrize("run", RUNS)
async def test_an_agent_over_a_waiting_memory_runs_anywhere(
    memory: SyncRecollect, reader: Reader, run: Callable[[Any], Awaitable[Any]]
) -> None:
    await run(whole_agent(reader, memory))

    assert ["user", "assistant"] == [role for role, _ in kept_in(memory)]


async def test_an_agent_that_waits_runs_in_a_loop(memory: SyncRecollect, reader: Reader) -> None:
    """As in a notebook: `invoke` where a loop runs."""
    whole_agent(reader, memory).invoke(turn("I live in Turku."), in_thread("one"))

    assert ["user", "assistant"] == [role for role, _ in kept_in(memory)]


async def test_waiting_on_the_home_loop_is_refused(reader: Reader) -> None:
    """It would wait for itself for ever; the error says to await."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match="ainvoke"):
            whole_agent(reader, memory).invoke(turn("Hello"), in_thread("one"))


def test_every_hook_is_there_in_both_forms() -> None:
    """One without its twin would fail in the other kind of run."""
    kinds = [
        CompactionMiddleware,
        ExamplesMiddleware,
        FormationMiddleware,
        InstructionsMiddleware,
        RecallMiddleware,
    ]
    hooks = {"before_agent", "before_model", "after_model", "after_agent", "wrap_model_call"}
    for kind in kinds:
        ours = [each for each in kind.__mro__ if each.__module__.startswith("recollect.")]
        names = {name for each in ours for name in vars(each)}
        own = {name for name in names if name.removeprefix("a") in hooks or name in hooks}
        waits = {name for name in own if name in hooks}
        assert waits
        assert own == waits | {f"a{name}" for name in waits}
