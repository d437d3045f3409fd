"""Working on what is remembered: many at once, other days, two recalls, files, and the routes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import pytest

import recollect
from recollect.recall.fusion import WEIGHTS
from recollect.recall.rank_corrections import ASKED
from recollect.recall.relevance import IDLE_BELOW, IDLE_BELOW_BY_WORDS
from recollect.records import PutMemory
from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

WEB: Final = Path(__file__).parents[2] / "web"
SCOPE = ("demo", "mira")
CHAPTERS = (
    "bulk", "emptied", "raced", "ordered", "believed", "compared", "unknown", "chinese", "missing",
    "searched", "imported", "routes", "waited", "handheld", "looks", "forgotten", "since",
)  # fmt: skip


def note(content: str, key: str, **more: Any) -> PutMemory:
    return PutMemory(type="Note", key=key, value={"note": content}, **more)


async def filled(folder: Path) -> None:
    """Leave the store of the demonstration, with notes to work on."""
    await play_demo(folder)
    async with recollect.open(str(folder / "page.db"), embedder="none", worker=False) as memory:
        good = [note(f"The workshop {each} is open.", f"w{each}") for each in range(4)]
        doubted = [
            note(f"The workshop {each} waits.", f"w9{each}", state="quarantined")
            for each in range(2)
        ]
        await memory.apply(SCOPE, [*good, *doubted])


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Walk through the workshop once for all tests."""
    folder = tmp_path_factory.mktemp("workshop")
    anyio.run(filled, folder)
    with walks.serving(folder, "--no-auth", "--scope", "demo", after_s=600) as (address, _):
        return walks.walked(address, extent="workshop", script="workshop.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """Nothing failed, nothing was asked elsewhere, and axe found nothing on any screen."""
    assert dict.fromkeys(CHAPTERS, "well") == story.chapters
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]
    assert [] == [found for audit in story.audits for found in audit["violations"]]
    assert {0} == set(story.overflows.values()), story.overflows


@pytest.mark.parametrize(
    ("act", "wanted"),
    [
        ("delete", None),
        ("end", ["active", True]),
        ("reject", ["rejected", False]),
        ("approve", ["active", False]),
    ],
)
def test_one_undo_takes_an_act_on_several_back(story: Story, act: str, wanted: Any) -> None:
    """The two that were chosen are changed, no other, and all is as it was after it."""
    told = story.facts[f"bulk_{act}"]
    keys = ("w90", "w91") if act == "approve" else ("w0", "w1")

    assert told["before"] == told["back"]
    assert [wanted, wanted] == [told["after"].get(each) for each in keys]
    untouched = told["before"].keys() - set(keys)
    assert {each: told["before"][each] for each in untouched} == {
        each: told["after"][each] for each in untouched
    }


def test_an_emptied_list_offers_nothing_to_choose(story: Story) -> None:
    """The bar goes with the last memory, and comes back with it."""
    assert {"bars": 0, "back": 1} == story.facts["emptied"]


def test_what_was_changed_meanwhile_is_left_alone_and_told(story: Story) -> None:
    """The other of the two is ended; the one that was changed stays chosen, with the reason."""
    raced = story.facts["raced"]

    assert ["active", False] == raced["standing"]["w2"]
    assert ["active", True] == raced["standing"]["w3"]
    assert "w2" in raced["told"]
    assert "1 selected" == raced["chosen"]


def test_each_place_is_in_reach_on_a_phone(story: Story) -> None:
    """Four stand in the bar, all behind its button; the one that is chosen closes it."""
    expected = {"before": 4, "opened": 11, "inReach": True, "after": 4}

    assert expected == story.facts["places"]


def test_the_order_and_the_counts_are_told(story: Story) -> None:
    """By type each type stands together; the types are told with how many there are."""
    types = story.facts["by_type"]

    assert sorted(types) == types
    assert any(each.startswith("Fact (") for each in story.facts["options"])
    assert "since the service started" in story.facts["recalled"]


def test_the_questions_that_brought_memories_up_are_forgotten_where_they_stand(
    story: Story,
) -> None:
    """A searched secret need not stay on the first screen; what is said then is still true."""
    told = story.facts["forgotten"]

    assert "9911-KIWI" in told["before"]
    assert "9911-KIWI" not in told["after"]
    assert "the questions were forgotten" in told["after"]
    assert 0 == told["buttons"]


def test_what_was_believed_is_carried_from_screen_to_screen(story: Story) -> None:
    """The list, one memory, recall and the graph look at the same day; a button leads back."""
    facts = story.facts

    assert any("30 April 2025" in each for each in facts["believed"]["rows"])
    assert not any("29 March 2025" in each for each in facts["believed"]["rows"])
    assert "12 Mar 2025" in facts["believed"]["bar"]
    assert "30 April 2025" in facts["then"]
    assert "2025-03-12" == facts["carried"]["recall"]
    assert "Utrecht" in facts["graph_then"]
    assert "Rua das Amoreiras" not in facts["graph_then"]
    assert "known=2025-0" in facts["by_slider"]


def test_overview_chat_and_timeline_are_of_that_day(story: Story) -> None:
    """What was known, said and remembered by then; nothing can be said or undone in the past."""
    facts = story.facts

    assert "three espressos a day" in facts["overview_then"]
    assert "Rua das Amoreiras" not in facts["overview_then"]
    assert "Nothing waited for a decision" in facts["overview_then"]
    chat = facts["chat_then"]
    assert "2025-03-12" == max(chat["times"])[:10]
    assert "Mira lives in Utrecht" in chat["panel"]
    assert (0, 0) == (chat["composers"], chat["undos"])
    assert "three espressos a day" in facts["timeline_then"]


def test_what_waited_then_says_what_became_of_it(story: Story) -> None:
    """It was approved since, and there is nothing to decide any more."""
    waited = story.facts["waited"]

    assert any("waits." in each and "Approved on" in each for each in waited["cards"])
    assert 0 == waited["buttons"]


def test_what_waits_is_shown_with_what_was_said_since(story: Story) -> None:
    """In each language, with its memory and its message; approving it is not suggested any more."""
    since = story.facts["since"]

    for language, says in (("en", "Said since"), ("zh", "说过"), ("zh-hant", "說過")):
        assert says in since["told"][language]
        assert "The workshop 0 waits no more." in since["told"][language]
    memory, message = since["links"]
    assert "memories/Note/later" in memory
    assert "chat/later" in message
    assert "message=since1" in message
    assert 0 == since["accents"]
    assert ["active", False] == since["standing"]


def test_two_recalls_stand_side_by_side(story: Story) -> None:
    """The same question on two days: each with its own entries, and what moved is marked."""
    sides = story.facts["sides"]

    assert any("29 March 2025" in each for each in sides["left"])
    assert any("30 April 2025" in each for each in sides["right"])
    assert not any("plans to move to Porto on 29 March" in each for each in sides["right"])
    assert any("only here" in each or "place" in each for each in sides["marks"])


def test_a_sentence_says_why_one_entry_stands_above_another(story: Story) -> None:
    """Beside the next one, and beside any other that is chosen."""
    assert story.facts["why"].startswith("№ 1 stands ")
    assert "№ 2" in story.facts["why"]
    assert "№ 3" in story.facts["why_other"]


def test_a_question_about_nothing_known_is_told_so(story: Story) -> None:
    """What only might bear on it is folded; and where nothing is asked, a question is asked for."""
    told, unasked = story.facts["unknown"], story.facts["unasked"]

    assert "Nothing clearly bears on it" in told["title"]
    assert re.fullmatch(r"\d+ entr(y|ies) that might", told["fold"])
    assert 0 == told["shown"]
    assert unasked["title"].startswith("Ask what is remembered")
    assert 0 == unasked["asked"]


def test_the_page_folds_what_no_prompt_would_be_told() -> None:
    """Its floors are those below which a context gets no entries by default."""
    source = (WEB / "src" / "lib" / "recall_reasons.ts").read_text("utf-8")

    found = re.search(r"CLEAR_FROM = \{ vectors: ([\d.]+), words: ([\d.]+) \}", source)
    assert found
    assert (IDLE_BELOW, IDLE_BELOW_BY_WORDS) == tuple(map(float, found.groups()))


def test_the_page_folds_no_profile_that_was_raised() -> None:
    """A profile that has the field which is asked for is told apart from what is about oneself."""
    source = (WEB / "src" / "lib" / "recall_reasons.ts").read_text("utf-8")

    found = re.search(r"RAISED_FROM = ([\d.]+);", source)
    assert found
    assert WEIGHTS["personal"] < float(found[1]) <= ASKED


def test_complaints_about_types_and_parameters_are_chinese_in_chinese(story: Story) -> None:
    """Only names, values and keywords of the standard are left as they are written."""
    complaints, meanings = story.facts["complaints"], story.facts["meanings"]

    assert 4 == len(complaints)
    assert len(meanings) > 5
    for each in [*complaints, *meanings]:
        assert re.search("[\u4e00-\u9fff]", each), each
        assert not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", each), each


def test_a_row_says_first_what_tells_its_entry_from_the_others(story: Story) -> None:
    """By words alone nearly all were said by the user: that stands first in no row."""
    told = story.facts["telling"]

    assert len(told) > 3
    assert [] == [each for each in told[:3] if each.startswith("speaker")]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("here", "It is here, as № "),
        ("limit", "the limit of 1 cuts it off"),
        ("ended", "It ended on "),
        ("waits", "It waits for a review"),
        ("messages", "only memories are asked for"),
        ("none", "Nothing with these words"),
    ],
)
def test_a_missing_entry_has_its_reason(story: Story, case: str, words: str) -> None:
    """Its rank, or why it is not there."""
    assert any(words in each for each in story.facts["missing"][case].values()), story.facts[
        "missing"
    ][case]


def test_files_are_imported_with_a_report(story: Story) -> None:
    """Rows of another program, an export, and a zone that is none."""
    facts = story.facts

    assert "1,099" in facts["imported"]
    assert "line 41" in facts["imported"]
    # It goes back to where it came from, and all of it is there.
    assert re.search(r"export\.jsonl\s+nothing new\s+New\s+0\b", facts["imported_export"])
    assert "Mars/Olympus" in facts["bad_zone"]


def test_the_routes_are_described_with_what_can_be_copied(story: Story) -> None:
    """At /docs, found by a word, and as a command line for a shell."""
    facts = story.facts

    assert facts["docs"]["operations"] > 60
    assert facts["docs"]["title"].startswith("API")
    assert "Where does Ada live?" in facts["recall_route"]
    # What only reads is asked of the scope that is looked at.
    command = r"curl -X POST 'http://127\.0\.0\.1:\d+/v1/recall\?scope=mira' "
    assert re.match(command, facts["copied"])
    assert 0 < facts["sought"] < 10


def test_a_search_field_has_the_words_that_the_list_was_searched_for(story: Story) -> None:
    """A list of all under the words of a search would be taken for what they found, and deleted."""
    wanted = {"typed": "workshop", "all": "", "back": "workshop"}

    assert wanted.items() <= story.facts["searched"].items()


def test_a_question_stays_in_its_field_over_a_look_elsewhere(story: Story) -> None:
    """Whether it was asked or only typed."""
    question = "Where is the balcony?"

    assert {"unasked": question, "asked": question}.items() <= story.facts["searched"].items()
