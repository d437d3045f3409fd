"""A memory, its expected state, and the references to its past that clients may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from benchmarks.combinations.expected_state import Carrier, ExpectedState, Kept
from benchmarks.combinations.stage import OpenWorld, Places
from recollect.errors import QuotaError
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, Memory, NewMessage, Scope
from recollect.stores.plans.undo import Undo, UndoLog
from recollect.stores.unit_of_work import Effect, Rows
from recollect.testing.follower import FeedFollower
from recollect.testing.frozen_clock import FrozenClock
from tests.harness.carried_words import CarryingModel

SCOPES: Final[tuple[Scope, ...]] = (("team", "ada"), ("team", "bob"), ("team",))
THREADS: Final = ("a", "b")
SOURCES: Final = (None, "mail", "chat")
TALLY: Final = "Tally"
"""The type of a program's memories, which no model is shown."""
FORMED: Final = frozenset({"Life", "Note"})
STEP_S: Final = 60
_BEFORE: Final = timedelta(hours=12)
"""Start of the history's clock before the wall clock, by which backups are dated."""


@dataclass
class Request:
    """A keyed request that can be repeated, and the carriers it created."""

    key: str
    ask: Callable[[Recollect], Awaitable[Sequence[object]]]
    carriers: list[str]
    names: list[str] = field(default_factory=list)
    """Ids of the listed messages."""


@dataclass
class OpenPage:
    """A listing after its first page."""

    scope: Scope
    thread: str
    """Empty for a listing of memories."""
    cursor: str | None


@dataclass
class NotedChange:
    """An undoable change, and the previous versions of the tallies that it wrote."""

    scope: Scope
    undo: JsonObject
    before: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Backup:
    """A backup, and the expected state at its time."""

    path: Path
    kept: Kept
    requests: list[Request]


@dataclass
class Allowance:
    """A meter with a limit of entries, which counts what was spent."""

    left: int = 1_000_000
    spent: int = 0
    reserved: int = 0

    async def charge(self, _: str, __: Scope) -> ExpectedCharge:
        """Return the charge of one change."""
        return ExpectedCharge(self)


class ExpectedCharge:
    """The cost of one change: one per message or version of a memory."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._cost = 0

    def reserve(self, _: Rows, effect: Effect) -> None:
        """Reserve the cost of *effect*."""
        self.release()
        cost = len(effect.messages) + len(effect.memories)
        if self._allowance.reserved + cost > self._allowance.left:
            raise QuotaError("entries of this history", "left", self._allowance.left, 1)
        self._cost = cost
        self._allowance.reserved += cost

    def spend(self) -> None:
        """Turn the reservation into spending."""
        self._allowance.spent += self._cost
        self.release()

    def release(self) -> None:
        """Cancel the reservation."""
        self._allowance.reserved -= self._cost
        self._cost = 0


Past: TypeAlias = dict[tuple[str, str], dict[int, str]]
"""The value and period of each past version of a memory, by address."""


class World:
    """The state of one history."""

    def __init__(self, places: Places, seed: int) -> None:
        self.chance = Random(seed)  # noqa: S311 (it protects nothing)
        self.clock = FrozenClock(datetime.now(UTC) - _BEFORE)
        self.expected = ExpectedState(self.chance)
        self.stage = OpenWorld(places, self.clock, seed, CarryingModel(self.expected.words))
        self.allowance = Allowance()
        self.requests: list[Request] = []
        self.exports: list[tuple[Scope, list[JsonObject]]] = []
        self.backups: list[Backup] = []
        self.noted: list[NotedChange] = []
        self.pages: list[OpenPage] = []
        self.followers = {scope: FeedFollower(scope) for scope in SCOPES}
        self.past: dict[Scope, Past] = {}
        self.asked_as_of: dict[Scope, tuple[datetime, dict[tuple[str, str], str]]] = {}
        self.standing: dict[Scope, set[tuple[str, str]]] = {}
        """The addresses of memories after the previous step."""
        self.loses: set[Scope] = set()
        """Scopes that may lose memories in this step."""
        self.told: list[str] = []
        """Violations that operations found themselves."""
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    @property
    def memory(self) -> Recollect:
        """The memory that is open now."""
        return self.stage.memory

    def scope(self) -> Scope:
        """Return a scope, mostly the same one, so that operations interact."""
        return self.chance.choice([SCOPES[0]] * 4 + list(SCOPES))

    def view(self) -> Recollect:
        """Return the memory or one of its views."""
        choice = self.chance.random()
        if choice < 0.3:
            return self.memory.acting("somebody", proviso=lambda _: None)
        return self.memory.over(self.memory.store.metered(self.allowance)) if choice < 0.6 else (
            self.memory
        )  # fmt: skip

    def is_odd(self, share: float) -> bool:
        """Return True with probability *share*."""
        return self.chance.random() < share

    def message(self, words: Sequence[str], source: str | None) -> NewMessage:
        """Return a message that says *words*."""
        text = f"shelf cup lamp: {' and '.join(words)}"
        if self.is_odd(0.1):
            text = f"Somebody wrote to me:\n> {text}\n> {text}"
        return NewMessage(role="user", text=text, source=source)

    def new_words(self, scope: Scope) -> list[str]:
        """Return new words, sometimes with an earlier one of the scope."""
        words = [self.expected.words.new() for _ in range(self.chance.randint(1, 2))]
        said = [each.name for each in self.expected.messages(scope)]
        if said and self.is_odd(0.25):
            words.append(
                self.chance.choice(sorted(self.expected.words.said[self.chance.choice(said)]))
            )
        return list(dict.fromkeys(words))

    def pending_message(self, scope: Scope, thread: str) -> tuple[NewMessage, Carrier, set[str]]:
        """Return a message to append, and its carrier, which has no id yet."""
        words = self.new_words(scope)
        message = self.message(words, self.chance.choice(SOURCES))
        carrier = Carrier(
            "", scope, "message", thread=thread, source=message.source, text=message.text
        )
        return message, carrier, set(words)

    async def a_memory(self, scope: Scope, *states: str) -> Memory | None:
        """Return a formed memory, in one of *states* if given."""
        page = await self.memory.memories(scope, limit=200)
        found = [
            each
            for each in page.rows
            if each.type in FORMED and (not states or each.state in states)
        ]
        return self.chance.choice(found) if found else None

    def note(self, scope: Scope, log: UndoLog, before: dict[str, tuple[str, ...]]) -> None:
        """Keep an undo record as JSON, so that it survives a crash."""
        if log.last is not None:
            self.noted.append(NotedChange(scope, log.last.as_json(), before))

    def noted_undo(self, noted: NotedChange) -> Undo:
        """Decode a kept undo record."""
        return Undo.of_json(noted.undo)

    def forget_as_of(self, *scopes: Scope) -> None:
        """Drop earlier results for *scopes*, in which something was erased."""
        for each in scopes:
            self.past.pop(each, None)
            self.asked_as_of.pop(each, None)
            self.loses.add(each)
