"""Objects of sentence-transformers and FastEmbed as embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.embedders.adapters import CallableEmbedder
from recollect.ports import Vector
from recollect.providers.weight_names import weights_name


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
