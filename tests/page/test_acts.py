"""Each act of the page that fails says so where it was done, and can be done again from there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import recollect
from recollect import NewMessage
from recollect.ports import ToolCall
from recollect.records import Evidence, JsonObject, Message, PutMemory, Scope
from recollect.stores.plans.due_times import Debounce
from recollect.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from tests.page.conftest import Story, Walks

HERE: Final = Path(__file__).parent
SCOPE: Final[Scope] = ("default",)
HOW: Final = ("refuse", "lose")
WAYS: Final = (*HOW, "find")
MEMORY_ACTS: Final = ("end", "reject", "reject a field", "restore", "edit", "delete")
ONCE: Final = (
    *("undo", "add", "save types", "pause", "resume", "retry", "form all", "take back"),
    *("form now", "expand", "make a key", "rotate a key", "export", "import", "verify", "preview"),
)
GUARDED: Final = (*MEMORY_ACTS, "review approve", "review reject", "erase")
TYPED: Final = {
    "edit": "lighthouse",
    "add": "written by hand",
    "save types": "True",
    "make a key": "reader",
    "import": "memory.jsonl",
    "preview": "erased-refuse",
    "erase": "Erase",
}


def note(key: str, **more: Any) -> PutMemory:
    """Return a note that names its key."""
    value: JsonObject = {"context": f"of {key}", "content": "harbour"}
    return PutMemory(type="Note", key=key, value=value, **more)


async def say(memory: Recollect, thread: str, text: str) -> Message:
    """Keep a message that waits to be formed until somebody asks for it."""
    said = [NewMessage(role="user", text=text)]
    (kept,) = await memory.append(SCOPE, thread, said, debounce=Debounce(quiet_s=3_600))
    return kept


async def fill(memory: Recollect) -> None:
    """Keep a memory for each act, and what waits, fails and is erased."""
    acts = ("end", "reject", "edit", "delete")
    names = [f"{name}-{how}" for name in acts for how in WAYS]
    await memory.apply(SCOPE, [note(each) for each in (*names, "undo", "both", "left", "looks")])
    profile: JsonObject = {"user_name": "Ada", "home": "Lisbon"}
    for how in WAYS:
        await memory.apply(SCOPE, [PutMemory(type="Trip", key=f"field-{how}", value=profile)])
        await memory.apply(SCOPE, [note(f"restore-{how}")])
        later: JsonObject = {"context": "later", "content": "changed"}
        await memory.apply(SCOPE, [PutMemory(type="Note", key=f"restore-{how}", value=later)])
    for how in HOW:
        for verdict in ("approve", "reject"):
            await memory.apply(SCOPE, [note(f"doubt-{verdict}-{how}", state="quarantined")])
        await say(memory, f"erased-{how}", "To be erased.")
    facts = (("f1", "Ada", "knows", "Grace"), ("f2", "Grace", "lives in", "Boston"))
    for key, subject, predicate, object_ in facts:
        value: JsonObject = {"subject": subject, "predicate": predicate, "object": object_}
        await memory.apply(SCOPE, [PutMemory(type="Fact", key=key, value=value)])
    marked = await say(memory, "marked", "My sister plays the cello.")
    cited = {"": (Evidence(thread="marked", message=marked.id, quote="plays the cello"),)}
    await memory.apply(SCOPE, [note("sister", evidence=cited)])
    await memory.form(SCOPE)
    await say(memory, "fails", "I keep bees in Porto.")


async def filled(folder: Path) -> None:
    """Leave a store with something for each act."""
    url = f"sqlite:///{folder / 'page.db'}"
    model = ScriptedModel(lambda _: ToolCall(name="remember_nothing", arguments={}))
    async with recollect.open(url, embedder="none", worker=False, model=model) as memory:
        await fill(memory)


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Do everything that can be done on the page, each first without and then with the service."""
    folder = tmp_path_factory.mktemp("acts")
    asyncio.run(filled(folder))
    model = ("--model", str(HERE / "acts.json"))
    with walks.serving(folder, "--no-auth", *model, after_s=600) as (address, _):
        return walks.walked(address, extent="acts", script="acts.mjs")


def test_the_whole_story_can_be_walked(story: Story) -> None:
    """No step fails, and nothing fails that is not told."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == [each for each in story.facts["noted"]["errors"] if "uncaught" in each]
    assert [] == story.serious
    assert {0} == set(story.overflows.values())


def test_every_act_that_fails_says_so_where_it_was_done(story: Story) -> None:
    """Beside the button there is a sentence with what to do; nothing is told as done."""
    done = {(each["name"], each["how"]) for each in story.acts}
    wanted = {(name, how) for name in GUARDED for how in HOW} | {(name, "refuse") for name in ONCE}
    found = {(name, "find") for name in MEMORY_ACTS}

    assert wanted | found | {("revoke a key", "lose")} == done
    for each in story.acts:
        if each["how"] != "find":
            assert "No answer came, so this may not be done yet." in each["told"], each
            assert 0 == each["toldTooEarly"], each


def test_what_was_typed_stays(story: Story) -> None:
    """Of each act for which something is typed or chosen."""
    typed = {each["name"]: str(each["typed"]) for each in story.acts if "typed" in each}

    assert set(TYPED) == set(typed)
    for name, text in TYPED.items():
        assert text in typed[name]


def test_an_act_whose_answer_was_lost_is_not_done_twice(story: Story) -> None:
    """What was carried out is found, and not sent again: one version more, or none left."""
    lost = [each for each in story.acts if each["how"] == "lose"]

    assert [] == [each for each in lost if each["sent"]]
    for each in story.acts:
        if each.get("before") is not None:
            assert each["after"] == (None if each["name"] == "delete" else each["before"] + 1), each


def test_an_act_whose_answer_was_lost_is_found_to_be_done(story: Story) -> None:
    """Where what came of it can be read, it is told as done, with nothing to do again."""
    found = [each for each in story.acts if each["how"] == "find"]

    assert len(MEMORY_ACTS) == len(found)
    assert all(each["toldAsDone"] for each in found), found


def test_an_erase_whose_answer_was_lost_is_found_by_its_receipt(story: Story) -> None:
    """Each of the two erases has one receipt."""
    assert {"thread": None, "receipts": 1} == story.facts["erased_refuse"]
    assert {"thread": None, "receipts": 2} == story.facts["erased_lose"]


def test_what_somebody_else_changed_is_not_overwritten(story: Story) -> None:
    """It is told, not offered again as it was, and what was typed stays even if the memory goes."""
    conflict = story.facts["conflict"]

    assert "Somebody else changed this memory" in conflict["told"]
    assert 0 == conflict["again"]
    assert "typed for long" in conflict["typed"]
    assert conflict["typedAfter"] == conflict["typed"]


def test_a_formation_that_failed_is_not_told_as_formed(story: Story) -> None:
    """The service has answered well; the model has not."""
    failed = story.facts["model_failed"]

    assert "Nothing was formed: there is no tool 'Nonsense'" in failed["told"]
    assert 0 == failed["done"]


def test_who_has_left_is_told_where_they_are(story: Story) -> None:
    """The act can be done again from there."""
    assert "No answer came" in story.facts["left"]["told"]
    assert "rejected" == story.facts["left"]["state"]
