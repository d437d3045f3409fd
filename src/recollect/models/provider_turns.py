"""Normalise turns, call ids, stop reasons and token counts across providers; pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from recollect.models.structured_output import calls_before
from recollect.ports import ModelRequest, ToolCall, Turn
from recollect.records import JsonObject

RECEIVED: Final = "Received."
"""The text of the result of a call that no turn answers."""

# Where providers report the stop reason, and their values for a truncated answer.
_STOP_FIELDS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_LENGTH: Final = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"}
)
_REFUSAL: Final = frozenset(
    {
        *("refusal", "content_filter", "content_filtered", "guardrail_intervened", "safety"),
        *("recitation", "blocklist", "prohibited_content", "spii", "error_toxic"),
    }
)


def acceptable_turns(turns: Iterable[Turn]) -> list[Turn]:
    """
    Return *turns* in a form that every provider accepts.

    Providers require valid JSON in each call, and its result before any other turn. So a call whose
    arguments are not a JSON object becomes text, as does its result; a call without a result gets
    `RECEIVED`; a call without an id gets one.
    """
    found: list[Turn] = []
    waiting: list[str] = []
    held: list[Turn] = []
    for turn in turns:
        if turn.role == "tool":
            if turn.answers in waiting:
                waiting.remove(turn.answers)
                found.append(turn)
            else:
                held.append(Turn(role="user", text=turn.text))
            continue
        found += [*_received(waiting), *held]
        waiting, held = [], []
        if turn.role == "assistant":
            turn = _with_valid_calls(turn, len(found))  # noqa: PLW2901  # the same turn in another form
            waiting = [call.id for call in turn.calls]
        found.append(turn)
    return [*found, *_received(waiting), *held]


def _received(waiting: Sequence[str]) -> list[Turn]:
    return [Turn(role="tool", text=RECEIVED, answers=each) for each in waiting]


def _with_valid_calls(turn: Turn, place: int) -> Turn:
    """Return *turn* with its valid calls, and its other calls as text."""
    whole: list[ToolCall] = []
    said = [turn.text] if turn.text else []
    for call in turn.calls:
        arguments = _object_in(call.arguments)
        if arguments is None:
            said.append(f"(I called {call.name!r} with what is no JSON object: {call.arguments})")
        else:
            id_ = call.id or f"call_at_{place + len(whole)}"
            whole.append(replace(call, arguments=dict(arguments), id=id_))
    return replace(turn, text="\n".join(said), calls=tuple(whole))


def _object_in(arguments: object) -> JsonObject | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, Mapping) else None


def identified_calls(
    raw: Iterable[tuple[object, object, object]], request: ModelRequest
) -> tuple[ToolCall, ...]:
    """Return calls from (name, arguments, id) triples; missing or repeated ids are replaced."""
    taken: set[str] = set()
    calls = []
    for number, (name, arguments, named) in enumerate(raw, 1 + calls_before(request)):
        id_ = named if isinstance(named, str) and named and named not in taken else f"call_{number}"
        taken.add(id_)
        kept = arguments if isinstance(arguments, str | Mapping) else ""
        calls.append(ToolCall(name=str(name or ""), arguments=kept, id=id_))
    return tuple(calls)


def stopped_by(metadata: Mapping[str, object]) -> Literal["end", "length", "refusal"]:
    """
    Return why a model stopped, from its provider's metadata.

    >>> stopped_by({"finish_reason": "length"}), stopped_by({"stop_reason": "refusal"})
    ('length', 'refusal')
    """
    reasons = set(_reasons(metadata))
    if reasons & _REFUSAL:
        return "refusal"
    return "length" if reasons & _LENGTH else "end"


def _reasons(metadata: Mapping[str, object]) -> Iterator[str]:
    details = metadata.get("incomplete_details")
    found = [metadata.get(name) for name in _STOP_FIELDS]
    found.append(details.get("reason") if isinstance(details, Mapping) else None)
    return (each.lower() for each in found if isinstance(each, str))


def token_count(counted: JsonObject, *names: str) -> int:
    """Return the sum of the counts *names*; a value that is not an integer counts as 0."""
    found = (counted.get(name) for name in names)
    return sum(each for each in found if isinstance(each, int) and each > 0)


def mapping_in(value: object) -> JsonObject:
    """Return *value* if it is a mapping, else an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def mappings_in(value: object) -> list[JsonObject]:
    """Return the mappings in a list; empty if *value* is not a list."""
    listed = value if isinstance(value, list | tuple) else ()
    return [each for each in listed if isinstance(each, Mapping)]
