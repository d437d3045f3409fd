"""Other memory systems beside ours, on the same sessions and recorded facts, counted alike."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from benchmarks.conversation_files import BenchmarkMessage
from benchmarks.recorded_facts import Session, Spent, counted
from recollect.errors import MissingExtraError

EXTRA: Final = "peers"
_DIMENSIONS: Final = 8


class Peer(Protocol):
    """A memory system that forms with a recorded model."""

    name: str
    spent: Spent

    def form(self, session: Session, messages: Sequence[BenchmarkMessage]) -> None:
        """Form *messages* of *session*; the model answers with their recorded facts."""
        ...


def open_peers() -> list[Callable[[], Peer]]:
    """
    Return a function per other system that opens it.

    Raises:
        MissingExtraError: One of them is not installed.
    """
    os.environ["MEM0_TELEMETRY"] = "False"  # read when it is imported
    for package in ("langmem", "mem0"):
        try:
            import_module(package)
        except ImportError as error:
            raise MissingExtraError(EXTRA, package) from error
    return [LangMem, Mem0]


def _facts(session: Session, messages: Sequence[BenchmarkMessage]) -> list[str]:
    """Return the facts whose last evidence is in *messages*."""
    ids = {message.message_id for message in messages}
    return [fact.text for fact in session.facts if fact.evidence and fact.evidence[-1] in ids]


def _chat_model(spent: Spent, answer: Callable[[Any], Any]) -> Any:
    """Return a LangChain chat model that counts its requests and answers with *answer*."""
    chat = import_module("langchain_core.language_models.chat_models")
    outputs = import_module("langchain_core.outputs")
    convert = import_module("langchain_core.utils.function_calling").convert_to_openai_tool

    class Counted(chat.BaseChatModel):  # type: ignore[misc, name-defined]
        @property
        def _llm_type(self) -> str:
            return "recorded"

        def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
            return self.bind(tools=[convert(tool) for tool in tools], **options)

        def _generate(self, messages: Sequence[Any], *_: Any, **options: Any) -> Any:
            tools = options.get("tools", [])
            spent.add(counted([str(each.content) for each in messages], tools))
            message = outputs.ChatGeneration(message=answer(tools))
            return outputs.ChatResult(generations=[message])

    return Counted()


class LangMem:
    """LangMem's store manager, with its default schema and instructions."""

    name = "langmem"

    def __init__(self) -> None:
        self.spent = Spent()
        self._facts: list[str] = []
        langmem = import_module("langmem")
        memory = import_module("langgraph.store.memory")
        self._store = memory.InMemoryStore(index={"dims": _DIMENSIONS, "embed": _vectors})
        model = _chat_model(self.spent, self._answer)
        self._manager = langmem.create_memory_store_manager(
            model, namespace=("memories",), store=self._store
        )

    def _answer(self, tools: Any) -> Any:
        del tools
        message = import_module("langchain_core.messages").AIMessage
        calls = [
            {"name": "Memory", "args": {"content": text}, "id": str(number)}
            for number, text in enumerate(self._facts)
        ]
        return message("", tool_calls=calls)

    def form(self, session: Session, messages: Sequence[BenchmarkMessage]) -> None:
        """See `Peer`."""
        self._facts = _facts(session, messages)
        self.spent.formations += 1
        self._manager.invoke({"messages": _turns(messages)})


class Mem0:
    """mem0's open-source memory, with its default prompts."""

    name = "mem0"

    def __init__(self) -> None:
        self.spent = Spent()
        self._facts: list[str] = []
        embeddings = import_module("langchain_core.embeddings").Embeddings

        class Vectors(embeddings):  # type: ignore[misc, valid-type]
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return _vectors(texts)

            def embed_query(self, text: str) -> list[float]:
                return _vectors([text])[0]

        model = _chat_model(self.spent, self._answer)
        store = {"on_disk": False, "path": None, "host": None, "client": _qdrant()}
        self._memory = import_module("mem0").Memory.from_config(
            {
                "llm": {"provider": "langchain", "config": {"model": model}},
                "embedder": {
                    "provider": "langchain",
                    "config": {"model": Vectors(), "embedding_dims": _DIMENSIONS},
                },
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "client": store["client"],
                        "embedding_model_dims": _DIMENSIONS,
                        "collection_name": "bench",
                    },
                },
                "history_db_path": ":memory:",
            }
        )

    def _answer(self, tools: Any) -> Any:
        del tools
        message = import_module("langchain_core.messages").AIMessage
        memories = [{"id": str(n), "text": text} for n, text in enumerate(self._facts)]
        return message(json.dumps({"memory": memories, "facts": self._facts}))

    def form(self, session: Session, messages: Sequence[BenchmarkMessage]) -> None:
        """See `Peer`."""
        self._facts = _facts(session, messages)
        self.spent.formations += 1
        self._memory.add(_turns(messages), user_id=session.conversation)


def _qdrant() -> Any:
    return import_module("qdrant_client").QdrantClient(":memory:")


def _turns(messages: Sequence[BenchmarkMessage]) -> list[dict[str, str]]:
    """Return two speakers' messages as those of a user and an assistant, with their names."""
    first = messages[0].speaker
    return [
        {
            "role": "user" if message.speaker == first else "assistant",
            "content": f"{message.speaker}: {message.text}",
        }
        for message in messages
    ]


def _vectors(texts: Sequence[str]) -> list[list[float]]:
    """Return vectors of letter counts: the results do not affect the count of tokens."""
    found = []
    for text in texts:
        counts = [float(1 + text.lower().count(letter)) for letter in "etaoinsr"]
        length = sum(each * each for each in counts) ** 0.5
        found.append([each / length for each in counts])
    return found
