"""What the library needs of the world: time, chance, embedders, models, token counts."""

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
else:  # numpy takes a fifth of the time that opening a memory may take
    Vector = Annotated[object, "NDArray[np.float32]"]


class Clock(Protocol):
    """Where the present moment comes from; asked from several threads."""

    def now(self) -> datetime:
        """Return the present moment, with a zone."""
        ...


class Ids(Protocol):
    """Where identity comes from."""

    def entry_id(self) -> int:
        """Return a random integer from 1 to 2**63 - 1 that says nothing about its entry."""
        ...

    def name(self, now: datetime) -> str:
        """Return a new UUIDv7 as text, ordered by *now*."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """
    What turns text into vectors of meaning.

    Two embedders with equal `identity` must return comparable vectors: it names
    the weights, their quantisation and how text is prepared. Vectors of different
    identities are never compared.
    """

    @property
    def identity(self) -> str:
        """Name the weights, quantisation and preparation, e.g. ``minilm-l6-v2/int8/1``."""
        ...

    @property
    def dimensions(self) -> int:
        """Say how long each vector is."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """
        Return one unit-length vector per text, in order.

        Blocking and safe to call from several threads. ``None`` stands for a text
        that this embedder does not understand (its language is unknown to it).

        Raises:
            EmbedderError: It failed; nothing is known about any of the texts.
        """
        ...


@runtime_checkable
class OutsideVectors(Protocol):
    """
    A store of vectors elsewhere, which mirrors entries by scope and says what is similar.

    All methods block and are safe to call from several threads; they raise `StoreError` or
    `EmbedderError` where it failed, and `UsageError` where it is not fit to be used in this way.
    """

    @property
    def name(self) -> str:
        """Name it: what was mirrored into it is remembered under this name."""
        ...

    def check(self) -> None:
        """Refuse a store that cannot be searched by scope, or has vectors of another length."""
        ...

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]], /) -> None:
        """Add entries of a scope by uid and text; none of these uids is there."""
        ...

    def remove(self, uids: Sequence[int], /) -> None:
        """Remove the entries with these uids, those that there are."""
        ...

    def search(self, scope: Scope, query: str, limit: int, /) -> Sequence[tuple[int, float]]:
        """Return uids and similarities of what is nearest in *scope* and in no other."""
        ...


class TokenCounter(Protocol):
    """How many tokens a text costs in the prompt it is meant for; asked from several threads."""

    def __call__(self, text: str, /) -> int:
        """Return a count of at least 0."""
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
    A call that a model made, unchecked.

    *arguments* is the JSON text that it wrote, or an object where its client has parsed it.
    """

    name: str
    arguments: str | JsonObject
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the talk with a model; a ``tool`` turn answers the call with id *answers*."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """
    What a model is asked.

    *system* and *tools* come before all turns and stay equal from request to request as
    far as they can, so that providers can cache them. With *must_call* an answer without a
    call is of no use.
    """

    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...] = ()
    must_call: bool = False
    output_tokens_max: int = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request as its provider counted them; *cached* are among *input_tokens*."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model answered: text, calls, and why it stopped."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stopped: Literal["end", "length", "refusal"] = "end"
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Model(Protocol):
    """A language model."""

    @property
    def identity(self) -> str:
        """Name it as ``provider/model``, e.g. for a receipt."""
        ...

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """
        Return its whole answer.

        Raises:
            ModelUnavailableError: It is busy, limited, away or too slow; retrying may help.
            ModelDeniedError: The key, its rights or its credit do not suffice.
            ModelNotFoundError: There is no such model, or not any more.
            ModelError: It failed otherwise.
        """
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of its answer piece by piece; fails as `answer` does."""
        ...
