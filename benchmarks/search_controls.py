"""The control searches: plain BM25 and plain cosine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from recollect.ports import Embedder
from recollect.text.searchable import message_text

K1: Final = 1.2
B: Final = 0.75

EntryText = Callable[[BenchmarkMessage], str]
"""Function that returns the indexed text of a message."""

_TALKS_TO_AN_ASSISTANT: Final = frozenset({"user", "assistant"})


def spoken_text(message: BenchmarkMessage) -> str:
    """
    Return the text of a message: ``Speaker: words [shares caption]`` between named people.

    Between a user and an assistant it is the words alone, without the role.
    """
    name = None if message.role in _TALKS_TO_AN_ASSISTANT else message.speaker
    picture = [{"caption": message.image_caption}] if message.image_caption else None
    return message_text(message.text, name, picture)


def dated_text(message: BenchmarkMessage) -> str:
    """Return `spoken_text` with the day, such as ``8 May 2023``, for searches by words."""
    return f"{spoken_text(message)} {message.time.day} {message.time:%B} {message.time.year}"


class PlainBm25:
    """
    BM25 over the messages of a conversation: k1 1.2, b .75, Lucene's idf.

    The idf is ln(1 + (n - df + .5) / (df + .5)). A repeated query term counts again;
    of equal scores the earlier message comes first.
    """

    name = "bm25"

    def __init__(self, terms: Callable[[str], Sequence[str]], entry_text: EntryText) -> None:
        self._terms = terms
        self._entry_text = entry_text
        self._ids: list[str] = []
        self._postings: dict[str, tuple[int, int]] = {}
        self._entries = np.zeros(0, dtype=np.int64)
        self._impacts = np.zeros(0)

    async def load(self, conversation: BenchmarkConversation) -> None:
        """Replace the indexed conversation."""
        self._ids = [each.message_id for each in conversation.messages]
        counts = [Counter(self._terms(self._entry_text(each))) for each in conversation.messages]
        numbers: dict[str, int] = {}
        found = [
            (numbers.setdefault(term, len(numbers)), entry, count)
            for entry, held in enumerate(counts)
            for term, count in held.items()
        ]
        term, entry, count = np.array(found, dtype=np.int64).reshape(-1, 3).T
        order = np.argsort(term, kind="stable")
        document_counts = np.bincount(term, minlength=len(numbers))
        lengths = np.array([held.total() for held in counts], dtype=np.float64)
        self._entries = entry[order]
        self._impacts = impacts(count[order], document_counts[term[order]], lengths, self._entries)
        ends = np.cumsum(document_counts).tolist()
        self._postings = dict(zip(numbers, zip([0, *ends], ends, strict=False), strict=True))

    async def rank(self, question: BenchmarkQuestion) -> Sequence[str]:
        """Return the ids of all messages, best first."""
        scores = np.zeros(len(self._ids))
        for term in self._terms(question.text):
            start, end = self._postings.get(term, (0, 0))
            scores[self._entries[start:end]] += self._impacts[start:end]
        return _best_first(scores, self._ids)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def impacts(
    counts: NDArray[np.int64],
    document_counts: NDArray[np.int64],
    lengths: NDArray[np.float64],
    entries: NDArray[np.int64],
) -> NDArray[np.float64]:
    """
    Return the score contribution of each (term, entry) pair.

    Args:
        counts: How often the pair's term occurs in its entry.
        document_counts: In how many entries the pair's term occurs.
        lengths: The length of every entry, in terms.
        entries: The pair's entry, an index into *lengths*.
    """
    idf = np.log1p((len(lengths) - document_counts + 0.5) / (document_counts + 0.5))
    mean = lengths.mean() if len(lengths) else 0.0
    norm = K1 * (1 - B + B * lengths[entries] / (mean or 1.0))
    found: NDArray[np.float64] = idf * counts * (K1 + 1) / (counts + norm)
    return found


class PlainCosine:
    """
    Cosine of the query and each message by one embedder, in float32.

    Messages without a vector come last; of equal scores the earlier comes first. A query
    without a vector leaves the messages in their order.
    """

    name = "cosine"

    def __init__(self, embedder: Embedder, entry_text: EntryText) -> None:
        self._embedder = embedder
        self._entry_text = entry_text
        self._ids: list[str] = []
        self._vectors = np.zeros((0, embedder.dimensions), dtype=np.float32)
        self._is_unknown = np.zeros(0, dtype=np.bool_)

    async def load(self, conversation: BenchmarkConversation) -> None:
        """Replace the embedded conversation."""
        self._ids = [each.message_id for each in conversation.messages]
        found = self._embedder.embed([self._entry_text(each) for each in conversation.messages])
        nothing = np.zeros(self._embedder.dimensions, dtype=np.float32)
        self._is_unknown = np.array([vector is None for vector in found], dtype=np.bool_)
        self._vectors = np.array(
            [nothing if vector is None else vector for vector in found], dtype=np.float32
        ).reshape(-1, self._embedder.dimensions)

    async def rank(self, question: BenchmarkQuestion) -> Sequence[str]:
        """Return the ids of all messages, best first."""
        (query,) = self._embedder.embed([question.text])
        scores = np.zeros(len(self._ids)) if query is None else self._vectors @ query
        return _best_first(np.where(self._is_unknown, -math.inf, scores), self._ids)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _best_first(scores: NDArray[np.floating], ids: Sequence[str]) -> list[str]:
    return [ids[at] for at in np.argsort(-scores, kind="stable").tolist()]
