"""`Recollect.tune`: the strength of the embedder in use, from a labelled sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.deferred_imports import load_modules
from recollect.errors import NotFoundError, UsageError
from recollect.memory.runtime import MemoryRuntime
from recollect.recall.strength import (
    EMBEDDERS_SCOPE,
    KIND,
    KeptStrength,
    kept_strength,
    strength_write,
)
from recollect.recall.strength_sample import SampleLike, check_sample
from recollect.records import DeleteSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.validation import to_datetime

if TYPE_CHECKING:  # numpy is loaded by the first search
    from recollect.recall.vector_backlog import Embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """
    The result of `Recollect.tune`, of so many *questions*, for an embedder by its identity.

    *before* is the recall, among the first 10, at the *earlier* strength. *after* is that of each
    question at the strengths that other questions chose; *before* again if none helped. *gain* is
    the difference of a smooth measure of the ranks (nDCG), and *error* its standard error. If
    *is_kept*, the *strength* is in force now.

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


def _tell_nobody(_done: int, _total: int) -> None:
    """Ignore the progress; the default callback."""


class EmbedderTuning:
    """The part of `Recollect` that weighs its embedder."""

    store: Store
    _runtime: MemoryRuntime

    @property
    def strength(self) -> float | None:
        """How much the embedder in use weighs, 1 for one like MiniLM; ``None`` without one."""
        embedding = self._runtime.embedding
        return embedding.strength if embedding else None

    async def tune(
        self,
        sample: Iterable[SampleLike],
        *,
        keep: bool = True,
        progress: Callable[[int, int], None] = _tell_nobody,
    ) -> Tuning:
        """
        Find how much the embedder should weigh in the ranking, and keep that with the store.

        Each question is asked at 11 strengths. The best is kept only if strengths that are chosen
        on some questions find clearly more for the others (cross-validation); else everything stays
        as it was. It is kept for this embedder alone, copies and backups take it along, and other
        processes follow within a minute. Entries of these scopes are embedded first, where they
        are not.

        Args:
            sample: `SampleQuestion`, or dicts with its fields, 20 to 10,000; see
                `recollect.evaluation.load_sample`.
            keep: Whether to keep what helps; if not, it is only measured.
            progress: Called with how many questions were asked, and of how many.

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
        Forget the strength that is kept for the embedder in use; that which it declares holds.

        Raises:
            UsageError: No embedder is in use.
            NotFoundError: None is kept for it.
            EmbedderError: The embedder did not say its name.
        """
        embedding = self._tuned()
        identity = await embedding.learn_identity()
        if await kept_strength(self.store, identity) is None:
            msg = f"no strength is kept for {identity!r}: there is nothing to forget"
            raise NotFoundError(msg)
        await self.store.apply(EMBEDDERS_SCOPE, [DeleteSideRecord(kind=KIND, key=identity)])
        await embedding.learn_strength()

    def _tuned(self) -> Embedding:
        if self._runtime.embedding is None:
            msg = "no embedder is in use: open the memory with one, and tune that"
            raise UsageError(msg)
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
