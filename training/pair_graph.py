"""The reranker as an int8 graph of one pair at a time, and what it costs a question."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.embedders.minilm import MiniLmEmbedder
from recollect.embedders.onnx_conversion import Floats, build_model, quantise, read_safetensors

Pair = tuple[Sequence[int], int]
"""Word pieces of question and message, and how many of them are the question's."""
_PIECES_IN: Final = "input_ids"
_KINDS_IN: Final = "token_type_ids"


def pair_model(onnx: Any, weights: dict[str, Floats], head: dict[str, Floats]) -> Any:
    """
    Return the exact model of one pair: ``input_ids`` and ``token_type_ids`` (1, n) to ``score``.

    It is the graph of a single text with the second text's kind added to its words, and the
    reranker's two layers in place of the vector's unit length.

    Args:
        onnx: The imported package.
        weights: MiniLM's, under their published names.
        head: ``read.0.weight``, ``read.0.bias``, ``score.weight`` and ``score.bias``.
    """
    model = build_model(onnx, weights)
    nodes = {node.output[0]: node for node in model.graph.node}
    kinds = weights["embeddings.token_type_embeddings.weight"]
    shift = kinds - kinds[0]  # the kind of a first text is part of the positions
    constants = {"kind_shift": shift, "first_place": np.array(0, dtype=np.int64)}
    constants |= {
        "read_matrix": head["read.0.weight"].T,
        "read_bias": head["read.0.bias"],
        "score_matrix": head["score.weight"].T,
        "score_bias": head["score.bias"],
    }
    _add_constants(onnx, model, constants)
    nodes["embedded"].input[0] = "typed_words"
    hidden = nodes["mean"].input[0]
    before = [
        _node(onnx, "Gather", ["kind_shift", _KINDS_IN], "kind_vectors"),
        _node(onnx, "Add", ["placed_words", "kind_vectors"], "typed_words"),
    ]
    after = [
        _node(onnx, "Gather", [hidden, "first_place"], "first", axis=1),
        _node(onnx, "Concat", ["first", "mean"], "both", axis=1),
        _node(onnx, "MatMul", ["both", "read_matrix"], "read_product"),
        _node(onnx, "Add", ["read_product", "read_bias"], "read_sum"),
        _node(onnx, "Tanh", ["read_sum"], "read"),
        _node(onnx, "MatMul", ["read", "score_matrix"], "score_product"),
        _node(onnx, "Add", ["score_product", "score_bias"], "score"),
    ]
    _rebuild(onnx, model, before, after)
    return model


def _node(onnx: Any, operator: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    return onnx.helper.make_node(operator, inputs, [output], f"{output}_node", **attributes)


def _add_constants(onnx: Any, model: Any, constants: dict[str, NDArray[Any]]) -> None:
    for name, values in constants.items():
        held = onnx.numpy_helper.from_array(np.array(values, order="C"), name)
        model.graph.initializer.append(held)


def _rebuild(onnx: Any, model: Any, before: list[Any], after: list[Any]) -> None:
    """Put *before* in front of the words' normalisation and *after* behind the mean."""
    kept = [node for node in model.graph.node if node.output[0] not in ("length", "embedding")]
    at = next(place for place, node in enumerate(kept) if node.output[0] == "embedded")
    del model.graph.node[:]
    model.graph.node.extend([*kept[:at], *before, *kept[at:], *after])
    kinds = onnx.TensorProto
    describe = onnx.helper.make_tensor_value_info
    model.graph.input.append(describe(_KINDS_IN, kinds.INT64, [1, "pieces"]))
    del model.graph.output[:]
    model.graph.output.append(describe("score", kinds.FLOAT, [1, 1]))


def write_pair_graph(weights: dict[str, Floats], head: dict[str, Floats], path: Path) -> None:
    """Write the int8 graph of a reranker, as today's encoder is made."""
    onnx = importlib.import_module("onnx")
    quantise(onnx, pair_model(onnx, weights, head), path)


class PairScorer:
    """Scores pairs by a graph, one at a time, several at once on as many threads."""

    def __init__(self, graph: Path | bytes, threads: int = 1) -> None:
        runtime = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_mem_pattern = False
        options.log_severity_level = 3
        loaded = graph if isinstance(graph, bytes) else str(graph)
        self._session = runtime.InferenceSession(
            loaded, options, providers=["CPUExecutionProvider"]
        )
        self._pool = ThreadPoolExecutor(threads)
        self._threads = threads

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a score for each pair, in order."""
        if self._threads == 1:
            return [self._score(each) for each in pairs]
        return list(self._pool.map(self._score, pairs))

    def _score(self, pair: Pair) -> float:
        pieces, first = pair
        numbers = np.array([pieces], dtype=np.int64)
        kinds = np.zeros_like(numbers)
        kinds[0, first:] = 1
        return float(self._session.run(None, {_PIECES_IN: numbers, _KINDS_IN: kinds})[0][0, 0])


@dataclass(frozen=True, slots=True)
class PairCost:
    """
    Medians over questions, in milliseconds: on the clock, and of processor time.

    *embedding_ms* is the processor time of today's vector of a question, taken in turn with it:
    a yardstick on a machine that has other work. The cutting into word pieces is not in it.
    """

    questions: int
    pieces: float
    clock_ms: float
    processor_ms: float
    embedding_ms: float


def cost_of(
    scorer: PairScorer, questions: Sequence[tuple[str, Sequence[Pair]]], embedder: MiniLmEmbedder
) -> PairCost:
    """Return what it costs to score the candidates of each of *questions*."""
    clock, processor, embedding = [], [], []
    for text, pairs in questions:
        start = time.process_time()
        embedder.embed([text])
        embedding.append(time.process_time() - start)
        began = time.perf_counter(), time.process_time()
        scorer.scores(pairs)
        clock.append(time.perf_counter() - began[0])
        processor.append(time.process_time() - began[1])
    lengths = [len(pieces) for _, pairs in questions for pieces, _ in pairs]
    times = [1_000 * median(each) for each in (clock, processor, embedding)]
    return PairCost(len(questions), float(np.mean(lengths)), *times)


def graph_of(weights: Path, trained: Path, target: Path) -> Path:
    """Write the int8 graph of the reranker in *trained* to *target*, if it is not there yet."""
    if target.exists() and target.stat().st_mtime > trained.stat().st_mtime:
        return target
    from training.minilm import take_weights, write_published
    from training.reranker import untrained_reranker

    model, _ = untrained_reranker(weights)
    take_weights(model, trained, "reranker")
    exact = target.with_suffix(".safetensors")
    write_published(model.encoder, exact)
    state = model.state_dict()
    head = {
        name: state[name].cpu().numpy()
        for name in ("read.0.weight", "read.0.bias", "score.weight", "score.bias")
    }
    write_pair_graph(read_safetensors(exact), head, target)
    exact.unlink()
    return target
