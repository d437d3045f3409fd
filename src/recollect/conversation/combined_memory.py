"""Wrappers of conversation memories: several combined, a read-only one, and constants."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TypeVar

from recollect.conversation.base import (
    BaseMemory,
    ChatMemory,
    PolicyMemory,
    Values,
    Variables,
    warn_ignored,
)
from recollect.conversation.prompt_parts import PromptPart, part_of, within
from recollect.conversation.retriever import VectorStoreRetrieverMemory
from recollect.conversation.thread_history import ChatHistory
from recollect.errors import UsageError
from recollect.ports import TokenCounter
from recollect.sync.method_pairs import PairCall, delegated_pair
from recollect.text.token_estimate import estimated_tokens

ValueT = TypeVar("ValueT")


class CombinedMemory(BaseMemory):
    """
    Several memories combined: each loads its own variables, and each saves every turn.

    If several share a thread, wrap all but one in `ReadOnlySharedMemory`: otherwise each of them
    saves every turn again, and a warning says so.

    With *max_token_limit* they share one token budget. Whole entries are dropped until the rest
    fits: from the variable that *priority* names last (by default in the order of *memories*), its
    oldest or least relevant entry first. A tool call is dropped together with its result.
    """

    def __init__(
        self,
        memories: Sequence[BaseMemory],
        *,
        max_token_limit: int | None = None,
        priority: Sequence[str] | None = None,
        count_tokens: TokenCounter = estimated_tokens,
        **unknown: object,
    ) -> None:
        """
        Combine *memories*.

        Raises:
            UsageError: Two memories have a variable of the same name, or *priority* does not name
                each variable exactly once.
        """
        warn_ignored(self, unknown)
        self.memories = list(memories)
        _check_apart(self.memories)
        _warn_of_guessed_keys(self.memories)
        _warn_of_kept_variables(self.memories)
        _warn_of_turns_stored_twice(self.memories)
        self.max_token_limit = max_token_limit
        self.priority = list(self.memory_variables if priority is None else priority)
        self.count_tokens = count_tokens
        if sorted(self.priority) != sorted(self.memory_variables):
            msg = f"priority is {self.priority}: name each of {self.memory_variables} exactly once"
            raise UsageError(msg)

    @property
    def memory_variables(self) -> list[str]:
        """The variables of all memories, in order."""
        return [name for each in self.memories for name in each.memory_variables]

    async def _load_variables(self, call: PairCall, inputs: Values) -> Variables:
        """Return the variables of all memories, within the token budget."""
        if self.max_token_limit is None:
            return _merged([await _variables_of(each, call, inputs) for each in self.memories])
        return self._within([await _parts_of(each, call, inputs) for each in self.memories])

    async def _save_context(self, call: PairCall, inputs: Values, outputs: Values) -> None:
        """Save one turn in each memory, in order."""
        for each in self.memories:
            await call(each.save_context, each.asave_context, inputs, outputs)

    async def _clear(self, call: PairCall) -> None:
        """Clear each memory."""
        for each in self.memories:
            await call(each.clear, each.aclear)

    load_memory_variables, aload_memory_variables = delegated_pair(
        _load_variables, "load_memory_variables"
    )
    save_context, asave_context = delegated_pair(_save_context)
    clear, aclear = delegated_pair(_clear)

    def _within(self, parts: Sequence[Mapping[str, PromptPart]]) -> dict[str, object]:
        limit = self.max_token_limit or 0
        return within(_merged(parts), limit, self.count_tokens, self.priority)


def _check_apart(memories: Sequence[BaseMemory]) -> None:
    names = [name for each in memories for name in each.memory_variables]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(
            f"The same variables {twice} are found in multiple memory objects, which is not "
            "allowed by CombinedMemory: give them different memory keys"
        )


def _warn_of_guessed_keys(memories: Sequence[BaseMemory]) -> None:
    for each in memories:
        if isinstance(each, ChatMemory) and each.input_key is None:
            msg = (
                "the inputs of a combined memory include the other memories' variables: set the "
                f"input_key of {type(each).__name__}"
            )
            warnings.warn(msg, stacklevel=3)


def _warn_of_kept_variables(memories: Sequence[BaseMemory]) -> None:
    names = {name for each in memories for name in each.memory_variables}
    for each in memories:
        if not isinstance(each, VectorStoreRetrieverMemory):
            continue
        if kept := sorted(names - {each.memory_key, *each.exclude_input_keys}):
            msg = (
                "VectorStoreRetrieverMemory saves all inputs of a turn, which include the "
                f"variables of the other memories: set its exclude_input_keys to {kept}"
            )
            warnings.warn(msg, stacklevel=3)


def _warn_of_turns_stored_twice(memories: Sequence[BaseMemory]) -> None:
    kept: dict[object, BaseMemory] = {}
    for each in memories:
        where = _conversation_of(each)
        before = kept.setdefault(where, each) if where is not None else each
        if before is not each:
            names = f"{type(before).__name__} and {type(each).__name__}"
            msg = (
                f"{names} save their turns in the same conversation, so each turn is saved twice: "
                "wrap one of them in a ReadOnlySharedMemory (its flush() catches up), or give it "
                "a thread of its own"
            )
            warnings.warn(msg, stacklevel=3)


def _conversation_of(memory: BaseMemory) -> object:
    """Return an identity of the conversation that a memory appends to; ``None`` if none."""
    if isinstance(memory, ChatMemory) and not isinstance(memory.chat_memory, ChatHistory):
        return id(memory.chat_memory)
    if isinstance(memory, ChatMemory):
        return id(memory.home.memory), memory.scope, memory.thread
    if isinstance(memory, VectorStoreRetrieverMemory) and memory.retriever is None:
        return id(memory.home.memory), memory.scope, memory.thread
    return None


def _merged(found: Sequence[Mapping[str, ValueT]]) -> dict[str, ValueT]:
    merged: dict[str, ValueT] = {}
    for each in found:
        for name in each:
            if name in merged:
                raise UsageError(f"The variable {name} is repeated in the CombinedMemory.")
        merged.update(each)
    return merged


async def _variables_of(memory: BaseMemory, call: PairCall, inputs: Values) -> dict[str, object]:
    return await call(memory.load_memory_variables, memory.aload_memory_variables, inputs)


async def _parts_of(memory: BaseMemory, call: PairCall, inputs: Values) -> dict[str, PromptPart]:
    if isinstance(memory, ReadOnlySharedMemory):
        return await _parts_of(memory.memory, call, inputs)
    if isinstance(memory, PolicyMemory):
        return await call(memory.load_parts, memory.aload_parts, inputs)
    loaded = await _variables_of(memory, call, inputs)
    return {name: part_of(value) for name, value in loaded.items()}


class _ReadOnlyMemory(BaseMemory):
    """A memory that ignores writes."""

    def save_context(self, inputs: Values, outputs: Values) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""

    async def asave_context(self, inputs: Values, outputs: Values) -> None:
        """Do nothing."""

    async def aclear(self) -> None:
        """Do nothing."""


class ReadOnlySharedMemory(_ReadOnlyMemory):
    """A read-only view of another memory, for a tool that reads an agent's memory."""

    def __init__(self, memory: BaseMemory, **unknown: object) -> None:
        warn_ignored(self, unknown)
        self.memory = memory

    @property
    def memory_variables(self) -> list[str]:
        """The variables of the other memory."""
        return self.memory.memory_variables

    async def _load_variables(self, call: PairCall, inputs: Values) -> Variables:
        """Return the variables of the other memory."""
        return await _variables_of(self.memory, call, inputs)

    load_memory_variables, aload_memory_variables = delegated_pair(
        _load_variables, "load_memory_variables"
    )


class SimpleMemory(_ReadOnlyMemory):
    """A memory of constants: the same variables for each prompt."""

    def __init__(self, memories: Mapping[str, object] | None = None, **unknown: object) -> None:
        warn_ignored(self, unknown)
        self.memories = dict(memories or {})

    @property
    def memory_variables(self) -> list[str]:
        """The names of the constants."""
        return list(self.memories)

    def load_memory_variables(self, inputs: Values) -> Variables:
        """Return the constants."""
        return dict(self.memories)

    async def aload_memory_variables(self, inputs: Values) -> Variables:
        """Return the constants."""
        return dict(self.memories)
