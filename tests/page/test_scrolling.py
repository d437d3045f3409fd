"""Each screen of the page is shown to its end on every size, with more than fits."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import recollect
from recollect import NewMessage
from recollect.records import Evidence, PutMemory, Scope
from recollect.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from tests.page.conftest import Story, Walks

HERE: Final = Path(__file__).parent
SCOPE: Final[Scope] = ("default",)
MESSAGES: Final = 400
GAP: Final = slice(20, 150)
QUOTED: Final = (120, 300, 396)
"""Positions of messages of the long thread that facts quote: each is a plain sentence."""
WORD: Final = "Donaudampfschifffahrtsgesellschaftskapitaen" * 8
CHINESE: Final = "我每天早上都去海边散步，然后喝一杯浓缩咖啡，再回家写展览的文字。" * 6
ADDRESS: Final = "https://example.org/" + "a/b-c_d" * 60


def words(number: int) -> str:
    """Return a plain sentence, a word without end, Chinese, or a long address."""
    texts = (f"A plain sentence about harbour {number}.", WORD, CHINESE, ADDRESS)
    return f"{number} {texts[number % 4]}"


def cited(message: str, number: int) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence of a memory that rests on a plain sentence of the long thread."""
    return {"/object": (Evidence(thread="long", message=message, quote=f"harbour {number}"),)}


async def fill(memory: Recollect) -> None:
    """Keep more of everything than a screen holds."""
    for number in range(70):
        first = NewMessage(role="user", text=words(number))
        await memory.append(SCOPE, f"talk-{number:03}", [first])
    talk = [
        NewMessage(role="assistant" if number % 2 else "user", text=words(number))
        for number in range(MESSAGES)
    ]
    kept = await memory.append(SCOPE, "long", talk)
    gaps = [NewMessage(role="user", text=words(number)) for number in range(200)]
    said = await memory.append(SCOPE, "gaps", gaps)
    await memory.remove(SCOPE, "gaps", [each.id for each in said[GAP]])
    notes = [
        PutMemory(type="Note", key=f"n{n:03}", value={"context": "travel", "content": words(n)})
        for n in range(120)
    ]
    doubts = [
        PutMemory(type="Note", key=f"q{n:03}", value={"content": words(n)}, state="quarantined")
        for n in range(25)
    ]
    # With a memory of a former day each screen offers the slider over the days.
    old = PutMemory(
        type="Note",
        key="old",
        value={"content": "Ada moved."},
        valid_from=datetime(2025, 1, 1, tzinfo=UTC),
    )
    quoted = {n: cited(kept[place].id, place) for n, place in enumerate(QUOTED)}
    facts = [
        PutMemory(
            type="Fact",
            key=f"f{n:03}",
            value={"subject": "Ada", "predicate": "knows", "object": f"Person {n}"},
            evidence=quoted.get(n, {}),
        )
        for n in range(30)
    ]
    await memory.apply(SCOPE, [*notes, *doubts, *facts, old])
    said_first = (Evidence(thread="long", message=kept[0].id, quote="harbour 0"),)
    for number in range(40):
        value = {
            "user_name": "Ada",
            "home": words(number),
            "interests": [words(n) for n in range(6)],
            WORD[:80]: "a name without end",
        }
        profile = PutMemory(type="User", key="User", value=value, evidence={"/home": said_first})
        await memory.apply(SCOPE, [profile])
    for number in range(25):
        await memory.form(SCOPE, f"talk-{number:03}")


async def filled(folder: Path) -> None:
    """Leave a store that is full."""
    url = f"sqlite:///{folder / 'page.db'}"
    model = ScriptedModel(lambda _: [])
    async with recollect.open(url, embedder="none", worker=False, model=model) as memory:
        await fill(memory)


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Show each screen at each size."""
    folder = tmp_path_factory.mktemp("scrolling")
    asyncio.run(filled(folder))
    model = ("--model", str(HERE / "story.json"))
    with walks.serving(folder, "--no-auth", *model, after_s=600) as (address, _):
        return walks.walked(address, extent="scrolling", script="scrolling.mjs")


def test_the_whole_walk_can_be_made(story: Story) -> None:
    """No step fails, and nothing fails in the console."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def test_every_screen_is_shown_to_its_end(story: Story) -> None:
    """Nothing is hidden below the edge of a box, and the wheel reaches the last thing."""
    assert {} == {screen: each for screen, each in story.unseen.items() if each}
    assert len(story.unseen) == 4 * 10


def test_no_screen_is_wider_than_the_window(story: Story) -> None:
    """Long words, addresses and Chinese break."""
    assert {} == {screen: wide for screen, wide in story.overflows.items() if wide}
    assert len(story.overflows) == len(story.unseen)


def test_a_long_talk_is_read_back_to_its_first_word(story: Story) -> None:
    """Earlier messages come above what is being read, which does not move."""
    assert story.facts["read_back"]["turns"] == MESSAGES
    assert max(story.facts["read_back"]["moved"]) <= 2


def test_a_talk_is_read_back_over_messages_that_are_gone(story: Story) -> None:
    """More messages than a page are gone from the middle: those before them are reached."""
    found = story.facts["read_over_gap"]
    assert {"turns": 70, "first": words(0)} == found


def test_what_arrives_does_not_move_what_is_read(story: Story) -> None:
    """A message from elsewhere leaves the reader in place; one's own words lead to the end."""
    assert story.facts["moved_while_reading"] <= 2
    assert story.facts["own_words_end"] == ""


def test_a_link_from_quoted_words_leads_to_them(story: Story) -> None:
    """They are in view, stay there when a row above grows, and are come back to."""
    assert {} == {link: why for link, why in story.facts["led_to"].items() if why}
    assert 2 * 4 * 3 == len(story.facts["led_to"])


def test_a_new_thread_is_not_asked_for(story: Story) -> None:
    """Before its first words the service does not know it."""
    assert {
        "unknown": [],
        "said": ["The first words here.", "And more from elsewhere."],
    } == story.facts["new_thread"]


def test_the_checks_notice_a_row_that_is_missing(story: Story) -> None:
    """Without the row of the chat both checks report it."""
    assert story.facts["mutants"]["hidden"]
    assert story.facts["mutants"]["seen"]
