"""`Recollect.tune`: the strength of the embedder in use, from a labelled sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.deferred_imports import load_modules
from recollect.errors import NotFoundError, UsageError
from recollect.memory.runtime import MemoryRuntime
from recollect.ports import Vector
from recollect.recall.strength import (
    EMBEDDERS_SCOPE,
    KIND,
    KeptStrength,
    stored_strength,
    strength_write,
)
from recollect.recall.strength_sample import SampleLike, check_sample
from recollect.side_records import DeleteSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.validation import to_datetime

if TYPE_CHECKING:  # numpy is loaded by the first search
    from recollect.recall.vector_backlog import Embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """
    The result of `Recollect.tune` for one embedder, over a number of *questions*.

    *before* is the recall among the first 10 entries at the *earlier* strength. *after* is the
    cross-validated recall: each question at the strength chosen on the other questions; equal to
    *before* if none helped. *gain* is the difference in nDCG, and *error* its standard error. If
    *is_kept*, the *strength* is used from now on.

    >>> import recollect
    >>> from recollect.testing import HashedEmbedder
    >>> names = [f"{each}{number}" for each in ("owl", "elm") for number in range(10)]
    >>> with recollect.open_sync("memory:", embedder=HashedEmbedder()) as memory:
    ...     kept = memory.append("ada", "chat", [f"I saw {name}" for name in names])
    ...     sample = [
    ...         recollect.SampleQuestion(query=f"Who saw {name}?", scope="ada", messages=[each.id])
    ...         for name, each in zip(names, kept, strict=True)
    ...     ]
    ...     tuning = memory.tune(sample, keep=False)
    >>> tuning.questions, tuning.before, tuning.is_kept
    (20, 1.0, False)
    """

    embedder: str
    questions: int
    earlier: float
    strength: float
    before: float
    after: float
    gain: float
    error: float
    is_kept: bool


def _ignore_progress(_done: int, _total: int) -> None:
    """Ignore the progress; the default callback."""


class TuningMethods:
    """The part of `Recollect` that tunes the weight of its embedder."""

    store: Store
    _runtime: MemoryRuntime

    @property
    def strength(self) -> float | None:
        """Weight of the embedder in the ranking, 1 for one like MiniLM; ``None`` without one."""
        embedding = self._runtime.embedding
        return embedding.strength if embedding else None

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Return vectors of the embedder in use, ``None`` for a text of another language."""
        return await self._runtime.vectors_in_use(texts)

    async def tune(
        self,
        sample: Iterable[SampleLike],
        *,
        keep: bool = True,
        progress: Callable[[int, int], None] = _ignore_progress,
    ) -> Tuning:
        """
        Find the best weight of the embedder in the ranking, and store it.

        Each question is asked at 11 strengths. The best is kept only if cross-validation shows a
        clear gain; otherwise nothing changes. It applies to this embedder alone, is part of copies
        and backups, and reaches other processes within a minute. Entries of the sampled scopes that
        have no vector yet are embedded first.

        Args:
            sample: 20 to 10,000 `SampleQuestion`, or dicts with its fields; see
                `recollect.evaluation.load_sample`.
            keep: Whether to store a better strength; otherwise it is only measured.
            progress: Called with the number of questions asked so far, and of all.

        Raises:
            UsageError: No embedder is in use; or the sample is too small, has a question twice, or
                names an entry that its scope does not hold.
            LimitError: The sample is too large.
            EmbedderError: The embedder failed; nothing was changed.
        """
        embedding = self._tuned()
        questions = check_sample(sample)
        await load_modules("recollect.recall.sample_scores")
        from recollect.recall.sample_scores import sample_scores
        from recollect.recall.strength_choice import chosen_strength

        earlier = await embedding.learn_strength()
        scores = await sample_scores(
            self.store, embedding, self._runtime.outside, questions, progress
        )
        choice = chosen_strength(scores, earlier)
        found = Tuning(
            embedder=embedding.identity,
            questions=len(questions),
            earlier=earlier,
            strength=choice.strength,
            before=choice.before,
            after=choice.after,
            gain=choice.gain,
            error=choice.error,
            is_kept=choice.helps and keep,
        )
        if found.is_kept:
            await self.store.apply(EMBEDDERS_SCOPE, [strength_write(self._record(found))])
            await embedding.learn_strength()
        return found

    async def forget_strength(self) -> None:
        """
        Remove the stored strength of the embedder in use; the one that it declares applies again.

        Raises:
            UsageError: No embedder is in use.
            NotFoundError: No strength is stored for it.
            EmbedderError: The embedder's identity could not be read.
        """
        embedding = self._tuned()
        identity = await embedding.learn_identity()
        if await stored_strength(self.store, identity) is None:
            msg = f"no strength is stored for {identity!r}: there is nothing to forget"
            raise NotFoundError(msg)
        await self.store.apply(EMBEDDERS_SCOPE, [DeleteSideRecord(kind=KIND, key=identity)])
        await embedding.learn_strength()

    def _tuned(self) -> Embedding:
        if self._runtime.embedding is None:
            raise UsageError("no embedder is in use: open the memory with one before you tune it")
        return self._runtime.embedding

    def _record(self, found: Tuning) -> KeptStrength:
        return KeptStrength(
            embedder=found.embedder,
            strength=found.strength,
            questions=found.questions,
            before=round(found.before, 4),
            after=round(found.after, 4),
            at=to_datetime(self.store.now()),
        )
