"""What a person corrects on the page is told truly: since when, by whom, and how to undo it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio
import pytest

from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Correct memories of the demonstration, in each of the ways that the page has."""
    folder = tmp_path_factory.mktemp("corrections")
    anyio.run(play_demo, folder)
    with walks.serving(folder, "--no-auth", "--scope", "demo", after_s=600) as (address, _):
        return walks.walked(address, extent="corrections", script="corrections.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, nothing fails that is not told, and the form is accessible."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == story.facts["noted"]["errors"]
    assert [] == story.serious


def test_a_correction_is_believed_since_it_was_made(story: Story) -> None:
    """It rests on no words, and not on the day of those that it corrected; its time stays."""
    before, now = story.facts["before"], story.facts["corrected"]

    assert "rests on your words" in before["about"]
    assert "2025" in before["about"]
    assert "corrected by hand" in now["about"]
    assert "rests on" not in now["about"]
    assert "2025" not in now["about"]
    true_from, _, believed_since, *_ = now["times"]
    assert before["times"][0] == true_from
    assert "2025" in before["times"][2]
    assert "2025" not in believed_since
    assert "Mira lives in Coimbra" in now["toast"]
    # The message behind it stands there once, in its words.
    (rested,) = now["rested"]
    assert "Porto, third floor" in rested


def test_what_can_be_done_with_a_long_memory_is_in_sight(story: Story) -> None:
    """Its words scroll, by keys as well, and none of them is left out."""
    told = story.facts["long words"]

    assert told["inSight"]
    assert 240 * len("The harbour has a crane. ") - 1 == told["said"]


def test_a_change_ends_the_old_memory_and_begins_a_new_one(story: Story) -> None:
    """The former one stays as it was until that day, and one Undo takes back both."""
    told = story.facts["moved"]
    before = {each["key"]: each for each in told["before"]}
    between = {each["key"]: each for each in told["between"]}
    (new,) = between.keys() - before.keys()

    assert "Mira lives in Coimbra" == between[new]["sentence"]
    assert between[new]["valid_from"] is not None
    assert between["home-porto"]["valid_until"] == between[new]["valid_from"]
    assert before["home-porto"]["sentence"] == between["home-porto"]["sentence"]
    assert "Mira lives in Coimbra" in story.facts["replaced"]
    assert told["before"] == told["after"]


def test_a_memory_that_was_written_here_says_so(story: Story) -> None:
    """By whom and when, once; and the notice says which is true since, and which was until then."""
    told = story.facts["moved"]

    since, _, until = told["toast"].partition("Until then:")
    assert "Since" in since
    assert "Mira lives in Coimbra" in since
    assert "Mira lives in Porto" in until
    assert "You wrote it by hand" in told["why"]
    assert "rests on" not in told["about"]
    assert "ago" in told["about"] or "now" in told["about"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_conflict_and_the_kind_of_a_change_are_told_in_sight(story: Story, width: int) -> None:
    """They stand above the button that saves, which follows the window's end, not below it."""
    told = story.facts[f"conflict {width}"]

    assert told["question"], "the question how it is meant was out of sight before it was saved"
    (said,) = told["told"]
    assert "Somebody else changed this memory" in said
    assert [True] == told["seen"]
    assert told["save"]


def test_a_low_window_keeps_the_buttons_of_a_form_and_its_conflict_in_sight(story: Story) -> None:
    """As one with a phone's keyboard open is: the question would take half of it, and scrolls."""
    told = story.facts["conflict 392"]

    assert [True] == told["seen"]
    assert told["save"]


def test_the_timeline_stays_on_today_when_a_version_is_formed(story: Story) -> None:
    """The slider keeps a moment: its places move with each version."""
    told = story.facts["new version"]

    assert told["head"].startswith("Today")
    assert f"Version {told['version'] + 1}" in told["head"]
    assert "Aveiro" in told["now"]


def test_a_field_of_a_profile_changes_on_a_day(story: Story) -> None:
    """The profile goes on with what is true since; the version before was true until that day."""
    told = story.facts["profile"]

    assert {"partner": "Rui", "valid_until": None} == told["before"]
    assert {"partner": "Tomas", "valid_until": None} == told["between"]
    assert "Tomas" in told["rows"][0]
    assert "True until: 1 May 2025" in told["rows"][1]
    assert told["before"] == story.facts["profile_after"]


def test_a_field_that_is_corrected_by_hand_says_so(story: Story) -> None:
    """On its page, on the overview and by its date; one that is added has no former value."""
    told = story.facts["by hand"]

    for said in (told["row"], told["overview"]):
        assert "Corrected by hand, before: Rui" in said
    assert not told["isCut"], "what the field said before is cut off on a phone"
    assert "Written by hand" in told["added"]
    assert "Believed as it is since" in told["times"]
    assert "2025" not in told["times"]
    assert "2025" not in story.facts["by hand, in the panel"]
    # The list stays in the order of what was said, and says when it was changed.
    listed = story.facts["by hand, in the list"]
    assert "2025" in listed
    assert re.search("changed (now|.* ago)", listed), listed


def test_the_fields_of_a_profile_keep_the_order_of_their_schema(story: Story) -> None:
    """However they were written: formed, edited, or put back by an undo."""
    told = story.facts["by hand"]
    (added,) = set(told["names"]) - set(told["before"])

    assert "home" == added.lower()
    assert told["before"] == [each for each in told["names"] if each != added]
    assert 1 == told["names"].index(added)
    assert told["before"] == story.facts["order after the undo"]


def test_what_is_restored_is_told_in_the_words_of_that_version(story: Story) -> None:
    """Not in those of the version that it replaced."""
    told = story.facts["restored"]

    assert told["was"] in told["toast"]
    assert "Dumpling" not in told["toast"]


def test_what_is_restored_says_when_it_was_believed_first(story: Story) -> None:
    """And since when it is again: the moment of the restore alone would hide the time before."""
    since = story.facts["restored"]["since"]

    assert re.search(r"First believed\n.*2025", since)
    assert re.search(r"Restored\n", since)
    assert "Believed since" not in since


def test_an_ended_version_says_until_when_it_was_true(story: Story) -> None:
    """It says the time that changed, and not only that the value did not."""
    assert "True until:" in story.facts["ended"]["row"]
    assert "stayed the same" not in story.facts["ended"]["row"]
    assert "Why it was believed" == story.facts["ended"]["why"]
    assert 0 == story.facts["ended"]["ends"]


def test_the_overview_counts_what_is_in_force(story: Story) -> None:
    """As many facts as it shows, and beside all of them how many have ended."""
    told = story.facts["counted"]
    shown, ever = told["shown"], told["ever"]

    assert shown < ever
    assert f"{shown} facts" == told["facts"].strip()
    assert f"{told['over']} no longer true" in told["all"]


def test_a_rejected_memory_that_is_restored_stands_there_once(story: Story) -> None:
    """The refusal goes; while it stands alone, its page offers no version that it does not have."""
    told = story.facts["rejected"]

    assert ["rejected", "rejected"] == told["between"]
    assert told["before"] == told["after"] == ["active"]
    assert "Restore" not in told["alone"]


def test_a_deleted_memory_is_restored_at_its_address(story: Story) -> None:
    """The notice names what was deleted; after it has gone, and a reload, the address restores."""
    told = story.facts["deleted"]

    assert told["between"] is None
    assert told["after"] in told["toast"]


@pytest.mark.parametrize("place", ["overview", "memories"])
def test_what_was_deleted_stays_reachable(story: Story, place: str) -> None:
    """When the notice has gone, the page says what was deleted, and restores it."""
    told = story.facts[f"deleted lately, {place}"]

    assert "1 deleted lately" in told["between"]["summary"]
    assert None is told["between"]["standing"]
    assert told["between"]["what"] == told["after"]


def test_a_change_is_undone_where_it_is_listed(story: Story) -> None:
    """On the overview after a reload, and beside its version; not where another one followed."""
    lately, version = (story.facts[f"undone from the {each}"] for each in ("overview", "versions"))

    assert lately["between"] is not None
    assert lately["after"] is None
    assert 0 == version["offered"]
    assert version["after"] is None
    assert "version 6 taken back" in version["row"]


def test_a_restored_home_does_not_stand_beside_the_one_that_replaced_it(story: Story) -> None:
    """It is asked about; by default it ends in the same change, which one Undo takes back."""
    told = story.facts["instead"]
    porto, coimbra = "Mira lives in Porto, Rua das Amoreiras 18", "Mira lives in Coimbra"
    before, between = (dict(told[each]) for each in ("before", "between"))

    assert coimbra in story.facts["asked instead"]
    assert told["before"] == told["after"]
    assert (False, True) == (before[coimbra], before[porto])
    assert (True, False) == (between[coimbra], between[porto])


def test_a_memory_says_what_stood_in_its_place_before(story: Story) -> None:
    """With a link, and until when; its timeline shows all of them in their order."""
    assert "Mira lives in Porto" in story.facts["former"]
    assert "until" in story.facts["former"]
    rows = story.facts["one after another"]
    for home, row in zip(("Utrecht", "Porto", "Coimbra"), rows, strict=True):
        assert home in row


def test_what_is_typed_outlasts_a_reload_and_the_way_back(story: Story) -> None:
    """It is there until it is saved or cancelled."""
    expected = {"reloaded": "Dumpling", "back": "Dumpling", "cancelled": 0}
    assert expected == story.facts["typed"]


def test_what_is_added_or_changed_is_there_again_after_a_look_elsewhere(story: Story) -> None:
    """A memory that is being added, and types; what was cancelled or reverted is not."""
    told = story.facts["unfinished"]

    assert ("The ferry goes at nine.", "") == (told["added"], told["cancelled"])
    assert told["changed"]
    assert told["reverted"]


def test_the_memory_that_is_opened_is_in_sight_in_the_list(story: Story) -> None:
    """A memory far down the list is scrolled to; for the first one the list stays at its top."""
    assert story.facts["shown"]["inSight"]
    assert 0 == story.facts["shown"]["scrolled_px"]


def test_the_field_by_which_a_profile_is_opened_is_the_one_that_is_edited(story: Story) -> None:
    """The form begins there, not at its first field."""
    assert "/coffee" == story.facts["focused"]


@pytest.mark.parametrize("window", ["1280x600", "390x844", "390x667", "844x390"])
def test_the_field_that_is_typed_into_is_in_sight(story: Story, window: str) -> None:
    """The question and the buttons at the end of a window do not cover it."""
    assert {"opened": True, "first": True, "last": True} == story.facts[f"uncovered {window}"]


def test_threads_stand_by_their_newest_message(story: Story) -> None:
    """Each has its date, the newest first; and the field of a new one has the focus."""
    told = story.facts["threads"]

    assert ["14 Apr 2025", "12 Apr 2025", "6 Apr 2025"] == told["dates"]
    assert "Hello" == told["typed"]


def test_the_edit_form_is_chinese_in_chinese(story: Story) -> None:
    """The names of the type and of its fields, and what is said of these; not what is typed."""
    told = story.facts["chinese"]

    assert "事实" in told["kind"]
    for words in ("谁或什么", "关系", "对谁或对什么", "另一个人、事物或值", "情况变了"):
        assert words in told["form"]
    assert "The other person" not in told["form"]
