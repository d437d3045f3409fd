"""Each act of the page that offers a way back is taken back by it, exactly."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import anyio
import pytest

import recollect
from recollect import NewMessage
from recollect.formation.config import FormationSettings
from recollect.formation.types import FACT, USER
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Evidence, JsonObject, PutMemory, Scope
from recollect.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Story, Walks

SCOPE: Final[Scope] = ("default",)
ACTS: Final = (
    *("end", "reject", "delete", "reject a field", "restore", "edit"),
    *("review approve", "review reject", "take back", "take back a move", "save types"),
    *("a formation", "review end", "review keep"),
)


def note(key: str, content: str = "harbour", **more: Any) -> PutMemory:
    """Return a note that names its key."""
    value: JsonObject = {"context": key, "content": content}
    return PutMemory(type="Note", key=key, value=value, **more)


async def filled(folder: Path) -> None:
    """Leave a memory for each act: in force, waiting, and resting on a message."""
    model = ScriptedModel(lambda _: ToolCall(name="remember_nothing", arguments={}))
    url = str(folder / "page.db")
    async with recollect.open(url, embedder="none", worker=False, model=model) as memory:
        notes = [note(each) for each in ("end", "reject", "edit", "delete", "restore", "once")]
        doubts = [note(f"doubt-{each}", state="quarantined") for each in ("approve", "reject")]
        trip: JsonObject = {"user_name": "Ada", "home": "Lisbon"}
        field = PutMemory(type="Trip", key="field", value=trip)
        await memory.apply(SCOPE, [*notes, *doubts, field])
        await memory.apply(SCOPE, [note("restore", "lighthouse")])
        said = [NewMessage(role="user", text="My sister plays the cello.")]
        (kept,) = await memory.append(SCOPE, "marked", said)
        cited = {"": (Evidence(thread="marked", message=kept.id, quote="plays the cello"),)}
        await memory.apply(SCOPE, [note("sister", evidence=cited)])
        await memory.form(SCOPE)
    await moved(url)
    await doubted(url)


async def moved(url: str) -> None:
    """Form a message that gives the user a new home, and ends the fact about the former one."""
    home: JsonObject = {"subject": "Mira", "predicate": "lives in", "object": "Coimbra"}
    types = FormationSettings(types=(USER, FACT))
    async with recollect.open(
        url, embedder="none", worker=False, model="rules", formation=types
    ) as memory:
        since = datetime(2024, 1, 1, tzinfo=UTC)
        job = note("job", "Acme", valid_from=since)
        await memory.apply(SCOPE, [PutMemory(type="Fact", key="home", value=home), job])
        said = [NewMessage(role="user", text="I moved to Braga last week.")]
        await memory.append(SCOPE, "moved", said)
        await memory.form(SCOPE)


async def doubted(url: str) -> None:
    """Form the end of a fact from words in doubt: it waits for a review."""

    def ends(request: ModelRequest) -> ToolCall:
        (shown,) = re.findall(r"(m\d+)\W[^\n]{0,80}boat", repr(request))[:1]
        cited = ["1: I may sell the boat in Faro"]
        return ToolCall(name="end_memory", arguments={"id": shown, "because": cited})

    boat: JsonObject = {"subject": "Mira", "predicate": "keeps a boat in", "object": "Faro"}
    types, since = FormationSettings(types=(FACT,)), datetime(2024, 1, 1, tzinfo=UTC)
    async with recollect.open(
        url, embedder="none", worker=False, model=ScriptedModel(ends), formation=types
    ) as memory:
        await memory.apply(
            SCOPE, [PutMemory(type="Fact", key="boat", value=boat, valid_from=since)]
        )
        said = [NewMessage(role="user", text="I may sell the boat in Faro.")]
        await memory.append(SCOPE, "boat", said)
        await memory.form(SCOPE)


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Do each act, and take it back."""
    folder = tmp_path_factory.mktemp("undos")
    anyio.run(filled, folder)
    with walks.serving(folder, "--no-auth", "--model", "rules", after_s=600) as (address, _):
        return walks.walked(address, extent="undos", script="undos.mjs")


def test_a_notice_in_the_chat_lies_over_nothing_that_is_used(story: Story) -> None:
    """Neither over the threads nor the talk nor the places: it has room of its own."""
    assert {"over": [], "shown": 1} == story.facts["notice in the chat"]


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, and nothing fails that is not told."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == story.facts["noted"]["errors"]


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_taken_back_exactly(story: Story, act: str) -> None:
    """It changed something, and then all is as it was: value, state, times and evidence."""
    told = story.facts[f"undo {act}"]

    assert told["between"] != told["before"]
    assert lasting(told["after"]) == lasting(told["before"])


def test_one_undo_is_offered_for_a_change_and_none_that_can_only_fail(story: Story) -> None:
    """The notice has it, then the list; a later change takes it away, whoever made that."""
    told = story.facts["undos offered"]

    assert {"notices": 1, "listed": 0} == told["first"]
    # Both notices stand; the first change can no longer be undone.
    assert {"notices": 1, "listed": 0, "shown": 2} == told["second"]
    assert {"notices": 0, "listed": 0} == told["third"]
    assert {"notices": 0, "listed": 1} == told["later"]


def test_a_refused_undo_is_not_offered_again(story: Story) -> None:
    """Its notice says why, and goes by itself."""
    told = story.facts["refused undo"]

    assert 0 == told["offered"]
    assert "Ended" in told["told"]


def test_a_waiting_end_is_asked_about_as_one(story: Story) -> None:
    """The fact holds until then; the card says what would end, why, and in whose words."""
    told = story.facts["waiting end"]
    ended = story.facts["undo review end"]

    for said in (
        "End “Mira keeps a boat in Faro”?",
        "Because you said “I may sell the boat in Faro.”",
        "It stays in force until you decide.",
        "The speaker was in doubt",
    ):
        assert said in told["card"]
    assert "Approve" not in told["card"]
    assert "would change or end stays in force until you decide" in told["about"]
    assert (None, None) == (ended["before"]["valid_until"], ended["after"]["valid_until"])
    assert ended["between"]["valid_until"]
    assert "End “Mira keeps a boat in Faro”?" in story.facts["overview waits"]


def test_the_count_of_what_waits_follows_a_decision_at_once(story: Story) -> None:
    """Nobody sees a number beside the place that the list no longer has."""
    assert int(story.facts["waiting end"]["badge"]) - 1 == int(
        story.facts["badge after the decision"]
    )


def test_the_message_of_a_move_tells_which_home_it_ended(story: Story) -> None:
    """Beside the new home; one undo gives up the new one, and the former one holds again."""
    (learnt,) = story.facts["learnt of a move"]
    told = story.facts["undo take back a move"]

    assert "Braga" in learnt
    assert "no longer:" in learnt
    assert "Coimbra" in learnt
    assert (True, False) == (told["before"]["ended"], told["between"]["ended"])
    assert ["Braga", None] == [told["before"]["next"]["object"], told["between"]["next"]]


def test_a_formed_memory_is_taken_back_on_its_own_page(story: Story) -> None:
    """With all that its message did: what it had ended holds again."""
    told = story.facts["undo a formation"]

    assert (True, False) == (told["before"]["ended"], told["between"]["ended"])
    assert ["Braga", None] == [told["before"]["next"]["object"], told["between"]["next"]]


def test_an_undone_correction_leads_to_what_stands_again(story: Story) -> None:
    """From the page of the memory that it had made, which is gone."""
    told = story.facts["undone correction"]

    assert "The change that made it was undone. This stands again:" in told["gone"]
    assert "Acme" in told["gone"]
    assert "#/memories/Note/job" == told["hash"]
    assert told["ended"] is None


def lasting(standing: Any) -> Any:
    """Return what an undo has to restore: it makes the next version, with its own time."""
    return {name: each for name, each in standing.items() if name not in {"version", "updated_at"}}
