"""Interfaces to the outside world: clock, ids, embedders, rerankers, models, token counters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeAlias, runtime_checkable

from recollect.records import JsonObject, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
else:  # importing numpy would cost a fifth of the time allowed for opening a memory
    Vector = Annotated[object, "NDArray[np.float32]"]


class Clock(Protocol):
    """
    Source of the current time; called from several threads.

    >>> from recollect.testing import NOON, FrozenClock
    >>> FrozenClock(NOON).now() == NOON
    True
    """

    def now(self) -> datetime:
        """Return the current time, with a time zone."""
        ...


class Ids(Protocol):
    """
    Source of identifiers.

    >>> from recollect.testing import CountingIds
    >>> ids = CountingIds()
    >>> ids.entry_id(), ids.entry_id()
    (1, 2)
    """

    def entry_id(self) -> int:
        """Return a random integer from 1 to 2**63 - 1, unrelated to its entry."""
        ...

    def name(self, now: datetime) -> str:
        """Return a new UUIDv7 as text, ordered by *now*."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """
    Turns texts into vectors.

    Two embedders with equal `identity` must return comparable vectors: the identity names the
    weights, their quantisation and how text is prepared. Vectors of different identities are never
    compared.

    It may have an attribute ``strength``: ``"weak"`` (compares spelling, or is made for another
    language), ``"medium"`` (such as MiniLM; the default) or ``"strong"``. A strong embedder weighs
    more in the ranking, and a weak one less; `Recollect.tune` measures how much.

    >>> from recollect.testing import HashedEmbedder
    >>> isinstance(HashedEmbedder(), Embedder), HashedEmbedder().dimensions > 0
    (True, True)
    """

    @property
    def identity(self) -> str:
        """Identity of weights, quantisation and preparation, e.g. ``minilm-l6-v2/int8/1``."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """
        Return one unit-length vector per text, in order.

        Blocking and safe to call from several threads. An element is ``None`` where the embedder
        does not support the text's language.

        Raises:
            EmbedderError: The embedder failed; no text of this call was embedded.
        """
        ...


@runtime_checkable
class OutsideVectors(Protocol):
    """
    An external vector store that mirrors entries by scope and searches them.

    All methods block and are safe to call from several threads. They raise `StoreError` or
    `EmbedderError` on failure, and `UsageError` if the store is unsuitable.

    >>> import recollect
    >>> class Shelf:
    ...     name = "shelf"
    ...
    ...     def __init__(self):
    ...         self.texts = {}
    ...
    ...     def check(self):
    ...         pass
    ...
    ...     def add(self, scope, entries):
    ...         self.texts |= {(scope, uid): text for uid, text in entries}
    ...
    ...     def remove(self, uids):
    ...         self.texts = {at: text for at, text in self.texts.items() if at[1] not in uids}
    ...
    ...     def search(self, scope, query, limit):
    ...         found = [uid for held, uid in self.texts if held == scope]
    ...         return [(uid, 0.5) for uid in found[:limit]]
    >>> with recollect.open_sync("memory:", embedder="none", outside=Shelf()) as memory:
    ...     kept = memory.append("ada", "chat", "We moved to Oslo.")
    ...     memory.recall("ada", "Oslo").entries[0].text
    'We moved to Oslo.'
    """

    @property
    def name(self) -> str:
        """Name under which the mirror's progress is recorded."""
        ...

    def check(self) -> None:
        """Raise `UsageError` if the store cannot filter by scope or its vectors' length differs."""
        ...

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]], /) -> None:
        """Add entries of a scope, as pairs of uid and text; these uids are not in the store yet."""
        ...

    def remove(self, uids: Sequence[int], /) -> None:
        """Remove the entries with these uids; unknown uids are ignored."""
        ...

    def search(self, scope: Scope, query: str, limit: int, /) -> Sequence[tuple[int, float]]:
        """Return uids and similarities of the entries of exactly *scope* nearest to *query*."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """
    Scores how well each of a few texts answers a query.

    >>> import recollect
    >>> def shortest(query: str, texts: list[str]) -> list[float]:
    ...     return [-float(len(text)) for text in texts]
    >>> with recollect.open_sync("memory:", embedder="none", rerank=shortest) as memory:
    ...     kept = memory.append("ada", "chat", ["The cat is called Tom.", "The cat eats."])
    ...     memory.recall("ada", "the cat").entries[0].text
    'The cat eats.'
    """

    @property
    def identity(self) -> str:
        """Name of the reranker, e.g. ``jina/jina-reranker-v2-base-multilingual``."""
        ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """
        Return one score per text, in order; higher is better, on any scale.

        Blocking and safe to call from several threads. An element is ``None`` where there is no
        score.

        Raises:
            ModelError: The reranker failed.
        """
        ...


class TokenCounter(Protocol):
    """
    Counts the tokens of a text in a prompt; called from several threads.

    >>> import recollect
    >>> def words(text: str) -> int:
    ...     return len(text.split())
    >>> with recollect.open_sync("memory:", embedder="none", count_tokens=words) as memory:
    ...     kept = memory.append("ada", "chat", "The boat leaks.")
    ...     memory.recall("ada", "boat").tokens
    3
    """

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens, at least 0."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that a model may call; *parameters* is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """
    A tool call made by a model, not validated.

    *arguments* is the JSON text that the model wrote, or an object if its client parsed it.
    """

    name: str
    arguments: str | JsonObject
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a model request; a ``tool`` turn answers the call with id *answers*."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """
    A request to a model.

    *system* and *tools* come before all turns and change as rarely as possible, so that providers
    can cache the prefix. With *must_call* the model has to call a tool.
    """

    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    must_call: bool = False
    output_tokens_max: int = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request, counted by its provider; *input_tokens* include *cached* ones."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """A model's answer: text, tool calls, and the reason it stopped."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stopped: Literal["end", "length", "refusal"] = "end"
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Model(Protocol):
    """
    A language model.

    >>> from recollect.testing import RuleModel
    >>> isinstance(RuleModel(), Model), RuleModel().identity
    (True, 'rules/1')
    """

    @property
    def identity(self) -> str:
        """Name of the model as ``provider/model``, e.g. for a receipt."""
        ...

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """
        Return the model's complete answer.

        Raises:
            ModelUnavailableError: The model is busy, throttling, unreachable or too slow; retrying
                may help.
            ModelDeniedError: The key is invalid, or lacks rights or credit.
            ModelNotFoundError: The model does not exist or was withdrawn.
            ModelError: Any other failure.
        """
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the answer piece by piece; raises the same errors as `answer`."""
        ...
