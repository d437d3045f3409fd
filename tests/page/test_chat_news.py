"""News in the chat: noted without their words, learnt in sight, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

import recollect
from recollect.chat.answer_sources import USED_MAX
from recollect.records import PutMemory
from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Story, Walks


CHAPTERS = ("sources", "corrected", "news", "undone", "many", "used")
MANY = ("demo", "many")
FACTS = 1_200


async def fill(folder: Path) -> None:
    """Play the demonstration; beside it keep many facts, and a note that is newer."""
    await play_demo(folder)
    facts = [
        PutMemory(
            type="Fact", key=f"f{each}", value={"subject": f"Boat {each}", "predicate": "sails"}
        )
        for each in range(FACTS)
    ]
    crane = PutMemory(type="Note", key="crane", value={"note": "The harbour has a new crane."})
    async with recollect.open(str(folder / "page.db"), embedder="none", worker=False) as memory:
        for at in range(0, FACTS, 300):
            await memory.apply(MANY, facts[at : at + 300])
        await memory.apply(MANY, [crane])


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Tell the news on the demonstration's page, with fixed rules."""
    folder = tmp_path_factory.mktemp("news")
    anyio.run(fill, folder)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(folder, *options, after_s=1) as (address, _):
        return walks.walked(address, extent="chat_news", script="chat_news.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, nothing is in the way of a reader, and nothing fails that is not told."""
    assert dict.fromkeys(CHAPTERS, "well") == story.chapters
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_the_sources_of_an_answer_are_there_again(story: Story) -> None:
    """Memories and messages, those that it quotes first, after the page was left."""
    facts = story.facts

    assert "Porto" in facts["answer"]
    assert "Utrecht” (until 29 March 2025)" in facts["answer"]
    assert 2 == len(facts["used"])
    assert facts["used"] == facts["used_again"]
    # As many as are kept with an answer, though it was given more.
    assert (
        facts["counted"] == facts["counted_again"] == f"{USED_MAX} entries recalled for this answer"
    )
    assert "六月六号" in facts["said"]
    assert any("六月六号" in each for each in facts["used_message"])


def test_an_answer_keeps_the_words_that_it_used(story: Story) -> None:
    """The source says what the memory said then, and beside it what it says by now."""
    facts = story.facts

    assert "Porto" in facts["before_answer"]
    assert facts["corrected_chip"]["words"].startswith("Mira lives in Porto")
    assert "In the answer: Mira lives in Porto" in facts["corrected_chip"]["title"]
    assert facts["corrected_chip"]["title"].endswith("now: Mira lives in Coimbra")


def test_news_are_noted_without_their_words(story: Story) -> None:
    """What was formed stands beside the message, and first in the panel."""
    facts = story.facts

    assert "what you told me" in facts["noted_answer"]
    assert facts["learnt"].startswith("I've taken up the cello")
    assert "Remembered so far" == facts["heading"]
    assert facts["in_sight"]


def test_of_many_memories_the_panel_has_the_newest_and_counts_all(story: Story) -> None:
    """The button and the types tell what the overview tells, not how many the panel lists."""
    told = story.facts["many"]

    assert "1,201" == told["button"]
    assert {"Note 1", "Fact 1,200"} == {" ".join(each.split()) for each in told["types"]}
    assert told["listed"] < FACTS
    assert "#/memories?scope=many" == told["all"]


def test_requests_are_told_where_they_are_counted(story: Story) -> None:
    """In a scope below that of the key there is no plot of zero requests."""
    told = story.facts["used_below"]

    assert "Requests" in told["own"]
    assert "Requests" not in told["below"]
    assert "Searches" in told["below"]


def test_what_is_undone_is_said_to_be(story: Story) -> None:
    """Also after the page was left; the undo of the undo takes the notice away."""
    assert "Taken back" in story.facts["taken_back"]
    assert 0 == story.facts["back_again"] == story.facts["marks"]


def test_the_searches_of_the_chat_are_counted_and_no_tokens(story: Story) -> None:
    assert 4 == story.facts["usage"]["recalls"]
    assert 0 == story.facts["usage"].get("tokens", 0)
