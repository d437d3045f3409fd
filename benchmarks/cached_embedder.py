"""A vector cache on disk: benchmarks embed each text once per embedder."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.errors import UsageError
from recollect.ports import Embedder, Vector

BATCH_TEXTS: Final = 64
"""Texts embedded between two writes: an interrupted run loses no more."""

_KEY_BYTES: Final = 16
_HalfVector = NDArray[np.float16]


class VectorFile:
    """
    The vectors of one embedder, by text: an append-only file of records of equal size.

    A record holds 16 bytes of the text's SHA-256, whether there is a vector, the vector in float16
    and a checksum. A record that was cut short by an interruption is cut off when the file is
    opened; one whose checksum is wrong is skipped. One process at a time may write. All vectors are
    held in memory (384 dimensions: 77 MB for 100,000 texts).
    """

    def __init__(self, folder: Path, identity: str, dimensions: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / file_name(identity, dimensions)
        self._record = np.dtype(
            [
                ("key", np.uint8, (_KEY_BYTES,)),
                ("is_known", np.uint8),
                ("vector", "<f2", (dimensions,)),
                ("checksum", "<u4"),
            ]
        )
        self._vectors: dict[bytes, _HalfVector | None] = {}
        self._read()

    def __contains__(self, key: bytes) -> bool:
        return key in self._vectors

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, key: bytes) -> _HalfVector | None:
        """Return the vector of *key*, which the file must contain; `None` if it has none."""
        return self._vectors[key]

    def add(self, keys: Sequence[bytes], vectors: Sequence[Vector | None]) -> None:
        """Append a record for each key; on return all are in the file."""
        records = np.zeros(len(keys), dtype=self._record)
        for at, (key, vector) in enumerate(zip(keys, vectors, strict=True)):
            records["key"][at] = np.frombuffer(key, dtype=np.uint8)
            if vector is not None:
                records["is_known"][at] = 1
                records["vector"][at] = vector
        for at, written in enumerate(_record_bytes(records)):
            records["checksum"][at] = zlib.crc32(written[: -self._checksum_bytes])
        with self.path.open("ab") as file:
            file.write(records.tobytes())
        self._take(records)

    @property
    def _checksum_bytes(self) -> int:
        return self._record["checksum"].itemsize

    def _read(self) -> None:
        if not self.path.exists():
            return
        records = np.frombuffer(self._whole_records(), dtype=self._record)
        self._take(records[self._are_sound(records)])

    def _whole_records(self) -> bytes:
        """Return the file's bytes without a torn last record, and truncate the file likewise."""
        held = self.path.read_bytes()
        whole = len(held) - len(held) % self._record.itemsize
        if whole != len(held):
            os.truncate(self.path, whole)
        return held[:whole]

    def _are_sound(self, records: NDArray[np.void]) -> NDArray[np.bool_]:
        checksums = [zlib.crc32(each[: -self._checksum_bytes]) for each in _record_bytes(records)]
        sound: NDArray[np.bool_] = records["checksum"] == np.array(checksums, dtype=np.uint32)
        return sound

    def _take(self, records: NDArray[np.void]) -> None:
        for key, is_known, vector in zip(
            records["key"], records["is_known"].tolist(), records["vector"], strict=True
        ):
            self._vectors[key.tobytes()] = vector if is_known else None


def _record_bytes(records: NDArray[np.void]) -> Iterator[memoryview]:
    written = memoryview(records.tobytes())
    size = records.dtype.itemsize
    return (written[start : start + size] for start in range(0, len(written), size))


def file_name(identity: str, dimensions: int) -> str:
    """
    Return a file name that is unique to the embedder.

    >>> file_name("minilm-l6/int8", 384)
    'minilm-l6-int8-384-d3c368fe.vectors'
    """
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", identity).strip("-.")
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    return f"{readable}-{dimensions}-{digest}.vectors"


def text_key(text: str) -> bytes:
    """Return the first 16 bytes of the SHA-256 of *text*."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES]


class CachedEmbedder:
    """
    An embedder that calls another one only for texts missing in its file.

    It has the other's identity and may be used from several threads. Vectors come back
    rounded to float16 on the first run as on later ones, so that runs agree.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._file = VectorFile(folder, embedder.identity, embedder.dimensions)
        self._lock = Lock()
        self._is_bypassed = False

    @property
    def identity(self) -> str:
        """Return the identity of the embedder behind the file."""
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """
        Return one unit-length vector per text, in order; `None` where the embedder has none.

        New texts are embedded and written ``BATCH_TEXTS`` at a time, the shortest first.

        Raises:
            EmbedderError: The embedder failed; the batches before stay written.
        """
        if self._is_bypassed:
            return self._embedder.embed(texts)
        keys = [text_key(text) for text in texts]
        with self._lock:
            new = {
                key: text for key, text in zip(keys, texts, strict=True) if key not in self._file
            }
        waiting = sorted(new.items(), key=lambda item: len(item[1]))
        for start in range(0, len(waiting), BATCH_TEXTS):
            self._embed_batch(waiting[start : start + BATCH_TEXTS])
        with self._lock:
            return [_unit(self._file.get(key)) for key in keys]

    @contextmanager
    def bypassed(self) -> Iterator[None]:
        """
        Embed every text without the cache during the block.

        For timing searches: in real use a query is new, so its embedding counts.
        """
        self._is_bypassed = True
        try:
            yield
        finally:
            self._is_bypassed = False

    def _embed_batch(self, batch: Sequence[tuple[bytes, str]]) -> None:
        # Outside the lock: embedding is slow and safe from several threads.
        vectors = self._embedder.embed([text for _, text in batch])
        if len(vectors) != len(batch):
            msg = (
                f"embedder {self.identity!r} returned {len(vectors)} vectors for "
                f"{len(batch)} texts: it must return one for each"
            )
            raise UsageError(msg)
        with self._lock:
            fresh = [at for at, (key, _) in enumerate(batch) if key not in self._file]
            self._file.add([batch[at][0] for at in fresh], [vectors[at] for at in fresh])


def _unit(vector: _HalfVector | None) -> Vector | None:
    if vector is None:
        return None
    wide = vector.astype(np.float32)
    length = np.float32(np.linalg.norm(wide))
    return wide / length if length else wide
