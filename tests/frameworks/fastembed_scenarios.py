"""FastEmbed itself, as embedder and as reranker, over small models that are made here."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import recollect
from recollect.embedders import open_embedder

ADA = ("ada",)
WORDS = "[PAD] [CLS] [SEP] [UNK] what is the cat called tom a boat red it rains today".split()
SAID = ("The boat is red.", "It rains today.", "The cat is called Tom.")
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer of a few words."""
    made = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}), "utf-8")
    named = {"pad_token": "[PAD]", "model_max_length": 64}
    (folder / "tokenizer_config.json").write_text(json.dumps(named), "utf-8")
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}), "utf-8")


def write_model(
    folder: Path, nodes: Sequence[Any], output: tuple[str, Sequence[Any]], *constants: Any
) -> Path:
    """Write a graph over the three inputs of BERT, with its tokenizer."""
    inputs = [
        helper.make_tensor_value_info(name, INT, ["batch", "length"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    name, shape = output
    outputs = [helper.make_tensor_value_info(name, FLOAT, shape)]
    graph = helper.make_graph([*nodes], "words", inputs, outputs, [*constants])
    opset = helper.make_opsetid("", 17)
    made = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.checker.check_model(made)
    folder.mkdir()
    onnx.save(made, str(folder / "model.onnx"))
    write_tokenizer(folder)
    return folder


def constant(name: str, kind: int, shape: Sequence[int], *values: float) -> Any:
    return helper.make_tensor(name, kind, shape, values)


def cross_encoder(folder: Path) -> TextCrossEncoder:
    """Return a model that counts the words which query and document share."""
    node = helper.make_node
    nodes = [
        node("Unsqueeze", ["input_ids", "two"], ["across"]),
        node("Unsqueeze", ["input_ids", "one"], ["down"]),
        node("Equal", ["across", "down"], ["equal"]),
        node("Cast", ["equal"], ["same"], to=FLOAT),
        node("Sub", ["unit", "token_type_ids"], ["asked_type"]),
        node("Mul", ["asked_type", "attention_mask"], ["asked"]),
        node("Mul", ["token_type_ids", "attention_mask"], ["found"]),
        node("Unsqueeze", ["asked", "two"], ["asked_across"]),
        node("Unsqueeze", ["found", "one"], ["found_down"]),
        node("Mul", ["asked_across", "found_down"], ["pairs"]),
        node("Cast", ["pairs"], ["counted"], to=FLOAT),
        node("Mul", ["same", "counted"], ["shared"]),
        node("ReduceSum", ["shared", "two"], ["by_word"], keepdims=0),
        node("ReduceSum", ["by_word", "one"], ["logits"], keepdims=1),
    ]
    constants = [
        constant("one", INT, [1], 1), constant("two", INT, [1], 2), constant("unit", INT, [1], 1)
    ]  # fmt: skip
    place = write_model(folder, nodes, ("logits", ["batch", 1]), *constants)
    TextCrossEncoder.add_custom_model(
        model="tests/pairs", sources=ModelSource(hf="tests/pairs"), model_file="model.onnx"
    )
    return TextCrossEncoder("tests/pairs", specific_model_path=str(place))


def embedding(folder: Path) -> TextEmbedding:
    """Return a model whose vectors are the words of a text."""
    nodes = [helper.make_node("OneHot", ["input_ids", "depth", "off_on"], ["last_hidden_state"])]
    constants = [
        constant("depth", INT, [1], len(WORDS)), constant("off_on", FLOAT, [2], 0, 1)
    ]  # fmt: skip
    shape = ("last_hidden_state", ["batch", "length", len(WORDS)])
    place = write_model(folder, nodes, shape, *constants)
    TextEmbedding.add_custom_model(
        model="tests/words",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="tests/words"),
        dim=len(WORDS),
        model_file="model.onnx",
    )
    return TextEmbedding("tests/words", specific_model_path=str(place))


def scenario_its_embeddings_are_an_embedder() -> None:
    """By which what was said is found, under the name of its weights."""
    with TemporaryDirectory() as folder:
        made = embedding(Path(folder, "words"))
        embedder = open_embedder(made)
        assert embedder is not None
        vectors = embedder.embed(["the cat", "a boat"])
        with recollect.open_sync("memory:", embedder=made) as memory:
            memory.append(ADA, "chat", list(SAID))
            memory.settled(ADA)
            found = memory.recall(ADA, "What is the cat called?")

    assert embedder.identity == f"fastembed/tests/words/{len(WORDS)}", embedder.identity
    assert [each is not None and each.shape for each in vectors] == [(len(WORDS),)] * 2
    assert found.embedder == embedder.identity, found.embedder
    assert found.entries[0].text == SAID[2], found.entries


def scenario_its_cross_encoder_is_a_reranker() -> None:
    """It puts first what shares the most words with the question, common ones too."""
    texts, asked = (
        ("Cat today, cat today.", "What is the cat? What is it?"),
        "what is the cat today",
    )
    with TemporaryDirectory() as folder:
        made = cross_encoder(Path(folder, "pairs"))
        scores = list(made.rerank(asked, list(texts)))
        first = []
        for reranker in (None, made):
            with recollect.open_sync("memory:", embedder="none", rerank=reranker) as memory:
                memory.append(ADA, "chat", list(texts))
                found = memory.recall(ADA, asked)
                first.append(found.entries[0].text)

    assert scores == [5.0, 7.0], scores
    assert found.reranker == "TextCrossEncoder/tests/pairs", found.reranker
    assert first == [*texts], first
    assert found.entries[0].signals["rerank"] > 0, found.entries[0].signals


def scenario_a_name_that_it_does_not_know_is_told() -> None:
    """As one error, and nothing is fetched."""
    told = []
    for name in ("fastembed/no/model", "fastembed/"):
        try:
            open_embedder(name)
        except recollect.RecollectError as error:
            told.append(str(error))

    assert "knows no model" in told[0], told
    assert "unknown" in told[1], told
