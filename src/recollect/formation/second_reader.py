"""
A second reading: before memories are kept, a model is asked once whether the messages say them.

It can hold a memory back for a person, and let nothing through: what the rules refuse or doubt is
not asked about, and what the answer says nothing of waits. Each field of a document is judged by
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from recollect.formation.answer_forms import calls_of
from recollect.formation.formation_receipt import kept_text
from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import Grounded
from recollect.formation.operation_parts import separated
from recollect.formation.operations import Insert, Operation, Patch, citations_of
from recollect.formation.prompt import context_turn, filled, json_line, on_one_line
from recollect.formation.second_reader_texts import SecondReadingTexts
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.support import HeardWindow
from recollect.formation.window import Window
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Turn
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list
from recollect.stores.reader_quotes import DENIED

JUDGE: Final = "judge_notes"
UNREAD: Final = "a second reader said nothing of it"
WRONG_CHARACTERS_MAX: Final = 300
"""A longer sentence on what is wrong is cut."""
_PARAMETERS: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "right": {"type": "boolean"},
                    "wrong": {"type": "string"},
                },
                "required": ["number", "right"],
            },
        }
    },
    "required": ["verdicts"],
}


@dataclass(frozen=True, slots=True)
class SecondReading:
    """
    The undoubted operations of a formation, each with the parts that are judged.

    *rest* are the doubted ones, which wait for a person anyway.
    """

    wholes: tuple[tuple[Grounded, tuple[Grounded, ...]], ...]
    rest: tuple[Grounded, ...]

    @classmethod
    def of(cls, grounded: Sequence[Grounded], heard: HeardWindow) -> SecondReading:
        """Return the reading of *grounded*, with documents parted into fields."""
        wholes = [each for each in grounded if not each.grounds.doubts]
        return cls(
            wholes=tuple((each, tuple(separated(each, heard))) for each in wholes),
            rest=tuple(each for each in grounded if each.grounds.doubts),
        )

    def request(self, window: Window, offer: Offer, texts: SecondReadingTexts) -> ModelRequest:
        """Return the request: memories and messages as they were shown, and what is to be kept."""
        parts = (part for _, found in self.wholes for part in found)
        lines = [_line(number, each.operation) for number, each in enumerate(parts, start=1)]
        shown = context_turn(window, offer).text
        return ModelRequest(
            system=filled(texts.instructions, judge=JUDGE),
            turns=(Turn(role="user", text="\n".join([shown, texts.notes, *lines])),),
            tools=(Tool(name=JUDGE, description=texts.judge_tool, parameters=_PARAMETERS),),
            must_call=True,
        )

    def judged(self, answer: ModelAnswer) -> tuple[Grounded, ...]:
        """Return the operations, those in doubt that *answer* does not call right."""
        verdicts = dict(_verdicts_of(answer))
        found: list[Grounded] = []
        numbers = count(1)
        for whole, parts in self.wholes:
            reasons = [verdicts.get(next(numbers), UNREAD) for _ in parts]
            read = [_doubted(*each) for each in zip(parts, reasons, strict=True)]
            found += read if any(reasons) else [whole]
        return (*found, *self.rest)


def _line(number: int, operation: Operation) -> str:
    """Return an operation as one line of JSON behind its number."""
    cited = sorted({each.message for each in citations_of(operation)})
    return f"{number} {json_line({**_told(operation), 'because': cited})}"


def _told(operation: Operation) -> dict[str, Json]:
    if isinstance(operation, Insert):
        ends = {"since": operation.since, "until": operation.until}
        times = {name: each for name, each in ends.items() if each is not None}
        return {"new": operation.type, "value": operation.value, **times}
    if isinstance(operation, Patch):
        return {"change": operation.target, "patch": [e.operation for e in operation.changes]}
    at = {} if operation.at is None else {"at": operation.at}
    return {"over": operation.target, **at}


def _doubted(part: Grounded, reason: str) -> Grounded:
    return replace(part, grounds=replace(part.grounds, doubts=(reason,))) if reason else part


def _verdicts_of(answer: ModelAnswer) -> Iterator[tuple[int, str]]:
    """Yield the numbers that an answer judges, each with why it waits; "" if it is right."""
    for call in calls_of(answer, {JUDGE}, nothing=""):
        for each in _items_of(call):
            number, is_right = each.get("number"), each.get("right")
            if type(number) is int and isinstance(is_right, bool):
                yield number, "" if is_right else _denial(each.get("wrong"))


def _items_of(call: ToolCall) -> Iterator[Mapping[str, Json]]:
    written = call.arguments
    try:
        arguments = read_json(written) if isinstance(written, str) else written
    except NotJsonError:
        return
    items = arguments.get("verdicts") if isinstance(arguments, Mapping) else arguments
    if is_list(items):
        yield from (each for each in items if isinstance(each, Mapping))


def _denial(wrong: Json) -> str:
    told = on_one_line(wrong).strip() if isinstance(wrong, str) else ""
    return f"{DENIED}: {kept_text(told, WRONG_CHARACTERS_MAX)}" if told else DENIED
