"""Other people's embedders become ours: unit vectors, a name, and one kind of error."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embedders import open_embedder
from recollect.embedders.adapters import CallableEmbedder, CheckedEmbedder, Embed, LangChainEmbedder
from recollect.errors import EmbedderError, UsageError
from recollect.ports import Embedder
from recollect.rerankers import open_reranker
from recollect.testing import HashedEmbedder

TEXTS = ["a red kite", "", "  \n", "Oslo", "a red kite"]


def by_length(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts as their lengths."""
    return [[float(len(text)), 1.0, 0.0] for text in texts]


def answering(*answers: object) -> Embed:
    """Return a callable that gives these answers, one after the other."""
    left = iter(answers)

    def embed(_: Sequence[str]) -> Sequence[Sequence[float]]:
        return cast("Sequence[Sequence[float]]", next(left))

    return embed


def test_vectors_have_length_1() -> None:
    """Whatever length they come in, so that a product is a cosine."""
    found = CallableEmbedder(by_length).embed(["abc", "abcdefgh"])

    lengths = [float(np.linalg.norm(vector)) for vector in found if vector is not None]
    assert [1, 1] == pytest.approx(lengths)


def test_texts_without_words_have_no_vector() -> None:
    """They are not sent, and the others keep their places."""
    sent: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        sent.extend(texts)
        return by_length(texts)

    embedder = CallableEmbedder(embed, identity="lengths")
    found = embedder.embed(TEXTS)

    assert [True, False, False, True, True] == [vector is not None for vector in found]
    assert ["a red kite", "Oslo", "a red kite"] == sent[:3]
    np.testing.assert_array_equal(found[0], found[4])


@given(st.lists(st.text(max_size=5), max_size=8))
def test_there_is_one_answer_for_each_text(texts: list[str]) -> None:
    """In order, whatever the texts."""
    found = CallableEmbedder(by_length).embed(texts)

    assert [bool(text.strip()) for text in texts] == [vector is not None for vector in found]


def test_nothing_to_embed_is_nothing() -> None:
    """Without texts the callable is not called."""
    assert CallableEmbedder(answering(), identity="x").embed([]) == []


def test_the_dimensions_are_found_by_asking_once() -> None:
    """One word tells; the answer is remembered."""
    embedder = CallableEmbedder(answering([[1.0, 2.0, 3.0]]))

    assert (3, 3) == (embedder.dimensions, embedder.dimensions)


class Named:
    """A callable object that names its model."""

    identity = "made-up-model/2"

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed *texts*."""
        return by_length(texts)


def test_the_identity_names_callable_and_dimensions() -> None:
    """Vectors of another callable, model or length are never taken for its own."""
    plain = CallableEmbedder(by_length).identity

    assert f"{by_length.__module__}.by_length/3" == plain
    assert CallableEmbedder(Named()).identity == "made-up-model/2/3"
    assert CallableEmbedder(by_length, identity="mine").identity == "mine/3"


def test_another_length_is_another_identity() -> None:
    """A callable that is later asked for longer vectors does not mix them with the old ones."""
    short = CallableEmbedder(answering([[1.0, 0.0]]), identity="mine")
    long = CallableEmbedder(answering([[1.0, 0.0, 0.0]]), identity="mine")

    assert short.identity != long.identity


BROKEN = [
    ("too few vectors", [[1.0, 0.0]]),
    ("too many vectors", [[1.0, 0.0]] * 3),
    ("a vector that is not a number", [[1.0, 0.0], [float("nan"), 0.0]]),
    ("a vector without end", [[1.0, 0.0], [float("inf"), 0.0]]),
    ("a vector of length zero", [[1.0, 0.0], [0.0, 0.0]]),
    ("vectors of vectors", [[[1.0], [0.0]], [[1.0], [0.0]]]),
    ("words", [["a", "b"], ["c", "d"]]),
    ("nothing", None),
    ("vectors of no length", [[], []]),
]


@pytest.mark.parametrize(
    "answer", [answer for _, answer in BROKEN], ids=[name for name, _ in BROKEN]
)
def test_a_wrong_answer_is_an_embedder_error(answer: object) -> None:
    """Nothing that cannot be compared gets through, and the error names the embedder."""
    embedder = CallableEmbedder(answering(answer, [[1.0, 0.0]]), identity="broken")

    with pytest.raises(EmbedderError, match="broken"):
        embedder.embed(["one", "two"])


def test_vectors_of_two_lengths_are_an_embedder_error() -> None:
    """They cannot be compared with each other, in the first answer as in any other."""
    ragged = answering([[1.0, 0.0], [1.0, 0.0, 0.0]], [[1.0, 0.0]])
    embedder = CallableEmbedder(ragged, identity="broken")

    with pytest.raises(EmbedderError, match="broken"):
        embedder.embed(["one", "two"])


def test_one_vector_instead_of_a_list_is_an_embedder_error() -> None:
    """The commonest mistake, a callable that embeds one text, is named as one."""
    embedder = CallableEmbedder(answering([0.1, 0.2]), identity="broken")

    with pytest.raises(EmbedderError, match="broken"):
        embedder.embed(["one", "two"])


def test_a_change_of_length_is_an_embedder_error() -> None:
    """A model that is exchanged under a running program is noticed."""
    embedder = CallableEmbedder(answering([[1.0, 0.0]], [[1.0, 0.0, 0.0]]), identity="moody")
    assert embedder.dimensions == 2

    with pytest.raises(EmbedderError, match="moody"):
        embedder.embed(["one"])


@pytest.mark.parametrize("error", [RuntimeError("down"), TimeoutError("slow"), KeyError("key")])
def test_whatever_it_raises_is_the_cause_of_an_embedder_error(error: Exception) -> None:
    """A stranger's code may raise anything; ours raises one thing."""

    def embed(_: Sequence[str]) -> Sequence[Sequence[float]]:
        raise error

    with pytest.raises(EmbedderError, match="failed") as caught:
        CallableEmbedder(embed, identity="remote").embed(["one"])

    assert caught.value.__cause__ is error


def test_an_interruption_is_passed_on() -> None:
    """Whoever stops the program is not told that the embedder failed."""

    def embed(_: Sequence[str]) -> Sequence[Sequence[float]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CallableEmbedder(embed, identity="remote").embed(["one"])


def test_none_means_by_words_alone() -> None:
    """No embedder is opened."""
    assert open_embedder("none") is None


def test_an_embedder_is_checked() -> None:
    """It keeps its name, and its answers are looked at."""
    embedder = HashedEmbedder()

    opened = open_embedder(embedder)

    assert isinstance(opened, CheckedEmbedder)
    assert embedder.identity == opened.identity


@pytest.mark.parametrize("choice", [by_length, Named(), partial(by_length)])
def test_a_callable_is_adapted(choice: object) -> None:
    """Functions, objects and partial calls alike."""
    embedder = open_embedder(choice)

    assert isinstance(embedder, CallableEmbedder)
    assert isinstance(embedder, Embedder)
    assert embedder.dimensions == 3


@pytest.mark.parametrize("choice", ["openai", "", 7, None, object()])
def test_what_is_no_embedder_is_refused(choice: object) -> None:
    """The error says what is expected."""
    with pytest.raises(UsageError, match="embedder"):
        open_embedder(choice)


async def embed_async(texts: Sequence[str]) -> list[list[float]]:
    """Return nothing: an embedder is a plain function."""
    return by_length(texts)


def test_an_async_embedder_is_refused_when_it_is_opened() -> None:
    """Otherwise only `health` would tell, later."""
    with pytest.raises(UsageError, match=r"embed_async is async: define it with `def`"):
        open_embedder(embed_async)


async def rerank_async(_: str, texts: Sequence[str]) -> list[float]:
    """Return nothing: a reranker is a plain function."""
    return [0.0 for _ in texts]


def test_an_async_reranker_is_refused_when_it_is_opened() -> None:
    """As an embedder is."""
    with pytest.raises(UsageError, match=r"rerank_async is async: define it with `def`"):
        open_reranker(rerank_async)


class Documents:
    """What an ``Embeddings`` object of LangChain looks like."""

    def __init__(self, model: str) -> None:
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed *texts*, which must be a list."""
        assert isinstance(texts, list)
        return by_length(texts)


def test_an_embeddings_object_is_named_by_its_class_and_model() -> None:
    """Two models of one class do not share vectors."""
    one, same, other = (LangChainEmbedder(Documents(name)).identity for name in ("a", "a", "b"))

    assert one == same != other
    assert one.startswith(f"{Documents.__module__}.Documents/")


def test_langchains_own_embeddings_are_adapted() -> None:
    """A real one gives unit vectors, the same for the same text."""
    embeddings = pytest.importorskip("langchain_core.embeddings")
    embedder = open_embedder(embeddings.DeterministicFakeEmbedding(size=24))
    assert isinstance(embedder, LangChainEmbedder)

    found = embedder.embed(TEXTS)

    assert [True, False, False, True, True] == [vector is not None for vector in found]
    assert [1, 1, 1] == pytest.approx([float(np.linalg.norm(v)) for v in found if v is not None])
    np.testing.assert_array_equal(found[0], found[4])
    assert embedder.dimensions == 24


def test_langchains_own_embeddings_are_named_by_their_size() -> None:
    """Another size is another identity; the same size is the same in every process."""
    embeddings = pytest.importorskip("langchain_core.embeddings")
    small, again, large = (
        LangChainEmbedder(embeddings.DeterministicFakeEmbedding(size=size)).identity
        for size in (8, 8, 16)
    )

    assert small == again != large
