"""Turns of LangChain's agents whose words are erased before the agent is done."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import recollect
from recollect import EraseMessages, EraseScope, EraseThread, SyncRecollect
from recollect.integrations.langchain.middleware import FormationMiddleware
from tests.harness.agent_models import Reader, in_thread, turn
from tests.integration.test_langchain_middleware import ADA, calling, new_agent


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[SyncRecollect]:
    url = f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder="none", worker=False) as memory:
        yield memory


@pytest.fixture
def reader() -> Reader:
    return Reader(answers=[], requests=[])


@pytest.mark.parametrize("awaits", [True, False])
@pytest.mark.parametrize("target", [EraseScope(), EraseThread(thread="one"), None])
async def test_what_is_erased_during_a_turn_is_not_kept_again(
    target: EraseScope | EraseThread | None, reader: Reader, *, awaits: bool
) -> None:
    """By a tool, or by a person while an agent waits; what is said afterwards is kept."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:

        @tool
        def forget() -> str:
            """Erase what was said."""
            said = EraseMessages(thread="one", messages=[memory.messages(ADA, "one").rows[-1].id])
            memory.erase(ADA, target or said)
            return "Gone."

        agent = new_agent(
            reader,
            tools=[forget],
            middleware=[FormationMiddleware(memory, ADA)],
            checkpointer=InMemorySaver(),
        )
        reader.answers += [calling("forget"), AIMessage("Done."), AIMessage("Bye.")]
        for said in ("Forget my cat Tom.", "Goodbye."):
            if awaits:
                await agent.ainvoke(turn(said), in_thread("one"))
            else:
                await to_thread.run_sync(partial(agent.invoke, turn(said), in_thread("one")))
        kept = [each.text for each in memory.messages(ADA, "one").rows]

    assert ["", "Gone.", "Done.", "Goodbye.", "Bye."] == kept


def test_words_of_a_failed_run_that_are_erased_stay_away(
    memory: SyncRecollect, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of the graph has them still, before the next words of the user."""
    agent = new_agent(
        reader,
        tools=[],
        middleware=[FormationMiddleware(memory, ADA)],
        checkpointer=InMemorySaver(),
    )

    def fail(*_: object) -> AIMessage:
        raise ConnectionError

    with monkeypatch.context() as away:
        away.setattr(Reader, "answer", fail)
        with pytest.raises(ConnectionError):
            agent.invoke(turn("My cat is Tom."), in_thread("one"))
    memory.erase(ADA, EraseThread(thread="one"))

    agent.invoke(turn("Good morning."), in_thread("one"))

    kept = [each.text for each in memory.messages(ADA, "one").rows]
    assert "Good morning." == kept[0]
    assert 2 == len(kept)
