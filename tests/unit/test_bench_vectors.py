"""Vectors on disk: embedded once, unharmed by interruptions, the same on every run."""

from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.cached_embedder import BATCH_TEXTS, CachedEmbedder, VectorFile, file_name, text_key
from recollect.errors import EmbedderError
from recollect.ports import Vector


class LetterCounts:
    """An embedder of texts by how often a, b and c occur; it notes what it was asked."""

    def __init__(self, *, fails_at: str = "", identity: str = "letters/1") -> None:
        self.asked: list[str] = []
        self.identity = identity
        self.dimensions = 3
        self._fails_at = fails_at

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        if self._fails_at and self._fails_at in texts:
            msg = "the graph is gone"
            raise EmbedderError(msg)
        self.asked += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector | None:
        counts = np.array([text.count(letter) for letter in "abc"], dtype=np.float32)
        return counts / np.float32(np.linalg.norm(counts)) if counts.any() else None


def as_lists(vectors: Sequence[Vector | None]) -> list[list[float] | None]:
    """Make vectors comparable."""
    return [None if vector is None else vector.tolist() for vector in vectors]


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """Neither a repetition nor a later run asks the embedder again; no vector is kept too."""
    CachedEmbedder(LetterCounts(), tmp_path).embed(["a", "xyz", "a"])
    later = LetterCounts()

    vectors = CachedEmbedder(later, tmp_path).embed(["a", "xyz", "b"])

    assert ["b"] == later.asked
    assert [[1.0, 0.0, 0.0], None, [0.0, 1.0, 0.0]] == as_lists(vectors)


def test_the_first_run_gets_the_vectors_of_later_ones(tmp_path: Path) -> None:
    """Rounding to float16 happens before the first use, and lengths stay 1."""
    first = CachedEmbedder(LetterCounts(), tmp_path).embed(["aabc", "abbbcc"])

    later = CachedEmbedder(LetterCounts(), tmp_path).embed(["aabc", "abbbcc"])

    assert as_lists(first) == as_lists(later)
    assert [pytest.approx(1.0, abs=1e-6)] * 2 == [
        float(np.linalg.norm(vector)) for vector in first if vector is not None
    ]


def test_vectors_are_near_those_of_the_embedder(tmp_path: Path) -> None:
    """Rounding moves no component by more than a thousandth."""
    texts = ["abc", "aab", "cccb"]

    cached = CachedEmbedder(LetterCounts(), tmp_path).embed(texts)

    plain = np.array([each for each in LetterCounts().embed(texts) if each is not None])
    assert np.abs(np.array(cached) - plain).max() < 1e-3


def test_embedders_do_not_share_vectors(tmp_path: Path) -> None:
    """Another identity is another file."""
    CachedEmbedder(LetterCounts(), tmp_path).embed(["a"])
    other = LetterCounts(identity="letters/2")

    CachedEmbedder(other, tmp_path).embed(["a"])

    assert ["a"] == other.asked
    assert file_name("letters/1", 3) != file_name("letters-1", 3)


def test_a_failure_loses_only_its_batch(tmp_path: Path) -> None:
    """What was embedded before the failure is not embedded again."""
    texts = ["a" * length for length in range(1, BATCH_TEXTS + 2)]
    with pytest.raises(EmbedderError):
        CachedEmbedder(LetterCounts(fails_at=texts[-1]), tmp_path).embed(texts)
    later = LetterCounts()

    CachedEmbedder(later, tmp_path).embed(texts)

    assert [texts[-1]] == later.asked


def test_a_bypassed_cache_neither_reads_nor_writes(tmp_path: Path) -> None:
    """A timed query is embedded each time, and again after it."""
    embedder = LetterCounts()
    cached = CachedEmbedder(embedder, tmp_path)
    cached.embed(["a"])

    with cached.bypassed():
        cached.embed(["a"])
        cached.embed(["b"])
    cached.embed(["a", "b"])

    assert ["a", "a", "b", "b"] == embedder.asked


def test_threads_get_their_own_vectors(tmp_path: Path) -> None:
    """Eight threads embed overlapping texts at once; each gets what it asked for."""
    cached = CachedEmbedder(LetterCounts(), tmp_path)
    found: dict[int, list[list[float] | None]] = {}

    def embed(start: int) -> None:
        texts = ["a" * (1 + (start + step) % 9) + "b" for step in range(20)]
        found[start] = as_lists(cached.embed(texts))

    threads = [Thread(target=embed, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for start, vectors in found.items():
        texts = ["a" * (1 + (start + step) % 9) + "b" for step in range(20)]
        assert as_lists(cached.embed(texts)) == vectors
    assert list(range(8)) == sorted(found)


class TrustsEveryByte(VectorFile):
    """A mutant: it neither cuts off a torn record nor looks at checksums."""

    def _whole_records(self) -> bytes:
        held = self.path.read_bytes()
        return held[: len(held) - len(held) % self._record.itemsize]

    def _are_sound(self, records: NDArray[np.void]) -> NDArray[np.bool_]:
        return np.ones(len(records), dtype=np.bool_)


def texts_lost_after(damage: str, kind: type[VectorFile], folder: Path) -> set[str]:
    """Write two texts, damage the file, write a third, and say which come back wrong."""
    vectors = {
        text: np.array(vector, dtype=np.float32)
        for text, vector in (("a", (1, 0)), ("b", (0, 1)), ("c", (0.5, 0.5)))
    }
    file = kind(folder, "letters/1", 2)
    file.add([text_key("a"), text_key("b")], [vectors["a"], vectors["b"]])
    held = bytearray(file.path.read_bytes())
    if damage == "cut":
        del held[-3:]
    else:
        held[-8] ^= 0xFF  # inside the vector of "b"
    file.path.write_bytes(held)
    kind(folder, "letters/1", 2).add([text_key("c")], [vectors["c"]])

    file = kind(folder, "letters/1", 2)
    known = {text: file.get(text_key(text)) for text in vectors if text_key(text) in file}
    wrong = {
        text
        for text, found in known.items()
        if found is None or not np.array_equal(found, vectors[text])
    }
    return wrong | ({"a", "c"} - set(known))


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damage_loses_no_other_text(damage: str, tmp_path: Path) -> None:
    """After a cut record or a flipped byte only that text has to be embedded again."""
    assert set() == texts_lost_after(damage, VectorFile, tmp_path)


@pytest.mark.parametrize(("damage", "lost"), [("cut", {"c"}), ("flipped", {"b"})])
def test_the_damage_check_catches_a_careless_file(
    damage: str, lost: set[str], tmp_path: Path
) -> None:
    """The mutant loses the text after a cut, and returns a wrong vector after a flip."""
    assert lost <= texts_lost_after(damage, TrustsEveryByte, tmp_path)
