"""Choose which recalled examples go into a prompt, and render them; pure functions."""

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
"""Candidates taken from recall, at least, when more than relevance decides."""
CONSIDERED_TIMES: Final = 5
"""Candidates taken from recall per example wanted, when more than relevance decides."""

Basis: TypeAlias = Literal["words", "meaning", "both"]
"""How examples are matched with an input: by words (BM25), by meaning (vectors), or both."""

CHOSEN_MAX: Final = 100
BASES: Final = ("words", "meaning", "both")
_SIGNALS: Final = {"words": ("entry", "window", "session"), "meaning": ("dense", "session_dense")}


def new_secret() -> bytes:
    """Return a random secret for the markers of rendered blocks."""
    return secrets.token_bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A selected example, and its relevance to the input (a score without fixed range)."""

    example: Example
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """
    Options of a selection; see `Examples.select` for each field.

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
            raise UsageError(f"count {self.count}: select at least 1 example")
        if self.count > CHOSEN_MAX:
            raise LimitError("examples to select", self.count, CHOSEN_MAX, "CHOSEN_MAX")
        if self.by not in BASES:
            raise UsageError(f"by={self.by!r}: select by one of {', '.join(BASES)}")
        if (
            self.budget_tokens is not None
            and check_position(self.budget_tokens, "budget_tokens") < 1
        ):
            msg = f"a budget of {self.budget_tokens} tokens holds nothing: give at least 1, or None"
            raise UsageError(msg)
        if self.diversity is None:
            raise UsageError("diversity is None: give 0 (most relevant) to 1 (most diverse)")
        check_score(self.diversity, "diversity")
        check_score(self.min_score, "min_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """
    The examples selected for an input, best first.

    In a prompt the best comes last, next to the input. *tokens* is the size of the block that
    `render` returns; as `messages` they take fewer. *secret* keys the block's marker.
    """

    input: str
    chosen: tuple[Chosen, ...]
    tokens: int
    secret: bytes = field(default_factory=new_secret, repr=False, compare=False)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples without their relevance, best first."""
        return tuple(each.example for each in self.chosen)

    def render(self) -> str:
        """Return the examples as one block marked as data, not as instructions."""
        return _block_of(self.examples, self.secret)

    def messages(self, *, reasons: bool = True) -> list[AnyMessage]:
        """
        Return the examples as turns: inputs as user messages, outputs as the assistant's.

        With *reasons*, the reason and an empty line precede an output.
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


def _block_of(examples: Sequence[Example], secret: bytes) -> str:
    """Return the block of *examples*; a keyed marker makes it, and its size, reproducible."""
    records = [
        Record(source=f"{EXAMPLE_TYPE}/{each.key}", date="", who=name, text=text)
        for each in reversed(examples)
        for name, text in _parts(each)
    ]
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
    ranked: Sequence[Chosen], options: SelectionOptions, count_tokens: TokenCounter, secret: bytes
) -> tuple[tuple[Chosen, ...], int]:
    """
    Return the examples to show, best first, and the tokens of their block.

    Examples are chosen by maximal marginal relevance (Carbonell and Goldstein 1998): each time the
    one with the greatest ``(1 - d) * relevance - d * likeness``, with *d* the diversity, relevance
    scaled to 0…1 over all candidates, and likeness the greatest Jaccard similarity of its input's
    terms to those of an example chosen before. An example that does not fit the budget is skipped.
    If the block as a whole exceeds the budget, the last examples are dropped.
    """
    budget = math.inf if options.budget_tokens is None else options.budget_tokens
    left = _distinct([each for each in ranked if _fits(each.example, options)])
    scaled = _scaled([each.relevance for each in left])
    terms = [frozenset(terms_of(each.example.input)) for each in left]
    alike = [0.0] * len(left)
    places = sorted(range(len(left)), key=lambda at: -left[at].relevance)
    kept: list[Chosen] = []
    frame = tokens = cost_of([], count_tokens, secret)
    while places and len(kept) < options.count:
        weight = options.diversity
        best = max(places, key=lambda at: (1 - weight) * scaled[at] - weight * alike[at])
        places.remove(best)
        # A block with records has one line break more than the empty block.
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


def _fits(example: Example, options: SelectionOptions) -> bool:
    has_score = options.min_score is None or (
        example.score is not None and example.score >= options.min_score
    )
    return has_score and set(options.tags) <= set(example.tags)


def _distinct(ranked: Sequence[Chosen]) -> list[Chosen]:
    """Return the most relevant of the examples with equal input and output."""
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


def considered(options: SelectionOptions) -> int:
    """Return how many results of recall to choose from."""
    # The store filters by one tag only, and a recalled memory may be a near duplicate: ask for
    # more candidates than are wanted.
    if len(options.tags) > 1:
        return MATCHES_MAX
    if options.by == "both" and not options.diversity and options.budget_tokens is None:
        return min(MATCHES_MAX, 2 * options.count)
    return min(MATCHES_MAX, max(CONSIDERED_MIN, CONSIDERED_TIMES * options.count))


def filter_of(options: SelectionOptions) -> JsonObject:
    """Return the store's filter: the score and one tag; `chosen_of` checks the other tags."""
    conditions: dict[str, Json] = {}
    if options.min_score is not None:
        conditions["score"] = {"$gte": options.min_score}
    if options.tags:
        conditions["tags"] = {"$contains": next(iter(options.tags))}
    return conditions
