"""Trained encoders as int8 graphs, loaded as today's is: ``embedder="training.graphs:NAME"``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recollect.embedders.minilm import MiniLmEmbedder
from recollect.embedders.minilm_install import (
    GRAPH,
    MANIFEST,
    VOCABULARY,
    folder,
    hash_file,
    write_manifest,
)
from recollect.embedders.onnx_conversion import DIMENSIONS, convert
from recollect.ports import Vector

GRAPHS: Final = Path(__file__).parent / "work" / "graphs"
_DIGEST_CHARACTERS: Final = 12


def write_graph(weights: Path, vocabulary: Path, name: str, root: Path = GRAPHS) -> float:
    """
    Convert a ``safetensors`` file of MiniLM's form to the int8 graph NAME, vocabulary beside it.

    The folder has the form of an installed embedder. An older graph of the name is replaced.

    Returns:
        The smallest cosine between the vectors of the int8 graph and of the exact one.

    Raises:
        ValueError: It is below what `convert` allows.
    """
    place = folder(root / name)
    place.mkdir(parents=True, exist_ok=True)
    (place / MANIFEST).unlink(missing_ok=True)  # until the new one stands, nothing is installed
    with tempfile.TemporaryDirectory(dir=root) as work:
        cosine = convert(weights, Path(work) / GRAPH)
        (Path(work) / GRAPH).replace(place / GRAPH)
    (place / VOCABULARY).write_bytes(vocabulary.read_bytes())
    write_manifest(place, cosine=f"{cosine:.4f}")
    return cosine


class GraphEmbedder:
    """The `Embedder` of a graph that `write_graph` wrote: today's code over other weights."""

    def __init__(self, name: str, root: Path = GRAPHS, workers: int | None = None) -> None:
        graph = folder(root / name) / GRAPH
        known = hash_file(graph)[:_DIGEST_CHARACTERS] if graph.exists() else "absent"
        # Named by its bytes, so that no vectors of an older graph are mixed with its.
        self.identity = f"talk-{name}/{known}"
        self.dimensions = DIMENSIONS
        self._embedder = MiniLmEmbedder(cache=root / name, workers=workers)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return a vector of unit length for each text; None where today's embedder has none."""
        return self._embedder.embed(texts)


def __getattr__(name: str) -> GraphEmbedder:
    """Return the graph NAME of `GRAPHS`, so that ``training.graphs:NAME`` names an embedder."""
    if name.startswith("__") or not (GRAPHS / name).is_dir():
        message = f"there is no graph {name!r} in {GRAPHS}: `python -m training export` writes it"
        raise AttributeError(message)
    return GraphEmbedder(name)
