"""Base classes of conversation memories: variables for the next prompt, and stored turns."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack

from recollect.conversation.prompt_parts import Entry, PromptPart, as_messages, groups_of, part_of
from recollect.conversation.thread_history import (
    ChatHistory,
    ForeignHistory,
    ForeignTalk,
    ThreadMessages,
)
from recollect.conversation.turn_keys import check_key, input_key_of, output_key_of, text_at
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.messages import AnyMessage, buffer_string, message_classes
from recollect.records import Scope, ScopeLike
from recollect.sync.method_pairs import method_pair, threaded
from recollect.sync.object_home import AnyRecollect, Home

OptionsT = TypeVar("OptionsT")
Values: TypeAlias = Mapping[str, Any]
"""A chain's inputs or outputs by key."""
Variables: TypeAlias = dict[str, Any]
"""The variables of a prompt by name."""


class BaseMemory(ABC):
    """
    The interface of conversation memories, with synchronous and asynchronous methods.

    A chain loads the memory's variables into its prompt, and saves each turn afterwards. An
    asynchronous method runs its synchronous counterpart in a worker thread, unless a subclass
    overrides it.
    """

    @property
    @abstractmethod
    def memory_variables(self) -> list[str]:
        """The keys that `load_memory_variables` returns."""

    @abstractmethod
    def load_memory_variables(self, inputs: Values) -> Variables:
        """Return the variables for the next prompt by name; *inputs* are the chain's inputs."""

    @abstractmethod
    def save_context(self, inputs: Values, outputs: Values) -> None:
        """Save one turn, a chain's inputs and outputs, atomically."""

    @abstractmethod
    def clear(self) -> None:
        """Remove everything that this memory has saved."""

    aload_memory_variables = threaded(load_memory_variables)
    asave_context = threaded(save_context)
    aclear = threaded(clear)


class PolicyMemory(BaseMemory):
    """
    A conversation memory written as three coroutines: `load`, `save` and `remove`.

    Extend this class for a memory of your own: implement `memory_variables`, `home` and the three
    coroutines, and the synchronous and asynchronous methods follow.
    """

    @property
    @abstractmethod
    def home(self) -> Home:
        """The bridge to the Recollect memory that stores the conversation."""

    @abstractmethod
    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the variables for the next prompt."""

    @abstractmethod
    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Save one turn."""

    @abstractmethod
    async def remove(self, memory: Recollect) -> None:
        """Remove everything that was saved."""

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return the variables for the next prompt as entries that can be dropped one by one."""
        loaded = await self.load(memory, inputs)
        return {name: part_of(value) for name, value in loaded.items()}

    async def _load_parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return droppable prompt entries by variable, for a token budget shared by memories."""
        return await self.parts(memory, inputs)

    async def _load_variables(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the variables for the next prompt by name; *inputs* are the chain's inputs."""
        return await self.load(memory, inputs)

    async def _save_context(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Save one turn, a chain's inputs and outputs, atomically."""
        await self.save(memory, inputs, outputs)

    async def _clear(self, memory: Recollect) -> None:
        """Remove everything that this memory has saved."""
        await self.remove(memory)

    load_parts, aload_parts = method_pair(_load_parts)
    load_memory_variables, aload_memory_variables = method_pair(
        _load_variables, "load_memory_variables"
    )
    save_context, asave_context = method_pair(_save_context)
    clear, aclear = method_pair(_clear)


class Conversation(TypedDict, total=False):
    """Options of `ChatMemory`: the message history, and the chain's input and output keys."""

    chat_memory: ChatHistory | ForeignHistory | None
    input_key: str | None
    output_key: str | None
    return_messages: bool


class ChatMemory(PolicyMemory):
    """
    A memory over the messages of one conversation.

    Give *memory*, *scope* and *thread*, or a *chat_memory*: a `ChatHistory` or a LangChain chat
    message history. With neither, the conversation lives in this process only. *input_key* and
    *output_key* select the user's and the model's text if a chain has several inputs or outputs.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        chat_memory: ChatHistory | ForeignHistory | None = None,
        input_key: str | None = None,
        output_key: str | None = None,
        return_messages: bool = False,
        **unknown: object,
    ) -> None:
        warn_ignored(self, unknown)
        if chat_memory is not None and (memory, scope, thread) != (None, None, None):
            raise UsageError("give a chat_memory, or the memory, scope and thread of one, not both")
        if isinstance(chat_memory, ChatHistory):
            self._own = chat_memory
        else:
            self._own = ChatHistory(memory, scope, thread)
        self.chat_memory: ChatHistory | ForeignHistory = chat_memory or self._own
        self.input_key = input_key
        self.output_key = output_key
        self.return_messages = return_messages

    @property
    def home(self) -> Home:
        """The bridge to the Recollect memory that stores the conversation."""
        return self._own.home

    @property
    def scope(self) -> Scope:
        """The scope of the thread, and of summaries and facts made from it."""
        return self._own.scope

    @property
    def thread(self) -> str:
        """The id of the thread; with a foreign history, of the summaries made from it."""
        return self._own.thread

    @property
    def talk(self) -> ThreadMessages:
        """Access to the messages, in the thread or in the foreign history."""
        if isinstance(self.chat_memory, ChatHistory):
            return self.chat_memory.talk
        return ForeignTalk(self.chat_memory)

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Append both messages of a turn atomically."""
        await self.talk.add(memory, self.turn_of(inputs, outputs))

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages."""
        await self.talk.clear(memory)

    def turn_of(self, inputs: Values, outputs: Values) -> list[AnyMessage]:
        """
        Return the two messages of a turn.

        Raises:
            UsageError: The input or output to save is ambiguous, or it is not text.
        """
        asked_key = self.asked_key_in(inputs)
        answered_key = self.output_key or output_key_of(outputs)
        # Check both keys before either value, as LangChain does, so that a turn with several
        # faults raises the same error.
        check_key(inputs, asked_key, "input")
        check_key(outputs, answered_key, "output")
        classes = message_classes()
        asked = text_at(inputs, asked_key, "input")
        return [classes.human(asked), classes.ai(text_at(outputs, answered_key, "output"))]

    def asked_key_in(self, inputs: Values) -> str:
        """Return the key of the user's message."""
        return self.input_key or input_key_of(inputs, self.memory_variables)

    def asked_in(self, inputs: Values) -> str:
        """Return the user's message."""
        return text_at(inputs, self.asked_key_in(inputs), "input")


class Transcript(Conversation, total=False):
    """Options of `TranscriptMemory`: the speakers' prefixes, and the variable's name."""

    human_prefix: str
    ai_prefix: str
    memory_key: str


class TranscriptMemory(ChatMemory):
    """
    A memory that puts some messages of the conversation into the prompt.

    Its one variable, *memory_key*, holds messages if *return_messages* is set, otherwise a
    transcript whose lines begin with *human_prefix* or *ai_prefix*.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        human_prefix: str = "Human",
        ai_prefix: str = "AI",
        memory_key: str = "history",
        **conversation: Unpack[Conversation],
    ) -> None:
        super().__init__(memory, scope, thread, **conversation)
        self.human_prefix = human_prefix
        self.ai_prefix = ai_prefix
        self.memory_key = memory_key

    @abstractmethod
    async def chosen(self, memory: Recollect) -> list[AnyMessage]:
        """Return the messages that go into the prompt, oldest first."""

    async def transcript(self, memory: Recollect) -> str:
        """Return the chosen messages as a transcript."""
        return buffer_string(await self.chosen(memory), self.human_prefix, self.ai_prefix)

    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the messages or the transcript, under the memory's key."""
        shown = self.chosen if self.return_messages else self.transcript
        return {self.memory_key: await shown(memory)}

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return the messages as entries, oldest dropped first; tool calls stay with results."""
        groups = groups_of(await self.chosen(memory))
        return {
            self.memory_key: PromptPart(
                groups, as_messages if self.return_messages else self._lines
            )
        }

    def _lines(self, entries: Sequence[Entry]) -> str:
        return buffer_string(as_messages(entries), self.human_prefix, self.ai_prefix)

    @property
    def memory_variables(self) -> list[str]:
        """The one variable, ``[memory_key]``."""
        return [self.memory_key]

    @property
    def buffer(self) -> Any:
        """The content for the prompt: messages if `return_messages` is set, else a transcript."""
        return self.buffer_as_messages if self.return_messages else self.buffer_as_str

    @property
    def buffer_as_messages(self) -> list[AnyMessage]:
        """The messages that go into the prompt."""
        return self.home.call(self.chosen)

    @property
    def buffer_as_str(self) -> str:
        """The content for the prompt, as a transcript."""
        return self.home.call(self.transcript)

    async def abuffer(self) -> Any:
        """Async variant of `buffer`."""
        shown = self.chosen if self.return_messages else self.transcript
        return await self.home.visit(shown)

    async def abuffer_as_messages(self) -> list[AnyMessage]:
        """Async variant of `buffer_as_messages`."""
        return await self.home.visit(self.chosen)

    async def abuffer_as_str(self) -> str:
        """Async variant of `buffer_as_str`."""
        return await self.home.visit(self.transcript)


def warn_ignored(memory: object, unknown: Iterable[str]) -> None:
    """
    Warn of parameters that *memory* does not have, and ignores.

    LangChain's memories ignore unknown parameters silently, so programs pass, for example, a
    window's ``k`` to a buffer. An error would break these; a warning still reveals a misspelling.
    """
    for name in sorted(unknown):
        msg = (
            f"{type(memory).__name__} has no parameter {name!r}: it is ignored, as LangChain's "
            "classic memories do"
        )
        warnings.warn(msg, UserWarning, stacklevel=_outside_frames())


def _outside_frames() -> int:
    """Return the stack level of the first caller outside this package, for warnings."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("recollect."):
        frame, level = frame.f_back, level + 1
    return level


def options_of(kind: Callable[..., OptionsT], options: Mapping[str, object]) -> OptionsT:
    """Return those of *options* that the `TypedDict` *kind* has as keys."""
    return kind(**{name: each for name, each in options.items() if name in kind.__annotations__})
