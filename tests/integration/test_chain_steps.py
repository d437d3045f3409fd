"""A chain's turn as the seed tells it: all memory into the inputs, actions and answer kept."""

from pathlib import Path
from typing import Any

import pydantic
import pytest

import recollect
from recollect import UsageError
from recollect.conversation import (
    BufferMemory,
    KeyValueMemory,
    MessageType,
    achain_inputs,
    ais_repeated,
    akeep_action,
    akeep_outputs,
    chain_inputs,
    is_repeated,
    keep_action,
    keep_outputs,
)


class AgentAction(pydantic.BaseModel):
    """An agent's action, as AutoChain has it."""

    tool: str
    tool_input: dict[str, Any]
    tool_output: str = ""

    @property
    def response(self) -> str:
        return f"used {self.tool}: {self.tool_output}"


class AgentFinish(pydantic.BaseModel):
    """The end of a chain's turn, as AutoChain has it."""

    message: str
    intermediate_steps: list[AgentAction] = []


STEP = {"tool": "track", "tool_input": {"order": 7}, "tool_output": "sent"}


def agent(history: Any, intermediate_steps: list[Any], **values: Any) -> AgentFinish:
    """Answer from what a chain passes as keyword arguments."""
    said = history.get_latest_user_message().content
    steps = [AgentAction.model_validate(each) for each in intermediate_steps]
    if not steps:
        steps = [AgentAction(tool="track", tool_input={"order": 7}, tool_output="sent")]
    return AgentFinish(
        message=f"{said} → {steps[-1].tool_output} ({values.get('city', '?')})",
        intermediate_steps=steps,
    )


def test_a_chain_takes_all_memory_in_and_keeps_what_came_out() -> None:
    """Two turns: the second has the first one's talk, actions and outputs."""
    memory = BufferMemory()
    memory.save_memory("city", "Oslo")

    first = chain_inputs(memory, "Where is order 7?")
    assert first["history"].format_message() == "User: Where is order 7?\n"
    assert first["intermediate_steps"] == []
    keep_action(memory, AgentAction.model_validate(STEP))
    kept = keep_outputs(memory, agent(**first))
    assert {"message": "Where is order 7? → sent (Oslo)", "intermediate_steps": [STEP]} == kept

    second = chain_inputs(memory, "Sure?")
    assert (
        "User: Where is order 7?\nAction: used track: sent\n"
        "Assistant: Where is order 7? → sent (Oslo)\nUser: Sure?\n"
    ) == second["history"].format_message()
    assert {"intermediate_steps", "history", "city", "track"} == second.keys()
    assert second["intermediate_steps"] == [STEP]
    assert agent(**second).message == "Sure? → sent (Oslo)"


def test_a_function_message_is_what_openai_takes() -> None:
    memory = BufferMemory()
    keep_action(memory, {"tool": "track", "tool_input": "7", "observation": {"sent": True}})

    assert [{"role": "function", "content": "{'sent': True}", "name": "track"}] == (
        memory.load_conversation().to_openai()
    )


def test_a_repeated_action_is_noticed() -> None:
    """Same tool and same input; another input, or another tool's, is none."""
    memory = BufferMemory()
    keep_action(memory, STEP)

    assert is_repeated(memory, AgentAction.model_validate(STEP))
    assert not is_repeated(memory, {**STEP, "tool_input": {"order": 8}})
    assert not is_repeated(memory, {**STEP, "tool": "cancel"})
    assert not is_repeated(memory, {"tool": "cancel", "tool_input": None})


def test_a_value_called_history_does_not_hide_the_conversation() -> None:
    memory = BufferMemory()
    memory.save_memory("history", "of Norway")

    assert chain_inputs(memory, "Hi")["history"].format_message() == "User: Hi\n"


def test_an_answer_alone_leaves_the_steps_as_they_are() -> None:
    memory = BufferMemory()
    keep_outputs(memory, {"message": "One", "intermediate_steps": [STEP]})
    keep_outputs(memory, "Two")

    assert memory.load_memory("intermediate_steps") == [STEP]
    assert memory.load_conversation().format_message() == "Assistant: One\nAssistant: Two\n"


@pytest.mark.parametrize("output", [{"text": "One"}, None, {"message": 3}])
def test_an_output_without_an_answer_is_refused(output: object) -> None:
    memory = BufferMemory()

    with pytest.raises(UsageError, match="message"):
        keep_outputs(memory, output)
    assert len(memory.load_conversation()) == 0


def test_an_action_without_a_tool_is_refused() -> None:
    memory = BufferMemory()

    with pytest.raises(UsageError, match="tool"):
        keep_action(memory, {"tool_input": "7"})
    assert len(memory.load_conversation()) == 0


async def test_the_awaited_face_does_the_same(tmp_path: Path) -> None:
    async with recollect.open(str(tmp_path / "a.db"), embedder="none", worker=False) as open_memory:
        memory = KeyValueMemory(open_memory, ("users", "ada"), "order")
        inputs = await achain_inputs(memory, "Where is order 7?")
        await akeep_action(memory, STEP)
        await akeep_outputs(memory, agent(**inputs))

        assert await ais_repeated(memory, STEP)
        again = await achain_inputs(memory, "Sure?")
        assert again["intermediate_steps"] == [STEP]
        assert [
            MessageType.UserMessage.name,
            MessageType.FunctionMessage.name,
            MessageType.AIMessage.name,
            MessageType.UserMessage.name,
        ] == [NAMES[each.type] for each in again["history"].messages]


NAMES = {"human": "UserMessage", "ai": "AIMessage", "function": "FunctionMessage"}
