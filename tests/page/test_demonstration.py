"""The page says what each formation of the demonstration did, before and after it forgets."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import anyio
import pytest
from click.testing import CliRunner

from recollect.cli import main
from recollect.demo.story import read_chapters
from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Story, Walks

COUNTS = re.compile(
    r"(\d+ messages? read · )?\d+ (stored|changed|ended)"
    r"( · \d+ (stored|changed|ended|to review))*"
)


def forgotten(folder: Path) -> None:
    """Leave the store of the whole demonstration, which ends with an erase."""
    told = CliRunner(env={"RECOLLECT_EMBEDDER": "none", "RECOLLECT_STORE": None}).invoke(
        main, ["demo", "--keep", str(folder / "page.db")]
    )
    assert 0 == told.exit_code, told.output


@pytest.fixture(scope="module", params=["before", "after"])
def story(
    request: pytest.FixtureRequest, walks: Walks, tmp_path_factory: pytest.TempPathFactory
) -> Story:
    """Look at the receipts before and after the demonstration forgets."""
    folder = tmp_path_factory.mktemp("demonstration")
    if request.param == "before":
        anyio.run(play_demo, folder)
    else:
        forgotten(folder)
    with walks.serving(folder, "--no-auth", "--scope", "demo", after_s=600) as (address, _):
        extent = f"demonstration_{request.param}"
        return walks.walked(address, extent=extent, script="demonstration.mjs")


def test_each_receipt_says_how_much_was_done(story: Story) -> None:
    """What was stored, changed and ended is counted, and nowhere is it nothing."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    receipts = story.facts["receipts"]
    assert len(read_chapters()) == len(receipts)
    assert [] == [each for each in receipts if not COUNTS.fullmatch(each)]
    done = Counter[str]()
    found = re.findall(r"(\d+) (stored|changed|ended|to review)", " ".join(receipts))
    for count, action in found:
        done[action] += int(count)
    assert {"stored", "changed", "ended", "to review"} == done.keys()
    assert sum(len(each.writes) for each in read_chapters()) == done.total()


def test_a_slider_shows_what_was_true_on_a_day(story: Story) -> None:
    """Some days on she lived in Utrecht; today's list has both, and the address has the day."""
    then, now = story.facts["true_then"], story.facts["true_now"]

    assert "on=2025-0" in then["address"]
    assert "What was true that day, as far as is known today." == then["says"]
    assert not any("Utrecht" in each for each in story.facts["true_first"])
    assert "Mira lives in Utrecht" in then["rows"]
    assert not any("Porto, Rua" in each for each in then["rows"])
    assert any("Porto, Rua" in each for each in now["rows"])
    assert "on=" not in now["address"]
    assert [] == story.serious


def test_an_address_keeps_its_day(story: Story) -> None:
    """A slider that follows the address before takes none out of the next one."""
    assert 20 == story.facts["next_day"]


def test_memories_are_counted_in_one_way(story: Story) -> None:
    """The overview, the list and the chat name the same number, and tell apart what has ended."""
    told = story.facts["counts"]
    known, ended = re.findall(r"\d+", told["overview"])
    # The store is kept, so that nothing of it goes with the service.
    assert "This is an example: Mira is made up." == story.facts["example"]

    assert f"{known} memories · {ended} no longer true" == told["overview"]
    assert f"{told['overview']} · 1 to review" == told["memories"]
    assert known == told["chat"]
    assert f"{told['then']['chat']} memories" == told["then"]["overview"]
    # What was said later without a date is left out of the overview, of its counts and of the list.
    true_on = told["then"]["true_on"]
    assert "without a date, is left out" in true_on["about"]
    assert f"{len(true_on['listed'])} memories" == true_on["counted"]
    assert not any("balcony" in each for each in true_on["listed"])
    facts = next(each.split()[0] for each in told["types"] if "fact" in each)
    assert {f"Fact ({facts})", f"active ({known})"} <= set(told["options"])


def test_a_day_is_the_same_wherever_it_stands(story: Story) -> None:
    """The cat was renamed on 22 March, as is said beside it; the plan to move ended on the 29th."""
    told = story.facts["days"]

    assert "22 Mar 2025" in told["overview"]
    assert "22 Mar 2025" == told["since"]
    assert ["ended 29 Mar 2025" in each for each in told["plans"]] == [True]


def test_what_begins_later_is_not_yet_true_on_any_screen(story: Story) -> None:
    """On 20 March she had the new job from 14 April, and still the old one."""
    told = story.facts["not_yet"]
    known = told["overview"]["all"].split()[0]

    assert "not yet true" in told["memories"]["job"]
    assert (
        f"{told['overview']['facts'].split()[0]} memories · 1 not yet true"
        == (told["memories"]["total"])
    )
    assert "copy editor" in told["graph"]
    assert "exhibition writer" not in told["graph"]
    assert known == told["chat"]


def test_what_begins_later_has_not_ended(story: Story) -> None:
    """Today too it is counted apart, and on the overview as in the list."""
    told = story.facts["later"]
    before = story.facts["counts"]["overview"]

    assert f"{before} · 1 not yet true" == told["overview"]
    assert f"{told['overview']} · 1 to review" == told["list"]


def test_the_bar_of_days_shows_the_day_of_the_address(story: Story) -> None:
    """Another screen begins with what is true, and a link shows the day that it names."""
    told = story.facts["mode"]

    assert ["Believed on Today", "True on Today", "True on 12 Mar 2025"] == [
        told[each] for each in ("chosen", "next", "linked")
    ]


def test_what_was_before_stands_below_a_fact_after_many_notes(story: Story) -> None:
    """The overview names only the newest changes: what a fact replaced is asked for by itself."""
    assert "Mira lives in Utrecht" in story.facts["newer"]


def test_the_field_for_a_message_grows_with_it(story: Story) -> None:
    """All of some sentences is in sight, and a long text leaves room for the talk."""
    told = story.facts["typed"]

    assert told["none"] == told["again"]
    assert told["none"]["height"] < told["some"]["height"] < told["many"]["height"]
    assert told["some"]["hidden"] <= 1
    assert told["many"]["height"] <= 844 * 0.3


def test_a_chinese_reader_reads_names_and_words(story: Story) -> None:
    """Of a recalled profile and of a key, also in a narrow window."""
    told = story.facts["in_chinese"]

    assert "咖啡" in told["recalled"]
    assert "coffee" not in told["recalled"]
    assert min(told["keys"]) >= 60


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("memory", ["User/User", "Fact/home-porto"])
def test_the_button_that_saves_an_edit_is_in_sight(story: Story, memory: str, width: int) -> None:
    """However long the form is; and its fields have plain names, not those of a grammar."""
    told = story.facts[f"edited {memory} {width}"]

    assert told["isSeen"]
    labels = " ".join(told["labels"]).lower()
    assert [] == [each for each in ("subject", "predicate", "object") if each in labels]
    if memory.startswith("Fact"):
        assert "who or what" in labels
        assert "relation" in labels
