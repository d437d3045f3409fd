"""What is erased from where it is seen: named in words, with all that goes, and gone for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

import recollect
from recollect.demo.story import StoryClock, play, read_chapters

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Story, Walks


async def _played(folder: Path) -> None:
    clock = StoryClock()
    async with recollect.open(str(folder / "page.db"), embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Erase a memory and a thread of the demonstration, and look at what a message takes."""
    folder = tmp_path_factory.mktemp("erasing")
    anyio.run(_played, folder)
    with walks.serving(folder, "--no-auth", "--scope", "demo", after_s=600) as (address, _):
        return walks.walked(address, extent="erasing", script="erasing.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, nothing fails that is not told, and each dialog is accessible."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == story.facts["noted"]["errors"]
    assert [] == story.serious


def test_a_memory_goes_with_the_words_that_were_chosen(story: Story) -> None:
    """The dialog is ready for the word, names the memory, and takes the messages it came from."""
    told = story.facts["memory"]

    assert told["isReady"]
    assert "Mira lives in Porto" in told["text"]
    assert "Its words stand in these messages, too." in told["text"]
    assert 404 == told["after"]
    assert told["place"].startswith("#/memories?")
    assert 0 == story.facts["words_left"]


def test_a_message_is_shown_with_what_rests_on_it(story: Story) -> None:
    """Its words, and the memories that go or lose a part, as links; nothing goes unasked."""
    told = story.facts["message"]

    assert told["isReady"]
    assert "This message" in told["text"]
    assert told["said"] in told["text"]
    assert "goes" in told["text"] or "loses a part" in told["text"]
    assert told["links"] > 1
    assert told["before"] == told["after"]


def test_a_thread_goes_whole(story: Story) -> None:
    """From its own head; the chat goes on with another one."""
    assert "These messages" in story.facts["thread"]["text"]
    assert 404 == story.facts["thread"]["after"]


def test_what_is_not_there_is_told_without_a_dialog(story: Story) -> None:
    """And what is there can be chosen by what it says."""
    told = story.facts["unknown"]

    assert {
        "thread": "There is no such thread.",
        "message": "There is no such message.",
        "memory": "There is no such memory.",
    } == told["told"]
    assert 0 == told["dialogs"]
    assert any("Mira" in each for each in told["offered"])
