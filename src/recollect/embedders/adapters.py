"""Adapters that make callables and other libraries' objects embedders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import numpy as np

from recollect.errors import EmbedderError
from recollect.ports import Embedder, Vector
from recollect.providers.object_names import check_plain, identity_of, weights_name

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]] | Sequence[Vector]]


class CallableEmbedder:
    """
    A callable from texts to vectors.

    Its identity is the callable's ``identity`` attribute, else its module and name, followed by
    the measured number of dimensions. Include the model's name in ``identity``: vectors of
    callables with the same identity are compared with each other. Its strength is the callable's
    ``strength`` attribute, if it has one (see `Embedder`). It is called in threads.

    Raises:
        UsageError: It is defined with ``async def``.
    """

    def __init__(self, embed: Embed, *, identity: str | None = None) -> None:
        check_plain(embed, "embedder")
        self._embed = embed
        self.strength: object = getattr(embed, "strength", None)
        self._name = identity or identity_of(embed, joint=".")
        self._dimensions: int | None = None

    @property
    def identity(self) -> str:
        """The callable's name and its dimensions."""
        return f"{self._name}/{self.dimensions}"

    @property
    def dimensions(self) -> int:
        """The length of each vector, measured by embedding one word the first time."""
        if self._dimensions is None:
            (vector,) = self._vectors(["word"])
            self._dimensions = len(vector)
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit-length vector per text; ``None`` for a text without words."""
        worded = [text for text in texts if text.strip()]
        vectors = iter(self._vectors(worded) if worded else ())
        return [_unit(next(vectors), self.identity) if text.strip() else None for text in texts]

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        found = [np.atleast_1d(each) for each in _answer(self._embed, texts, self._name)]
        lengths = {len(each) for each in found}
        if self._dimensions is not None and lengths and lengths != {self._dimensions}:
            about = (
                f"the embedder {self._name} gave vectors of {sorted(lengths)} numbers, but of "
                f"{self._dimensions} before"
            )
            error = EmbedderError(
                f"{about}, so another model answers under its name: open the memory again to "
                "embed everything with the new one"
            )
            error.about = about
            raise error
        if len(found) != len(texts) or len(lengths) > 1 or any(each.ndim != 1 for each in found):
            shapes = sorted({each.shape for each in found})
            msg = f"the embedder {self._name} gave {len(found)} vectors, {shapes}, of {len(texts)}"
            raise EmbedderError(msg)
        return found


class CheckedEmbedder:
    """A user's `Embedder` whose every result is validated."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.strength: object = getattr(embedder, "strength", None)

    @property
    def identity(self) -> str:
        """The embedder's identity."""
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit-length vector per text; ``None`` for an unsupported text."""
        understood: list[bool] = []

        def embed(asked: Sequence[str]) -> list[Vector]:
            found = list(self._embedder.embed(asked))
            understood.extend(each is not None for each in found)
            return [each for each in found if each is not None]

        vectors = iter(_answer(embed, texts, self.identity))
        if len(understood) != len(texts):
            msg = f"{self.identity} gave {len(understood)} vectors for {len(texts)} texts"
            raise EmbedderError(msg)
        return [self._checked(next(vectors)) if each else None for each in understood]

    def _checked(self, vector: Vector) -> Vector:
        if vector.shape != (self.dimensions,):
            msg = f"the embedder {self.identity} gave a vector of shape {vector.shape}"
            raise EmbedderError(msg)
        return _unit(vector, self.identity)


def _answer(embed: Embed, texts: Sequence[str], name: str) -> list[Vector]:
    """Call a user's code, and raise all its errors as `EmbedderError`."""
    try:
        return [np.asarray(vector, np.float32) for vector in embed(texts)]
    except EmbedderError:
        raise
    except Exception as error:
        raise EmbedderError(f"the embedder {name} failed: {error}") from error


def _unit(vector: Vector, identity: str) -> Vector:
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        about = f"the embedder {identity} gave a vector of length {length}"
        error = EmbedderError(f"{about}: it cannot be compared")
        error.about = about
        raise error
    return np.asarray(vector / length, np.float32)


@runtime_checkable
class LangChainEmbeddings(Protocol):
    """The part of LangChain's ``Embeddings`` that is used."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of *texts*."""
        ...


class LangChainEmbedder(CallableEmbedder):
    """
    A LangChain ``Embeddings`` object; queries are embedded as documents too.

    Its identity is its class and a digest of the settings that choose its model.
    """

    def __init__(self, embeddings: LangChainEmbeddings, *, identity: str | None = None) -> None:
        kind = type(embeddings)
        settings = [str(getattr(embeddings, name, "")) for name in ("model", "model_name", "size")]
        digest = blake2b("/".join(settings).encode(), digest_size=4).hexdigest()
        super().__init__(
            lambda texts: embeddings.embed_documents(list(texts)),
            identity=identity or f"{kind.__module__}.{kind.__qualname__}/{digest}",
        )


def library_embedder(choice: object) -> CallableEmbedder | None:
    """Return an object of one of these libraries as an embedder; ``None`` for any other object."""
    if _is_of(choice, "sentence_transformers") and hasattr(choice, "encode"):
        return CallableEmbedder(_encoding(choice), identity=_name_of(choice))
    if _is_of(choice, "fastembed") and hasattr(choice, "embed"):
        named = getattr(choice, "model_name", type(choice).__name__)
        return CallableEmbedder(_embedding(choice), identity=f"fastembed/{named}")
    return None


def _is_of(choice: object, package: str) -> bool:
    return any(kind.__module__.partition(".")[0] == package for kind in type(choice).__mro__)


def _encoding(model: Any) -> Any:
    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        found: Sequence[Vector] = model.encode(
            list(texts), show_progress_bar=False, convert_to_numpy=True
        )
        return found

    return embed


def _embedding(model: Any) -> Any:
    def embed(texts: Sequence[str]) -> Sequence[Vector]:
        return list(model.embed(list(texts)))

    return embed


def _name_of(model: object) -> str:
    name = weights_name(model) or type(model).__qualname__
    return f"sentence-transformers/{name.removeprefix('sentence-transformers/')}"
