"""Several memories as one, a memory that is only read, and one of constants."""

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
    pass_over,
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
    Several memories together: each loads its own variables, and each saves every turn.

    Of several over one thread one keeps the turns, and the others go in as `ReadOnlySharedMemory`:
    otherwise each turn is kept once by each, which is warned of.

    With *max_token_limit* they share one budget: whole entries are left out until all of it
    fits, from the variable that *priority* names last (the order of *memories* by default), the
    oldest or least fitting first; never a message without its tool's result, nor half a text.
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
            UsageError: Two of them have a variable of the same name, or *priority* does not name
                each variable once.
        """
        pass_over(self, unknown)
        self.memories = list(memories)
        _check_apart(self.memories)
        _warn_of_guessed_keys(self.memories)
        _warn_of_kept_variables(self.memories)
        _warn_of_turns_kept_twice(self.memories)
        self.max_token_limit = max_token_limit
        self.priority = list(self.memory_variables if priority is None else priority)
        self.count_tokens = count_tokens
        if sorted(self.priority) != sorted(self.memory_variables):
            msg = f"priority {self.priority} must name each once: {self.memory_variables}"
            raise UsageError(msg)

    @property
    def memory_variables(self) -> list[str]:
        """The variables of all."""
        return [name for each in self.memories for name in each.memory_variables]

    async def _load_variables(self, call: PairCall, inputs: Values) -> Variables:
        """Return the variables of all, within the budget."""
        if self.max_token_limit is None:
            return _merged([await _variables_of(each, call, inputs) for each in self.memories])
        return self._within([await _parts_of(each, call, inputs) for each in self.memories])

    async def _save_context(self, call: PairCall, inputs: Values, outputs: Values) -> None:
        """Keep one turn in each, in their order."""
        for each in self.memories:
            await call(each.save_context, each.asave_context, inputs, outputs)

    async def _clear(self, call: PairCall) -> None:
        """Clear each."""
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
        msg = (
            f"The same variables {twice} are found in multiple memory objects, which is not "
            "allowed by CombinedMemory: give them different memory keys"
        )
        raise UsageError(msg)


def _warn_of_guessed_keys(memories: Sequence[BaseMemory]) -> None:
    for each in memories:
        if isinstance(each, ChatMemory) and each.input_key is None:
            msg = (
                "a memory among several sees the others' variables among its inputs: set the "
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
                "a chain's inputs hold the variables of all its memories, and a "
                "VectorStoreRetrieverMemory keeps all inputs of a turn: set its "
                f"exclude_input_keys to {kept}"
            )
            warnings.warn(msg, stacklevel=3)


def _warn_of_turns_kept_twice(memories: Sequence[BaseMemory]) -> None:
    kept: dict[object, BaseMemory] = {}
    for each in memories:
        where = _conversation_of(each)
        before = kept.setdefault(where, each) if where is not None else each
        if before is not each:
            names = f"{type(before).__name__} and {type(each).__name__}"
            msg = (
                f"{names} keep their turns in the same conversation: each turn would stand there "
                "twice; give one of them as a ReadOnlySharedMemory (its flush() catches up), or "
                "a thread of its own"
            )
            warnings.warn(msg, stacklevel=3)


def _conversation_of(memory: BaseMemory) -> object:
    """Return the conversation that a memory appends to, ``None`` if there is none."""
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
                msg = f"The variable {name} is repeated in the CombinedMemory."
                raise UsageError(msg)
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


class _Unwritten(BaseMemory):
    """A memory that keeps nothing itself."""

    def save_context(self, inputs: Values, outputs: Values) -> None:
        """Keep nothing."""

    def clear(self) -> None:
        """Remove nothing."""

    async def asave_context(self, inputs: Values, outputs: Values) -> None:
        """Keep nothing."""

    async def aclear(self) -> None:
        """Remove nothing."""


class ReadOnlySharedMemory(_Unwritten):
    """Another memory, read and never written: for a tool that shares an agent's."""

    def __init__(self, memory: BaseMemory, **unknown: object) -> None:
        pass_over(self, unknown)
        self.memory = memory

    @property
    def memory_variables(self) -> list[str]:
        """The variables of the other."""
        return self.memory.memory_variables

    async def _load_variables(self, call: PairCall, inputs: Values) -> Variables:
        """Return what the other returns."""
        return await _variables_of(self.memory, call, inputs)

    load_memory_variables, aload_memory_variables = delegated_pair(
        _load_variables, "load_memory_variables"
    )


class SimpleMemory(_Unwritten):
    """Constants: the same variables for each prompt."""

    def __init__(self, memories: Mapping[str, object] | None = None, **unknown: object) -> None:
        pass_over(self, unknown)
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
