"""FastEmbed's models, run locally by ONNX without torch; many are multilingual."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from recollect.embedders.adapters import CallableEmbedder
from recollect.embedders.minilm_install import cache_folder
from recollect.embedders.native_shutdown import NativeCalls
from recollect.errors import EmbedderError, MissingExtraError, UsageError
from recollect.ports import Vector
from recollect.providers.provider_errors import translated_errors

EXTRA: Final = "fastembed"
_CALLS: Final = NativeCalls()


class FastEmbedEmbedder(CallableEmbedder):
    """
    A model that FastEmbed knows, e.g. ``BAAI/bge-small-en-v1.5``, loaded at construction.

    Nothing is downloaded: install the weights with `install_fastembed` first.
    """

    def __init__(self, name: str) -> None:
        """
        Load the model from this machine.

        Raises:
            MissingExtraError: FastEmbed is not installed.
            UsageError: FastEmbed knows no model of this name.
            EmbedderError: The weights are not installed, or cannot be loaded.
        """
        model = _loaded(name, is_fetched=False)

        def embed(texts: Sequence[str]) -> list[Vector]:
            with _CALLS:
                return [np.asarray(each, np.float32) for each in model.embed(list(texts))]

        super().__init__(embed, identity=f"fastembed/{name}")


def install_fastembed(name: str) -> Path:
    """
    Download the weights of a model from FastEmbed's source, and return their folder.

    Raises:
        MissingExtraError: FastEmbed is not installed.
        UsageError: FastEmbed knows no model of this name.
        EmbedderError: The weights cannot be downloaded or loaded.
    """
    _loaded(name, is_fetched=True)
    return weights_folder()


def weights_folder() -> Path:
    """Return the folder of all weights: ``FASTEMBED_CACHE_PATH``, else one beside MiniLM's."""
    named = os.environ.get("FASTEMBED_CACHE_PATH")
    return Path(named) if named else cache_folder() / "fastembed"


def described_model(name: str) -> dict[str, Any]:
    """
    Return FastEmbed's metadata of a model: ``dim``, ``size_in_GB``, ``description``, ``license``.

    Raises:
        MissingExtraError: FastEmbed is not installed.
        UsageError: FastEmbed knows no model of this name.
    """
    known: dict[str, dict[str, Any]] = {
        str(each["model"]).lower(): each for each in _text_embedding().list_supported_models()
    }
    if name.lower() not in known:
        raise UsageError(f"fastembed knows no model {name!r}; it knows: {', '.join(sorted(known))}")
    return known[name.lower()]


def _text_embedding() -> Any:
    try:
        from fastembed import TextEmbedding
    except ModuleNotFoundError as error:
        raise MissingExtraError(EXTRA, error.name or "fastembed") from error
    return TextEmbedding


def _loaded(name: str, *, is_fetched: bool) -> Any:
    described = described_model(name)
    folder = weights_folder()
    folder.mkdir(parents=True, exist_ok=True)
    size = f"{1_000 * float(described.get('size_in_GB') or 0):.0f} MB"
    advice = (
        f"they could not be fetched ({size}); check the network, then try again"
        if is_fetched
        else f"`recollect embedder install fastembed/{name}` fetches them ({size})"
    )

    def unusable(error: Exception) -> EmbedderError:
        place = f"the weights of fastembed/{name} are not usable in {str(folder)!r}"
        return EmbedderError(f"{place}: {advice} ({error})")

    with translated_errors(unusable, ()), _without_logs(), warnings.catch_warnings(), _CALLS:
        warnings.simplefilter("ignore")  # FastEmbed warns about downloads
        return _text_embedding()(
            model_name=name, cache_dir=str(folder), local_files_only=not is_fetched
        )


@contextmanager
def _without_logs() -> Iterator[None]:
    """Silence FastEmbed's log, which would repeat our error."""
    try:
        from loguru import logger
    except ModuleNotFoundError:
        yield
        return
    logger.disable("fastembed")
    try:
        yield
    finally:
        logger.enable("fastembed")
