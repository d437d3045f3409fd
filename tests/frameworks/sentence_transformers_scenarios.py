"""sentence-transformers itself, as embedder and reranker, over small models that are made here."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

import recollect
from recollect.embedders import open_embedder
from recollect.errors import EmbedderError
from recollect.rerankers import open_reranker

ADA = ("ada",)
MARKS = "[PAD] [UNK] [CLS] [SEP] [MASK]"
WORDS = f"{MARKS} what is the cat called tom a boat red it rains today ##s . ?".split()
SAID = ("The boat is red.", "It rains today.", "The cat is called Tom.")
ASKED = "What is the cat called?"
WIDTH = 16
CONFIG: dict[str, Any] = {
    "vocab_size": len(WORDS),
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "num_labels": 1,
}


def write_model(folder: Path, class_: Any, seed: int) -> str:
    """Write a BERT of two layers with chance weights, and a WordPiece tokenizer of a few words."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    torch.manual_seed(seed)
    class_(BertConfig(**CONFIG)).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


def sentences(folder: Path, seed: int = 1) -> Any:
    """Return a model of sentences: the mean of what BERT says of the words."""
    words = Transformer(write_model(folder, BertModel, seed))
    return SentenceTransformer(modules=[words, Pooling(WIDTH)], device="cpu")


def pairs(folder: Path, seed: int = 1) -> Any:
    """Return a model that scores a query with a text."""
    made = write_model(folder, BertForSequenceClassification, seed)
    return CrossEncoder(made, num_labels=1, device="cpu")


def scenario_its_model_is_an_embedder() -> None:
    """By which what was said is found, under one name; a text of no words has no vector."""
    with TemporaryDirectory() as folder:
        made = sentences(Path(folder, "words"))
        embedder = open_embedder(made)
        assert embedder is not None
        vectors = embedder.embed(["the cat", ""])
        expected = made.encode(["the cat"], convert_to_numpy=True)[0]
        with recollect.open_sync("memory:", embedder=made) as memory:
            memory.append(ADA, "chat", list(SAID))
            memory.settled(ADA)
            found = memory.recall(ADA, ASKED)

    assert embedder.identity.startswith("sentence-transformers/"), embedder.identity
    assert embedder.identity.endswith(f"/{WIDTH}"), embedder.identity
    assert vectors[1] is None
    assert vectors[0] is not None
    cosine = float(np.dot(vectors[0], expected)) / float(
        np.linalg.norm(vectors[0]) * np.linalg.norm(expected)
    )
    assert cosine > 0.999, cosine
    assert found.embedder == embedder.identity, found.embedder
    assert found.entries[0].text == SAID[2], found.entries
    assert any(each.signals.get("dense", 0) for each in found.entries), found.entries[0].signals


def scenario_a_saved_model_opens_its_store_again() -> None:
    """From another folder too; and other weights, of the same width, are another embedder."""
    with TemporaryDirectory() as folder:
        store, names = f"{folder}/store.db", []
        made = sentences(Path(folder, "words"))
        for place in (Path(folder, "one", "model"), Path(folder, "two", "tiny")):
            made.save(str(place))
            loaded = SentenceTransformer(str(place), device="cpu")
            with recollect.open_sync(store, embedder=loaded) as memory:
                memory.append(ADA, "chat", list(SAID))
                memory.settled(ADA)
                found = memory.recall(ADA, ASKED)
                names.append(found.embedder)
        other = open_embedder(sentences(Path(folder, "other"), seed=2))
        assert other is not None
        other.embed(["the cat"])

    assert names[0] == names[1], names
    assert folder not in str(names[0]), names
    assert other.identity != names[0], names
    assert other.identity.rpartition("/")[2] == str(WIDTH)
    assert found.entries[0].text == SAID[2], found.entries


def scenario_its_cross_encoder_is_a_reranker() -> None:
    """The order is that of its own scores, whatever its weights are."""
    with TemporaryDirectory() as folder:
        for seed in (1, 2, 3):
            made = pairs(Path(folder, f"pairs{seed}"), seed)
            reranker = open_reranker(made)
            assert reranker is not None
            scores = made.predict([(ASKED, each) for each in SAID])
            assert np.allclose(np.array(reranker.rerank(ASKED, SAID), np.float32), scores), scores
            with recollect.open_sync("memory:", embedder="none", rerank=made) as memory:
                memory.append(ADA, "chat", list(SAID))
                found = memory.recall(ADA, ASKED)
            expected = [SAID[place] for place in np.argsort(-scores)]
            considered = [each.text for each in found.considered]
            assert considered == [each for each in expected if each in considered], considered
            assert len(considered) > 1, considered
            assert found.reranker is not None
            assert found.reranker.startswith("CrossEncoder/weights-"), found.reranker
            assert folder not in found.reranker, found.reranker
            assert "rerank" in found.entries[0].signals, found.entries[0].signals


def scenario_a_model_of_another_width_is_refused() -> None:
    """It says which dimension was kept and which it gave, and recall goes on by words."""
    with TemporaryDirectory() as folder:
        made = sentences(Path(folder, "words"))
        embedder = open_embedder(made)
        assert embedder is not None
        embedder.embed(["the cat"])
        made.encode = lambda texts, **_: np.ones((len(texts), WIDTH + 1), np.float32)
        try:
            embedder.embed(["the cat"])
        except EmbedderError as error:
            told = str(error)
    assert str(WIDTH) in told, told
    assert str(WIDTH + 1) in told, told
