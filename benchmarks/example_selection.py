"""
Compare selected examples with fixed and random ones, by a simple classifier.

The task is LoCoMo's: which category a question is of (not the adversarial one, which is made to
read as the others). The examples are the questions of some conversations, the inputs those of
the others. Each way of choosing shows the same number of
examples to the same reader, which answers with the category of the one that shares the most
words with the input. Only the choice differs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.conversation_files import BenchmarkQuestion
from benchmarks.datasets import DATASETS
from recollect.agents.examples import Basis, Example, Examples
from recollect.agents.examples.example_values import line_of
from recollect.embedders import EmbedderChoice
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.memory.facade import open as open_memory
from recollect.testing import SeededIds
from recollect.text.analysis import terms_of

INPUTS_MIN: Final = 200
SEEDS_MIN: Final = 5
RESAMPLES: Final = 2_000
FIXED_DRAWS: Final = 10
"""Fixed sets drawn per split; their mean is used, because a single one is luck."""
ADVERSARIAL: Final = "adversarial"
_SCOPE: Final = ("bench", "examples")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesPlan:
    """The data folder, examples per input, and number of splits of a measurement."""

    data: Path
    count: int = 4
    seeds: int = SEEDS_MIN
    embedder: EmbedderChoice = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesRow:
    """
    How often one selection led to the right category.

    *above* is the advantage of the first row over this one, with a 95 % interval.
    """

    way: str
    accuracy: float
    by_seed: tuple[float, ...]
    above: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesReport:
    """All ways of choosing, the selected one first."""

    rows: tuple[ExamplesRow, ...]
    count: int
    inputs: int
    pool: tuple[int, ...]
    resamples: int = RESAMPLES

    def as_json(self) -> dict[str, object]:
        """Return it as one JSON object."""
        return asdict(self)


async def run(plan: ExamplesPlan, progress: Progress) -> ExamplesReport:
    """
    Measure every way of choosing over the same inputs.

    Raises:
        UsageError: There are fewer than ``SEEDS_MIN`` seeds, or ``INPUTS_MIN`` inputs a seed.
    """
    if plan.seeds < SEEDS_MIN:
        msg = f"{plan.seeds} seeds: split at least {SEEDS_MIN} times (SEEDS_MIN)"
        raise UsageError(msg)
    dataset = DATASETS["locomo"]
    asked = dataset.questions(dataset.find_folder(plan.data))
    questions = [each for each in asked if each.category != ADVERSARIAL]
    hits: dict[str, list[list[float]]] = {}
    units: list[list[str]] = []
    pools: list[int] = []
    for seed in range(plan.seeds):
        progress(f"examples: split {seed + 1} of {plan.seeds}")
        pool, held = split(questions, seed)
        if len(held) < INPUTS_MIN:
            msg = f"{len(held)} inputs are held out; {INPUTS_MIN} are needed (INPUTS_MIN)"
            raise UsageError(msg)
        for way, found in (await _judged(plan, pool, held, seed)).items():
            hits.setdefault(way, []).append(found)
        units.append([each.conversation_id for each in held])
        pools.append(len(pool))
    return ExamplesReport(
        rows=rows_of(hits, units),
        count=plan.count,
        inputs=sum(map(len, units)),
        pool=tuple(pools),
    )


def split(
    questions: Sequence[BenchmarkQuestion], seed: int
) -> tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]]:
    """Return the questions of half of the conversations, rounded up, and those of the rest."""
    conversations = sorted({each.conversation_id for each in questions})
    random.Random(seed).shuffle(conversations)  # noqa: S311 (a split, no secret)
    first = set(conversations[: -(-len(conversations) // 2)])
    pool = [each for each in questions if each.conversation_id in first]
    return pool, [each for each in questions if each.conversation_id not in first]


async def _judged(
    plan: ExamplesPlan,
    pool: Sequence[BenchmarkQuestion],
    held: Sequence[BenchmarkQuestion],
    seed: int,
) -> dict[str, list[float]]:
    """Return the classifier's accuracy on each input, by selection."""
    examples = [Example(input=each.text, output=each.category) for each in pool]
    chance = random.Random(seed)  # noqa: S311 (a control, no secret)
    fixed = [chance.sample(examples, plan.count) for _ in range(FIXED_DRAWS)]
    most = Counter(each.category for each in pool).most_common(1)[0][0]
    found: dict[str, list[float]] = {}
    # Equal scores are ordered by ids: seeded ones give the same figures again.
    ids = SeededIds(seed)
    async with open_memory(embedder=plan.embedder, worker=False, ids=ids) as memory:
        kept = Examples(memory, _SCOPE)
        await kept.aimport_lines(map(line_of, examples))
        await memory.settled(_SCOPE)
        for each in held:
            shown = await _selected(kept, memory, each.text, plan.count)
            ways: dict[str, list[Sequence[Example]]] = {way: [few] for way, few in shown.items()}
            ways["fixed"] = [*fixed]
            ways["random"] = [chance.sample(examples, plan.count)]
            for way, sets in ways.items():
                right = [read(each.text, few) == each.category for few in sets]
                found.setdefault(way, []).append(sum(right) / len(right))
            found.setdefault("no example: the commonest", []).append(float(most == each.category))
    return found


async def _selected(
    kept: Examples, memory: Recollect, text: str, count: int
) -> dict[str, Sequence[Example]]:
    ways: list[tuple[str, Basis, float]] = [("selected", "both", 0.0)]
    if memory.embedder is not None:
        ways += [("selected by words", "words", 0.0), ("selected by meaning", "meaning", 0.0)]
    ways.append(("selected, diversity .3", "both", 0.3))
    return {
        way: (await kept.aselect(text, count=count, by=by, diversity=diversity)).examples
        for way, by, diversity in ways
    }


def read(text: str, shown: Sequence[Example]) -> str:
    """
    Return the output of the example that shares most with *text*; the first of equals.

    What is shared is the share of all words of both (Jaccard). This reader is the same for all.

    >>> one = Example(input="why is it", output="open")
    >>> read("when did Ada move", [one, Example(input="when did Sam", output="date")])
    'date'
    """
    asked = _words(text)
    return max(shown, key=lambda each: _share(asked, _words(each.input))).output


def _words(text: str) -> frozenset[str]:
    return frozenset([*terms_of(text), *text.lower().split()])


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def rows_of(
    hits: Mapping[str, Sequence[Sequence[float]]], units: Sequence[Sequence[str]]
) -> tuple[ExamplesRow, ...]:
    """Return a row for each selection, with the first one's lead over it."""
    first, *_ = hits
    rows = []
    for way, by_seed in hits.items():
        every = [each for found in by_seed for each in found]
        rows.append(
            ExamplesRow(
                way=way,
                accuracy=float(np.mean(every)),
                by_seed=tuple(float(np.mean(found)) for found in by_seed),
                above=None if way == first else above(hits[first], by_seed, units),
            )
        )
    return tuple(rows)


def above(
    one: Sequence[Sequence[float]], other: Sequence[Sequence[float]], units: Sequence[Sequence[str]]
) -> tuple[float, float, float]:
    """
    Return the mean difference of two selections on the same inputs, and its 95 % interval.

    Splits are drawn anew with replacement, and in each of them conversations, and in each of
    these inputs (a bootstrap on all three levels, percentiles): questions of one conversation,
    and splits of the same conversations, are not independent.
    """
    clusters: list[list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = []
    for ours, theirs, names in zip(one, other, units, strict=True):
        gain = np.array(ours, np.float64) - np.array(theirs, np.float64)
        groups = np.array(names)
        clusters.append([gain[groups == name] for name in dict.fromkeys(names)])
    mean = float(np.mean(np.concatenate([each for split_ in clusters for each in split_])))
    chance = np.random.default_rng(0)
    means = []
    for _ in range(RESAMPLES):
        drawn = []
        for at in chance.integers(len(clusters), size=len(clusters)):
            groups_ = clusters[at]
            for place in chance.integers(len(groups_), size=len(groups_)):
                group = groups_[place]
                drawn.append(group[chance.integers(len(group), size=len(group))])
        means.append(float(np.mean(np.concatenate(drawn))))
    low, high = np.percentile(means, [2.5, 97.5])
    return mean, float(low), float(high)


def examples_page(report: ExamplesReport) -> str:
    """Return the report as text."""
    pool = f"{min(report.pool):,} to {max(report.pool):,}"
    about = f"{report.inputs:,} inputs in {len(report.pool)} splits by conversation"
    lines = [
        f"LoCoMo question categories: {about}, {report.count} examples shown of {pool}",
        f"{'way':<28}{'accuracy':>9}  {'splits':>11}  selected is above it by",
    ]
    for row in report.rows:
        splits = f"{min(row.by_seed):.3f}-{max(row.by_seed):.3f}"
        gain = ""
        if row.above is not None:
            mean, low, high = row.above
            gain = f"{mean:+.3f} (95 % {low:+.3f} to {high:+.3f})"
        lines.append(f"{row.way:<28}{row.accuracy:>9.3f}  {splits:>11}  {gain}".rstrip())
    return "\n".join(lines) + "\n"
