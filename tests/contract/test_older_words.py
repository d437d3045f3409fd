"""Words that are formed after newer ones, as those of a talk that is imported, replace nothing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

import pytest

from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.told_times import RESTORED, ToldTimes
from recollect.formation.types import NOTE, USER
from recollect.memory.facade import Recollect
from recollect.ports import Clock, Ids, ModelRequest, ToolCall
from recollect.records import Json, JsonObject, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.formation_result import FormationResult

Opener: TypeAlias = Callable[[Clock, Ids], Store]
ADA: Final = ("users", "ada")
NOW: Final = datetime(2026, 3, 4, 12, tzinfo=UTC)
LONG_AGO: Final = NOW - timedelta(days=1_500)
NEWER: Final = "I live in Lisbon now, and I own a boat. I like tea."
OLDER: Final = "I live in Oslo. I am Ada, I like coffee. I sold my boat."


def because(quote: str) -> Json:
    return [{"message": 1, "quote": quote}]


def formed_of_newer(_: ModelRequest) -> list[ToolCall]:
    """Keep where Ada lives, what she likes and owns."""
    value: JsonObject = {"home": "Lisbon", "interests": ["tea"]}
    boat: JsonObject = {"content": "Owns a boat"}
    words: list[Json] = [
        {"path": "/home", "message": 1, "quote": "I live in Lisbon now"},
        {"path": "/interests/0", "message": 1, "quote": "I like tea"},
    ]
    return [
        ToolCall(name="User", arguments={"value": value, "because": words}),
        ToolCall(name="Note", arguments={"value": boat, "because": because("I own a boat")}),
    ]


def formed_of_older(request: ModelRequest) -> list[ToolCall]:
    """Change the home, add a name and what she likes, and end the boat."""
    known = {type_: id_ for id_, type_, _ in shown_in(request).known}
    changes: list[Json] = [
        {"op": "replace", "path": "/home", "value": "Oslo", "because": because("I live in Oslo")},
        {"op": "add", "path": "/user_name", "value": "Ada", "because": because("I am Ada")},
        {
            "op": "add",
            "path": "/interests/-",
            "value": "coffee",
            "because": because("I like coffee"),
        },
    ]
    calls = [ToolCall(name="patch_memory", arguments={"id": known["User"], "changes": changes})]
    if "Note" in known:
        end: JsonObject = {"id": known["Note"], "because": because("I sold my boat")}
        calls.append(ToolCall(name="end_memory", arguments=end))
    return calls


def formed_whole(_: ModelRequest) -> list[ToolCall]:
    """Give the whole document again, as a model does that was not shown it."""
    value: JsonObject = {"home": "Oslo", "user_name": "Ada"}
    words: list[Json] = [
        {"path": "/home", "message": 1, "quote": "I live in Oslo"},
        {"path": "/user_name", "message": 1, "quote": "I am Ada"},
    ]
    return [ToolCall(name="User", arguments={"value": value, "because": words})]


class Ada:
    """Ada's memory, and a model that answers with what is set."""

    def __init__(self, store: Store) -> None:
        self.answer = formed_of_newer
        self.memory = Recollect(
            store,
            embedder="none",
            model=ScriptedModel(self._answered),
            formation=FormationSettings(types=(USER, NOTE)),
            worker=False,
        )

    def _answered(self, request: ModelRequest) -> list[ToolCall]:
        return self.answer(request)

    async def say(
        self, thread: str, text: str, time: datetime, answer: Callable[..., list[ToolCall]]
    ) -> FormationResult:
        """Append a message of this time, and form it."""
        self.answer = answer
        await self.memory.append(ADA, thread, [NewMessage(role="user", text=text, time=time)])
        return (await self.memory.form(ADA))[-1]

    async def profile(self) -> dict[str, Json]:
        found = await self.memory.get(ADA, "User", "User")
        return {} if found is None else dict(found.value)

    async def holds(self, type_: str) -> bool:
        """Return True if a memory of the type is in force."""
        return bool((await self.memory.memories(ADA, type_=type_, valid_at=NOW)).rows)


def opened(open_empty: Opener) -> tuple[Ada, FrozenClock]:
    clock = FrozenClock(NOW)
    return Ada(open_empty(clock, SeededIds(1))), clock


async def test_what_was_said_later_stands(open_empty: Opener) -> None:
    """A field is not replaced and a memory not ended; what is new is added."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, NOW, formed_of_newer)
        clock.advance(60)
        result = await ada.say("imported", OLDER, LONG_AGO, formed_of_older)

        expected = {"home": "Lisbon", "interests": ["tea", "coffee"], "user_name": "Ada"}
        assert expected == await ada.profile()
        assert await ada.holds("Note")
        reasons = [each.reason for each in result.outcomes if each.action == "refused"]
        told = f"it was told on {NOW:%Y-%m-%d}, after these words of {LONG_AGO:%Y-%m-%d}"
        assert [f"/home: {told}", told] == sorted(reasons)
        assert not (await ada.memory.memories(ADA, state="quarantined")).rows


async def test_a_whole_document_adds_only_what_is_new(open_empty: Opener) -> None:
    """As a patch does."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, NOW, formed_of_newer)
        clock.advance(60)
        await ada.say("imported", OLDER, LONG_AGO, formed_whole)

        expected = {"home": "Lisbon", "interests": ["tea"], "user_name": "Ada"}
        assert expected == await ada.profile()


async def test_newer_words_replace(open_empty: Opener) -> None:
    """The same answers, of words said afterwards."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, LONG_AGO, formed_of_newer)
        clock.advance(60)
        await ada.say("talk", OLDER, NOW, formed_of_older)

        assert "Oslo" == (await ada.profile())["home"]
        assert not await ada.holds("Note")


async def test_what_a_person_wrote_later_stands(open_empty: Opener) -> None:
    """A correction has no words whose time could be compared: when it was written counts."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, LONG_AGO - timedelta(days=1), formed_of_newer)
        await ada.memory.put(ADA, "User", "User", {"home": "Rome"})
        clock.advance(60)
        await ada.say("imported", OLDER, LONG_AGO, formed_whole)

        assert {"home": "Rome", "user_name": "Ada"} == await ada.profile()


async def test_what_a_person_restored_later_stands(open_empty: Opener) -> None:
    """An earlier version is restored with the words that it cites, and holds since its restore."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, LONG_AGO - timedelta(days=1), formed_of_newer)
        await ada.memory.put(ADA, "User", "User", {"home": "Rome", "interests": ["tea"]})
        first, _ = await ada.memory.history(ADA, "User", "User")
        restored = PutMemory(
            type="User", key="User", value=first.value, evidence=first.evidence,
            trust=first.trust, cause=f"{RESTORED} 1",
        )  # fmt: skip
        await ada.memory.apply(ADA, [restored])
        clock.advance(60)
        await ada.say("imported", OLDER, LONG_AGO, formed_whole)

        expected = {"home": "Lisbon", "interests": ["tea"], "user_name": "Ada"}
        assert expected == await ada.profile()
        clock.advance(60)
        await ada.say("talk", OLDER, clock.now(), formed_of_older)
        assert "Oslo" == (await ada.profile())["home"]


async def test_a_clock_that_is_ahead_keeps_nothing(open_empty: Opener) -> None:
    """What is dated ahead was told when it was written, at the latest."""
    ada, clock = opened(open_empty)
    async with ada.memory:
        await ada.say("talk", NEWER, NOW + timedelta(hours=20), formed_of_newer)
        clock.advance(60)
        await ada.say("talk", OLDER, NOW + timedelta(seconds=30), formed_of_older)

        assert "Oslo" == (await ada.profile())["home"]


def test_without_the_times_older_words_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: everything that is known was told before all words."""
    monkeypatch.setattr(ToldTimes, "at", lambda *_: datetime.min.replace(tzinfo=UTC))

    def store(clock: Clock, ids: Ids) -> Store:
        return InProcessStore(clock=clock, ids=ids)

    with pytest.raises(AssertionError):
        asyncio.run(test_what_was_said_later_stands(store))
