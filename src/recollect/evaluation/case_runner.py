"""Run cases: each in its own store, at the times of its messages, with the real worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import anyio

from recollect.errors import ModelError, ModelUnavailableError, RecollectError, UsageError
from recollect.evaluation.cases import CaseTalk, EvaluationCase, InitialMemory
from recollect.formation.config import FormationSettings
from recollect.formation.value_identity import content_key, field_keys
from recollect.memory.facade import open as open_memory
from recollect.ports import Model
from recollect.records import Formation, Memory, MemoryAddress, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_page
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.reproducible_ids import CountingIds
from recollect.worker.formation_result import FormationResult
from recollect.worker.loop import Worker

SCOPE: Final[Scope] = ("evaluation", "user")
ROUNDS_MAX: Final = 20
"""Most rounds of forming one conversation, including retries, before the run gives up."""
OUTAGES_MAX: Final = 4
WAIT_S: Final = 5.0
WAIT_S_MAX: Final = 120.0
_BEFORE: Final = timedelta(days=30)  # initial memories are this much older than the first message
_PAGE: Final = 500

ModelOf: TypeAlias = Callable[[EvaluationCase], Model]
"""Returns the model to form a case with."""
Memories: TypeAlias = Mapping[MemoryAddress, Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationStep:
    """
    The result of forming one conversation: the memories *before* and *after* it, at *at*.

    *failures* are the reasons of failed formations.
    """

    talk: int
    at: datetime
    before: Memories = field(hash=False)
    after: Memories = field(hash=False)
    formations: tuple[Formation, ...] = ()
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """A case that was run with a model, and its steps."""

    case: EvaluationCase
    model: str
    steps: tuple[FormationStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """
    How to run cases: how many *at_once*, and how to wait for an unavailable model.

    Only prompts and limits of *settings* apply; each case has its own memory types. *notice* is
    called with the number of finished and of all cases.
    """

    settings: FormationSettings = field(default_factory=FormationSettings)
    at_once: int = 1
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    notice: Callable[[int, int], None] = lambda *_: None


async def run_cases(
    cases: Sequence[EvaluationCase], model_of: ModelOf, plan: RunPlan | None = None
) -> tuple[CaseRun, ...]:
    """
    Run *cases*, several at once, and return the runs in the order of *cases*.

    Raises:
        ModelError: The model denies access, does not exist, or stays unavailable.
    """
    plan = plan or RunPlan()
    done: dict[int, CaseRun] = {}
    failed: list[RecollectError] = []
    limit = anyio.CapacityLimiter(plan.at_once)

    async def run_one(place: int, case: EvaluationCase) -> None:
        async with limit:
            if failed:  # a model that cannot be used would fail every case
                return
            try:
                done[place] = await run_case(case, model_of(case), plan)
            except RecollectError as error:
                failed.append(error)
            plan.notice(len(done), len(cases))

    async with anyio.create_task_group() as group:
        for place, case in enumerate(cases):
            group.start_soon(run_one, place, case)
    if failed:
        raise failed[0]
    return tuple(done[place] for place in range(len(cases)))


async def run_case(case: EvaluationCase, model: Model, plan: RunPlan | None = None) -> CaseRun:
    """
    Form the conversations of *case* with *model*, in order, in a new store.

    Raises:
        ModelError: The model denies access, does not exist, or stays unavailable.
    """
    async with _stage(case, model, plan or RunPlan()) as stage:
        await stage.stand()
        steps = [step for talk in case.talks if (step := await stage.play(talk)) is not None]
    return CaseRun(case=case, model=model.identity, steps=tuple(steps))


@asynccontextmanager
async def _stage(case: EvaluationCase, model: Model, plan: RunPlan) -> AsyncIterator[_Stage]:
    first = case.messages[0].time
    if first is None:
        raise UsageError(f"the messages of {case.name!r} have no time: load cases with load_cases")
    clock, ids = FrozenClock(first - _BEFORE), CountingIds()
    settings = replace(plan.settings, types=case.types, model=None, schedule=None)
    memory = open_memory(
        "memory:",
        embedder="none",
        model=model,
        formation=settings,
        worker=False,
        clock=clock,
        ids=ids,
    )
    async with memory:
        if memory.worker is None:
            raise UsageError(f"the model {model.identity} cannot be used by a worker")
        yield _Stage(case, memory.store, memory.worker, clock, wait=plan.wait)


class _Stage:
    """The store, worker and clock with which one case is run."""

    def __init__(
        self,
        case: EvaluationCase,
        store: Store,
        worker: Worker,
        clock: FrozenClock,
        *,
        wait: Callable[[float], Awaitable[None]],
    ) -> None:
        self._case = case
        self._store = store
        self._worker = worker
        self._clock = clock
        self._wait = wait
        self._talk = 0
        self._seen: set[str] = set()

    async def stand(self) -> None:
        """Store the memories that exist at the start of the case."""
        modes = {each.name: each.update_mode for each in self._case.types}
        writes = [w for each in self._case.memories for w in _writes(each, modes[each.type])]
        if writes:
            await self._store.apply(SCOPE, writes)

    async def play(self, talk: CaseTalk) -> FormationStep | None:
        """Append *talk*, and form it; ``None`` if it is not formed separately."""
        self._talk += 1
        for message in talk.messages:
            if message.time is not None and message.time > self._clock.now():
                self._clock.advance((message.time - self._clock.now()).total_seconds())
            await self._store.append(SCOPE, talk.thread, [message], debounce=Debounce())
        if talk.forming == "next":
            return None
        self._clock.advance(Debounce().quiet_s)
        if talk.forming == "none":
            await self._pass_over()
            return None
        before = await self._memories()
        failures = await self._form()
        return FormationStep(
            talk=self._talk,
            at=self._clock.now(),
            before=before,
            after=await self._memories(),
            formations=await self._new_formations(),
            failures=tuple(failures),
        )

    async def _pass_over(self) -> None:
        """Mark the pending messages as formed, without forming anything."""
        lease = await self._store.claim("evaluation", scope=SCOPE)
        if lease is not None:
            watermarks = {each.thread: each.last for each in lease.threads}
            await self._store.commit(lease, [], Formed(watermarks=watermarks, receipt={}))
        await self._new_formations()

    async def _form(self) -> list[str]:
        """Form the pending messages, with retries; return the reasons of failures."""
        failures: list[str] = []
        outages = 0
        for _ in range(ROUNDS_MAX):
            for result in await self._worker.drain(SCOPE):
                if result.outage is not None:
                    outages += 1
                    await self._outlast(result, outages)
                elif result.end != "formed":
                    failures.append(f"{result.end}: {result.reason}")
            due = [each.due for each in (await self._store.pending(SCOPE)).rows if each.due]
            if not due:
                return failures
            # Skip the waiting time: move the clock to the next moment at which work is allowed.
            until = max(min(due), self._worker.breaker.open_until or min(due))
            self._clock.advance(max(1.0, (until - self._clock.now()).total_seconds()))
        return [*failures, f"given up by the evaluation after {ROUNDS_MAX} rounds"]

    async def _outlast(self, result: FormationResult, outages: int) -> None:
        """Wait, in real time, for a busy model; raise its error if it is unusable or stays busy."""
        outage = result.outage
        if not isinstance(outage, ModelUnavailableError) or outages > OUTAGES_MAX:
            raise outage or ModelError(result.reason)
        wait_s = outage.retry_after_s or WAIT_S * 2 ** (outages - 1)
        await self._wait(min(wait_s, WAIT_S_MAX))

    async def _memories(self) -> Memories:
        found: dict[MemoryAddress, Memory] = {}
        async for page in each_page(
            lambda cursor: self._store.memories(SCOPE, cursor=cursor, limit=_PAGE)
        ):
            found.update({(each.type, each.key): each for each in page.rows})
        return found

    async def _new_formations(self) -> tuple[Formation, ...]:
        """Return the formations since the last call, oldest first."""
        page = await self._store.formations(SCOPE, limit=_PAGE)
        fresh = [each for each in page.rows if each.id not in self._seen]
        self._seen.update(each.id for each in fresh)
        return tuple(reversed(fresh))


def _writes(standing: InitialMemory, mode: str) -> list[PutMemory]:
    """Return the writes of an initial memory; for a rejected document, one per field."""
    if mode == "patch" and standing.rejected:
        return [
            PutMemory(type=standing.type, key=key, value=standing.value, state="rejected")
            for _, key in field_keys(standing.value)
        ]
    return [
        PutMemory(
            type=standing.type,
            key=standing.type if mode == "patch" else content_key(standing.value),
            value=standing.value,
            valid_from=standing.since,
            valid_until=standing.until,
            state="rejected" if standing.rejected else "active",
        )
    ]
