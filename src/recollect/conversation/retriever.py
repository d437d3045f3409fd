"""Conversation memory that puts earlier exchanges relevant to the input into the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Final, Protocol, runtime_checkable
from uuid import uuid4

from anyio import to_thread

from recollect.conversation.base import PolicyMemory, Values, Variables, warn_ignored
from recollect.conversation.prompt_parts import PromptPart, as_text
from recollect.conversation.turn_keys import input_key_of
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.recall.query import Where, query_in
from recollect.records import JsonObject, Message, NewMessage, Role, Scope, ScopeLike
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect, Home, new_private_scope, private_memory

HITS_PER_EXCHANGE: Final = 3
"""
Messages to recall per exchange wanted.

Both messages of an exchange may be found, and a third as a near duplicate.
"""
DEFAULT_K: Final = 4
METADATA_KEY: Final = "exchange"
"""The metadata key of a message's exchange id, and of the chain's keys in its text."""
_KEY_OF_ROLE: Final = {"user": "input", "assistant": "output"}


@runtime_checkable
class Retriever(Protocol):
    """The methods needed of LangChain's vector store retrievers."""

    def invoke(self, input: str, /) -> Sequence[Any]:  # noqa: A002 (LangChain's name)
        """Return the documents relevant to a text, best first."""
        ...

    def add_documents(self, documents: Sequence[object], /) -> object:
        """Store documents."""
        ...


class VectorStoreRetrieverMemory(PolicyMemory):
    """
    Puts the earlier exchanges relevant to the input into the prompt, best first.

    By default exchanges are saved as messages of *thread*, and recall finds at most *k* of them
    among all messages of *scope*. With *retriever*, a LangChain vector store retriever, they are
    documents in its store; `clear` leaves those there, as LangChain does.
    """

    def __init__(
        self,
        memory: AnyRecollect | None = None,
        scope: ScopeLike | None = None,
        thread: str | None = None,
        *,
        retriever: Retriever | None = None,
        memory_key: str = "history",
        input_key: str | None = None,
        return_docs: bool = False,
        exclude_input_keys: Sequence[str] = (),
        k: int = DEFAULT_K,
        where: Where | None = None,
        **unknown: object,
    ) -> None:
        warn_ignored(self, unknown)
        if retriever is not None and memory is not None:
            raise UsageError("give a retriever, or the memory to recall from, not both")
        if (memory is None) != (scope is None) or (memory is None) != (thread is None):
            msg = f"give memory, scope and thread, or none of them, not {(memory, scope, thread)!r}"
            raise UsageError(msg)
        if memory is None:
            memory, scope, thread = private_memory("auto"), new_private_scope(self), "exchanges"
        self._home = Home(memory)
        self.scope: Scope = check_scope(scope) if scope else ()
        self.thread = thread or ""
        self.retriever = retriever
        self.memory_key = memory_key
        self.input_key = input_key
        self.return_docs = return_docs
        self.exclude_input_keys = tuple(exclude_input_keys)
        self.k = k
        self.where = where or Where(types=())

    @property
    def home(self) -> Home:
        """The bridge to the Recollect memory that stores the exchanges."""
        return self._home

    @property
    def memory_variables(self) -> list[str]:
        """The one variable, ``[memory_key]``."""
        return [self.memory_key]

    async def load(self, memory: Recollect, inputs: Values) -> Variables:
        """Return the exchanges relevant to the input, as one text or as documents."""
        found = await self._found(memory, inputs)
        if self.return_docs:
            return {self.memory_key: found}
        return {self.memory_key: "\n".join(each.page_content for each in found)}

    async def parts(self, memory: Recollect, inputs: Values) -> dict[str, PromptPart]:
        """Return an entry per exchange, the least relevant dropped first."""
        found = (await self._found(memory, inputs))[::-1]
        if self.return_docs:
            entries = [[each] for each in found]
            return {self.memory_key: PromptPart(entries, lambda left: [e for (e,) in left[::-1]])}
        texts = [[each.page_content] for each in found]
        return {self.memory_key: PromptPart(texts, lambda left: as_text(left[::-1]))}

    async def save(self, memory: Recollect, inputs: Values, outputs: Values) -> None:
        """Save one exchange: all outputs, and all inputs except the excluded ones and its own."""
        left_out = {self.memory_key, *self.exclude_input_keys}
        asked = {key: value for key, value in inputs.items() if key not in left_out}
        if self.retriever is None:
            await memory.append(self.scope, self.thread, exchange_of(asked, outputs))
            return
        lines = [f"{key}: {value}" for side in (asked, outputs) for key, value in side.items()]
        document = document_class()(page_content="\n".join(lines))
        await to_thread.run_sync(self.retriever.add_documents, [document])

    async def remove(self, memory: Recollect) -> None:
        """Remove the exchanges from the thread; a retriever's store is not changed."""
        thread = await memory.thread(self.scope, self.thread)
        if self.retriever is None and thread is not None and thread.count:
            await memory.keep(self.scope, self.thread, thread.last + 1)

    async def _found(self, memory: Recollect, inputs: Values) -> list[Any]:
        key = self.input_key or input_key_of(inputs, self.memory_variables)
        query = str(inputs[key])
        if self.retriever is not None:
            return list(await to_thread.run_sync(self.retriever.invoke, query))
        return await self._recalled(memory, query) if query.strip() else []

    async def _recalled(self, memory: Recollect, query: str) -> list[Any]:
        recall = await memory.recall(
            self.scope,
            query_in(query),
            limit=self.k * HITS_PER_EXCHANGE,
            where=self.where,
        )
        exchanges: dict[tuple[str, str], tuple[Message, ...]] = {}
        for entry in recall.entries:
            if isinstance(entry.content, Message) and len(exchanges) < self.k:
                exchange = await exchange_around(memory, self.scope, entry.content)
                exchanges.setdefault((exchange[0].thread, exchange[0].id), exchange)
        make = document_class()
        return [
            make(page_content=text_of(each), metadata=_metadata_of(each))
            for each in exchanges.values()
        ]


def _metadata_of(exchange: Sequence[Message]) -> JsonObject:
    first = exchange[0]
    return {
        "thread": first.thread,
        "messages": [each.id for each in exchange],
        "time": first.time.astimezone(UTC).isoformat(),
    }


def document_class() -> Any:
    """Return LangChain's document class if it is installed, else ours."""
    try:
        from langchain_core.documents import Document as LangChainDocument
    except ImportError:
        return Document
    return LangChainDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text with metadata; stands in for LangChain's class if that is not installed."""

    page_content: str
    metadata: JsonObject = field(default_factory=dict)


def exchange_of(inputs: Mapping[str, object], outputs: Mapping[str, object]) -> list[NewMessage]:
    """
    Return the messages of one exchange: the user's for the inputs, the model's for the outputs.

    A side without text has no message.

    Raises:
        UsageError: Neither side has text.
    """
    id_ = uuid4().hex
    sides = [_side("user", inputs, id_), _side("assistant", outputs, id_)]
    found = [each for each in sides if each.text.strip()]
    if not found:
        msg = f"the exchange {dict(inputs)!r} → {dict(outputs)!r} has no text: nothing was saved"
        raise UsageError(msg)
    return found


def _side(role: Role, values: Mapping[str, object], id_: str) -> NewMessage:
    keys = list(values)
    text = str(values[keys[0]]) if len(keys) == 1 else _lines(values)
    return NewMessage(role=role, text=text, metadata={METADATA_KEY: {"id": id_, "keys": keys}})


def _lines(values: Mapping[str, object]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in values.items())


def text_of(exchange: Sequence[Message]) -> str:
    """Return an exchange as one text, with a line per input and output of the chain."""
    return "\n".join(_text_of_side(each) for each in exchange)


def _text_of_side(message: Message) -> str:
    kept = message.metadata.get(METADATA_KEY)
    keys = kept.get("keys") if isinstance(kept, Mapping) else None
    if not isinstance(keys, list):
        keys = [_KEY_OF_ROLE.get(message.role, message.role)]
    return message.text if len(keys) > 1 else f"{keys[0]}: {message.text}"


async def exchange_around(memory: Recollect, scope: Scope, found: Message) -> tuple[Message, ...]:
    """Return the exchange of a message: the question and its answer, or the message alone."""
    page = await memory.messages(scope, found.thread, after=max(found.position - 2, 0), limit=3)
    return exchange_among(page.rows, found)


def exchange_among(neighbours: Sequence[Message], found: Message) -> tuple[Message, ...]:
    """Return *found* with the message of its exchange among *neighbours*, in order."""
    before = [each for each in neighbours if each.position < found.position]
    after = [each for each in neighbours if each.position > found.position]
    if found.role == "user" and after and _belong(found, after[0]):
        return found, after[0]
    if found.role == "assistant" and before and _belong(before[-1], found):
        return before[-1], found
    return (found,)


def _belong(question: Message, answer: Message) -> bool:
    """Return True if *answer* belongs to the exchange of *question*, the message before it."""
    one, other = _id_of(question), _id_of(answer)
    if one or other:
        return one == other
    return question.role == "user" and answer.role == "assistant"


def _id_of(message: Message) -> object:
    kept = message.metadata.get(METADATA_KEY)
    return kept.get("id") if isinstance(kept, Mapping) else None
