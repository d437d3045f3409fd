"""The acts of the demonstration: its questions to the memory, and what it erases."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from recollect.demo.story import SCOPE
from recollect.memory.facade import Recollect
from recollect.recall.query import Where
from recollect.recall.results import Recall, Recalled, text_of
from recollect.records import Memory, Message
from recollect.stores.plans.erase_targets import EraseMessages, EraseReceipt
from recollect.stores.system_clock import timer_s

PAGE_ROWS: Final = 1_000
SHOWN_ENTRIES: Final = 2
SHOWN_SHARE_MIN: Final = 0.5
"""Least score of a shown entry, as a share of the best entry's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """A question, why it is asked, and the sources that answer it."""

    text: str
    about: str
    answers: tuple[str, ...]


QUESTIONS: Final = (
    DemoQuestion(
        text="When did I move to Porto?",
        about="the date was changed once, then the plan was done",
        answers=("Fact/home-porto", "moving/moving-3.1"),
    ),
    DemoQuestion(
        text="What is my cat called?",
        about="she was renamed, in Chinese, in another thread",
        answers=("Fact/cat-tangyuan", "kitchen/kitchen-2.3"),
    ),
    DemoQuestion(
        text="Am I allergic to shellfish?",
        about="so she believed, until a test",
        answers=("User/User",),
    ),
    DemoQuestion(
        text="Which plant did you suggest for the balcony?",
        about="the assistant said it",
        answers=("moving/moving-5.2",),
    ),
    DemoQuestion(
        text="我每天喝几杯咖啡？",
        about="how many coffees a day? a habit that changed",
        answers=("kitchen/kitchen-4.1",),
    ),
    DemoQuestion(
        text="展览文字什么时候要交？",
        about="when are the exhibition texts due?",
        answers=("work/work-4.3",),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """A question about a value that was true, or believed, at several times; ``None`` is now."""

    text: str
    moments: tuple[datetime | None, ...]
    kind: Literal["valid_at", "known_at"]


THENS: Final = (
    Then(
        text="Where do I live?", moments=(datetime(2025, 3, 20, tzinfo=UTC), None), kind="valid_at"
    ),
    Then(
        text="When am I moving to Porto?",
        moments=(datetime(2025, 3, 12, tzinfo=UTC), datetime(2025, 3, 20, tzinfo=UTC)),
        kind="known_at",
    ),
)

PROMPT_QUESTION: Final = "Invite my sister for a weekend in Porto."
PROMPT_TOKENS: Final = 160
DOOR_CODE: Final = "70315"
DOOR_QUESTION: Final = "What is the code of the street door?"
DOOR_MESSAGES: Final = EraseMessages(thread="moving", messages=("moving-4.3", "moving-4.4"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """An answer and how long it took."""

    recall: Recall
    ms: float

    @property
    def shown(self) -> list[Recalled]:
        """The entries that are relevant enough to show."""
        best = max((entry.score for entry in self.recall.entries), default=0.0)
        return [each for each in self.recall.entries if each.score >= SHOWN_SHARE_MIN * best]


async def ask(memory: Recollect, query: str, *, limit: int = SHOWN_ENTRIES) -> Timed:
    """Recall *query* over everything."""
    began_s = timer_s()
    found = await memory.recall(SCOPE, query, limit=limit)
    return Timed(recall=found, ms=(timer_s() - began_s) * 1_000)


async def fact_at(memory: Recollect, then: Then, at: datetime | None) -> Recalled | None:
    """Return the fact that answers a question best, now or at another time."""
    where = Where(messages=False, types=("Fact",))
    if at and then.kind == "valid_at":
        where = Where(messages=False, types=("Fact",), valid_at=at)
    elif at:
        where = Where(messages=False, types=("Fact",), known_at=at)
    found = await memory.recall(SCOPE, then.text, limit=1, where=where)
    return next(iter(found.entries), None)


async def entries_of(memory: Recollect) -> list[Message | Memory]:
    """Return everything that the scope holds."""
    found: list[Message | Memory] = []
    for thread in (await memory.threads(SCOPE, limit=PAGE_ROWS)).rows:
        found += (await memory.messages(SCOPE, thread.id, limit=PAGE_ROWS)).rows
    return [*found, *(await memory.memories(SCOPE, limit=PAGE_ROWS)).rows]


async def scan_ms(memory: Recollect, queries: Sequence[str]) -> float:
    """Return the median duration of the control, which reads every entry and compares words."""
    times_ms = []
    for query in queries:
        began_s = timer_s()
        words = set(query.lower().split())
        entries = await entries_of(memory)
        sorted(entries, key=lambda each: -len(words & set(text_of(each).lower().split())))
        times_ms.append((timer_s() - began_s) * 1_000)
    return statistics.median(times_ms)


async def erase_door_code(memory: Recollect) -> EraseReceipt:
    """Erase the messages with the door code, and what is derived from them alone."""
    return await memory.erase(SCOPE, DOOR_MESSAGES)


def count_in_files(store: Path, text: str) -> int:
    """Count occurrences of *text* in the files of a closed store."""
    wanted = text.encode()
    beside = sorted(store.parent.glob(f"{store.name}*"))
    return sum(file.read_bytes().count(wanted) for file in beside)
