"""What waits for review, with what was said about it since."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Final

import pytest

import recollect
from recollect.errors import StaleReadError
from recollect.formation.citations import cited_words
from recollect.formation.config import FormationSettings
from recollect.formation.review_records import LaterWords
from recollect.formation.types import ENTITY, FACT, NOTE, USER
from recollect.formation.value_identity import proposal_key
from recollect.memory import review_page
from recollect.memory.facade import Recollect
from recollect.ports import ToolCall
from recollect.records import (
    Evidence,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    NewMessage,
    PutMemory,
    Scope,
    Trust,
)
from recollect.testing import FrozenClock, ScriptedModel, SeededIds
from tests.harness.store_opener import Opener

ADA: Final[Scope] = ("users", "ada")
BEN: Final[Scope] = ("users", "ben")
MAY: Final = [datetime(2026, 5, day, 9, tzinfo=UTC) for day in range(1, 20)]


class Talk:
    """A memory in which words are kept on a day of May."""

    def __init__(self, memory: Recollect, clock: FrozenClock, calls: list[ToolCall]) -> None:
        self.memory = memory
        self.clock = clock
        self.calls = calls

    async def say(self, day: int, put: PutMemory, scope: Scope = ADA) -> Memory:
        """Keep a memory that rests on a message of this day."""
        self.on(day)
        new = NewMessage(role="user", text=f"on day {day}", time=MAY[day])
        (said,) = await self.memory.append(scope, "talk", new)
        cited = Evidence(thread="talk", message=said.id, quote=f"on day {day}")
        whole = PutMemory(
            type=put.type,
            key=put.key,
            value=put.value,
            state=put.state,
            trust=put.trust,
            evidence={f"/{name}": [cited] for name in put.value},
        )
        (kept,) = await self.memory.apply(scope, [whole])
        assert kept is not None
        return kept

    async def form(self, day: int, text: str, *calls: ToolCall) -> None:
        """Say *text* on this day, and form what the model answers."""
        self.on(day)
        self.calls[:] = calls
        await self.memory.append(ADA, "talk", NewMessage(role="user", text=text, time=MAY[day]))
        await self.memory.form(ADA, "talk")

    def on(self, day: int) -> None:
        self.clock.advance(max(0.0, (MAY[day] - self.clock.now()).total_seconds()))

    async def since(self) -> list[tuple[LaterWords, ...]]:
        """Return the later words of each memory that waits."""
        return [each.since for each in (await self.memory.review(ADA)).rows]


@pytest.fixture
async def talk(open_empty: Opener) -> AsyncIterator[Talk]:
    clock, calls = FrozenClock(MAY[0]), list[ToolCall]()
    types = FormationSettings(types=(USER, NOTE, FACT, ENTITY))
    model = ScriptedModel(lambda _: list(calls))
    store = open_empty(clock, SeededIds(1))
    async with Recollect(
        store, embedder="none", model=model, formation=types, worker=False
    ) as memory:
        yield Talk(memory, clock, calls)


def put(
    type_: str,
    key: str,
    state: MemoryState = "active",
    trust: Trust = "user",
    **value: Json,
) -> PutMemory:
    return PutMemory(type=type_, key=key, value=value, state=state, trust=trust)


def home(key: str, place: str, state: MemoryState = "active", subject: str = "Mira") -> PutMemory:
    return put("Fact", key, state, subject=subject, predicate="lives in", object=place)


def told(found: Sequence[LaterWords]) -> list[tuple[str, datetime, bool]]:
    return [(each.memory.key, each.said_at, each.ended) for each in found]


async def test_a_fact_is_shown_with_what_was_said_of_its_subject_since(talk: Talk) -> None:
    """Neither what was said before it, nor what is about somebody else, or over."""
    await talk.say(1, home("before", "Bonn"))
    await talk.say(2, home("waits", "Oslo", "quarantined"))
    await talk.say(3, home("ben", "Lima", subject="Ben"))
    await talk.say(4, home("over", "Kiel"))
    await talk.memory.end(ADA, "Fact", "over", MAY[5])
    await talk.say(6, home("later", "Rome", subject="MIRA"))
    await talk.say(7, home("again", "Oslo"))
    await talk.say(8, home("elsewhere", "Graz"), BEN)

    ((again, later),) = await talk.since()

    assert [("again", MAY[7], False), ("later", MAY[6], False)] == told([again, later])
    assert later.evidence is not None
    assert ("talk", "on day 6") == (later.evidence.thread, later.evidence.quote)
    assert later.memory.value == later.value


async def test_a_note_is_shown_with_those_alike_in_words(talk: Talk) -> None:
    await talk.say(2, put("Note", "waits", "quarantined", content="Mira's cat is ill."))
    await talk.say(3, put("Note", "later", content="Mira's cat is well again."))
    await talk.say(4, put("Note", "other", content="Ben repairs old bicycles."))

    (found,) = await talk.since()

    assert [("later", MAY[3], False)] == told(found)


async def test_an_entity_is_shown_with_its_namesake(talk: Talk) -> None:
    """The name is what both are about, whatever else is known."""
    await talk.say(2, put("Entity", "waits", "quarantined", name="Ida", kind="boat"))
    await talk.say(3, put("Entity", "later", name="ida", kind="granddaughter"))

    (found,) = await talk.since()

    assert ["later"] == [each.memory.key for each in found]


async def wait_for(talk: Talk, day: int, standing: Memory, value: JsonObject) -> None:
    """Propose another value of a memory, as formation does if it is in doubt."""
    key = proposal_key(standing.key, standing.version, value)
    await talk.say(day, PutMemory(type=standing.type, key=key, value=value, state="quarantined"))


async def test_a_change_of_a_profile_is_shown_with_the_field_that_was_said_since(
    talk: Talk,
) -> None:
    """That field alone, and not what was said of others."""
    profile = await talk.say(1, put("User", "User", home="Porto", occupation="baker"))
    await wait_for(talk, 2, profile, {"home": "Oslo", "occupation": "baker"})
    await talk.say(3, put("User", "User", home="Rome", occupation="painter"))

    ((found,),) = await talk.since()

    assert ({"home": "Rome"}, MAY[3]) == (found.value, found.said_at)
    assert found.evidence is not None
    assert "on day 3" == found.evidence.quote


async def test_another_field_says_nothing_of_a_change(talk: Talk) -> None:
    profile = await talk.say(1, put("User", "User", home="Porto", occupation="baker"))
    await wait_for(talk, 2, profile, {"home": "Oslo", "occupation": "baker"})
    talk.on(3)
    new = {"home": "Porto", "occupation": "painter"}
    await talk.memory.put(ADA, "User", "User", new, evidence={"/home": profile.evidence["/home"]})

    assert [()] == await talk.since()


async def test_what_a_person_wrote_since_counts_from_its_writing(talk: Talk) -> None:
    """It rests on no message, so none is named."""
    profile = await talk.say(1, put("User", "User", home="Porto"))
    await wait_for(talk, 2, profile, {"home": "Oslo"})
    await talk.say(3, home("waits", "Oslo", "quarantined"))
    talk.on(4)
    await talk.memory.put(ADA, "User", "User", {"home": "Rome"})
    await talk.memory.put(ADA, "Fact", "written", dict(home("", "Rome").value))

    fact, change = await talk.since()

    assert ["written", "User"] == [each.memory.key for each in (*fact, *change)]
    assert all(each.said_at >= MAY[4] for each in (*fact, *change))
    assert [None, None] == [each.evidence for each in (*fact, *change)]


def call(name: str, **arguments: Json) -> ToolCall:
    return ToolCall(name=name, arguments=json.dumps(arguments))


async def test_the_message_that_ended_it_is_named(talk: Talk) -> None:
    """As the receipt of that formation has it."""
    rota = await talk.say(1, put("Note", "rota", content="I row on Mondays with Tomas."))
    await wait_for(talk, 2, rota, {"content": "I row on Fridays with Tomas."})
    words = "I stopped rowing with Tomas on Mondays."
    await talk.form(5, words, call("end_memory", id="m1", because=[cited_words(2, words)]))

    ((found,),) = await talk.since()
    assert found.evidence is not None
    messages = (await talk.memory.messages(ADA, "talk")).rows
    named = next(each for each in messages if each.id == found.evidence.message)

    assert ("rota", MAY[5], True) == (found.memory.key, found.said_at, found.ended)
    assert words == named.text


async def test_an_end_that_a_person_set_names_no_message(talk: Talk) -> None:
    rota = await talk.say(1, put("Note", "rota", content="I row on Mondays."))
    await wait_for(talk, 2, rota, {"content": "I row on Fridays."})
    talk.on(5)
    await talk.memory.end(ADA, "Note", "rota", MAY[4])

    assert [()] == await talk.since()


async def test_the_newest_five_are_shown(talk: Talk) -> None:
    await talk.say(1, home("waits", "Oslo", "quarantined"))
    for day in range(2, 10):
        await talk.say(day, home(f"h{day}", f"Town{day}"))

    (found,) = await talk.since()

    assert ["h9", "h8", "h7", "h6", "h5"] == [each.memory.key for each in found]


async def test_of_many_memories_those_that_changed_last_are_read(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are listed by key, and what was said last may be at the end."""
    monkeypatch.setattr(review_page, "OTHERS_READ", 3)
    monkeypatch.setattr(review_page, "_ROWS_A_PAGE", 2)
    await talk.say(1, home("waits", "Oslo", "quarantined"))
    for day in range(2, 7):
        await talk.say(day, home(f"h{day}", f"Town{day}", subject="Ben"))
    await talk.say(8, home("z", "Rome"))
    await talk.say(9, put("Note", "n", content="Mira lives in Oslo."))

    ((found,),) = await talk.since()

    assert "z" == found.memory.key


async def test_what_waits_beside_it_is_not_in_force(talk: Talk) -> None:
    await talk.say(1, home("waits", "Oslo", "quarantined"))
    await talk.say(2, home("too", "Rome", "quarantined"))

    assert [(), ()] == await talk.since()


async def test_a_page_goes_on_where_it_ended(talk: Talk) -> None:
    await talk.say(1, home("a", "Oslo", "quarantined"))
    await talk.say(2, home("b", "Rome", "quarantined"))

    first = await talk.memory.review(ADA, limit=1)
    rest = await talk.memory.review(ADA, limit=1, cursor=first.cursor)

    assert ["a", "b"] == [each.memory.key for each in (*first.rows, *rest.rows)]


async def test_what_is_erased_is_not_shown(talk: Talk) -> None:
    await talk.say(1, home("waits", "Oslo", "quarantined"))
    later = await talk.say(2, home("later", "Rome"))
    cited = later.evidence["/object"][0].message
    await talk.memory.erase(ADA, recollect.EraseMessages(thread="talk", messages=(cited,)))

    assert [()] == await talk.since()


async def waiting_change(talk: Talk) -> tuple[Memory, Memory]:
    """Return a profile, and a change of its home that waits since the day after."""
    profile = await talk.say(1, put("User", "User", home="Porto", occupation="baker"))
    await wait_for(talk, 2, profile, {"home": "Oslo", "occupation": "baker"})
    (waiting,) = (await talk.memory.review(ADA)).rows
    return profile, waiting.memory


async def test_a_change_is_approved_beside_what_was_said_of_other_fields(talk: Talk) -> None:
    """It writes its own field, on its own words; the others stay, on theirs."""
    profile, waiting = await waiting_change(talk)
    talk.on(3)
    new = {"home": "Porto", "occupation": "painter", "user_name": "Ada"}
    await talk.memory.append(ADA, "t", [NewMessage(role="user", text="I paint.", id="m")])
    cited = {"/home": profile.evidence["/home"], "/occupation": [Evidence(thread="t", message="m")]}
    await talk.memory.put(ADA, "User", "User", new, evidence=cited)

    approved = await talk.memory.approve(ADA, "User", waiting.key)

    assert {**new, "home": "Oslo"} == approved.value
    assert ["on day 2"] == [each.quote for each in approved.evidence["/home"]]
    assert ["m"] == [each.message for each in approved.evidence["/occupation"]]
    assert [] == list((await talk.memory.review(ADA)).rows)


async def test_a_change_is_not_approved_over_what_was_said_of_its_field(talk: Talk) -> None:
    """The newer words stay in force."""
    _, waiting = await waiting_change(talk)
    await talk.say(3, put("User", "User", home="Rome", occupation="painter"))

    with pytest.raises(StaleReadError):
        await talk.memory.approve(ADA, "User", waiting.key)

    profile = await talk.memory.get(ADA, "User", "User")
    assert profile is not None
    assert "Rome" == profile.value["home"]


async def test_an_end_is_approved_though_the_same_was_said_again(talk: Talk) -> None:
    """But not of another value than the one that it was asked for."""
    rota = await talk.say(1, put("Note", "rota", content="I row on Mondays."))
    end = PutMemory(
        type="Note",
        key=proposal_key("rota", rota.version, rota.value),
        value=rota.value,
        state="quarantined",
        valid_until=MAY[2],
    )
    await talk.memory.apply(ADA, [end])
    await talk.say(3, put("Note", "rota", content="I row on Mondays."))
    ((found,),) = await talk.since()

    approved = await talk.memory.approve(ADA, "Note", end.key)

    assert ("rota", MAY[3]) == (found.memory.key, found.said_at)
    assert MAY[2] == approved.valid_until

    again = await talk.say(4, put("Note", "rota", content="I row on Mondays."))
    late = PutMemory(
        type="Note",
        key=proposal_key("rota", again.version, again.value),
        value=again.value,
        state="quarantined",
        valid_until=MAY[5],
    )
    await talk.memory.apply(ADA, [late])
    await talk.say(6, put("Note", "rota", content="I row on Fridays."))
    with pytest.raises(StaleReadError):
        await talk.memory.approve(ADA, "Note", late.key)
