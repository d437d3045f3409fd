"""MiniLM in PyTorch, from the published weights and back to a file of the same names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recollect.embedders.onnx_conversion import (
    DIMENSIONS,
    EPSILON,
    HEADS,
    LAYERS,
    read_safetensors,
)

WIDE: Final = 1_536
_PLACES: Final = 512
_WORDS: Final = 30_522


@dataclass(frozen=True, slots=True)
class PieceBatch:
    """
    Texts as word pieces: three tensors of shape (texts, longest).

    *second* is 1 for pieces of the second text of a pair, *real* is False where a shorter text is
    filled up.
    """

    pieces: Tensor
    second: Tensor
    real: Tensor


def batch_of(texts: Sequence[tuple[Sequence[int], int]]) -> PieceBatch:
    """Return a batch of texts; each comes with the number of pieces of its first part."""
    longest = max(len(pieces) for pieces, _ in texts)
    numbers = np.zeros((len(texts), longest), np.int64)
    second, real = np.zeros_like(numbers), np.zeros(numbers.shape, bool)
    for row, (pieces, first) in enumerate(texts):
        numbers[row, : len(pieces)] = pieces
        second[row, first : len(pieces)] = 1
        real[row, : len(pieces)] = True
    return PieceBatch(*map(torch.from_numpy, (numbers, second, real)))


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(DIMENSIONS, DIMENSIONS) for _ in range(3))
        self.mix = nn.Linear(DIMENSIONS, DIMENSIONS)
        self.mixed = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.wide, self.narrow = nn.Linear(DIMENSIONS, WIDE), nn.Linear(WIDE, DIMENSIONS)
        self.normal = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the layer's values for *hidden* of shape (texts, pieces, 384)."""
        shape = (*hidden.shape[:2], HEADS, DIMENSIONS // HEADS)
        query, key, value = (
            part(hidden).view(shape).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        seen = seen.transpose(1, 2).reshape(hidden.shape)
        hidden = self.mixed(hidden + self.drop(self.mix(seen)))
        return self.normal(hidden + self.drop(self.narrow(functional.gelu(self.wide(hidden)))))


class MiniLm(nn.Module):
    """all-MiniLM-L6-v2: word pieces to one vector of 384 for each piece."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(_WORDS, DIMENSIONS)
        self.places = nn.Embedding(_PLACES, DIMENSIONS)
        self.kinds = nn.Embedding(2, DIMENSIONS)
        self.normal = nn.LayerNorm(DIMENSIONS, eps=EPSILON)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))

    def forward(self, batch: PieceBatch) -> Tensor:
        """Return the pieces' vectors: (texts, pieces, 384)."""
        places = torch.arange(batch.pieces.shape[1])
        hidden = self.words(batch.pieces) + self.places(places) + self.kinds(batch.second)
        hidden = self.normal(hidden)
        mask = batch.real[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


def mean_of(hidden: Tensor, batch: PieceBatch) -> Tensor:
    """Return the mean vector of each text's pieces: (texts, 384)."""
    real = batch.real[:, :, None].float()
    return (hidden * real).sum(1) / real.sum(1)


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


def published(path: Path) -> MiniLm:
    """Return the model with the weights of a published ``model.safetensors``."""
    weights = read_safetensors(path)
    model = MiniLm()
    held = {
        ours: torch.from_numpy(weights[name].copy()) for ours, name in published_names().items()
    }
    model.load_state_dict(held)
    return model


def write_published(model: MiniLm, path: Path) -> None:
    """Write a model's weights as a ``safetensors`` file under their published names."""
    header: dict[str, object] = {}
    parts: list[bytes] = []
    at = 0
    state = model.state_dict()
    for ours, name in published_names().items():
        values = state[ours].numpy().astype("<f4")
        parts.append(values.tobytes())
        end = at + len(parts[-1])
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, end]}
        at = end
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(parts))
