"""MiniLM's published weights: their names, and a file of them read with plain errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from recollect.embedders.onnx_conversion import LAYERS, Floats, read_safetensors
from recollect.errors import UsageError

PUBLISHED: Final = "all-MiniLM-L6-v2"


def published_names() -> Mapping[str, str]:
    """Return the name of each of our weights in the published file."""
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
    }
    parts = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "mix": "attention.output.dense",
        "mixed": "attention.output.LayerNorm",
        "wide": "intermediate.dense",
        "narrow": "output.dense",
        "normal": "output.LayerNorm",
    }
    for kind in ("weight", "bias"):
        names[f"normal.{kind}"] = f"embeddings.LayerNorm.{kind}"
        for layer in range(LAYERS):
            for ours, theirs in parts.items():
                names[f"layers.{layer}.{ours}.{kind}"] = f"encoder.layer.{layer}.{theirs}.{kind}"
    return names


def read_published(path: Path) -> dict[str, Floats]:
    """
    Return the weights of a published ``model.safetensors`` under our names.

    Raises:
        UsageError: The file is missing, cut short, or of another model.
    """
    try:
        weights = read_safetensors(path)
    except FileNotFoundError as error:
        msg = f"there is no {path}: --weights is the folder of the published {PUBLISHED}"
        raise UsageError(msg) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        msg = f"{path} is cut short, or is no safetensors file of {PUBLISHED}"
        raise UsageError(msg) from error
    names = published_names()
    if missing := sorted(set(names.values()) - set(weights)):
        msg = f"{path} is not {PUBLISHED} in float32: it has no {missing[0]!r}"
        raise UsageError(msg)
    return {ours: weights[name] for ours, name in names.items()}
