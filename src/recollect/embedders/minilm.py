"""
The default embedder: all-MiniLM-L6-v2 as an int8 ONNX graph, run locally without a network.

It supports English. onnxruntime is imported, and the graph loaded, at the first text.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import unicodedata
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from recollect.deferred_imports import check_installed
from recollect.embedders.minilm_install import (
    EXTRA,
    GRAPH,
    IDENTITY,
    REMEDY,
    VOCABULARY,
    cache_folder,
    folder,
    verify,
)
from recollect.embedders.native_shutdown import NativeCalls
from recollect.embedders.wordpiece import WordPiece, read_vocabulary
from recollect.errors import EmbedderError, MissingExtraError
from recollect.ports import Vector

DIMENSIONS: Final = 384
TEXT_CHARACTERS_MAX: Final = 1_800
TEXT_PIECES_MAX: Final = 256
FOREIGN_SHARE_MAX: Final = 0.15
"""The share of a text's letters that may be non-Latin; almost no English text has more."""
WORKERS_MAX: Final = 8

_CALLS: Final = NativeCalls()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runtime:
    pieces: WordPiece
    session: Any
    errors: tuple[type[Exception], ...]


@final
class MiniLmEmbedder:
    """
    The `Embedder` that `recollect embedder install` installs.

    Each text is run alone, so that its vector does not depend on the other texts of a batch. Longer
    texts are cut at `TEXT_CHARACTERS_MAX` and `TEXT_PIECES_MAX`.
    """

    def __init__(self, *, cache: Path | None = None, workers: int | None = None) -> None:
        """
        Create the embedder; it is loaded at the first use.

        Args:
            cache: The folder where it is installed; default `cache_folder()`.
            workers: Texts of one call embedded concurrently; default one per usable core.
        """
        self._place = folder(cache or cache_folder())
        self._workers = max(1, min(workers or _count_cores(), WORKERS_MAX))
        self._runtime: _Runtime | None = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        """The name of the weights, their quantisation and the tokenizer's limits."""
        return IDENTITY

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """
        Return a unit-length vector for each text, in order; blocking, from any thread.

        The vector is ``None`` for a text without words, or with more than `FOREIGN_SHARE_MAX` of
        its letters in another script than Latin, which the model does not support.

        Raises:
            EmbedderError: The model is not installed, is damaged, or failed.
            MissingExtraError: onnxruntime is not installed.
        """
        runtime = self._runtime or self._load()
        texts = [text[:TEXT_CHARACTERS_MAX] for text in texts]
        cut = [runtime.pieces.encode(text, TEXT_PIECES_MAX) for text in texts]
        understood = [place for place, text in enumerate(texts) if is_understood(text)]
        # Longest first, so that no worker is left with a long text at the end.
        waiting = deque(sorted(understood, key=lambda place: len(cut[place]), reverse=True))
        vectors: list[Vector | None] = [None] * len(cut)
        helpers = min(self._workers, len(waiting)) - 1
        if helpers <= 0:
            _work(runtime, cut, waiting, vectors)
            return vectors
        with ThreadPoolExecutor(helpers, thread_name_prefix="recollect-embed") as pool:
            others = [pool.submit(_work, runtime, cut, waiting, vectors) for _ in range(helpers)]
            _work(runtime, cut, waiting, vectors)
        for other in others:
            other.result()
        return vectors

    def _load(self) -> _Runtime:
        with self._loading:
            if self._runtime is None:
                self._runtime = _open(self._place)
            return self._runtime


def check_weights(place: Path | None = None) -> None:
    """
    Raise if the embedder cannot be loaded from *place*; the weights are not read.

    Raises:
        EmbedderError: The weights are not installed.
        MissingExtraError: onnxruntime is not installed.
    """
    check_installed(EXTRA, "onnxruntime")
    place = place or folder(cache_folder())
    if not place.exists():
        message = f"the embedder {IDENTITY!r} is not installed in {str(place)!r}: {REMEDY}"
        raise EmbedderError(message)


def _open(place: Path) -> _Runtime:
    check_weights(place)
    onnxruntime = _import_runtime()
    if problems := verify(place):
        message = f"the embedder is damaged: {'; '.join(problems)}: {REMEDY} to replace it"
        raise EmbedderError(message)
    options = onnxruntime.SessionOptions()
    # Threads within one run do not help with short texts; workers run texts concurrently.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # patterns help only if inputs have one length
    options.log_severity_level = 3
    errors = _session_errors()
    try:
        pieces = WordPiece(read_vocabulary(place / VOCABULARY))
        with _CALLS:
            session = onnxruntime.InferenceSession(
                str(place / GRAPH), options, providers=["CPUExecutionProvider"]
            )
    except errors as error:
        raise EmbedderError(
            f"the embedder in {str(place)!r} cannot be loaded ({error}): onnxruntime "
            f"{onnxruntime.__version__} may be too old for it; upgrade it, or delete the "
            f"folder and {REMEDY}"
        ) from error
    return _Runtime(pieces=pieces, session=session, errors=errors)


def _import_runtime() -> Any:
    try:
        return importlib.import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise MissingExtraError(EXTRA, error.name or "onnxruntime") from error
    except ImportError as error:
        raise EmbedderError(
            f"onnxruntime cannot be imported ({error}): pip install --force-reinstall onnxruntime"
        ) from error


def _session_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that a session can raise; onnxruntime's have no common base."""
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    kinds = [kind for kind in vars(state).values() if isinstance(kind, type)]
    return (OSError, RuntimeError, *(kind for kind in kinds if issubclass(kind, Exception)))


def is_understood(text: str) -> bool:
    """
    Return True if *text* has words, nearly all of them in Latin letters.

    Letters are counted rather than unknown tokens: the vocabulary contains single letters of many
    scripts, whose vectors are meaningless. Signs and emoji do not count.

    >>> [is_understood(text) for text in ("Thanks! \N{THUMBS UP SIGN}", "\u8c22\u8c22", "...")]
    [True, False, False]
    """
    if not any(map(str.isalnum, text)):
        return False
    if text.isascii():
        return True
    letters = [character for character in text if character.isalpha()]
    foreign = sum(not _is_latin(character) for character in letters)
    return foreign <= FOREIGN_SHARE_MAX * len(letters)


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _work(
    runtime: _Runtime, cut: list[list[int]], waiting: deque[int], vectors: list[Vector | None]
) -> None:
    """Embed texts from the shared queue *waiting* until it is empty."""
    try:
        while True:
            try:
                place = waiting.popleft()
            except IndexError:
                return
            vectors[place] = _run(runtime, cut[place])
    finally:
        waiting.clear()  # after a failure or interrupt, stop the other threads too


def _run(runtime: _Runtime, pieces: list[int]) -> Vector:
    import numpy as np

    try:
        with _CALLS:
            outputs = runtime.session.run(None, {"input_ids": np.array([pieces], dtype=np.int64)})
    except runtime.errors as error:
        message = f"onnxruntime could not embed a text of {len(pieces)} pieces: {error}"
        raise EmbedderError(message) from error
    vector: Vector = outputs[0][0]
    return vector


def _count_cores() -> int:
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
