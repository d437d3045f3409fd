"""Screens of the page that cannot be loaded, read or shown say so, and can be tried again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import recollect
from recollect import NewMessage
from recollect.formation.rule_model import RuleModel
from recollect.records import PutMemory, Scope

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

SCOPE: Final[Scope] = ("default",)
SCREENS: Final = 12
ANSWERS: Final = ("nothing", "status", "page", "shape")
PLACES: Final = 11
LAZY: Final = 8
TABS: Final = 4
BACK_MS: Final = 8_000
"""The service is looked for every three seconds."""
OFFLINE_BACK_MS: Final = 2_500


async def filled(folder: Path) -> None:
    """Leave something for each screen to show."""
    url = f"sqlite:///{folder / 'page.db'}"
    notes = [
        PutMemory(type="Note", key=f"n{n:03}", value={"context": "a", "content": f"harbour {n}"})
        for n in range(230)
    ]
    fact = {"subject": "Ada", "predicate": "knows", "object": "Grace"}
    async with recollect.open(url, embedder="none", worker=False, model=RuleModel()) as memory:
        await memory.append(SCOPE, "talk", [NewMessage(role="user", text="I live in Lisbon.")])
        await memory.form(SCOPE, "talk")
        doubt = PutMemory(type="Note", key="q", value={"content": "?"}, state="quarantined")
        await memory.apply(SCOPE, [*notes, doubt, PutMemory(type="Fact", key="f", value=fact)])


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Go to each screen while the service is away, renewed, or answers what it should not."""
    folder = tmp_path_factory.mktemp("broken")
    asyncio.run(filled(folder))
    with walks.serving(folder, "--no-auth", "--model", "rules", after_s=600) as (address, _):
        return walks.walked(address, extent="broken", script="broken.mjs")


def test_the_whole_story_can_be_walked(story: Story) -> None:
    """No step fails; what failed on the way is told to a person, and nothing else is."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == [each for each in story.facts["noted"]["errors"] if "uncaught" in each]
    assert [] == story.serious
    assert {0} == set(story.overflows.values())


def test_a_screen_whose_script_does_not_come_says_why(story: Story) -> None:
    """That it could not be loaded, and whether its files cannot be reached; a line if all is."""
    missing: list[dict[str, Any]] = story.facts["missing"]

    assert len(missing) == 3 * LAZY
    for each in missing:
        assert each["nav"] == PLACES
        if each["cause"] == "stopped":
            assert ("does not answer" in each["text"], each["boxes"]) == (True, 0), each
            continue
        assert "This screen could not be loaded" in each["text"], each
        assert ("cannot be reached" in each["text"]) is (each["cause"] == "files"), each


def test_a_page_that_is_older_than_its_service_is_to_be_reloaded(story: Story) -> None:
    """It says that there is a newer version; after the reload what was typed is there."""
    assert "newer version" in story.facts["renewed"]["text"]
    assert "Reload" in story.facts["renewed"]["text"]
    assert "Typed before the reload." == story.facts["after_reload"]["draft"]


def test_no_screen_is_ever_blank(story: Story) -> None:
    """Whatever the service answers, there is a sentence, a retry, and the way elsewhere."""
    unread: list[dict[str, Any]] = story.facts["unread"]

    assert len(unread) == SCREENS * len(ANSWERS)
    for each in unread:
        assert each["nav"] == PLACES, each
        # An answer of another shape may be read as one that holds nothing.
        if each["kind"] != "shape" or each["alerts"]:
            assert each["alerts"], each
            assert each["offers"], each
            assert each["isShown"], each


def test_a_screen_that_fails_leaves_the_others(story: Story) -> None:
    """The boundary is forgotten where another screen is gone to."""
    assert 0 == story.facts["other_screen"]


def test_a_part_of_a_list_can_be_asked_for_again(story: Story) -> None:
    """The failure stands in sight; the rows that are missing come, and a change empties none."""
    found = story.facts["no_more"]

    assert found["isInSight"] is True
    assert found["blank"] > 0
    assert "harbour" in found["after"] or "Lisbon" in found["after"]
    assert found["afterChange"] > 3


def test_a_page_that_does_not_start_says_so(story: Story) -> None:
    """Without its script, and without the service."""
    assert "the service may have stopped" in story.facts["start"]["without"]
    assert "cannot be reached" in story.facts["start"]["silent"]


def test_a_page_that_is_cut_off_says_so_and_catches_up(story: Story) -> None:
    """While its service is gone, and not before; what changed meanwhile is shown afterwards."""
    assert 0 == story.facts["cut_off"]["before"]
    assert "may be out of date" in story.facts["cut_off"]["told"]


def test_a_tab_that_lost_its_network_says_so_at_once(story: Story) -> None:
    """Before anything is asked; what was written meanwhile is there at once when it is back."""
    told = story.facts["offline"]

    assert 0 == told["before"]
    assert "may be out of date" in told["told"]
    assert told["back_ms"] < OFFLINE_BACK_MS


def test_screens_come_by_themselves_when_the_service_is_back(story: Story) -> None:
    """One line says that it is away, and nothing beside it; a talk that was read stays."""
    back = story.facts["back"]

    assert len(back) == PLACES
    assert back["chat"]["turns"] > 0
    for place, each in back.items():
        # Where the last connection was cut instead of left waiting, the browser calls it so.
        assert each["sayings"] in (["does not answer"], ["cannot be reached"]), place
        assert 0 == each["boxes"], place
        assert [] == each["left"], place
    assert max(each["back_ms"] for each in back.values()) < BACK_MS


def test_a_dead_key_is_told_once(story: Story) -> None:
    """With both ways in; what was typed is there again under the new key."""
    told = story.facts["dead_key"]

    assert (1, 0) == (told["alerts"], told["bars"])
    assert "the address that its terminal shows now" in told["text"]
    assert "recollect keys create" in told["text"]
    assert "Typed before the key was refused." == told["draft"]


def test_a_slow_service_is_said_to_be_slow(story: Story) -> None:
    """As long as it is waited for."""
    assert "slow to answer" in story.facts["slow"]["told"]
    assert 0 == story.facts["slow"]["left"]


def test_a_screen_that_is_left_calls_nobody_back(story: Story) -> None:
    """It is shown anew before it hears that the address has changed, and leaves that alone."""
    assert "#/settings" == story.facts["left_for"]


def test_several_tabs_are_served_beside_each_other(story: Story) -> None:
    """Each listens for changes, and none waits for a connection that the others hold."""
    assert TABS == len(story.facts["tabs_ms"])


def test_a_browser_that_keeps_nothing_is_enough(story: Story) -> None:
    """Where storage is forbidden, what is typed and chosen lasts as long as the page."""
    found = story.facts["no_storage"]

    assert "Typed without storage." == found["draft"]
    assert "dark" == found["theme"]
    assert [] == found["errors"]
