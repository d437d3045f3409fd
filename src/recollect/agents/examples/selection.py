"""Choose which recalled examples go into a prompt, and render them; pure."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from recollect.agents.examples.example_values import EXAMPLE_TYPE, Example, check_score
from recollect.errors import LimitError, UsageError
from recollect.messages import AnyMessage, message_classes
from recollect.ports import TokenCounter
from recollect.recall.query import MATCHES_MAX
from recollect.recall.rendering import Record, keyed_marker, render_block
from recollect.records import Json, JsonObject
from recollect.stores.validation import check_position, check_texts
from recollect.text.analysis import terms_of

CONSIDERED_MIN: Final = 50
CONSIDERED_TIMES: Final = 5
"""Of recall's results at least so many are considered, and so many for each example wanted."""

Basis: TypeAlias = Literal["words", "meaning", "both"]
"""How examples are matched with an input: by words (BM25), by meaning (vectors), or by both."""

CHOSEN_MAX: Final = 100
BASES: Final = ("words", "meaning", "both")
_SIGNALS: Final = {"words": ("entry", "window", "session"), "meaning": ("dense", "session_dense")}


def new_secret() -> bytes:
    """Return an unpredictable secret for block markers."""
    return secrets.token_bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A selected example, and its relevance to the input (no fixed range)."""

    example: Example
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """
    Options of a selection: see `Examples.select` for each field.

    Raises:
        UsageError: A field is outside its range.
    """

    count: int = 4
    budget_tokens: int | None = None
    by: Basis = "both"
    diversity: float = 0.0
    min_score: float | None = None
    tags: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_texts(self.tags, "tag")
        if check_position(self.count, "count") < 1:
            msg = f"count {self.count}: select at least 1 example"
            raise UsageError(msg)
        if self.count > CHOSEN_MAX:
            raise LimitError("examples to select", self.count, CHOSEN_MAX, "CHOSEN_MAX")
        if self.by not in BASES:
            msg = f"by={self.by!r}: examples are selected by {', '.join(BASES)}"
            raise UsageError(msg)
        if (
            self.budget_tokens is not None
            and check_position(self.budget_tokens, "budget_tokens") < 1
        ):
            msg = f"a budget of {self.budget_tokens} tokens holds nothing: give at least 1, or None"
            raise UsageError(msg)
        if self.diversity is None:
            msg = "diversity None: give 0 for the most relevant, up to 1 for those least alike"
            raise UsageError(msg)
        check_score(self.diversity, "diversity")
        check_score(self.min_score, "min_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """
    The examples selected for an input, best first.

    In a prompt the best comes last, next to the input. *tokens* is the cost of the block of
    `render`; as turns they cost less. The block's marker is made with *secret*.
    """

    input: str
    chosen: tuple[Chosen, ...]
    tokens: int
    secret: bytes = field(default_factory=new_secret, repr=False, compare=False)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples alone, the best first."""
        return tuple(each.example for each in self.chosen)

    def render(self) -> str:
        """Return them as one block of data, which says that it holds no instructions."""
        return _block_of(self.examples, self.secret)

    def messages(self, *, reasons: bool = True) -> list[AnyMessage]:
        """
        Return them as turns: the input as the person's, the output as the assistant's.

        With *reasons* an output stands after its reason and an empty line.
        """
        classes = message_classes()
        found: list[AnyMessage] = []
        for each in reversed(self.examples):
            reason = f"{each.reason}\n\n" if reasons and each.reason else ""
            found += [classes.human(each.input), classes.ai(reason + each.output)]
        return found


def _parts(example: Example) -> list[tuple[str, str]]:
    given = {"input": example.input, "reason": example.reason, "output": example.output}
    return [(name, text) for name, text in given.items() if text]


def _records_of(examples: Sequence[Example]) -> list[Record]:
    return [
        Record(source=f"{EXAMPLE_TYPE}/{each.key}", date="", who=name, text=text)
        for each in reversed(examples)
        for name, text in _parts(each)
    ]


def _block_of(examples: Sequence[Example], secret: bytes) -> str:
    """Return the block of *examples*, the same each time: its marker costs what was counted."""
    records = _records_of(examples)
    return render_block(records, random_marker=keyed_marker(secret, records))


def cost_of(examples: Sequence[Example], count_tokens: TokenCounter, secret: bytes) -> int:
    """Return the number of tokens of the block of *examples*."""
    return count_tokens(_block_of(examples, secret))


def relevance_of(signals: Mapping[str, float], score: float, by: Basis) -> float:
    """Return the relevance of an entry to an input: the sum of the selected signals."""
    if by == "both":
        return score
    return sum(signals.get(name, 0.0) for name in _SIGNALS[by])


def chosen_of(
    ranked: Sequence[Chosen], manner: SelectionOptions, count_tokens: TokenCounter, secret: bytes
) -> tuple[tuple[Chosen, ...], int]:
    """
    Return the examples to show, best first, and the tokens of their block.

    Each is the one with the greatest ``(1 - d) * relevance - d * likeness``, with *d* the
    diversity, relevance scaled to 0…1 over all candidates, and likeness the greatest share of terms
    (Jaccard) with the input of one chosen before: maximal marginal relevance (Carbonell and
    Goldstein 1998). One that does not fit the budget is skipped, for a smaller one; the last ones
    go where the tokens of the whole are more than those of its parts.
    """
    budget = math.inf if manner.budget_tokens is None else manner.budget_tokens
    left = _distinct([each for each in ranked if _fits(each.example, manner)])
    scaled = _scaled([each.relevance for each in left])
    terms = [frozenset(terms_of(each.example.input)) for each in left]
    alike = [0.0] * len(left)
    places = sorted(range(len(left)), key=lambda at: -left[at].relevance)
    kept: list[Chosen] = []
    frame = tokens = cost_of([], count_tokens, secret)
    while places and len(kept) < manner.count:
        weight = manner.diversity
        best = max(places, key=lambda at: (1 - weight) * scaled[at] - weight * alike[at])
        places.remove(best)
        # The frame ends a line more where it has something inside.
        cost = cost_of([left[best].example], count_tokens, secret) - frame + 1
        if tokens + cost > budget:
            continue
        kept.append(left[best])
        tokens += cost
        for at in places:
            alike[at] = max(alike[at], _likeness(terms[at], terms[best]))
    while kept:
        tokens = cost_of([each.example for each in kept], count_tokens, secret)
        if tokens <= budget:
            return tuple(kept), tokens
        kept.pop()
    return (), 0


def _fits(example: Example, manner: SelectionOptions) -> bool:
    has_score = manner.min_score is None or (
        example.score is not None and example.score >= manner.min_score
    )
    return has_score and set(manner.tags) <= set(example.tags)


def _distinct(ranked: Sequence[Chosen]) -> list[Chosen]:
    """Return each example once: of those with one input and output the best."""
    found: dict[tuple[str, ...], Chosen] = {}
    for each in sorted(ranked, key=lambda each: -each.relevance):
        said = (each.example.input, each.example.output)
        found.setdefault(tuple(" ".join(text.split()) for text in said), each)
    return list(found.values())


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(each - low) / (high - low) if high > low else 1.0 for each in values]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def considered(manner: SelectionOptions) -> int:
    """Return how many of recall's results to choose from."""
    if len(manner.tags) > 1:
        return MATCHES_MAX
    if manner.by == "both" and not manner.diversity and manner.budget_tokens is None:
        return min(MATCHES_MAX, 2 * manner.count)
    return min(MATCHES_MAX, max(CONSIDERED_MIN, CONSIDERED_TIMES * manner.count))


def filter_of(manner: SelectionOptions) -> JsonObject:
    """Return the filter that the store can check: the score and one tag; `chosen_of` checks all."""
    conditions: dict[str, Json] = {}
    if manner.min_score is not None:
        conditions["score"] = {"$gte": manner.min_score}
    if manner.tags:
        conditions["tags"] = {"$contains": next(iter(manner.tags))}
    return conditions
