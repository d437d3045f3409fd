"""Speed of recall by scope size, cold loads, index size, and appends next to bare commits."""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np

from benchmarks.commit_counts import append_all, bare_commits_a_second, counted_syncs
from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.search_controls import PlainBm25, PlainCosine, dated_text, spoken_text
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.memory.formation_control import require_open
from recollect.ports import Embedder, Vector
from recollect.records import NewMessage, Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s
from recollect.text.analysis import terms_of

THREAD_MESSAGES: Final = 500
SESSION_MESSAGES: Final = 20
CALLERS: Final = 64
APPEND_TURNS: Final = 7
CONTEXT_ENTRIES: Final = 600
_SYLLABLES: Final = [
    a + b + c
    for a in "bdfgklmnprstvz"
    for b in "aeiou"
    for c in ("n", "r", "l", "st", "x", "ng", "")
]
_EVERYDAY: Final = """
morning evening week house garden kitchen school office train station bicycle car road bridge river
lake mountain forest beach island city village market shop restaurant coffee tea bread cheese apple
soup dinner lunch breakfast recipe birthday party wedding holiday journey ticket hotel camera photo
music guitar piano song concert film book library letter story poem newspaper phone computer screen
project meeting team manager client doctor dentist hospital medicine sister brother mother father
daughter son cousin uncle aunt friend neighbour teacher student dog cat horse bird fish tree flower
rain snow wind sun summer winter spring autumn money price bank rent job salary work plan idea hope
dream fear joy game match race team goal run swim climb walk paint draw write read cook bake sing
dance play learn teach visit travel move buy sell fix build break find lose start finish remember
forget tell ask answer call meet love like want need think know feel
""".split()
"""The most frequent words are real, because embedders cut invented ones into many pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedPlan:
    """Sizes of scopes, repetitions, and number of appends of a measurement."""

    sizes: Sequence[int] = (600, 10_000, 100_000)
    searches: int = 60
    cold_loads: int = 7
    other_scopes: int = 1_000
    pending_threads: int = 10_000
    claims: int = 100
    appends: int = 6_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedFigure:
    """One figure: its median, 95th percentile or value, its unit, and its control's value."""

    name: str
    value: float
    unit: str
    p95: float | None = None
    control: str = ""
    control_value: float | None = None


@dataclass(slots=True)
class SpeedReport:
    """All figures of one run."""

    embedder: str
    rows: list[SpeedFigure] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return {"embedder": self.embedder, "rows": [asdict(row) for row in self.rows]}


class SeededVectors:
    """
    An embedder with real vectors for queries and seeded random ones for entries.

    A search costs the same whatever the vectors say; embedding 100,000 texts would take
    minutes that say nothing about it.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._random = np.random.default_rng(7)

    @property
    def identity(self) -> str:
        """Identity of the real embedder, marked as seeded."""
        return f"{self._embedder.identity}/seeded"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Embed one text for real, several at random."""
        if len(texts) == 1:
            return self._embedder.embed(texts)
        drawn = self._random.standard_normal((len(texts), self.dimensions)).astype(np.float32)
        return list(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


class ZipfTalk:
    """Generated messages with natural (Zipf) word frequencies, the same in every run."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311 (not for secrets)
        self._words = _EVERYDAY + [a + b for a in _SYLLABLES[:70] for b in _SYLLABLES[:70]]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self._words))))

    def text(self, words: int) -> str:
        """Return a text of this number of *words*."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def questions(self, count: int) -> list[str]:
        """Return *count* texts of eight words."""
        return [self.text(8) for _ in range(count)]

    def messages(self, count: int) -> list[NewMessage]:
        """Return *count* messages of about twenty words, alternating user and assistant."""
        return [
            NewMessage(role="assistant" if number % 2 else "user", text=self.text(20))
            for number in range(count)
        ]


async def run(
    plan: SpeedPlan, embedder: Embedder | None, progress: Callable[[str], None] = lambda _: None
) -> SpeedReport:
    """Measure everything of *plan* in a temporary folder; print nothing."""
    report = SpeedReport(embedder=embedder.identity if embedder else "none")
    seeded = SeededVectors(embedder) if embedder else None
    with tempfile.TemporaryDirectory(prefix="recollect-speed-") as folder:
        place = Path(folder)
        for size in plan.sizes:
            progress(f"recall over {size:,} entries")
            report.rows += await _recall_rows(place / f"{size}.db", size, plan, seeded)
        progress(f"context over {CONTEXT_ENTRIES} entries")
        report.rows.append(await _context_row(plan, seeded))
        progress(f"recall beside {plan.other_scopes:,} other scopes")
        report.rows.append(await _crowd_row(place, plan, seeded))
        progress(f"a claim among {plan.pending_threads:,} pending threads")
        report.rows.append(await _claim_row(place / "pending.db", plan))
        progress(f"{plan.appends:,} appends by {CALLERS} callers")
        report.rows += await _append_rows(place, plan)
    return report


async def _open(exit_: AsyncExitStack, path: Path, embedder: Embedder | None) -> Recollect:
    memory = Recollect(open_store(str(path)), embedder=embedder or "none")
    return await exit_.enter_async_context(memory)


async def _fill(memory: Recollect, scope: Scope, messages: Sequence[NewMessage]) -> None:
    for start in range(0, len(messages), THREAD_MESSAGES):
        await memory.append(scope, f"thread {start}", messages[start : start + THREAD_MESSAGES])
    await memory.settled(scope)


async def _recall_rows(
    path: Path, size: int, plan: SpeedPlan, embedder: Embedder | None
) -> list[SpeedFigure]:
    talk, scope = ZipfTalk(), ("speed",)
    messages = talk.messages(size)
    async with AsyncExitStack() as exit_:
        memory = await _open(exit_, path, embedder)
        await _fill(memory, scope, messages)
        await memory.recall(scope, talk.text(8))

        async def append_and_recall(said: Sequence[NewMessage], question: str) -> None:
            await memory.append(scope, "new", said)
            await memory.recall(scope, question)

        questions = talk.questions(plan.searches)
        warm = await _times_ms([partial(memory.recall, scope, each) for each in questions])
        said = [talk.messages(1) for _ in questions[::3]]
        added = zip(said, talk.questions(len(said)), strict=True)
        fresh = await _times_ms([partial(append_and_recall, *each) for each in added])
        recaller = require_open(memory._runtime.recaller)  # noqa: SLF001 (what is measured)
        size_bytes = recaller.indexes.take([scope]).indexes[0].size_bytes
    cold = [await _cold_ms(path, scope, talk, embedder) for _ in range(plan.cold_loads)]
    control, control_ms = await _control_ms(messages, talk, embedder, plan.searches)
    label = f"{size:,} entries"
    return [
        _timed(f"recall, warm, {label}", warm, control, control_ms),
        _timed(f"append, then recall, {label}", fresh),
        _timed(f"first recall of a scope (cold), {label}", cold),
        SpeedFigure(
            name=f"index, {label}", value=size_bytes / (size + len(fresh)), unit="bytes an entry"
        ),
    ]


async def _context_row(plan: SpeedPlan, embedder: Embedder | None) -> SpeedFigure:
    """Measure the processor time of a context of 2,000 tokens, next to that of a recall."""
    talk, scope = ZipfTalk(), ("speed",)
    context_ms, recall_ms = list[float](), list[float]()
    async with AsyncExitStack() as exit_:
        memory = Recollect(open_store("memory:"), embedder=embedder or "none")
        await exit_.enter_async_context(memory)
        await _fill(memory, scope, talk.messages(CONTEXT_ENTRIES))
        await memory.context(scope, talk.text(8))
        for question in talk.questions(plan.searches):
            began = process_time()
            await memory.recall(scope, question)
            between = process_time()
            await memory.context(scope, talk.text(8))
            recall_ms.append((between - began) * 1_000)
            context_ms.append((process_time() - between) * 1_000)
    return _timed(
        f"context, processor time, {CONTEXT_ENTRIES} entries",
        context_ms,
        "recall",
        statistics.median(recall_ms),
    )


def _timed(
    name: str, times_ms: Sequence[float], control: str = "", control_ms: float | None = None
) -> SpeedFigure:
    return SpeedFigure(
        name=name,
        value=statistics.median(times_ms),
        unit="ms",
        p95=float(np.percentile(times_ms, 95)),
        control=control,
        control_value=control_ms,
    )


async def _times_ms(works: Sequence[Callable[[], Awaitable[object]]]) -> list[float]:
    """Return the duration of each call, excluding preparation."""
    found = []
    for work in works:
        began = timer_s()
        await work()
        found.append((timer_s() - began) * 1_000)
    return found


async def _cold_ms(path: Path, scope: Scope, talk: ZipfTalk, embedder: Embedder | None) -> float:
    """Return the duration of the first recall after opening a memory."""
    async with AsyncExitStack() as exit_:
        memory = await _open(exit_, path, embedder)
        await memory.recall(("another",), "wake the reader and the embedder")
        question = talk.text(8)
        began = timer_s()
        await memory.recall(scope, question)
        return (timer_s() - began) * 1_000


async def _control_ms(
    messages: Sequence[NewMessage], talk: ZipfTalk, embedder: Embedder | None, searches: int
) -> tuple[str, float]:
    """Return the plain control's median: cosine with an embedder, BM25 without."""
    system = PlainCosine(embedder, spoken_text) if embedder else PlainBm25(terms_of, dated_text)
    await system.load(_conversation(messages))

    questions = [_question(each) for each in talk.questions(searches)]
    ranks = [partial(system.rank, each) for each in questions]
    return f"plain {system.name}", statistics.median(await _times_ms(ranks))


def _conversation(messages: Sequence[NewMessage]) -> BenchmarkConversation:
    rows = [
        BenchmarkMessage(
            message_id=str(number),
            session_id=str(number // SESSION_MESSAGES),
            seq=number,
            time=datetime(2026, 1, 1, tzinfo=UTC),
            speaker=each.role,
            role=each.role,
            text=each.text,
        )
        for number, each in enumerate(messages)
    ]
    return BenchmarkConversation(conversation_id="speed", messages=tuple(rows))


def _question(text: str) -> BenchmarkQuestion:
    return BenchmarkQuestion(
        question_id="speed", conversation_id="speed", text=text, category="speed", evidence=()
    )


async def _crowd_row(folder: Path, plan: SpeedPlan, embedder: Embedder | None) -> SpeedFigure:
    """Measure a scope of 600 entries alone in its file and, alternately, next to 1,000 others."""
    talk, scope = ZipfTalk(), ("speed",)
    messages, times_ms = talk.messages(600), dict[bool, list[float]]({False: [], True: []})
    async with AsyncExitStack() as exit_:
        memories = {
            is_crowded: await _open(exit_, folder / f"crowd{is_crowded}.db", embedder)
            for is_crowded in times_ms
        }
        for memory in memories.values():
            await _fill(memory, scope, messages)
        for number in range(plan.other_scopes):
            await memories[True].append(("other", str(number)), "thread", talk.messages(20))
            await memories[True].settled(("other", str(number)))
        for _ in range(3 * plan.searches):
            for is_crowded, memory in memories.items():
                search = partial(memory.recall, scope, talk.text(8))
                times_ms[is_crowded] += await _times_ms([search])
    return _timed(
        f"recall, warm, 600 entries beside {plan.other_scopes:,} other scopes",
        times_ms[True],
        "alone in its file",
        statistics.median(times_ms[False]),
    )


async def _claim_row(path: Path, plan: SpeedPlan) -> SpeedFigure:
    """Measure a worker's claim with a due thread in each scope."""
    message = NewMessage(role="user", text="I moved to Bergen")
    async with open_store(str(path), durability="relaxed") as store:
        for number in range(plan.pending_threads):
            scope = ("users", str(number))
            await store.append(scope, "talk", [message], debounce=Debounce(quiet_s=0))
    times_ms = []
    async with open_store(str(path)) as store:
        for _ in range(plan.claims):
            began = timer_s()
            await store.claim("worker")
            times_ms.append((timer_s() - began) * 1_000)
    alone = bare_commits_a_second(path.with_name("alone-claim.db"), 200)
    name = f"claim of one of {plan.pending_threads:,} pending threads"
    return _timed(name, times_ms, "a bare FULL commit", 1_000 / alone)


def _fsync_rows(an_fsync: Sequence[float]) -> list[SpeedFigure]:
    """Return the row of appends per fsync; none if no fsync was counted."""
    if not an_fsync:
        return []
    return [
        SpeedFigure(
            name=f"appends for each fsync, {CALLERS} callers",
            value=statistics.median(an_fsync),
            unit="appends",
            control="bare commits for each fsync",
            control_value=1.0,
        )
    ]


async def _append_rows(folder: Path, plan: SpeedPlan) -> list[SpeedFigure]:
    messages = ZipfTalk().messages(plan.appends)
    never = Debounce(quiet_s=math.inf)
    bare = bare_commits_a_second(folder / "bare.db", 600)
    signalled: list[float] = []
    silent: list[float] = []
    audited: list[float] = []
    an_fsync: list[float] = []
    for turn in range(APPEND_TURNS):
        for name, debounce, found in (
            ("on", Debounce(), signalled),
            ("off", never, silent),
            ("audited", never, audited),
        ):
            with counted_syncs() as counted:
                took_s = await append_all(
                    folder / f"{name}{turn}.db",
                    messages,
                    callers=CALLERS,
                    debounce=debounce,
                    model=RuleModel() if name == "on" else None,
                    actor="bench" if name == "audited" else None,
                )
            found.append(len(messages) / took_s)
            if counted.syncs:  # none are seen below a file layer that was loaded before
                an_fsync.append(len(messages) / counted.syncs)
    took_s = await append_all(folder / "alone.db", messages[:600], callers=1, debounce=Debounce())
    return [
        _rate(f"appends by {CALLERS} callers", statistics.median(signalled), bare),
        _rate("appends by one caller", 600 / took_s, bare),
        *_fsync_rows(an_fsync),
        SpeedFigure(
            name="cost of formation being on",
            value=100 * (_median_ratio(silent, signalled) - 1),
            unit="% of an append",
            control="appends a second without",
            control_value=statistics.median(silent),
        ),
        SpeedFigure(
            name="cost of an audit row",
            value=100 * (_median_ratio(silent, audited) - 1),
            unit="% of an append",
            control="appends a second without",
            control_value=statistics.median(silent),
        ),
    ]


def _median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median ratio of alternating measurements, so that slowdowns cancel out."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def _rate(name: str, value: float, bare: float) -> SpeedFigure:
    return SpeedFigure(
        name=name,
        value=value,
        unit="a second",
        control="bare FULL commits a second",
        control_value=bare,
    )
