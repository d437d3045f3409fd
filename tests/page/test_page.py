"""The page as a person meets it: a real service, a real browser, one talk from its first word."""

from __future__ import annotations

import asyncio
import gzip
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import pytest

import recollect
from recollect import NewMessage
from recollect.ports import ToolCall
from recollect.records import MemoryState, PutMemory
from recollect.server.http.static_page import INDEX, PLACES, STATIC
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.scripted_model import ScriptedModel
from recollect.text.token_estimate import estimated_tokens

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

HERE: Final = Path(__file__).parent
WEB: Final = HERE.parents[1] / "web"
SCRIPT_BYTES_MAX: Final = 230_000
"""Of all screens, in one language, with what the API page and the types say in it."""
FIRST_VIEW_BYTES_MAX: Final = 150_000


@pytest.fixture(scope="module")
def service(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve with a model that answers and forms as story.json says, and only when asked."""
    folder = tmp_path_factory.mktemp("page")
    model = ("--model", str(HERE / "story.json"))
    with walks.serving(folder, "--no-auth", *model, after_s=600) as (address, _):
        yield address


def is_proof(selected: Iterable[pytest.Item]) -> bool:
    """
    Return True if one of the *selected* tests looks at the whole story, at every screen and look.

    The tests are asked, not the options: `-m "prove or slow"` or a test's name select it as well.
    """
    return any(
        "story" in getattr(each, "fixturenames", ()) and each.get_closest_marker("prove")
        for each in selected
    )


@pytest.fixture(scope="module")
def story(walks: Walks, service: str, request: pytest.FixtureRequest) -> Story:
    """Walk through the page once for all tests; every screen in every look if one proves that."""
    extent = "all" if is_proof(request.session.items) else "some"
    return walks.walked(service, extent=extent)


def test_a_proof_is_known_by_the_tests_that_were_selected(request: pytest.FixtureRequest) -> None:
    """However it was selected, the one that looks at everything makes the story whole."""
    here = request.node.parent
    assert here is not None
    collected = {each.name: each for each in here.collect() if isinstance(each, pytest.Item)}
    whole = collected["test_every_screen_in_every_look_is_accessible"]
    usual = collected["test_the_whole_story_can_be_walked"]
    other_proof = collected["test_what_was_neglected_is_looked_after"]

    assert is_proof([usual, whole])
    assert not is_proof([usual, other_proof])


@pytest.mark.prove
def test_every_screen_in_every_look_is_accessible(story: Story) -> None:
    """Light and dark, English and Chinese, wide and narrow: axe finds nothing serious."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == story.serious
    assert len(story.audits) > 50


def test_the_service_knows_each_screen() -> None:
    """A path of a screen leads to it; the others are not found."""
    named = re.findall(r'\{ name: "(\w+)", icon:', (WEB / "src" / "app.tsx").read_text("utf-8"))

    assert PLACES == set(named)


def test_the_pure_parts_hold(walks: Walks) -> None:
    """The page's own unit tests pass."""
    finished = walks.unit_tests()

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_whole_story_can_be_walked(story: Story) -> None:
    """Chat, form, undo, correct, restore, recall, reject, forget, erase: no step fails."""
    assert {"well"} == set(story.chapters.values()), story.chapters


def test_what_was_said_is_formed_and_shown_beside_the_talk(story: Story) -> None:
    """The Memories panel counts down, and after forming shows what was inferred."""
    assert re.fullmatch(r"Forms in \d+:\d\d", story.facts["countdown"])
    assert "Lisbon" in story.facts["panel_after_forming"]
    assert "This thread is formed" in story.facts["panel_after_forming"]


def test_the_turn_that_brought_a_memory_is_marked_and_can_be_undone(story: Story) -> None:
    """The mark names the memory; undo takes it away, and undo of that brings it back."""
    assert any("name Ada, home Lisbon" in mark for mark in story.facts["marks"])
    assert "cello" not in story.facts["after_undo"]
    assert "cello" in story.facts["after_undo_of_undo"]


def test_an_answer_says_what_it_used_and_shows_its_prompt(story: Story) -> None:
    """The chips are what was recalled; the prompt has it, and ends with the question."""
    used, prompt = story.facts["used"], story.facts["prompt"]

    # Of a profile the fields that the answer quotes, where it quotes any.
    assert any("Porto" in each or "Ada" in each for each in used), used
    assert "<memory" in prompt[0]
    assert "Where do I live?" in prompt[-1]


def test_a_pasted_type_is_checked_and_then_filled(story: Story) -> None:
    """A wrong schema is refused with its line; a right one is filled by the next talk."""
    assert re.match(r"line \d+ types\[0\]\.parameters\.type", story.facts["complaint"])
    assert "favorite_locations" in story.facts["types_in_force"]
    assert "the old lighthouse" in story.facts["panel_with_new_field"]


def test_a_memory_shows_its_words_and_its_versions(story: Story) -> None:
    """The link of a quote leads to the message, with the quoted words marked."""
    assert "I moved to Porto" == story.facts["evidence"]
    # The undo of a message, and what took that back, are versions too.
    assert [f"Version {each}" for each in (5, 4, 3, 2, 1)] == re.findall(
        r"Version \d", story.facts["history"]
    )
    assert "cello" in story.facts["searched"]


def test_a_memory_is_corrected_and_an_earlier_version_restored(story: Story) -> None:
    """An edit is the next version; so is a restored one, and what undoes it."""
    assert "Braga" in story.facts["corrected"]
    assert "Lisbon" in story.facts["restored"]
    assert "Braga" in story.facts["restore_undone"]


def test_a_form_and_json_edit_the_same_document(story: Story) -> None:
    """What is typed in the form is in the JSON; from JSON that is broken no way leads back."""
    edited = story.facts["edit_json"]

    assert "Braga" == edited["home"]
    assert edited["fault"].startswith("Line 1:")
    assert edited["form"] is True
    assert "Braga" == story.facts["edit_form"]


def test_recall_explains_itself(story: Story) -> None:
    """Each entry has its signals; what the budget dropped and the prompt are shown."""
    recall = story.facts["recall"]

    assert recall["entries"]
    assert "words" in recall["signals"]
    assert "over the budget" in recall["dropped"] or "said already" in recall["dropped"]
    assert recall["rendered"].startswith("<memory")
    # The budget is for the texts: the prompt, which has more in it, tells its own number.
    assert re.search(r"The texts: \d+ of 40 tokens", recall["texts"])
    assert f"about {estimated_tokens(recall['rendered'])} tokens" in recall["prompt"]
    assert "Where does Ada live?" in story.facts["used_by"]


def test_the_overview_says_what_is_known_in_sentences(story: Story) -> None:
    """The person by name, the profile by fields, memories as sentences, and plots over time."""
    overview = story.facts["overview"]

    assert "Ada" == overview["person"]
    assert {"name", "home"} <= {each.lower() for each in overview["fields"]}
    assert "Ada's sister plays the cello. (family)" in overview["sentences"]
    assert "Braga" in overview["changed"]
    assert overview["plots"] >= 3
    assert "Overview · Recollect" == overview["title"]
    assert re.fullmatch(r"Ada's sister .* · Memories · Recollect", story.facts["title_of_memory"])
    assert "There is no such place" in story.facts["title_of_nowhere"]


def test_the_slider_goes_back_to_what_was_believed(story: Story) -> None:
    """At the slider's beginning the first version is shown, at its end the current one."""
    assert "Lisbon" in story.facts["timeline"]["first"]
    assert "Braga" in story.facts["timeline"]["now"]


def test_a_rejected_memory_stays_visible_and_a_deleted_one_goes(story: Story) -> None:
    """Both can be undone for a while: no refusal is left, and all versions are there again."""
    assert "rejected" in story.facts["rejected"]
    assert {"before_undo": 1, "after_undo": 0} == story.facts["refusals"]
    assert "Braga" not in story.facts["deleted"]
    assert "Braga" in story.facts["put_back"]
    assert story.facts["put_back_exactly"] is True


def test_a_neighbour_in_the_graph_is_expanded_by_keyboard(story: Story) -> None:
    """The entity that was chosen brings its own neighbours."""
    assert story.facts["graph"]["before"] < story.facts["graph"]["after"]


def test_a_name_that_no_fact_has_is_looked_for_elsewhere(story: Story) -> None:
    """The graph draws facts and entities: a profile or a message may name it."""
    told = story.facts["graph_unknown"]

    assert "No fact of this day names “Nobody”" in told["said"]
    assert "a profile, a note or a message" in told["said"]
    assert "#/recall?q=Nobody" == told["leads"]


def test_health_is_shown_with_each_background_task(story: Story) -> None:
    """Settings say how the store is, and name each task and its state in words."""
    health = story.facts["health"]

    assert re.match(r"all is well\s+The store answered in [\d.,]+ ms", health["told"])
    assert ["Counting of usage", "Merging of indexes"] == [
        each.removesuffix("working").strip()
        for each in health["tasks"]
        if each.startswith(("Counting", "Merging"))
    ]


def test_an_erase_is_previewed_and_guarded(story: Story) -> None:
    """The counts are shown, and nothing is erased before a word is typed."""
    assert "messages" in story.facts["erase_preview"]
    assert story.facts["erase_is_guarded"] is True


def test_the_keyboard_reaches_everything(story: Story) -> None:
    """Shortcuts lead to screens and fields, and Tab reaches the message field."""
    assert "search" == story.facts["slash_focuses"]
    assert story.facts["tab_reaches_composer"] is True


def test_a_key_opens_the_page_and_its_scopes(walks: Walks, tmp_path: Path) -> None:
    """With a key: memories form by themselves when talk pauses, and another scope sees none."""
    with walks.serving(tmp_path, "--model", "rules", after_s=2) as (address, key):
        story = walks.walked(address, extent="key", key=key)

    assert {"well"} == set(story.chapters.values()), story.chapters
    assert "does not accept this key" in story.facts["wrong_key"]
    assert story.facts["kept_outside_the_tab"] is False
    assert "Lisbon" in story.facts["formed_by_itself"]
    assert "Lisbon" not in story.facts["other_scope"]
    assert story.facts["new_key_is_shown"] is True
    assert 200 == story.facts["rotated_key_reads"]
    assert 401 == story.facts["revoked_key_reads"]
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_no_screen_has_a_serious_finding(story: Story) -> None:
    """Axe ran on each screen, and found nothing serious."""
    assert [] == story.serious
    assert len(story.audits) >= 20
    assert all(audit["passes"] > 5 for audit in story.audits)


def test_the_page_asks_nobody_but_its_service(story: Story) -> None:
    """No request went elsewhere, the policy was not violated, nothing failed in the console."""
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_the_checks_notice_what_they_are_for(story: Story) -> None:
    """A nameless button, an inline script and a picture from elsewhere are each found."""
    mutants = story.facts["mutants"]

    assert "button-name" in mutants["axe"]
    assert mutants["inline_ran"] is False
    assert mutants["elsewhere"] == 1
    assert len(mutants["policy"]) == 2


def test_nothing_is_wider_than_the_window(story: Story) -> None:
    """No screen scrolls sideways, narrow ones included."""
    assert {0} == set(story.overflows.values()), story.overflows


def test_the_scripts_are_small(
    story: Story, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """All scripts together, compressed, stay below the limit; the times are only told."""
    for name in ("script_gzip_bytes", "first_view_ms", "second_view_ms", "first_view_bytes"):
        record_testsuite_property(name, story.facts[name])
        sys.stdout.write(f"{name}: {story.facts[name]}\n")

    assert 3 == story.facts["script_gzip_bytes"]["languages"]
    assert story.facts["script_gzip_bytes"]["all"] <= SCRIPT_BYTES_MAX
    # What came over the wire, not what could have.
    assert story.facts["first_view_bytes"] <= FIRST_VIEW_BYTES_MAX


def test_the_first_view_is_small() -> None:
    """The page, and the scripts and styles that it names, stay below the limit, compressed."""
    page = STATIC.joinpath(INDEX).read_text("utf-8")
    named = [STATIC / each for each in re.findall(r'(?:src|href)="\./(assets/[^"]+)"', page)]

    assert 3 <= len(named)
    sizes = [len(gzip.compress(each.read_bytes())) for each in (STATIC / INDEX, *named)]
    assert sum(sizes) <= FIRST_VIEW_BYTES_MAX


DOUBTS: Final = ("Ada earns 4,200 € — “net”, naïve café.", "Ada pays 5,300 € for her boat.")
WORK: Final = ("review", "dead", "failed", "exportAndImport", "audit", "erase")


async def neglect(folder: Path) -> None:
    """Leave what a person has to look after: two doubts, and a message that was given up."""
    clock = FrozenClock(datetime.now(UTC) - timedelta(days=3))
    doubted = [
        ToolCall(
            name="Note",
            arguments={
                "value": {"context": "work", "content": each},
                "because": ["1: I got a raise"],
            },
        )
        for each in DOUBTS
    ]
    said: list[list[ToolCall] | str] = [doubted]
    model = ScriptedModel(lambda _: said[-1])
    scope = ("default",)
    async with recollect.open(
        f"sqlite:///{folder / 'page.db'}", embedder="none", model=model, worker=False, clock=clock
    ) as memory:
        for thread, text in (("raise", "I got a raise"), ("lost", "I keep bees in Porto.")):
            await memory.append(scope, thread, [NewMessage(role="user", text=text)])
            while (await memory.pending(scope)).rows:
                clock.advance(7_200)
                await memory.form(scope)
            said.append("I cannot say.")


@pytest.mark.prove
def test_what_was_neglected_is_looked_after(walks: Walks, tmp_path: Path) -> None:
    """Doubts, failures, an import, the audit and an erase, as a person meets them on the page."""
    asyncio.run(neglect(tmp_path))
    model = ("--model", str(HERE / "work.json"))
    with walks.serving(tmp_path, "--no-auth", *model, after_s=600) as (address, _):
        story = walks.walked(address, extent="work", script="work.mjs")
    facts = story.facts

    assert dict.fromkeys(WORK, "well") == story.chapters
    assert "4,200" in facts["doubt"]
    assert facts["approved"]["is_same"] is True
    assert ("quarantined", "active") == (facts["approved"]["before"], facts["approved"]["after"])
    assert DOUBTS[0] == facts["approved"]["value"]["content"]
    assert {"state": "quarantined", "doubt": facts["doubt"]} == facts["approval_undone"]
    assert 0 == facts["refusal_undone"]
    assert 1 == facts["rejected_rows"]
    assert ["Note (1)"] == facts["rejected_types"]
    assert "Rejected since" in facts["rejected_told"]
    assert "elieved" not in facts["rejected_told"]
    assert "no tool was called" in facts["given_up"]
    assert facts["receipt_thread"]["said"] == facts["receipt_thread"]["first"]
    assert facts["receipt_thread"]["said"] != facts["receipt_thread"]["id"]
    assert "bees" in facts["formed_after_all"]
    assert "failed attempt" in facts["failing"]
    assert {"memory", "message", "thread"} <= {*facts["exported"]["kinds"]}
    assert "no record" in facts["refused_line"]
    assert any("restore" in row for row in facts["audit_of_copy"])
    assert any("messages added" in row and "local" in row for row in facts["audit"])
    assert facts["erase_half_typed"] is True
    assert 404 == facts["erased"]["thread"]
    erased = facts["erased"]
    assert erased["toast"].startswith("Erased: 1 message")
    assert re.fullmatch(r"Erased on .+: a thread \(1 message.*\)", erased["said"])
    assert erased["id"] in erased["receipt"]
    assert erased["id"] not in erased["toast"] + erased["said"]
    assert "4,200" not in facts["left"]
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]


FULL: Final = 100_000
FILLED_AT_ONCE: Final = 1_000
SET_ASIDE: Final = {77: "quarantined", 78: "rejected", 99_998: "quarantined", 99_999: "rejected"}


def filling(number: int) -> PutMemory:
    """Return one of many memories: every fiftieth a fact between people, a few set aside."""
    if number % 50 == 0:
        person = number // 50
        value = {
            "subject": f"Person {person % 400}",
            "predicate": "knows",
            "object": f"Person {person * 7 % 400}",
        }
        return PutMemory(type="Fact", key=f"f{number:06}", value=value)
    content = f"Was at harbour {number} with friend {number % 977}, liked boat {number % 131}."
    state = cast("MemoryState", SET_ASIDE.get(number, "active"))
    value = {"context": "travel", "content": content}
    return PutMemory(type="Note", key=f"n{number:06}", value=value, state=state)


async def fill(folder: Path) -> None:
    """Keep many memories in one scope."""
    url = f"sqlite:///{folder / 'page.db'}"
    async with recollect.open(url, embedder="none", worker=False) as memory:
        for start in range(0, FULL, FILLED_AT_ONCE):
            writes = [filling(start + each) for each in range(FILLED_AT_ONCE)]
            await memory.apply(("default",), writes)


@pytest.mark.prove
@pytest.mark.timeout(1_200)
def test_a_talk_over_a_full_store(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """With 100,000 memories: lists, search, a talk that is formed, corrected and deleted."""
    asyncio.run(fill(tmp_path))
    with walks.serving(tmp_path, "--no-auth", "--model", "rules", after_s=600) as (address, _):
        story = walks.walked(address, extent="full", script="full.mjs")
    facts = story.facts
    record_testsuite_property("waits_ms", facts["waits_ms"])
    sys.stdout.write(f"{FULL} memories, waits in ms: {facts['waits_ms']}\n")

    assert dict.fromkeys(("lists", "talk", "correctAndDelete"), "well") == story.chapters
    assert "77777" in facts["found"]
    assert "Braga" in facts["recalled"]
    assert 404 == facts["gone"]
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
