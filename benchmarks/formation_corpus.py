"""Replay recorded conversations into a memory, each with a recorded model answer."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import recollect
from benchmarks.deciding_time import measured_deciding
from benchmarks.second_readings import SecondReader, is_reading
from recollect.errors import UsageError
from recollect.formation.config import FormationSettings
from recollect.formation.tool_names import NOTHING
from recollect.formation.types import DEFAULT_TYPES, FACT, USER, MemoryType
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest, ToolCall, Turn
from recollect.recall.context import Context
from recollect.records import Memory, NewMessage, PutMemory, Scope
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.formation_result import FormationResult

Case = Mapping[str, Any]
Call = Mapping[str, Any]
SCOPE: Final[Scope] = ("corpus",)
THREAD: Final = "talk"
CASES: Final = "formations"
BAD_ANSWERS: Final = "bad_answers"
LABELS: Final = ("keep", "ask", "quarantine", "refuse")
_SHOWN: Final = re.compile(r"^(?P<id>m\d+) (?P<type>\w+) [^{\n]*(?P<value>\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedFormation:
    """
    The result of forming a conversation with one answer.

    *offered* are the ids, as the case has them, of the memories that the request showed, by their
    ids there. *seconds* is processor time, *deciding_s* that of the deciding alone. *memories* is
    everything afterwards, *contexts* what prompts get for later questions.
    """

    request: ModelRequest | None
    offered: Mapping[str, str]
    result: FormationResult | None
    calls: int
    seconds: float
    deciding_s: float
    memories: tuple[Memory, ...] = ()
    known: Mapping[str, Memory] = field(default_factory=dict)
    contexts: tuple[Context, ...] = ()

    @property
    def stopped(self) -> tuple[str, ...]:
        """The reasons for which operations were refused or quarantined."""
        outcomes = self.result.outcomes if self.result else ()
        return tuple(
            f"{each.action}: {each.reason}"
            for each in outcomes
            if each.action in {"refused", "quarantined"}
        )

    @property
    def passes(self) -> bool:
        """Whether everything was kept at once, with one call."""
        is_done = self.result is not None and self.result.end in {"formed", "nothing"}
        return is_done and self.calls == 1 and not self.stopped

    @property
    def active(self) -> tuple[Memory, ...]:
        """The active memories that the formation wrote, or ended."""
        before = {(each.type, each.key): each.version for each in self.known.values()}
        return tuple(
            each
            for each in self.memories
            if each.state == "active" and before.get((each.type, each.key)) != each.version
        )


def read_corpus(folder: Path, name: str) -> list[Case]:
    """
    Return the rows of one file of the corpus.

    Raises:
        UsageError: It is not there, or cannot be read.
    """
    path = folder / f"{name}.jsonl.gz"
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        msg = f"{path}: {error}"
        raise UsageError(msg) from None
    return [json.loads(line) for line in text.splitlines() if line]


def is_kept_apart(number: int) -> bool:
    """Return True if the case at this index is in the held-out half."""
    return number % 2 == 1


async def played(
    case: Case,
    calls: Sequence[Call] = (),
    questions: Sequence[Mapping[str, str]] = (),
    *,
    second_reader: SecondReader | None = None,
) -> PlayedFormation:
    """
    Form a conversation with the recorded *calls* as the answer; without calls, return the request.

    The ids of memories in the calls are those of the case. *questions* have a ``query``, and are
    asked afterwards, at ``asked_at``. What is to be kept is read once more by *second_reader*; its
    calls are not counted.
    """
    asked: list[ModelRequest] = []
    said: list[Sequence[Call]] = []

    def answer(request: ModelRequest) -> Sequence[ToolCall]:
        if second_reader is not None and is_reading(request):
            return second_reader(request)
        if not said:  # what was said before is formed already
            return [_nothing()]
        asked.append(request)
        shown = {of: id_ for id_, of in offered_in(request, case).items()}
        answered = said[0] if len(asked) == 1 else ()
        return [call_of(each, shown) for each in answered] or [_nothing()]

    clock = FrozenClock(_time_of(case["lines"][0]))
    async with recollect.open(
        "memory:",
        embedder="none",
        model=ScriptedModel(answer),
        formation=FormationSettings(
            types=_types_of(case), second_reading=second_reader is not None
        ),
        worker=False,
        clock=clock,
        ids=SeededIds(1),
    ) as memory:
        known = await _remember(memory, case)
        await _say(memory, clock, [line for line in case["lines"] if not line["new"]])
        await memory.form(SCOPE)
        await _say(memory, clock, [line for line in case["lines"] if line["new"]])
        said.append(calls)
        began = time.process_time()
        with measured_deciding() as deciding:
            results = await memory.form(SCOPE)
        seconds = time.process_time() - began
        page = await memory.memories(SCOPE, limit=500)
        contexts = [
            await memory.context(
                SCOPE, each["query"], asked_at=datetime.fromisoformat(each["asked_at"])
            )
            for each in questions
        ]
    return PlayedFormation(
        request=asked[0] if asked else None,
        offered=offered_in(asked[0], case) if asked else {},
        result=results[-1] if results else None,
        calls=len(asked),
        seconds=seconds,
        deciding_s=deciding.seconds,
        memories=page.rows,
        known=known,
        contexts=tuple(contexts),
    )


def shown_in(request: ModelRequest) -> dict[str, tuple[str, Any]]:
    """Return the memories that a request shows: their types and values, by their ids there."""
    return {
        found["id"]: (found["type"], json.loads(found["value"]))
        for found in _SHOWN.finditer(request.turns[0].text)
    }


def offered_in(request: ModelRequest, case: Case) -> dict[str, str]:
    """Map the ids of the memories shown in a request to those of the case."""
    ids = {_identity(each["type"], each["value"]): each["id"] for each in case["known"]}
    return {
        id_: of
        for id_, (type_, value) in shown_in(request).items()
        if (of := ids.get(_identity(type_, value)))
    }


def _identity(type_: str, value: object) -> str:
    return f"{type_} {json.dumps(value, ensure_ascii=False, sort_keys=True)}"


def call_of(call: Call, shown: Mapping[str, str]) -> ToolCall:
    """Return a recorded call with the ids of the request in place of those of the case."""
    arguments = dict(call["arguments"])
    if isinstance(arguments.get("id"), str):
        arguments["id"] = shown.get(arguments["id"], f"{arguments['id']} is not shown")
    return ToolCall(name=call["name"], arguments=json.dumps(arguments, ensure_ascii=False))


def _nothing() -> ToolCall:
    return ToolCall(name=NOTHING, arguments="{}")


def _types_of(case: Case) -> tuple[MemoryType, ...]:
    has_facts = any(each["type"] == FACT.name for each in case["known"])
    return (*DEFAULT_TYPES, FACT) if has_facts else DEFAULT_TYPES


def _time_of(line: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(line["time"]).astimezone(UTC)


async def _remember(memory: Recollect, case: Case) -> dict[str, Memory]:
    """Store the case's earlier memories, and return them by the case's ids."""
    writes = [
        PutMemory(
            type=each["type"],
            key=each["type"] if each["type"] == USER.name else each["id"],
            value=each["value"],
            valid_from=_day(each.get("since") or each.get("said")),
            valid_until=_day(each.get("until")),
        )
        for each in case["known"]
    ]
    kept = await memory.apply(SCOPE, writes) if writes else ()
    pairs = zip(case["known"], kept, strict=True)
    return {each["id"]: memory for each, memory in pairs if memory is not None}


def _day(written: str | None) -> datetime | None:
    return datetime.fromisoformat(written).replace(tzinfo=UTC) if written else None


async def _say(memory: Recollect, clock: FrozenClock, lines: Sequence[Mapping[str, Any]]) -> None:
    """Append lines at their times."""
    for line in lines:
        clock.advance(max(0.0, (_time_of(line) - clock.now()).total_seconds()))
        message = NewMessage(
            role=line["role"], text=line["text"], name=line["name"], time=_time_of(line)
        )
        await memory.append(SCOPE, THREAD, [message])


def request_text(request: ModelRequest) -> str:
    """Return a request as text: the system prompt, the tools, the turns with their calls."""
    tools = [
        {"name": each.name, "description": each.description, "parameters": each.parameters}
        for each in request.tools
    ]
    written = [json.dumps(each, ensure_ascii=False, default=dict) for each in tools]
    turns = [line for each in request.turns for line in _lines_of(each)]
    return "\n".join([request.system, "", "Tools:", *written, "", *turns, ""])


def _lines_of(turn: Turn) -> list[str]:
    """Return a turn's text, and the calls that the model made in it: what a repair is about."""
    calls = [f"{each.name} {each.arguments}" for each in turn.calls]
    return [each for each in (turn.text, *calls) if each]
