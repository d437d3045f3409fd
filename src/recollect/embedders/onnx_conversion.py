"""
Convert the published weights into the small int8 graph that the runtime loads.

It runs once, in a separate process, because it needs `onnx`, which is not a dependency: `python
onnx_conversion.py model.safetensors model.onnx`. It imports no other module of this package.
"""

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

LAYERS: Final = 6
HEADS: Final = 12
DIMENSIONS: Final = 384
POSITIONS: Final = 256  # one per word piece that the runtime keeps
EPSILON: Final = 1e-12
OPSET: Final = 20
IR_VERSION: Final = 10
COSINE_MIN: Final = 0.98  # of the int8 graph to the exact one, on each probe; measured: .99

# "the cat sat on the mat", "when did she move to paris?", "please book a table for two":
# word pieces of the published vocabulary.
PROBES: Final[tuple[tuple[int, ...], ...]] = (
    (101, 1996, 4937, 2938, 2006, 1996, 13523, 102),
    (101, 2043, 2106, 2016, 2693, 2000, 3000, 1029, 102),
    (101, 3531, 2338, 1037, 2795, 2005, 2048, 102),
)


def read_safetensors(path: Path) -> dict[str, Floats]:
    """
    Read the float32 tensors of a safetensors file.

    The format: eight bytes with the length of a JSON header, the header (name to
    type, shape and offsets), then the tensors' bytes.

    Raises:
        ValueError: A tensor's offsets are outside the file.
    """
    content = path.read_bytes()
    header_end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:header_end])
    tensors: dict[str, Floats] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = (header_end + offset for offset in entry["data_offsets"])
        if not header_end <= start <= end <= len(content):
            raise ValueError(f"the tensor {name!r} lies outside {path.name}")
        flat = np.frombuffer(content[start:end], dtype="<f4")
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


class OnnxGraph:
    """An ONNX graph under construction: nodes in order, and the weights they use."""

    def __init__(self, onnx: Any) -> None:
        """Start empty; *onnx* is the imported package."""
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def weight(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        contiguous = np.ascontiguousarray(values)
        self._weights.append(self._onnx.numpy_helper.from_array(contiguous, name))
        return name

    def node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an operator of the standard set, and return the name of its output."""
        # The quantiser appends suffixes (_scale, _quantized) to our names: avoid collisions.
        outputs, name = [output], f"{output}_node"
        made = self._onnx.helper.make_node(operator, list(inputs), outputs, name, **attributes)
        self._nodes.append(made)
        return output

    def fused(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an operator of onnxruntime's own set, and return the name of its output."""
        return self.node(operator, inputs, output, domain="com.microsoft", **attributes)

    def model(self) -> Any:
        """Return the finished model: ``input_ids`` (1, n) to ``embedding`` (1, 384)."""
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        ids = helper.make_tensor_value_info("input_ids", kinds.INT64, [1, "pieces"])
        embedding = helper.make_tensor_value_info("embedding", kinds.FLOAT, [1, DIMENSIONS])
        graph = helper.make_graph(self._nodes, "minilm", [ids], [embedding], self._weights)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = IR_VERSION
        return model


def build_model(onnx: Any, weights: dict[str, Floats]) -> Any:
    """
    Return the exact (float32) model of one text: embedding, six layers, mean, unit length.

    There is no mask and no padding: the runtime passes one text at a time, so that a text's vector
    never depends on its neighbours in a batch.
    """
    graph = OnnxGraph(onnx)
    hidden = _add_embedding(graph, weights)
    for layer in range(LAYERS):
        hidden = _add_layer(graph, weights, layer, hidden)
    axis = graph.weight("pieces_axis", np.array([1], dtype=np.int64))
    mean = graph.node("ReduceMean", [hidden, axis], "mean", keepdims=0)
    length = graph.node("ReduceL2", [mean, axis], "length", keepdims=1)
    graph.node("Div", [mean, length], "embedding")
    return graph.model()


def _add_embedding(graph: OnnxGraph, weights: dict[str, Floats]) -> str:
    words = graph.weight("words", weights["embeddings.word_embeddings.weight"])
    # Every piece has type 0, so add that type's vector to the positions in advance.
    place = weights["embeddings.position_embeddings.weight"][:POSITIONS]
    place = place + weights["embeddings.token_type_embeddings.weight"][0]
    positions = graph.weight("positions", place)
    zero = graph.weight("zero", np.array([0], dtype=np.int64))
    one = graph.weight("one", np.array([1], dtype=np.int64))
    shape = graph.node("Shape", ["input_ids"], "shape")
    count = graph.node("Gather", [shape, one], "count")
    used = graph.node("Slice", [positions, zero, count, zero], "used_positions")
    looked_up = graph.node("Gather", [words, "input_ids"], "word_vectors")
    summed = graph.node("Add", [looked_up, used], "placed_words")
    gain = graph.weight("gain", weights["embeddings.LayerNorm.weight"])
    shift = graph.weight("shift", weights["embeddings.LayerNorm.bias"])
    inputs = [summed, gain, shift]
    return graph.node("LayerNormalization", inputs, "embedded", axis=-1, epsilon=EPSILON)


def _add_layer(graph: OnnxGraph, weights: dict[str, Floats], layer: int, hidden: str) -> str:
    prefix = f"layer{layer}_"
    source = f"encoder.layer.{layer}."
    projections = [f"{source}attention.self.{part}" for part in ("query", "key", "value")]
    joined = np.concatenate([weights[f"{name}.weight"].T for name in projections], axis=1)
    biases = np.concatenate([weights[f"{name}.bias"] for name in projections])
    inputs = [hidden, graph.weight(prefix + "qkv", joined), graph.weight(prefix + "qkv_b", biases)]
    context = graph.fused("Attention", inputs, prefix + "context", num_heads=HEADS)

    def dense(step: str, name: str, values: str) -> tuple[str, str]:
        matrix = graph.weight(prefix + step, weights[f"{source}{name}.weight"].T)
        bias = graph.weight(prefix + step + "_b", weights[f"{source}{name}.bias"])
        return graph.node("MatMul", [values, matrix], prefix + step + "_product"), bias

    def normalise(step: str, name: str, residual: str, dense_output: tuple[str, str]) -> str:
        product, bias = dense_output
        gain = graph.weight(prefix + step + "_gain", weights[f"{source}{name}.weight"])
        shift = graph.weight(prefix + step + "_shift", weights[f"{source}{name}.bias"])
        terms = [product, residual, gain, shift, bias]
        return graph.fused("SkipLayerNormalization", terms, prefix + step, epsilon=EPSILON)

    attended = dense("mix", "attention.output.dense", context)
    middle = normalise("attended", "attention.output.LayerNorm", hidden, attended)
    wide, wide_bias = dense("wide", "intermediate.dense", middle)
    active = graph.fused("BiasGelu", [wide, wide_bias], prefix + "active")
    narrow = dense("narrow", "output.dense", active)
    return normalise("out", "output.LayerNorm", middle, narrow)


def quantise(onnx: Any, model: Any, target: Path) -> None:
    """
    Write *model* with int8 weights, one scale per output channel.

    Only seven of the eight bits are used: processors without VNNI add pairs of products in 16 bits,
    which overflow with eight bits, so that a text would get a different vector there.
    """
    quantization = importlib.import_module("onnxruntime.quantization")
    quantization.quantize_dynamic(
        model,
        str(target),
        per_channel=True,
        reduce_range=True,
        weight_type=quantization.QuantType.QInt8,
        # Shape inference does not know onnxruntime's own operators, which all return floats.
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )


def smallest_cosine(exact: bytes | str, approximate: bytes | str) -> float:
    """Return the smallest cosine, over the probes, between the vectors of two graphs."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    vectors = []
    for graph in (exact, approximate):
        session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        rows = [session.run(None, {"input_ids": np.array([ids])})[0][0] for ids in PROBES]
        vectors.append(np.array(rows))
    return float((vectors[0] * vectors[1]).sum(axis=1).min())


def convert(source: Path, target: Path) -> float:
    """
    Write the int8 graph of the weights in *source* to *target*.

    Returns:
        The smallest cosine between its vectors and the exact graph's, on three probes.

    Raises:
        ValueError: That cosine is below `COSINE_MIN`: these are other weights, or this processor
            does not compute int8 correctly.
    """
    onnx = importlib.import_module("onnx")
    model = build_model(onnx, read_safetensors(source))
    exact = model.SerializeToString()
    quantise(onnx, model, target)
    cosine = smallest_cosine(exact, str(target))
    if not cosine >= COSINE_MIN:
        raise ValueError(f"the int8 graph's cosine to the exact one is {cosine:.4f} < {COSINE_MIN}")
    return cosine


if __name__ == "__main__":
    sys.stdout.write(f"{convert(Path(sys.argv[1]), Path(sys.argv[2])):.4f}\n")
