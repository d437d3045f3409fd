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
Variables: TypeAlias = dict[str, Any]
"""The variables of a prompt, by name."""
"""A chain's inputs or outputs by key."""


class BaseMemory(ABC):
    """
    The contract of the classic memories, without ``await`` and with it.

    A chain loads the memory's variables into its prompt, and saves each turn afterwards. A method
    with ``await`` runs the one without on a thread, unless a subclass has one of its own.
    """

    @property
    @abstractmethod
    def memory_variables(self) -> list[str]:
        """The keys that `load_memory_variables` returns."""

    @abstractmethod
    def load_memory_variables(self, inputs: Values) -> Variables:
        """Return the variables for the next prompt, by variable; *inputs* are the chain's."""

    @abstractmethod
    def save_context(self, inputs: Values, outputs: Values) -> None:
        """Keep one turn: a chain's inputs and outputs; the whole turn or nothing of it."""

    @abstractmethod
    def clear(self) -> None:
        """Remove what this memory keeps."""

    aload_memory_variables = threaded(load_memory_variables)
    asave_context = threaded(save_context)
    aclear = threaded(clear)


class PolicyMemory(BaseMemory):
    """
    A memory whose three operations are coroutines over an open memory, written once.

    A memory of your own extends this one: give `memory_variables` and the three operations,
    and both faces are there.
    """

    @property
    @abstractmethod
    def home(self) -> Home:
        """The bridge to the memory that stores it."""

    @abstractmethod
    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the variables for the next prompt."""

    @abstractmethod
    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Keep one turn."""

    @abstractmethod
    async def remove(self, memory: Recollect) -> None:
        """Remove what is kept."""

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return the variables for the next prompt, in entries that can be dropped one by one."""
        loaded = await self.load(memory, inputs)
        return {name: part_of(value) for name, value in loaded.items()}

    async def _load_parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return what goes into the next prompt, for a budget that several memories share."""
        return await self.parts(memory, inputs)

    async def _load_variables(self, memory: Recollect, inputs: Values) -> Variables:
        """Return what goes into the next prompt, by variable; *inputs* are the chain's."""
        return await self.load(memory, inputs)

    async def _save_context(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Keep one turn: a chain's inputs and outputs; the whole turn or nothing of it."""
        await self.save(memory, inputs, outputs)

    async def _clear(self, memory: Recollect) -> None:
        """Remove what this memory keeps."""
        await self.remove(memory)

    load_parts, aload_parts = method_pair(_load_parts)
    load_memory_variables, aload_memory_variables = method_pair(
        _load_variables, "load_memory_variables"
    )
    save_context, asave_context = method_pair(_save_context)
    clear, aclear = method_pair(_clear)


class Conversation(TypedDict, total=False):
    """The thread that a memory works on, and the chain's keys for its two sides."""

    chat_memory: ChatHistory | ForeignHistory | None
    input_key: str | None
    output_key: str | None
    return_messages: bool


class ChatMemory(PolicyMemory):
    """
    A memory over the messages of one conversation.

    *memory*, *scope* and *thread* name a thread of ours; *chat_memory* is a `ChatHistory`, or
    a chat message history of LangChain's, instead. With none of them the conversation lives in
    this process only. *input_key* and *output_key* say which of a chain's inputs and outputs
    the two sides of a turn are, where there are several.
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
        pass_over(self, unknown)
        if chat_memory is not None and (memory, scope, thread) != (None, None, None):
            msg = "give a chat_memory, or the memory, scope and thread of one, not both"
            raise UsageError(msg)
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
        """The bridge to the memory that stores it."""
        return self._own.home

    @property
    def scope(self) -> Scope:
        """The scope of what is kept beside the messages."""
        return self._own.scope

    @property
    def thread(self) -> str:
        """The thread that what is kept beside the messages belongs to."""
        return self._own.thread

    @property
    def talk(self) -> ThreadMessages:
        """The messages, where they live."""
        if isinstance(self.chat_memory, ChatHistory):
            return self.chat_memory.talk
        return ForeignTalk(self.chat_memory)

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Append both sides of a turn, together."""
        await self.talk.add(memory, self.turn_of(inputs, outputs))

    async def remove(self, memory: Recollect) -> None:
        """Remove all messages."""
        await self.talk.clear(memory)

    def turn_of(self, inputs: Values, outputs: Values) -> list[AnyMessage]:
        """
        Return the two messages of a turn.

        Raises:
            UsageError: It cannot be told which input or output is meant, or it is no text.
        """
        asked_key = self.asked_key_in(inputs)
        answered_key = self.output_key or output_key_of(outputs)
        # Keys before values, as the original: of two faults it tells the same one.
        check_key(inputs, asked_key, "input")
        check_key(outputs, answered_key, "output")
        classes = message_classes()
        asked = text_at(inputs, asked_key, "input")
        return [classes.human(asked), classes.ai(text_at(outputs, answered_key, "output"))]

    def asked_key_in(self, inputs: Values) -> str:
        """Return the key of what the person said."""
        return self.input_key or input_key_of(inputs, self.memory_variables)

    def asked_in(self, inputs: Values) -> str:
        """Return the user's message."""
        return text_at(inputs, self.asked_key_in(inputs), "input")


class Transcript(Conversation, total=False):
    """How messages are named and formatted in the prompt."""

    human_prefix: str
    ai_prefix: str
    memory_key: str


class TranscriptMemory(ChatMemory):
    """
    A memory that puts some messages of the conversation into the prompt.

    The variable is *memory_key*: messages with *return_messages*, otherwise a transcript whose
    lines begin with *human_prefix* or *ai_prefix*.
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
        """Return the same as a transcript."""
        return buffer_string(await self.chosen(memory), self.human_prefix, self.ai_prefix)

    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the messages or the transcript, under the memory's key."""
        shown = self.chosen if self.return_messages else self.transcript
        return {self.memory_key: await shown(memory)}

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return the messages one by one, those of a tool call together; the oldest goes first."""
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
        """The one variable."""
        return [self.memory_key]

    @property
    def buffer(self) -> Any:
        """The content for the prompt: messages or a transcript."""
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
        """Return the same as `buffer`."""
        shown = self.chosen if self.return_messages else self.transcript
        return await self.home.visit(shown)

    async def abuffer_as_messages(self) -> list[AnyMessage]:
        """Return the same as `buffer_as_messages`."""
        return await self.home.visit(self.chosen)

    async def abuffer_as_str(self) -> str:
        """Return the same as `buffer_as_str`."""
        return await self.home.visit(self.transcript)


def pass_over(memory: object, unknown: Iterable[str]) -> None:
    """
    Warn of parameters that *memory* does not have.

    The classic memories ignore them, so that programs have them: one that was written for a
    window is also run with a buffer. A warning tells of a parameter that is only misspelt.
    """
    for name in sorted(unknown):
        msg = (
            f"{type(memory).__name__} has no parameter {name!r}: it is passed over, as LangChain's "
            "classic memories do"
        )
        warnings.warn(msg, UserWarning, stacklevel=_outside_frames())


def _outside_frames() -> int:
    """Return the stack level of the code that created the memory, for warnings."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("recollect."):
        frame, level = frame.f_back, level + 1
    return level


def options_of(kind: Callable[..., OptionsT], options: Mapping[str, object]) -> OptionsT:
    """Return the *options* that are keywords of *kind*, a `TypedDict`."""
    return kind(**{name: each for name, each in options.items() if name in kind.__annotations__})
