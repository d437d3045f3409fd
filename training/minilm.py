"""MiniLM in PyTorch, from the published weights and back to a file of the same names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
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
)
from recollect.errors import UsageError
from training.published_weights import PUBLISHED, published_names, read_published

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
        device = self.words.weight.device
        places = torch.arange(batch.pieces.shape[1], device=device)
        pieces, second = batch.pieces.to(device), batch.second.to(device)
        hidden = self.normal(self.words(pieces) + self.places(places) + self.kinds(second))
        mask = batch.real.to(device)[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden


def mean_of(hidden: Tensor, batch: PieceBatch) -> Tensor:
    """Return the mean vector of each text's pieces: (texts, 384)."""
    real = batch.real.to(hidden.device)[:, :, None].float()
    return (hidden * real).sum(1) / real.sum(1)


def published(path: Path) -> MiniLm:
    """
    Return the model with the weights of a published ``model.safetensors``.

    Raises:
        UsageError: The file is missing, cut short, or of another model.
    """
    model = MiniLm()
    held = {name: torch.from_numpy(each.copy()) for name, each in read_published(path).items()}
    try:
        model.load_state_dict(held)
    except RuntimeError as error:
        msg = f"{path} holds the weights of another model than {PUBLISHED}"
        raise UsageError(msg) from error
    return model


def take_weights(model: nn.Module, path: Path, step: str) -> None:
    """
    Load the weights in *path*, which the training *step* keeps, into *model*.

    Raises:
        UsageError: The file is missing, cut short, or of another version of the model.
    """
    again = f"`python -m training {step}` writes it anew"
    try:
        held = torch.load(path, weights_only=True, map_location="cpu")
    except FileNotFoundError as error:
        msg = f"there is no {path}: {again}"
        raise UsageError(msg) from error
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, UnpicklingError) as error:
        msg = f"{path} is cut short or damaged ({type(error).__name__}): {again}"
        raise UsageError(msg) from error
    try:
        model.load_state_dict(held)
    except (RuntimeError, TypeError, AttributeError) as error:
        msg = f"{path} holds the weights of another version of the model: {again}"
        raise UsageError(msg) from error


def write_published(model: MiniLm, path: Path) -> None:
    """Write a model's weights as a ``safetensors`` file under their published names."""
    header: dict[str, object] = {}
    parts: list[bytes] = []
    at = 0
    state = model.state_dict()
    for ours, name in published_names().items():
        values = state[ours].cpu().numpy().astype("<f4")
        parts.append(values.tobytes())
        end = at + len(parts[-1])
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, end]}
        at = end
    head = json.dumps(header).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + b"".join(parts))
