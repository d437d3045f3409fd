"""A chain's steps around each turn: load memory into its inputs, store its outputs."""

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
"""Names of the field in which an action holds its tool's result."""


async def _chain_inputs(memory: ChainMemory, call: PairCall, user_message: str) -> Variables:
    """
    Keep what the person says, and return all memory as inputs of a chain.

    They are the values by key, the conversation with this message under ``history``, and under
    ``intermediate_steps`` the actions so far, a list (empty at first).
    """
    values = await call(memory.load_memory, memory.aload_memory)
    said = user_message, MessageType.UserMessage
    await call(memory.save_conversation, memory.asave_conversation, *said)
    return _inputs(values, await call(memory.load_conversation, memory.aload_conversation))


async def _keep_outputs(memory: ChainMemory, call: PairCall, output: object) -> Variables:
    """
    Keep what the chain answers and the actions behind it; return both.

    *output* is an object or a mapping with ``message`` and ``intermediate_steps`` (all of them
    so far: they take the place of those that were kept), or the text of the answer alone.

    Raises:
        UsageError: It has no message; nothing was kept.
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
    Keep an agent's action: what its tool returned as a function message, its input at its name.

    *action* is an object or a mapping with ``tool``, ``tool_input`` and ``tool_output`` (or
    ``observation``); its ``response``, where it has one, is shown in the talk.

    Raises:
        UsageError: It names no tool; nothing was kept.
    """
    taken = _action(action)
    await call(memory.save_memory, memory.asave_memory, taken.tool, taken.tool_input)
    kind = MessageType.FunctionMessage
    keep = partial(memory.save_conversation, taken.output, kind, **taken.fields)
    akeep = partial(memory.asave_conversation, taken.output, kind, **taken.fields)
    await call(keep, akeep)


async def _is_repeated(memory: ChainMemory, call: PairCall, action: object) -> bool:
    """Return True if the last action with the same tool had the same input."""
    taken = _action(action)
    before = await call(memory.load_value, memory.aload_value, taken.tool, _Never)
    return bool(before == taken.tool_input)


chain_inputs, achain_inputs = delegated_pair(_chain_inputs)
keep_outputs, akeep_outputs = delegated_pair(_keep_outputs)
keep_action, akeep_action = delegated_pair(_keep_action)
is_repeated, ais_repeated = delegated_pair(_is_repeated)


class _Never:
    """Not equal to any input of a tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """An action that was taken, or may be."""

    tool: str
    tool_input: Json
    output: str
    fields: Mapping[str, Json]


def _action(action: object) -> _Taken:
    tool = _field(action, "tool")
    if not isinstance(tool, str) or not tool:
        msg = f"an action names its tool, {{'tool': …, 'tool_input': …}}; this does not: {action!r}"
        raise UsageError(msg)
    found = (_field(action, name) for name in _OUTPUTS)
    output = next((each for each in found if each not in (None, "")), "")
    fields: dict[str, Json] = {"name": tool}
    response = _field(action, "response")
    if isinstance(response, str) and response:
        fields[CONVERSATIONAL] = response
    return _Taken(
        tool=tool,
        tool_input=json_of(_field(action, "tool_input"), f"the input of {tool!r}"),
        output=str(output),
        fields=fields,
    )


def _inputs(values: Mapping[str, object], conversation: object) -> Variables:
    return {INTERMEDIATE_STEPS: [], **values, CONVERSATION_HISTORY: conversation}


def _outputs(output: object) -> Variables:
    message = output if isinstance(output, str) else _field(output, "message")
    if not isinstance(message, str):
        msg = f"a chain's output has the text of its answer at 'message'; this has not: {output!r}"
        raise UsageError(msg)
    steps = None if isinstance(output, str) else _field(output, INTERMEDIATE_STEPS)
    if steps is None:
        return {"message": message}
    return {"message": message, INTERMEDIATE_STEPS: json_of(steps, "the intermediate steps")}


def _field(owner: object, name: str) -> object:
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)
