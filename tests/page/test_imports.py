"""Files go in and out of the page whole: stopped, broken off or refused, nothing is kept twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

pytestmark = pytest.mark.timeout(600)
CHAPTERS: Final = (
    *("large", "stopped", "broken", "refused", "half"),
    *("several", "away", "dropped", "exported", "handheld"),
)
PARTIAL: Final = "What was taken stays, and nothing is kept twice when you go on."


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Import and export many files, once."""
    folder = tmp_path_factory.mktemp("imports")
    options = ("--no-auth", "--scope", "demo")
    with walks.serving(folder, *options, after_s=600) as (address, _):
        return walks.walked(address, extent="imports", script="imports.mjs")


def counts(report: str) -> dict[str, int]:
    """Return the counts of a report, by what they count."""
    found = re.findall(r"^([^\W\d][^\n]*)\n([\d,]+)$", report, re.MULTILINE)
    return {name: int(number.replace(",", "")) for name, number in found}


def test_every_file_is_gone_through(story: Story) -> None:
    """Each chapter ends well, axe finds nothing serious, and nothing else is asked or raised."""
    assert dict.fromkeys(CHAPTERS, "well") == story.chapters
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_a_large_export_of_claude_is_kept_once(story: Story) -> None:
    """5,000 messages of a hundred chats; the second time all of them are there already."""
    first, again = (counts(story.facts[f"large_{time}"]) for time in ("first", "again"))

    assert {"Rows": 5_000, "New": 5_000, "Threads": 100} == first
    assert {"Rows": 5_000, "There already": 5_000, "Threads": 100} == again
    assert 5_000 == story.facts["large_held"]
    assert "5,000 rows taken" in story.facts["large_first_told"]
    assert "nothing new, 5,000 there already" in story.facts["large_again_told"]


def test_an_import_that_is_stopped_goes_on_later(story: Story) -> None:
    """Stop ends it on the service, too; what was taken is not taken again."""
    stopped, again = story.facts["stopped"], story.facts["stopped_again"]
    told = counts(again["report"])

    assert "lighthouses.jsonl" in stopped["state"]
    assert PARTIAL in stopped["state"]
    assert 0 == stopped["failures"]
    assert 0 < again["before"] < 20_000
    assert (again["before"], 20_000 - again["before"]) == (told["There already"], told["New"])
    assert 20_000 == again["held"]
    assert 0 == again["notices"]


def test_an_answer_that_breaks_off_is_told_and_taken_up_again(story: Story) -> None:
    """The failure says that nothing is kept twice, and so it is."""
    again = story.facts["broken_again"]
    told = counts(again["report"])

    assert "lighthouses.jsonl" in story.facts["broken"]
    assert "broke off" in story.facts["broken"]
    assert PARTIAL in story.facts["broken"]
    assert told["There already"] > 0
    assert 5_000 == told["There already"] + told.get("New", 0) == again["held"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("empty.json", "is empty"),
        ("letter.txt", "neither JSON Lines nor a JSON document"),
        ("picture.png", "neither JSON Lines nor a JSON document"),
    ],
)
def test_a_file_that_is_none_is_named_with_the_reason(story: Story, name: str, why: str) -> None:
    """The field is free for the same file, once it is mended: else choosing it does nothing."""
    told = story.facts[name]

    assert name in told["state"]
    assert why in told["state"]
    assert PARTIAL not in told["state"]
    assert 0 == told["chosen"]
    assert 3 == counts(story.facts["mended"]["report"])["New"]
    assert 0 == story.facts["mended"]["states"]


def test_a_reason_that_many_rows_share_stands_once(story: Story) -> None:
    """With how many they are, and where the first of them stand."""
    told = story.facts["half"]

    assert (30, 30) == (counts(told["report"])["New"], counts(told["report"])["Refused"])
    assert 2 == told["reasons"]
    assert "15 × it is not JSON" in told["report"]
    assert "line 2, line 6, line 10 and 12 more" in told["report"]


def test_several_files_are_imported_one_after_another(story: Story) -> None:
    """Each can be stopped and gone on with, and one that is refused keeps none of them back."""
    going, stopped = story.facts["several_going"], story.facts["several_stopped"]
    done = story.facts["several_done"]

    assert "0 of 4 files" in going["all"]
    assert "waits for the files before it" in going["waiting"]
    assert 1 == stopped["reports"]
    assert PARTIAL in stopped["first"]
    assert "It was not begun." in stopped["third"]
    assert "neither JSON Lines nor a JSON document" in stopped["letter"]
    assert "200 rows taken; not imported: letter.txt" in story.facts["several_told"]
    assert ["first.jsonl", "second.jsonl", "third.jsonl"] == [
        each.split("\n")[0] for each in done["reports"]
    ]
    assert 1 == done["left"]
    assert 20_000 + 200 + 300 == done["held"]


def test_files_wait_while_the_service_is_away(story: Story) -> None:
    """The first that fails tells it; the others are not tried, and all go on together."""
    away = story.facts["away"]

    assert 0 == away["asked"]
    assert "No answer came" in away["first"]
    assert "It was not begun." in away["last"]
    assert {"held": 30, "reports": 3} == story.facts["away_done"]


def test_what_cannot_be_read_is_told_apart(story: Story) -> None:
    """A folder and a file that is gone say so, offer nothing, and keep no other file back."""
    dropped = story.facts["dropped"]

    assert "This is a folder" in dropped["folder"]
    assert "cannot read this file" in dropped["gone"]
    assert ["large.jsonl", "good.jsonl"] == [each.split("\n")[0] for each in dropped["reports"]]
    assert 10_004 == dropped["held"]
    assert 0 == dropped["buttons"]
    assert story.facts["dropped_beside"]


def test_an_export_is_whole_or_none(story: Story) -> None:
    """It holds each message, puts back nothing that is there, and a part of it is no file."""
    assert story.facts["exported"]["name"].startswith("recollect-large-")
    assert 5_000 == story.facts["exported"]["messages"]
    assert 0 == counts(story.facts["put_back"]["report"])["New"]
    assert 5_000 == story.facts["put_back"]["held"]
    # Threads, of which the first are linked: whoever imports an export looks for them.
    assert story.facts["put_back"]["links"]
    assert all(each.startswith("#/chat/") for each in story.facts["put_back"]["links"])
    assert "broke off" in story.facts["export_broken"]["told"]
    assert 0 == story.facts["export_broken"]["downloads"]


def test_the_report_is_read_on_a_phone_in_chinese(story: Story) -> None:
    """Its words are of that language, and nothing is wider than the window."""
    told = story.facts["handheld"]

    assert "zh-Hant" == told["lang"]
    assert "未接受\n2" in told["report"]
    assert "2 × 格式不明，含有欄位 (none)" in told["report"]
    assert "第 3 行、第 4 行" in told["report"]
    assert 0 == told["wide"]
    assert "沒有文字的訊息，未匯入：1" in story.facts["handheld_otherwise"]
    assert "were left out" not in story.facts["handheld_otherwise"]
