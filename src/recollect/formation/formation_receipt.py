"""The receipt of a formation: requests, outcomes and cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final

from recollect.formation.config import ModelPrices
from recollect.formation.operation_outcomes import Grounded, OperationOutcome
from recollect.formation.operations import Fault, Insert, Operation, RefusedCall
from recollect.formation.window import Window
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn
from recollect.records import Json, JsonObject
from recollect.stores.receipt_sources import READ

EXCHANGES_MAX: Final = 8
EXCHANGES_BYTES_MAX: Final = 500_000
OUTCOMES_BYTES_MAX: Final = 200_000
REFUSED_BYTES_MAX: Final = 200_000
"""Bytes of a list in a receipt; a longer one is cut, and the receipt says how many it lacks."""
VALUE_CHARACTERS_MAX: Final = 2_000
TEXT_CHARACTERS_MAX: Final = 50_000
"""Longer texts of a model are cut in a receipt, which then says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExchange:
    """One request to a model, and its answer."""

    request: ModelRequest
    answer: ModelAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExchanges:
    """
    The exchanges with a model: grounded operations, remaining faults, every request.

    *is_whole* is True if the last answer was not cut off and could be parsed.
    """

    grounded: tuple[Grounded, ...] = ()
    refused: tuple[tuple[Operation | None, Fault], ...] = ()
    exchanges: tuple[ModelExchange, ...] = ()
    is_whole: bool = True
    failure: str = ""
    prices: ModelPrices | None = None

    def refused_calls(self) -> tuple[RefusedCall, ...]:
        """Return the refused calls with the reasons: the first ones, as many as a receipt holds."""
        calls = tuple(starmap(_refused, self.refused))
        return calls[: len(_first_that_fit((each.as_json() for each in calls), REFUSED_BYTES_MAX))]

    @property
    def calls(self) -> int:
        """Number of requests."""
        return len(self.exchanges)

    @property
    def input_tokens(self) -> int:
        """Number of tokens that the model read."""
        return sum(each.answer.usage.input_tokens for each in self.exchanges)

    @property
    def output_tokens(self) -> int:
        """Number of tokens that the model wrote."""
        return sum(each.answer.usage.output_tokens for each in self.exchanges)

    @property
    def tokens(self) -> int:
        """Number of tokens that the model read and wrote."""
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> float | None:
        """Total cost of all requests, ``None`` without prices."""
        if self.prices is None:
            return None
        read, written = self.input_tokens, self.output_tokens
        return round((read * self.prices.input + written * self.prices.output) / 1_000_000, 8)


def receipt_of(
    window: Window,
    asked: ModelExchanges,
    outcomes: Sequence[OperationOutcome],
    *,
    model: str | None,
    reason: str = "",
    sources: Mapping[str, Json] | None = None,
) -> JsonObject:
    """
    Return the receipt as JSON: no part of it is needed to read the memories themselves.

    An erase of any of its *sources* blanks it (see `sources_of`); without them, every erase does.
    """
    refused = [each.as_json() for each in asked.refused_calls()]
    receipt: dict[str, Json] = {
        "model": model,
        "calls": asked.calls,
        "input_tokens": asked.input_tokens,
        "output_tokens": asked.output_tokens,
        "messages": len(window.new),
        **outcomes_record(outcomes),
        "refused": refused,
        "by_type": _by_type(outcomes, asked.tokens, asked.cost),
        "exchanges": _first_that_fit(
            map(_exchange, asked.exchanges[:EXCHANGES_MAX]), EXCHANGES_BYTES_MAX
        ),
    }
    if left_out := len(asked.refused) - len(refused):
        receipt["refused_left_out"] = left_out
    if asked.prices is not None:
        receipt["cost"] = {"amount": asked.cost, "currency": asked.prices.currency}
    notes = dict.fromkeys(note for each in asked.grounded for note in each.grounds.notes)
    if notes:
        receipt["notes"] = [kept_text(each, VALUE_CHARACTERS_MAX) for each in notes]
    if sources is not None:
        receipt[READ] = sources
    if reason:
        receipt["reason"] = kept_text(reason, VALUE_CHARACTERS_MAX)
    return receipt


def outcomes_record(outcomes: Sequence[OperationOutcome]) -> dict[str, Json]:
    """Return the outcomes of all operations and their counts, for a receipt."""
    listed = _first_that_fit(map(_outcome, outcomes), OUTCOMES_BYTES_MAX)
    counts = Counter(outcome.action for outcome in outcomes)
    told: dict[str, Json] = {"counts": dict(sorted(counts.items())), "outcomes": listed}
    left_out = len(outcomes) - len(listed)
    return {**told, "outcomes_left_out": left_out} if left_out else told


def _outcome(outcome: OperationOutcome) -> JsonObject:
    found: dict[str, Json] = {"action": outcome.action, "type": outcome.type, "key": outcome.key}
    if reason := kept_text(outcome.reason, VALUE_CHARACTERS_MAX):
        found["reason"] = reason
    # An undo of a message finds here what the message ended: no evidence names it there.
    if said := outcome.uncited:
        found["because"] = [{"thread": thread, "message": message} for thread, message in said]
    return found


def _refused(operation: Operation | None, fault: Fault) -> RefusedCall:
    reason = kept_text(fault.reason, VALUE_CHARACTERS_MAX)
    if isinstance(operation, Insert):
        value = kept_text(_written(operation.value), VALUE_CHARACTERS_MAX)
        return RefusedCall(kind=fault.kind, reason=reason, type=operation.type, value=value)
    target = None if operation is None else operation.target
    return RefusedCall(kind=fault.kind, reason=reason, target=target)


def _by_type(
    outcomes: Sequence[OperationOutcome], tokens: int, price: float | None
) -> Mapping[str, JsonObject]:
    """Split tokens and cost between types in proportion to their operations."""
    counts = Counter(outcome.type for outcome in outcomes)
    total = counts.total()
    shared: dict[str, JsonObject] = {}
    for name, count in sorted(counts.items()):
        found: dict[str, Json] = {"operations": count, "tokens": round(tokens * count / total)}
        shared[name] = (
            found if price is None else {**found, "cost": round(price * count / total, 8)}
        )
    return shared


def _first_that_fit(records: Iterable[JsonObject], bytes_max: int) -> list[Json]:
    """Return as many of the first records as fit."""
    found: list[Json] = []
    room = bytes_max
    for each in records:
        room -= len(json.dumps(each, ensure_ascii=False, default=list).encode())
        if room < 0:
            break
        found.append(each)
    return found


def kept_text(text: str, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Return a model's text in storable form, cut if it is very long."""
    cut = text[:characters_max]
    shown = cut.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
    missing = len(text) - len(cut)
    return f"{shown} … ({missing} more characters)" if missing else shown


def _exchange(exchange: ModelExchange) -> JsonObject:
    request, answer = exchange.request, exchange.answer
    return {
        "system": request.system,
        "turns": [_turn(each) for each in request.turns],
        "tools": [_tool(each) for each in request.tools],
        "answer": {
            "text": kept_text(answer.text),
            "calls": [_call(each) for each in answer.calls],
            "stopped": answer.stopped,
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
            "cached_tokens": answer.usage.cached_tokens,
        },
    }


def _turn(turn: Turn) -> JsonObject:
    found: dict[str, Json] = {"role": turn.role, "text": kept_text(turn.text)}
    if turn.calls:
        found["calls"] = [_call(each) for each in turn.calls]
    return {**found, "answers": kept_text(turn.answers)[:200]} if turn.answers else found


def _tool(tool: Tool) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _call(call: ToolCall) -> JsonObject:
    return {
        "name": kept_text(call.name)[:200],
        "arguments": kept_text(_written(call.arguments)),
        "id": kept_text(call.id)[:200],
    }


def _written(arguments: str | JsonObject) -> str:
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError) as error:
        return f"(cannot be written as JSON: {type(error).__name__})"
