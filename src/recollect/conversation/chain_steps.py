"""The steps of a chain around each turn: load its inputs from memory, and save its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from recollect.conversation.base import Variables
from recollect.conversation.chain_memory import ChainMemory
from recollect.conversation.json_form import json_of
from recollect.conversation.openai_messages import CONVERSATIONAL, MessageType
from recollect.errors import UsageError
from recollect.records import Json
from recollect.sync.method_pairs import PairCall, delegated_pair

CONVERSATION_HISTORY: Final = "history"
INTERMEDIATE_STEPS: Final = "intermediate_steps"
_OUTPUTS: Final = ("tool_output", "observation")
"""Fields in which an action may hold its tool's result, in order of preference."""


async def _chain_inputs(memory: ChainMemory, call: PairCall, user_message: str) -> Variables:
    """
    Save the user's message, and return the whole memory as inputs of a chain.

    The inputs are the stored values by key, the conversation including this message under
    ``history``, and the list of actions so far under ``intermediate_steps``.
    """
    values = await call(memory.load_memory, memory.aload_memory)
    said = user_message, MessageType.UserMessage
    await call(memory.save_conversation, memory.asave_conversation, *said)
    conversation = await call(memory.load_conversation, memory.aload_conversation)
    return {INTERMEDIATE_STEPS: [], **values, CONVERSATION_HISTORY: conversation}


async def _keep_outputs(memory: ChainMemory, call: PairCall, output: object) -> Variables:
    """
    Save the chain's answer and the actions behind it, and return both.

    *output* is an object or a mapping with ``message`` and ``intermediate_steps`` (all steps so
    far: they replace the stored ones), or the text of the answer alone.

    Raises:
        UsageError: *output* has no message; nothing was saved.
    """
    kept = _outputs(output)
    said = kept["message"], MessageType.AIMessage
    await call(memory.save_conversation, memory.asave_conversation, *said)
    if INTERMEDIATE_STEPS in kept:
        steps = INTERMEDIATE_STEPS, kept[INTERMEDIATE_STEPS]
        await call(memory.save_memory, memory.asave_memory, *steps)
    return kept


async def _keep_action(memory: ChainMemory, call: PairCall, action: object) -> None:
    """
    Save an agent's action: the tool's input as the value at its name, its result as a message.

    *action* is an object or a mapping with ``tool``, ``tool_input`` and ``tool_output`` (or
    ``observation``). Its ``response``, if any, is the text shown in the conversation.

    Raises:
        UsageError: The action names no tool; nothing was saved.
    """
    taken = _read_action(action)
    await call(memory.save_memory, memory.asave_memory, taken.tool, taken.tool_input)
    kind = MessageType.FunctionMessage
    keep = partial(memory.save_conversation, taken.output, kind, **taken.fields)
    akeep = partial(memory.asave_conversation, taken.output, kind, **taken.fields)
    await call(keep, akeep)


async def _is_repeated(memory: ChainMemory, call: PairCall, action: object) -> bool:
    """Return True if the last action with the same tool had the same input."""
    taken = _read_action(action)
    # A sentinel that equals no input: ``None`` is a possible input of a tool.
    before = await call(memory.load_value, memory.aload_value, taken.tool, object())
    return bool(before == taken.tool_input)


chain_inputs, achain_inputs = delegated_pair(_chain_inputs)
keep_outputs, akeep_outputs = delegated_pair(_keep_outputs)
keep_action, akeep_action = delegated_pair(_keep_action)
is_repeated, ais_repeated = delegated_pair(_is_repeated)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Action:
    """An agent's action: its tool, input and result, and the fields of its function message."""

    tool: str
    tool_input: Json
    output: str
    fields: Mapping[str, Json]


def _read_action(action: object) -> _Action:
    tool = _field(action, "tool")
    if not isinstance(tool, str) or not tool:
        msg = f"the action names no tool: {action!r}; give {{'tool': …, 'tool_input': …}}"
        raise UsageError(msg)
    found = (_field(action, name) for name in _OUTPUTS)
    output = next((each for each in found if each not in (None, "")), "")
    fields: dict[str, Json] = {"name": tool}
    response = _field(action, "response")
    if isinstance(response, str) and response:
        fields[CONVERSATIONAL] = response
    return _Action(
        tool=tool,
        tool_input=json_of(_field(action, "tool_input"), f"the input of {tool!r}"),
        output=str(output),
        fields=fields,
    )


def _outputs(output: object) -> Variables:
    message = output if isinstance(output, str) else _field(output, "message")
    if not isinstance(message, str):
        msg = f"the chain's output has no text at 'message': {output!r}; give the answer there"
        raise UsageError(msg)
    steps = None if isinstance(output, str) else _field(output, INTERMEDIATE_STEPS)
    if steps is None:
        return {"message": message}
    return {"message": message, INTERMEDIATE_STEPS: json_of(steps, "the intermediate steps")}


def _field(owner: object, name: str) -> object:
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)
