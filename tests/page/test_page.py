"""The page as a person meets it: a real service, a real browser, one talk from its first word."""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

import pytest

import recollect
from recollect import NewMessage
from recollect.ports import ToolCall
from recollect.records import MemoryState, PutMemory
from recollect.testing.clock import FrozenClock
from recollect.testing.scripted import ScriptedModel

ROOT: Final = Path(__file__).parents[2]
WEB: Final = ROOT / "web"
HERE: Final = Path(__file__).parent
STATIC: Final = ROOT / "src" / "recollect" / "service" / "static"
PICTURES: Final = HERE / "pictures"
START_S: Final = 60.0
STORY_S: Final = 480.0
SCRIPT_BYTES_MAX: Final = 300_000
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")


def needed() -> tuple[str, str]:
    """Return Node and Chromium, or skip and say what is missing."""
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if node is None:
        pytest.skip("Node is not installed: the page is tested where it can be built")
    if browser is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is on the path")
    if not (WEB / "node_modules").is_dir() or not (STATIC / "index.html").is_file():
        pytest.skip("the page is not built: run `make page`")
    return node, browser


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What was found out on the way through the page."""

    facts: dict[str, Any] = field(hash=False)
    chapters: dict[str, str] = field(hash=False)
    audits: list[dict[str, Any]] = field(hash=False)
    overflows: dict[str, int] = field(hash=False)


def served(process: subprocess.Popen[bytes], *, needs_key: bool) -> tuple[str, str]:
    """Return the address, and the first key, that a service tells when it has started."""
    until = time.monotonic() + START_S
    told = ""
    assert process.stdout is not None
    while time.monotonic() < until and process.poll() is None:
        if not select.select([process.stdout], [], [], 0.2)[0]:
            continue
        told += os.read(process.stdout.fileno(), 65_536).decode()
        address = re.search(r"http://127\.0\.0\.1:\d+\s", told)
        key = re.search(r"\brk_[\w-]+\s", told)
        if address and (key or not needs_key):
            return address[0].strip(), key[0].strip() if key else ""
    pytest.fail(f"`recollect serve` told no address within {START_S:g} s: {told!r}")


@contextmanager
def serving(folder: Path, *options: str, after_s: float) -> Iterator[tuple[str, str]]:
    """Serve an empty store; give its address, and the key that it told at its first start."""
    config = folder / "page.toml"
    config.write_text(f"after_seconds = {after_s:g}\n", "utf-8")
    command = [sys.executable, "-m", "recollect", "serve", "--store", str(folder / "page.db")]
    command += ["--port", "0", "--embedder", "none", "--log-level", "error"]
    command += ["--config", str(config), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield served(process, needs_key="--no-auth" not in options)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve with a model that answers and forms as story.json says, and only when asked."""
    needed()
    folder = tmp_path_factory.mktemp("page")
    model = ("--model", str(HERE / "story.json"))
    with serving(folder, "--no-auth", *model, after_s=600) as (address, _):
        yield address


def read_story(told: str) -> Story:
    """Return the facts that a story printed, one JSON line each."""
    story = Story(facts={}, chapters={}, audits=[], overflows={})
    for line in told.splitlines():
        fact = json.loads(line)
        name, value = fact["name"], fact["value"]
        if name == "chapter":
            story.chapters[value["name"]] = value["ended"]
        elif name == "axe":
            story.audits.append(value)
        elif name == "overflow_px":
            story.overflows[value["screen"]] = value["px"]
        else:
            story.facts[name] = value
    return story


def walked(service: str, *, extent: str, key: str = "", script: str = "story.mjs") -> Story:
    """Walk through the page as a script says, and return what was found out."""
    node, browser = needed()
    pictures = PICTURES / extent
    shutil.rmtree(pictures, ignore_errors=True)
    finished = subprocess.run(
        [node, str(WEB / "story" / script), service, str(pictures), browser, extent],
        env={**os.environ, "RECOLLECT_KEY": key},
        capture_output=True,
        text=True,
        timeout=STORY_S,
        check=False,
    )
    assert finished.stdout, finished.stderr
    return read_story(finished.stdout)


@pytest.fixture(scope="module")
def story(service: str, request: pytest.FixtureRequest) -> Story:
    """Walk through the page once for all tests; every screen in every look if all is proved."""
    is_proof = request.config.getoption("-m") == "prove"
    return walked(service, extent="all" if is_proof else "some")


@pytest.mark.prove
def test_every_screen_in_every_look_is_accessible(story: Story) -> None:
    """Light and dark, English and Chinese, wide and narrow: axe finds nothing serious."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == serious(story.audits)
    assert len(story.audits) > 50


def test_the_pure_parts_hold() -> None:
    """The page's own unit tests pass."""
    node, _ = needed()

    finished = subprocess.run(
        [node, "node_modules/vitest/vitest.mjs", "run"],
        cwd=WEB,
        capture_output=True,
        text=True,
        timeout=STORY_S,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_whole_story_can_be_walked(story: Story) -> None:
    """Chat, form, undo, correct, restore, recall, reject, forget, erase: no step fails."""
    assert {"well"} == set(story.chapters.values()), story.chapters


def test_what_was_said_is_formed_and_shown_beside_the_talk(story: Story) -> None:
    """The Memories panel counts down, and after forming shows what was inferred."""
    assert re.fullmatch(r"Forms in \d+:\d\d", story.facts["countdown"])
    assert "Lisbon" in story.facts["panel_after_forming"]
    assert "All is formed" in story.facts["panel_after_forming"]


def test_the_turn_that_brought_a_memory_is_marked_and_can_be_undone(story: Story) -> None:
    """The mark names the memory; undo takes it away, and undo of that brings it back."""
    assert any(mark.startswith("User · user name, home") for mark in story.facts["marks"])
    assert "cello" not in story.facts["after_undo"]
    assert "cello" in story.facts["after_undo_of_undo"]


def test_a_pasted_type_is_checked_and_then_filled(story: Story) -> None:
    """A wrong schema is refused with its line; a right one is filled by the next talk."""
    assert re.match(r"line \d+ types\[0\]\.parameters\.type", story.facts["complaint"])
    assert "favorite_locations" in story.facts["types_in_force"]
    assert "the old lighthouse" in story.facts["panel_with_new_field"]


def test_a_memory_shows_its_words_and_its_versions(story: Story) -> None:
    """The link of a quote leads to the message, with the quoted words marked."""
    assert "I moved to Porto" == story.facts["evidence"]
    assert ["Version 3", "Version 2", "Version 1"] == re.findall(
        r"Version \d", story.facts["history"]
    )
    assert "cello" in story.facts["searched"]


def test_a_memory_is_corrected_and_an_earlier_version_restored(story: Story) -> None:
    """An edit is the next version; so is a restored one, and what undoes it."""
    assert "Braga" in story.facts["corrected"]
    assert "Lisbon" in story.facts["restored"]
    assert "Braga" in story.facts["restore_undone"]


def test_recall_explains_itself(story: Story) -> None:
    """Each entry has its signals; what the budget dropped and the prompt are shown."""
    recall = story.facts["recall"]

    assert recall["entries"]
    assert "words" in recall["signals"]
    assert "over the budget" in recall["dropped"] or "said already" in recall["dropped"]
    assert recall["rendered"].startswith("<memory")
    assert "Where does Ada live?" in story.facts["used_by"]


def test_the_slider_goes_back_to_what_was_believed(story: Story) -> None:
    """At the slider's beginning the first version is shown, at its end the present one."""
    assert "Lisbon" in story.facts["timeline"]["first"]
    assert "Braga" in story.facts["timeline"]["now"]


def test_a_rejected_memory_stays_visible_and_a_forgotten_one_goes(story: Story) -> None:
    """Both can be undone for a while: no refusal is left, and all versions are there again."""
    assert "rejected" in story.facts["rejected"]
    assert {"before_undo": 1, "after_undo": 0} == story.facts["refusals"]
    assert "Braga" not in story.facts["forgotten"]
    assert "Braga" in story.facts["put_back"]
    assert story.facts["put_back_exactly"] is True


def test_a_neighbour_in_the_graph_is_expanded_by_keyboard(story: Story) -> None:
    """The entity that was chosen brings its own neighbours."""
    assert story.facts["graph"]["before"] < story.facts["graph"]["after"]


def test_an_erase_is_previewed_and_guarded(story: Story) -> None:
    """The counts are shown, and nothing is erased before a word is typed."""
    assert "messages" in story.facts["erase_preview"]
    assert story.facts["erase_is_guarded"] is True


def test_the_keyboard_reaches_everything(story: Story) -> None:
    """Shortcuts lead to screens and fields, and Tab reaches the message field."""
    assert "search" == story.facts["slash_focuses"]
    assert story.facts["tab_reaches_composer"] is True


def test_a_key_opens_the_page_and_its_scopes(tmp_path: Path) -> None:
    """With a key: memories form by themselves when talk pauses, and another scope sees none."""
    needed()
    with serving(tmp_path, "--model", "rules", after_s=2) as (address, key):
        story = walked(address, extent="key", key=key)

    assert {"well"} == set(story.chapters.values()), story.chapters
    assert "API key" in story.facts["wrong_key"]
    assert story.facts["kept_outside_the_tab"] is False
    assert "Lisbon" in story.facts["formed_by_itself"]
    assert "Lisbon" not in story.facts["other_scope"]
    assert story.facts["new_key_is_shown"] is True
    assert 200 == story.facts["rotated_key_reads"]
    assert 401 == story.facts["revoked_key_reads"]
    assert [] == serious(story.audits)
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]


def serious(audits: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the screens and rules of findings that are serious or worse."""
    return [
        (audit["screen"], found["id"])
        for audit in audits
        for found in audit["violations"]
        if found["impact"] in {"serious", "critical"}
    ]


def test_no_screen_has_a_serious_finding(story: Story) -> None:
    """Axe ran on each screen, and found nothing serious."""
    assert [] == serious(story.audits)
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
    for name in ("script_gzip_bytes", "first_view_ms", "second_view_ms"):
        record_testsuite_property(name, story.facts[name])
        sys.stdout.write(f"{name}: {story.facts[name]}\n")

    assert story.facts["script_gzip_bytes"]["all"] <= SCRIPT_BYTES_MAX


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
def test_what_was_neglected_is_looked_after(tmp_path: Path) -> None:
    """Doubts, failures, an import, the audit and an erase, as a person meets them on the page."""
    needed()
    asyncio.run(neglect(tmp_path))
    model = ("--model", str(HERE / "work.json"))
    with serving(tmp_path, "--no-auth", *model, after_s=600) as (address, _):
        story = walked(address, extent="work", script="work.mjs")
    facts = story.facts

    assert dict.fromkeys(WORK, "well") == story.chapters
    assert "4,200" in facts["doubt"]
    assert facts["approved"]["is_same"] is True
    assert ("quarantined", "active") == (facts["approved"]["before"], facts["approved"]["after"])
    assert DOUBTS[0] == facts["approved"]["value"]["content"]
    assert "quarantined" == facts["approval_undone"]
    assert 0 == facts["refusal_undone"]
    assert 1 == facts["rejected_rows"]
    assert "no tool was called" in facts["given_up"]
    assert "bees" in facts["formed_after_all"]
    assert "failed attempt" in facts["failing"]
    assert {"memory", "message", "thread"} <= {*facts["exported"]["kinds"]}
    assert "nonsense" in facts["refused_line"] or "kind" in facts["refused_line"]
    assert any("restore" in row for row in facts["audit_of_copy"])
    assert any("append" in row and "local" in row for row in facts["audit"])
    assert facts["erase_half_typed"] is True
    assert 404 == facts["erased"]["thread"]
    assert "4,200" not in facts["left"]
    assert [] == serious(story.audits)
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
    tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """With 100,000 memories: lists, search, a talk that is formed, corrected and forgotten."""
    needed()
    asyncio.run(fill(tmp_path))
    with serving(tmp_path, "--no-auth", "--model", "rules", after_s=600) as (address, _):
        story = walked(address, extent="full", script="full.mjs")
    facts = story.facts
    record_testsuite_property("waits_ms", facts["waits_ms"])
    sys.stdout.write(f"{FULL} memories, waits in ms: {facts['waits_ms']}\n")

    assert dict.fromkeys(("lists", "talk", "correctAndForget"), "well") == story.chapters
    assert "77777" in facts["found"]
    assert "Braga" in facts["recalled"]
    assert 404 == facts["gone"]
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
