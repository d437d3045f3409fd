"""What is erased from where it is seen: named in words, with all that goes, and gone for good."""

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
    """Erase a memory and a thread of the demonstration, and look at what a message takes."""
    folder = tmp_path_factory.mktemp("erasing")
    anyio.run(play_demo, folder)
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
    assert "Its words, or similar ones, stand in these messages, too." in told["text"]
    assert 404 == told["after"]
    assert told["place"].startswith("#/memories?")
    assert 0 == story.facts["words_left"]


def test_a_profile_that_goes_is_named_in_chinese(story: Story) -> None:
    """Its fields have the names that they have everywhere else on the page."""
    assert "名字：Mira；" in story.facts["chinese"]
    assert "name: " not in story.facts["chinese"]


def test_no_window_shows_an_erased_message(story: Story) -> None:
    """Its words leave the list, the header, what was asked, the address and the storage."""
    told = story.facts["secret"]

    assert {"text", "title"} <= set(told["before"]["own"])
    assert {"text", "address"} <= set(told["before"]["chat"])
    assert {"text", "fields", "tab"} <= set(told["before"]["recall"])
    assert {} == {window: where for window, where in told["after"].items() if where}


def test_a_thread_that_no_list_came_to_leaves_no_row(story: Story) -> None:
    """It was the new one as long as it was there."""
    assert (1, 0) == (story.facts["beyond"]["before"], story.facts["beyond"]["rows"])


def test_what_was_typed_goes_with_the_words_that_it_repeats(story: Story) -> None:
    """A draft of the window that erases, and what was looked for, asked or typed elsewhere."""
    told = story.facts["fields"]

    assert {"fields", "tab"} <= set(told["before"]["own"])
    assert {"fields", "tab"} <= set(told["before"]["memories"])
    assert {"fields", "tab"} <= set(told["before"]["graph"])
    assert "fields" in told["before"]["overview"]
    assert {} == {window: where for window, where in told["after"].items() if where}


def test_the_way_back_asks_no_erased_question(story: Story) -> None:
    """Its words were in the tab and in no address of the history; an erase empties the fields."""
    told = story.facts["back"]

    assert "tab" in told["before"]
    assert "address" not in told["before"]
    assert 0 == told["named"]
    assert {"memories": "", "recall": ""} == told["fields"]
    assert [] == told["repeated"]
    assert [] == told["after"]


def test_an_act_of_two_receipts_tells_all_of_both(story: Story) -> None:
    """The dialog lists each message; another fact that begins alike is not ticked."""
    told = story.facts["two"]

    assert ["Tomas" not in words for words in told["checks"]] == list(told["checks"].values())
    assert 2 == len(told["checks"])
    assert "In all: 4 messages" == told["whole"]
    assert 4 == told["listed"]
    [row] = told["rows"]
    assert 4 == counts(row)["message"]
    assert [1, 3] == sorted(counts(each)["message"] for each in told["receipts"])


def test_a_window_that_missed_an_erase_catches_up(story: Story) -> None:
    """Once its connection is back, without being loaded anew; other drafts in it stay."""
    told = story.facts["missed"]

    assert {"text", "title", "address"} <= set(told["before"]["chat"])
    assert {"text", "fields", "tab"} <= set(told["before"]["recall"])
    assert {"chat": [], "recall": []} == told["after"]
    assert [True, True] == told["isSame"]
    assert "See you on Friday." == told["draft"]


def test_drafts_of_what_was_erased_go_with_it(story: Story) -> None:
    """In other windows too: of a thread, and of a memory in a form; others stay."""
    assert story.facts["thread"]["drafts"] is False
    assert story.facts["form_left"] is False
    assert "See you on Friday." == story.facts["fields"]["draft"]


def test_the_field_for_the_word_is_in_view(story: Story) -> None:
    """However many messages and memories the dialog lists above it."""
    assert story.facts["secret"]["isInView"]
    assert story.facts["memory"]["isInView"]


def test_a_thread_has_one_title(story: Story) -> None:
    """The list and the header name it by what the user said first, not by an answer."""
    assert "What shall I cook?" == story.facts["secret"]["head"] == story.facts["secret"]["listed"]


def counts(told: str) -> dict[str, int]:
    """Return the numbers of messages and memories in a sentence of the dialog."""
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (message|memor)", told)}


def test_one_total_comes_before_its_parts(story: Story) -> None:
    """They add up to it, the memory is counted once, and so much is told and was erased."""
    told = story.facts["totals"]
    whole, parts = counts(told["whole"]), [counts(each) for each in told["rest"]]

    assert told["whole"].startswith("In all: ")
    assert 2 == len(parts)
    assert whole == {kind: sum(each.get(kind, 0) for each in parts) for kind in whole}
    assert whole == counts(told["said"])
    assert whole["message"] == sum(each["messages"] for each in told["receipts"])
    assert whole["memor"] == sum(each["memories"] for each in told["receipts"])


def test_the_notice_of_an_erase_leads_to_its_receipt(story: Story) -> None:
    """Each is opened, says what went, when and how much, and has its id last."""
    told = story.facts["receipt"]

    assert "part=erase" in told["hash"]
    [said] = told["said"]
    assert re.fullmatch(r"Erased on .+: a memory \(.+\)", said)
    assert counts(said) == counts(story.facts["totals"]["said"])
    assert "Receipt" == told["rows"][-1]
    assert all(re.match(r"Erased on .+: a (memory|message) \(", each) for each in told["others"])


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


def test_a_message_leaves_a_mark_where_it_stood(story: Story) -> None:
    """One line before the answer to it; the rest of the talk is whole."""
    gap = story.facts["gap"]

    assert ["1 message was erased or removed here"] == gap["said"]
    assert "I will keep it in mind." in gap["next"]


def test_the_way_back_to_an_erased_thread_says_that_it_is_gone(story: Story) -> None:
    """As a memory's page does; the list of threads has none in its place."""
    gone = story.facts["gone"]

    assert "It was erased, or nothing was ever said in it." in gone["told"]
    assert "New thread" not in gone["listed"]
    assert 0 == gone["here"]


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
