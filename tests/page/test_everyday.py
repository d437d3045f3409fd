"""What people meet who use the page for weeks: long letters, decisions, deletions, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio
import pytest

from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

CHAPTERS: Final = ("folded", "decided", "restored", "keyed", "copied", "limited", "away")
LINES_SHOWN: Final = 12
SLIDER_PX: Final = 180
SCREEN_PX: Final = 300
"""What comes is drawn at least so wide: less is seen as an empty screen."""


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Use the demonstration's page, with fixed rules."""
    folder = tmp_path_factory.mktemp("everyday")
    anyio.run(play_demo, folder)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(folder, *options, after_s=600) as (address, _):
        return walks.walked(address, extent="everyday", script="everyday.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, nothing is in the way of a reader, and nothing fails that is not told."""
    assert dict.fromkeys(CHAPTERS, "well") == story.chapters
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_a_long_message_is_folded(story: Story) -> None:
    """To twelve lines on each window; unfolded, its first words stay where they are."""
    told = story.facts["folded"]

    assert {"desktop": [LINES_SHOWN] * 3, "phone": [LINES_SHOWN] * 3} == told["heights"]
    assert told["before"] == told["after"]


def test_marked_words_are_in_sight(story: Story) -> None:
    """A message in which words are marked, or that a link leads to, is not folded."""
    told = story.facts["folded"]

    assert told["marked"]
    assert 0 == told["folds"]
    assert {"folds": 0, "others": 1} == story.facts["linked"]


def test_what_waits_is_decided_on_its_own_page(story: Story) -> None:
    """It says what would change, and leads to what was changed."""
    asked, decided = story.facts["asked"], story.facts["decided"]

    assert "Change “The books go to Porto as freight, for 1,150 euros.” to" in asked["words"]
    assert "it would change what more trusted words say" in asked["words"]
    assert "books" == asked["key"]
    assert {"hash": "#/memories/Note/books?scope=mira", "waiting": 0} == decided


def test_what_was_deleted_is_restored_in_another_tab(story: Story) -> None:
    """Also in one that was opened later; where it cannot be, it is said where it can."""
    told = story.facts["restored"]

    assert 200 == told["status"]
    assert "the browser in which that was done can restore it" in told["gone"]


def test_a_dialog_gives_the_focus_back(story: Story) -> None:
    """To the button that opened it; on a telephone the slider over the days has room."""
    told = story.facts["keyed"]

    assert "scope-button" in told["after"]
    assert told["slider"] >= SLIDER_PX


def test_a_new_key_is_copied_by_a_button(story: Story) -> None:
    """Where the browser does not copy, the key is selected."""
    assert {"isKey": True, "isSelected": True} == story.facts["copied"]


def test_the_wait_of_a_quota_is_said_in_the_readers_language(story: Story) -> None:
    """In hours, not in seconds, and in no other language after a reload."""
    english, chinese = story.facts["limited"]

    assert "The limit of 12 messages a day is reached: try again in 6 hours." in english
    assert "已達到限額（每天的訊息數 12）：請在 6 小時後重試。" in chinese


def test_a_screen_that_is_first_opened_while_the_service_is_away_says_so(story: Story) -> None:
    """It is not blank below the bar, and comes by itself."""
    screens = story.facts["away"]

    assert {"chat", "memories", "recall"} == set(screens)
    assert min(screens.values()) >= SCREEN_PX
