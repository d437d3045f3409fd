"""Embedders: MiniLM without torch, any callable, any LangChain ``Embeddings``, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TypeAlias

from recollect.errors import UsageError
from recollect.ports import Embedder

EmbedderChoice: TypeAlias = (
    "str | Embedder | Callable[[Sequence[str]], Sequence[Sequence[float]]] | object"
)


def open_embedder(choice: EmbedderChoice) -> Embedder | None:
    """
    Return the embedder that *choice* names; ``None`` for recall by words alone.

    Args:
        choice: ``"minilm"``; ``"none"``; ``"auto"`` for MiniLM where its weights are
            installed and none elsewhere; an `Embedder`; a LangChain ``Embeddings``
            object; or a callable from texts to vectors.

    Raises:
        UsageError: It is none of these.
        EmbedderError: MiniLM is named and its weights are not installed.
    """
    if choice == "none":
        return None
    if choice in ("auto", "minilm"):
        return _minilm(is_required=choice == "minilm")
    if isinstance(choice, str):
        msg = f"unknown embedder {choice!r}: use 'minilm', 'none', 'auto', or an object"
        raise UsageError(msg)
    return _adapted(choice)


def _adapted(choice: object) -> Embedder:
    from recollect.embedders.adapters import CallableEmbedder, CheckedEmbedder, LangChainEmbedder

    if isinstance(choice, Embedder):
        return CheckedEmbedder(choice)
    if hasattr(choice, "embed_documents"):
        return LangChainEmbedder(choice)
    if callable(choice):
        return CallableEmbedder(choice)
    msg = f"{choice!r} is no embedder: it has neither embed(), embed_documents() nor a call"
    raise UsageError(msg)


def _minilm(*, is_required: bool) -> Embedder | None:
    from recollect.embedders.minilm import MiniLmEmbedder
    from recollect.embedders.minilm_install import installed

    embedder = MiniLmEmbedder()
    if is_required:
        embedder.embed(["ready"])  # what is missing is told now, not at the first message
        return embedder
    return None if installed() is None or find_spec("onnxruntime") is None else embedder
