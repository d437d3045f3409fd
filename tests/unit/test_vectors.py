"""Vectors take a byte a component, and lose nothing that a ranking would notice."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ports import Vector
from recollect.stores.vector_codec import NO_VECTOR, decode_vectors, encode_vector, similarities

DIMENSIONS = 384


def unit_vectors(seed: int, count: int, dimensions: int = DIMENSIONS) -> Vector:
    """Return random vectors of length 1, one a row."""
    drawn = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


def stored_similarities(vectors: Vector, query: Vector) -> Vector:
    """Return the similarity of each vector with *query*, after storing it."""
    _, rows, scales = decode_vectors([encode_vector(vector) for vector in vectors])
    return similarities(rows, scales, query)


@given(st.integers(0, 2**32 - 1), st.integers(16, 500))
def test_storing_keeps_the_cosine(seed: int, dimensions: int) -> None:
    """No cosine moves by as much as .01."""
    vectors = unit_vectors(seed, 20, dimensions)
    query = vectors[0]

    found = stored_similarities(vectors, query)

    assert float(np.abs(found - vectors @ query).max()) < 0.01


@pytest.mark.parametrize("seed", range(10))
def test_storing_keeps_the_best(seed: int) -> None:
    """Of the ten nearest among a thousand random vectors, nine or more stay the nearest."""
    vectors, query = unit_vectors(seed, 1_000), unit_vectors(seed + 1_000, 1)[0]

    exact = set(np.argsort(-(vectors @ query))[:10].tolist())
    found = set(np.argsort(-stored_similarities(vectors, query))[:10].tolist())

    assert len(exact & found) >= 9


def test_a_coarser_code_would_be_noticed() -> None:
    """One bit a component, as some stores keep, does not pass the bound above."""
    vectors = unit_vectors(1, 200)
    signs = np.sign(vectors) / np.float32(np.sqrt(DIMENSIONS))

    assert float(np.abs(signs @ vectors[0] - vectors @ vectors[0]).max()) > 0.01


def test_a_vector_takes_a_byte_a_component() -> None:
    """Beside its components it has one scale of four bytes."""
    assert len(encode_vector(unit_vectors(1, 1)[0])) == DIMENSIONS + 4


@pytest.mark.parametrize("value", [1.0, -1.0, 1e-30, 1e30])
def test_the_largest_component_fits(value: float) -> None:
    """Components of any size are coded without running over."""
    vector = np.array([value, 0, value / 2], np.float32)

    _, rows, scales = decode_vectors([encode_vector(vector)])

    np.testing.assert_allclose(rows[0] * scales[0], vector, rtol=0.01)


def test_a_zero_vector_comes_back() -> None:
    """It resembles nothing, and breaks nothing."""
    found = stored_similarities(np.zeros((1, 3), np.float32), np.ones(3, np.float32))

    assert [0.0] == found.tolist()


def test_entries_without_a_vector_have_no_row() -> None:
    """Neither one that is pending, nor one that the embedder did not understand."""
    first, second = unit_vectors(1, 2)

    rows, vectors, scales = decode_vectors(
        [None, encode_vector(first), encode_vector(None), encode_vector(second)]
    )

    assert encode_vector(None) == NO_VECTOR
    assert [-1, 0, -1, 1] == rows.tolist()
    assert ((2, DIMENSIONS), (2,)) == (vectors.shape, scales.shape)


@pytest.mark.parametrize("stored", [[], [None], [NO_VECTOR, None]])
def test_no_vectors_at_all_are_no_rows(stored: list[bytes | None]) -> None:
    """An index without vectors has empty arrays."""
    rows, vectors, scales = decode_vectors(stored)

    assert [-1] * len(stored) == rows.tolist()
    assert (0, 0) == (len(vectors), len(scales))


def test_vectors_of_two_embedders_do_not_mix() -> None:
    """Rows of different lengths are refused: a feed holds the vectors of one identity only."""
    with pytest.raises(ValueError, match="reshape"):
        decode_vectors([encode_vector(unit_vectors(1, 1, size)[0]) for size in (3, 4)])


@given(st.integers(0, 2**32 - 1), st.integers(1, 600), st.integers(0, 70))
def test_products_are_of_integers(seed: int, dimensions: int, count: int) -> None:
    """Of any number of rows of any length they are what numpy makes of the integers."""
    choose = np.random.default_rng(seed)
    rows = choose.integers(-127, 128, (count, dimensions), np.int8)
    query = choose.integers(-127, 128, dimensions, np.int8)
    query[0] = 127  # so that it is rounded to itself

    found = similarities(rows, np.ones(count, np.float32), query.astype(np.float32))

    assert (rows.astype(np.int32) @ query.astype(np.int32)).tolist() == found.tolist()


def test_equal_vectors_are_equally_similar() -> None:
    """Entries that say the same tie exactly, wherever they stand: time then decides."""
    vector, query = unit_vectors(7, 2)

    sizes = {
        len(set(stored_similarities(np.tile(vector, (n, 1)), query).tolist())) for n in range(2, 40)
    }

    assert {1} == sizes


def test_no_query_takes_a_reference_of_none() -> None:
    """Else Python before 3.12 ends, after some ten thousand queries, with "deallocating None"."""
    _, rows, scales = decode_vectors([encode_vector(np.ones(8, np.float32))])
    query = np.ones(8, np.float32)
    similarities(rows, scales, query)

    before = sys.getrefcount(None)
    for _ in range(1_000):
        similarities(rows, scales, query)

    assert sys.getrefcount(None) > before - 500
