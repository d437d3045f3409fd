"""Embedders: MiniLM without torch, models by name, a callable, a library's object, or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Final, TypeAlias

from recollect.deferred_imports import check_installed
from recollect.errors import UsageError
from recollect.ports import Embedder
from recollect.providers.object_names import check_module, is_object_name, named_object

EmbedderChoice: TypeAlias = (
    "str | Embedder | Callable[[Sequence[str]], Sequence[Sequence[float]]] | object"
)

_ALWAYS_USABLE: Final = ("none", "auto")


def open_embedder(choice: EmbedderChoice) -> Embedder | None:
    """
    Return the embedder that *choice* names; ``None`` for recall by words alone.

    Args:
        choice: ``"minilm"``; ``"none"``; ``"auto"`` for MiniLM if its weights are installed, else
            none; ``"openai/model"``, ``"ollama/model"`` or ``"fastembed/model"``;
            ``"module:attribute"``; an `Embedder`; an object of LangChain, sentence-transformers or
            FastEmbed; or a callable from texts to vectors.

    Raises:
        UsageError: *choice* is none of these.
        MissingExtraError: A package that the embedder needs is not installed.
        EmbedderError: The weights are not installed, or the key is missing.
    """
    if choice == "none":
        return None
    if choice in ("auto", "minilm"):
        return _minilm(is_required=choice == "minilm")
    if isinstance(choice, str):
        return _named(choice.strip())
    return _adapted(choice)


def check_choice(choice: EmbedderChoice) -> None:
    """
    Raise if *choice* names no embedder, or one that lacks its key, package or weights.

    Nothing is loaded or asked: the embedder may still fail when it is opened.

    Raises:
        UsageError: The name is unknown.
        MissingExtraError: A package that the embedder needs is not installed.
        EmbedderError: MiniLM's weights are not installed, or the provider's key is missing.
    """
    if isinstance(choice, str) and choice not in _ALWAYS_USABLE:
        _check_name(choice.strip())


def _check_name(choice: str) -> None:
    if choice == "minilm":
        from recollect.embedders.minilm import check_weights

        check_weights()
        return
    if is_object_name(choice):
        check_module(choice)
        return
    provider, _ = parsed_name(choice)
    if provider == "fastembed":
        check_installed(provider, provider)
        return
    from recollect.embedders.provider_embedder import check_provider

    check_provider(provider)


def parsed_name(choice: str) -> tuple[str, str]:
    """
    Return the provider and model in an embedder's name.

    >>> parsed_name("fastembed/BAAI/bge-m3")
    ('fastembed', 'BAAI/bge-m3')

    Raises:
        UsageError: The name has no known provider of embedders.
    """
    found = re.fullmatch(r"(openai|ollama|fastembed)[:/](\S+)", choice)
    if found is None:
        raise UsageError(
            f"unknown embedder {choice!r}: use 'minilm', 'none', 'auto', 'openai/MODEL', "
            "'ollama/MODEL', 'fastembed/MODEL', 'module:attribute', or an object"
        )
    return found[1], found[2]


def _named(choice: str) -> Embedder:
    if is_object_name(choice):
        return _adapted(named_object(choice))
    provider, model = parsed_name(choice)
    if provider == "fastembed":
        from recollect.embedders.fastembed_embedder import FastEmbedEmbedder

        return FastEmbedEmbedder(model)
    from recollect.embedders.provider_embedder import ProviderEmbedder

    return ProviderEmbedder(model, provider=provider)


def _adapted(choice: object) -> Embedder:
    from recollect.embedders.adapters import (
        CallableEmbedder,
        CheckedEmbedder,
        LangChainEmbedder,
        LangChainEmbeddings,
        library_embedder,
    )

    if isinstance(choice, Embedder):
        return CheckedEmbedder(choice)
    if (of_library := library_embedder(choice)) is not None:
        return of_library
    if isinstance(choice, LangChainEmbeddings):
        return LangChainEmbedder(choice)
    if callable(choice):
        return CallableEmbedder(choice)
    raise UsageError(
        f"{choice!r} is no embedder: it has neither embed(), embed_documents() nor a call; "
        "'none' is for words alone, 'auto' for MiniLM where it is installed"
    )


def _minilm(*, is_required: bool) -> Embedder | None:
    from recollect.embedders.minilm import MiniLmEmbedder
    from recollect.embedders.minilm_install import installed

    embedder = MiniLmEmbedder()
    if is_required:
        embedder.embed(["ready"])  # report a missing part now, not at the first message
        return embedder
    return None if installed() is None or find_spec("onnxruntime") is None else embedder
