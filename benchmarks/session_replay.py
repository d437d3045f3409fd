"""Formation over months: talks of several sessions, each formed with what a model answered."""

from __future__ import annotations

import difflib
import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import recollect
from benchmarks.formation_corpus import Call, Case, call_of, read_corpus, shown_in
from benchmarks.second_readings import READINGS, SecondReader, is_reading, reader_of
from recollect.formation.config import FormationSettings
from recollect.formation.types import USER
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest, ToolCall
from recollect.recall.context import Context
from recollect.records import Memory, NewMessage, Scope
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.formation_result import FormationResult

SESSIONS: Final = "sessions"
SCOPE: Final[Scope] = ("corpus",)
PAUSE_S: Final = 1_800
"""Seconds after its last line in which a session is formed."""
LIKENESS_MIN: Final = 0.5
"""Least likeness of a memory to the one that an answer meant, which may stand otherwise by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSession:
    """
    A session formed: the number of calls of the model, and what became of its operations.

    *lost* counts operations on memories that were not shown; *asked_again* are the faults that the
    model was told.
    """

    talk: str
    number: int
    calls: int
    result: FormationResult
    lost: int = 0
    asked_again: tuple[str, ...] = ()

    @property
    def stopped(self) -> tuple[str, ...]:
        """The reasons for which operations were refused or quarantined."""
        return tuple(
            f"{each.action}: {each.reason}"
            for each in self.result.outcomes
            if each.action in {"refused", "quarantined"}
        )

    @property
    def passes(self) -> bool:
        """Whether everything was kept with one call."""
        return self.result.end == "formed" and self.calls == 1 and not self.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTalk:
    """A talk after its last session: its memories, and what prompts get for later questions."""

    language: str
    sessions: tuple[PlayedSession, ...]
    memories: tuple[Memory, ...]
    contexts: Mapping[str, Context]


@dataclass
class _Recorded:
    """The recorded answers of one session, given in order; how many calls met no memory."""

    answers: Sequence[Sequence[Call]] = ()
    calls: int = 0
    lost: int = 0
    asked_again: list[str] = field(default_factory=list)

    def answer(self, request: ModelRequest) -> Sequence[ToolCall]:
        """Return the next answer, its targets found among the memories that are shown."""
        calls = self.answers[self.calls] if self.calls < len(self.answers) else ()
        self.calls += 1
        self.asked_again += [each.text for each in request.turns[1:] if each.role == "tool"]
        shown = shown_in(request)
        offered = {each.name for each in request.tools}
        found = [each for each in (_aimed(call, shown, offered) for call in calls) if each]
        self.lost += len(calls) - len(found)
        return found or [ToolCall(name="remember_nothing", arguments="{}")]


def _aimed(
    call: Call, shown: Mapping[str, tuple[str, Any]], offered: Collection[str]
) -> ToolCall | None:
    """
    Return a recorded call with the id that its target has now; ``None`` if it is not shown.

    A profile that was refused when the answer was recorded, and stands now, is patched.
    """
    target = call.get("of")
    if target is None:
        standing = next((id_ for id_, (type_, _) in shown.items() if type_ == call["name"]), None)
        if call["name"] == USER.name and USER.name not in offered and standing is not None:
            return call_of(_as_patch(call, standing), {standing: standing})
        return call_of(call, {})
    best, likeness = _most_like(
        _as_json(target["value"]),
        {id_: _as_json(value) for id_, (type_, value) in shown.items() if type_ == target["type"]},
    )
    if not best or (likeness < LIKENESS_MIN and target["type"] != USER.name):
        return None
    return call_of({**call, "arguments": {**call["arguments"], "id": "it"}}, {"it": best})


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _most_like(wanted: str, texts: Mapping[str, str]) -> tuple[str, float]:
    """Return the id of the text that is most like *wanted*, and their likeness from 0 to 1."""
    matchers = {
        # Junk would leave out every common letter of a value of 200.
        id_: difflib.SequenceMatcher(None, wanted, text, autojunk=False)
        for id_, text in texts.items()
    }
    most = {id_: each.quick_ratio() for id_, each in matchers.items()}
    best, likeness = "", -1.0
    for id_ in sorted(most, key=lambda id_: most[id_], reverse=True):
        # Likeness takes quadratic time; none of the rest has more than its upper bound.
        if most[id_] <= likeness:
            break
        found = matchers[id_].ratio()
        if found > likeness:
            best, likeness = id_, found
    return best, likeness


def _as_patch(call: Call, id_: str) -> Call:
    """Return the insert of a profile as a patch of the one that stands."""
    said = call["arguments"]["because"]
    changes = [
        {"op": "add", "path": f"/{name}", "value": value, "because": _cited_for(name, said)}
        for name, value in call["arguments"]["value"].items()
    ]
    return {"name": "patch_memory", "arguments": {"id": id_, "changes": changes}}


def _cited_for(name: str, because: Sequence[str]) -> list[str]:
    """Return the citations of a field, without the pointer."""
    fields = [each.partition(":")[0].partition(" ")[2] for each in because]
    return [
        f"{each.partition(':')[0].partition(' ')[0]}:{each.partition(':')[2]}"
        for each, field_ in zip(because, fields, strict=True)
        if not field_ or field_.split("/")[1:2] == [name]
    ]


@asynccontextmanager
async def formed_memory(
    talk: Case, *, embedder: str = "none", second_reader: SecondReader | None = None
) -> AsyncIterator[tuple[Recollect, Sequence[PlayedSession]]]:
    """
    Play the sessions of *talk* into a memory, and form each with the recorded answers.

    With a *second_reader* each is read again before it is kept.
    """
    recorded = _Recorded()

    def answer(request: ModelRequest) -> Sequence[ToolCall]:
        if second_reader is not None and is_reading(request):
            return second_reader(request)
        return recorded.answer(request)

    clock = FrozenClock(time_of(talk["sessions"][0]["lines"][0]))
    sessions = []
    async with recollect.open(
        "memory:",
        embedder=embedder,
        model=ScriptedModel(answer),
        worker=False,
        clock=clock,
        ids=SeededIds(1),
        formation=FormationSettings(second_reading=second_reader is not None),
    ) as memory:
        for number, session in enumerate(talk["sessions"], start=1):
            await _say(memory, clock, f"session-{number}", session["lines"])
            clock.advance(PAUSE_S)
            recorded = _Recorded(session["answers"])
            result = (await memory.form(SCOPE))[-1]
            played = PlayedSession(
                talk=talk["id"],
                number=number,
                calls=recorded.calls,
                result=result,
                lost=recorded.lost,
                asked_again=tuple(recorded.asked_again),
            )
            sessions.append(played)
        yield memory, sessions


async def played_talk(
    talk: Case, *, embedder: str = "none", second_reader: SecondReader | None = None
) -> PlayedTalk:
    """Play a talk as `formed_memory` does, and ask its questions."""
    playing = formed_memory(talk, embedder=embedder, second_reader=second_reader)
    async with playing as (memory, sessions):
        page = await memory.memories(SCOPE, limit=500)
        contexts = {
            each["id"]: await memory.context(
                SCOPE, each["query"], asked_at=datetime.fromisoformat(each["asked_at"])
            )
            for each in talk["questions"]
        }
    return PlayedTalk(
        language=talk["language"],
        sessions=tuple(sessions),
        memories=page.rows,
        contexts=contexts,
    )


async def _say(
    memory: Recollect, clock: FrozenClock, thread: str, lines: Sequence[Mapping[str, Any]]
) -> None:
    for line in lines:
        at = time_of(line)
        clock.advance(max(0.0, (at - clock.now()).total_seconds()))
        message = NewMessage(role=line["role"], text=line["text"], name=line["name"], time=at)
        await memory.append(SCOPE, thread, [message])


def time_of(line: Mapping[str, Any]) -> datetime:
    """Return when a line was said."""
    return datetime.fromisoformat(line["time"]).astimezone(UTC)


async def played_talks(folder: Path, *, is_read_again: bool = False) -> list[PlayedTalk]:
    """
    Play the talks of the corpus in *folder*.

    With *is_read_again* only those with recorded second readings, and with these.
    """
    talks = read_corpus(folder, SESSIONS)
    if not is_read_again:
        return [await played_talk(each) for each in talks]
    readings = read_corpus(folder, READINGS)
    read = {each["case"] for each in readings}
    return [
        await played_talk(each, second_reader=reader_of(readings, each["id"]))
        for each in talks
        if each["id"] in read
    ]


def sessions_page(talks: Sequence[PlayedTalk]) -> str:
    """Return a table of what became of the answers, by language."""
    heads = ("sessions", "kept at once", "calls", "operations", "stopped")
    lines = [f"{'talks of months':<34}" + "".join(f"{each:>14}" for each in heads)]
    for language in sorted({each.language for each in talks}):
        rows = [row for each in talks if each.language == language for row in each.sessions]
        cells = (
            str(len(rows)),
            f"{100 * sum(each.passes for each in rows) / len(rows):.1f} %",
            f"{sum(each.calls for each in rows) / len(rows):.2f}",
            str(sum(len(each.result.outcomes) for each in rows)),
            str(sum(len(each.stopped) for each in rows)),
        )
        lines.append(f"{language:<34}" + "".join(f"{each:>14}" for each in cells))
    stopped = [row for each in talks for row in each.sessions if not row.passes]
    told = [
        f"  {each.talk}, session {each.number}: {'; '.join((*each.asked_again, *each.stopped))}"
        for each in stopped
    ]
    return "\n".join([*lines, *(each[:220] for each in told)])
