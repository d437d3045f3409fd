"""Ask a model about groups of memories, within limits, with repairs of faulty answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from anyio import to_thread

from recollect.errors import ModelError
from recollect.formation.config import FormationSettings
from recollect.formation.consolidation import (
    Batch,
    Combination,
    batches_of,
    language_of,
    read_calls,
    request_of,
)
from recollect.formation.consolidation_texts import CONSOLIDATION_TEXTS, ConsolidationTexts
from recollect.formation.derived_memories import sources_of
from recollect.formation.formation_receipt import ModelExchange, ModelExchanges
from recollect.formation.operations import Fault
from recollect.formation.prompt import repair_request
from recollect.formation.prompt_texts import PromptTexts
from recollect.formation.similarity_groups import Group
from recollect.observability.spans import answer_of
from recollect.ports import Model, ModelRequest, TokenCounter
from recollect.records import Memory, MemoryAddress, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.leases import Lease
from recollect.stores.validation import to_datetime
from recollect.worker.consolidation_input import ConsolidationInput

CALL_S: Final = 300.0
"""Time for which the scope's lease is extended before each model call."""


@dataclass(slots=True)
class ConsolidationState:
    """The state of a consolidation: the answers so far, and why no more were asked for."""

    combinations: list[Combination] = field(default_factory=list)
    exchanges: list[ModelExchange] = field(default_factory=list)
    refused: list[Fault] = field(default_factory=list)
    looked_at: list[Group] = field(default_factory=list)
    shown: list[Memory] = field(default_factory=list)
    """The memories that the requests show."""
    reason: str = ""
    error: ModelError | None = None
    """The model's error, if it ended the run."""

    @property
    def asked(self) -> ModelExchanges:
        """Return the exchanges and refusals in the form that a receipt takes."""
        return ModelExchanges(
            exchanges=tuple(self.exchanges), refused=tuple((None, each) for each in self.refused)
        )


class Questioner:
    """Asks one model about the groups of a scope, within the limits of *settings*."""

    def __init__(
        self, store: Store, settings: FormationSettings, model: Model, count: TokenCounter
    ) -> None:
        self._store = store
        self._settings = settings
        self._model = model
        self._count = count

    async def ask(self, lease: Lease, view: ConsolidationInput) -> ConsolidationState:
        """Ask the model about the unexamined groups, within limits and while it is available."""
        derived: dict[MemoryAddress, list[Memory]] = {}
        for each in view.derived:
            for name, key, _ in sources_of(each):
                derived.setdefault((name, key), []).append(each)
        run = ConsolidationState()
        for type_ in self._settings.types:
            groups = [each for each in view.unseen if each.type == type_.name]
            for batch in batches_of(type_, groups, derived, self._count):
                if await self._ask_about(lease, batch, run):
                    run.looked_at += batch.groups
                if run.reason:
                    return run
        return run

    async def _ask_about(self, lease: Lease, batch: Batch, run: ConsolidationState) -> bool:
        """Ask about one batch, with retries for faults; return True if it was answered."""
        texts, wording = self._texts_for(batch)
        request = request_of(batch, texts)
        kept: list[Combination] = []
        faults: list[Fault] = []
        is_whole = False
        for _ in range(1 + self._settings.limits.repairs):
            run.reason = await self._over_limit(lease.scope, run, request)
            if run.reason:
                break
            # A lost lease is noticed here, before paying the model for a useless answer.
            await self._store.extend(lease, lease_s=CALL_S)
            try:
                answer = await answer_of(self._model, request)
            except ModelError as error:
                run.reason, run.error = str(error), error
                break
            run.exchanges.append(ModelExchange(request=request, answer=answer))
            run.shown += (each for group in batch.groups for each in group.memories)
            run.shown += (each for made in batch.derived.values() for each in made)
            reading = await to_thread.run_sync(partial(read_calls, answer, batch, kept=kept))
            kept += reading.combinations
            faults, is_whole = list(reading.faults), reading.is_whole
            if not faults:
                break
            request = repair_request(request, answer, reading.calls, faults, wording)
        run.refused += faults
        run.combinations += kept
        return is_whole and not run.reason

    def _texts_for(self, batch: Batch) -> tuple[ConsolidationTexts, PromptTexts]:
        """Return the prompt texts of a request and of its repair, in the memories' language."""
        settings = self._settings
        language = settings.language or language_of(batch)
        texts = CONSOLIDATION_TEXTS[language]
        if settings.prompts.consolidation is not None:
            texts = replace(texts, instructions=settings.prompts.consolidation)
        return texts, settings.prompts.texts(language)

    async def _over_limit(
        self, scope: Scope, run: ConsolidationState, request: ModelRequest
    ) -> str:
        """Return the reason if the next request would exceed a limit, "" if not."""
        limits, asked = self._settings.limits, run.asked
        next_tokens = self._count("\n".join([request.system, *(t.text for t in request.turns)]))
        if asked.calls >= limits.calls_a_consolidation:
            return f"limits.calls_a_consolidation ({limits.calls_a_consolidation}) is reached"
        if asked.tokens + next_tokens > limits.tokens_a_consolidation:
            return f"limits.tokens_a_consolidation ({limits.tokens_a_consolidation}) is reached"
        midnight = to_datetime(self._store.now()).replace(hour=0, minute=0, second=0, microsecond=0)
        calls, tokens = await self._store.spent(scope, midnight)
        if limits.calls_a_day is not None and calls + asked.calls >= limits.calls_a_day:
            return f"limits.calls_a_day ({limits.calls_a_day}) is reached"
        spent = tokens + asked.tokens
        if limits.tokens_a_day is not None and spent + next_tokens > limits.tokens_a_day:
            return f"limits.tokens_a_day ({limits.tokens_a_day}) is reached"
        return ""
