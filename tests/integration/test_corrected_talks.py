"""Talks with three corrections each: a profile for every speaker is left, and no stale note."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

import recollect
from recollect.formation.prompt_texts import TEXTS
from recollect.formation.rule_requests import shown_in
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Memory, NewMessage
from recollect.testing import FrozenClock, ScriptedModel

TALKS: Final[dict[str, Any]] = {
    each["name"]: each
    for each in json.loads(
        Path(__file__).parents[1].joinpath("corpus/corrected_talks.json").read_text("utf-8")
    )
}
SCOPE: Final = ("households", "h7")


def calls_of(answer: Sequence[Mapping[str, Any]], request: ModelRequest) -> list[ToolCall]:
    """
    Return recorded calls under the numbers and ids of *request*.

    ``<words>`` stand for a citation of the message that says them, ``<id words>`` for the id of
    the memory that holds them, or whose owner they name.
    """
    written = json.dumps(answer, ensure_ascii=False)
    shown = shown_in(request)
    known = {id_: f"{type_} @{shown.owners[id_]} {value}" for id_, type_, value in shown.known}
    while "<" in written:
        place = written.partition("<")[2].partition(">")[0]
        words = place.removeprefix("id ")
        if words != place:
            (found,) = [id_ for id_, told in known.items() if words in told]
        else:
            (found,) = [f"{number}: {words}" for number, _, said in shown.new if words in said]
        written = written.replace(f"<{place}>", found)
    return [ToolCall(**each) for each in json.loads(written)]


async def formed(
    talk: Mapping[str, Any], url: str, parts: slice = slice(None)
) -> tuple[list[Memory], list[Memory], ScriptedModel]:
    """Return the profiles and notes in force after a talk, and the model that was asked."""
    answers = iter(each["answer"] for each in talk["parts"][parts])
    model = ScriptedModel(lambda request: calls_of(next(answers), request))
    clock = FrozenClock()
    async with recollect.open(
        url, embedder="none", worker=False, model=model, clock=clock
    ) as memory:
        for part in talk["parts"][parts]:
            lines = [NewMessage(role="user", name=name, text=text) for name, text in part["said"]]
            await memory.append(SCOPE, "talk", lines)
            assert ["formed"] == [each.end for each in await memory.form(SCOPE)]
            clock.advance(86_400)
        rows = [(await memory.memories(SCOPE, type_=each)).rows for each in ("User", "Note")]
        review = (await memory.memories(SCOPE, state="quarantined")).rows
        assert [] == list(review)
    profiles, notes = (
        [e for e in found if e.valid_until is None or e.valid_until > clock.now()] for found in rows
    )
    return profiles, notes, model


@pytest.mark.parametrize("backend", ["memory:", "sqlite"])
@pytest.mark.parametrize("name", TALKS)
async def test_three_corrections_leave_nothing_stale(
    name: str, backend: str, tmp_path: Path
) -> None:
    """A call a formation; each value rests on the words of its own speaker."""
    talk = TALKS[name]
    url = backend if backend == "memory:" else str(tmp_path / "talk.db")

    profiles, notes, model = await formed(talk, url)

    assert {key: each["value"] for key, each in talk["profiles"].items()} == {
        each.key: each.value for each in profiles
    }
    for each in profiles:
        quotes = talk["profiles"][each.key]["quotes"]
        assert quotes == {path: found[0].quote for path, found in each.evidence.items()}
    assert talk["notes"] == {
        str(each.value["content"]): each.evidence["/content"][0].quote for each in notes
    }
    told = str([each.value for each in (*profiles, *notes)])
    assert not [each for each in talk["gone"] if each in told]
    assert len(talk["parts"]) == len(model.requests)


@pytest.mark.parametrize("name", TALKS)
async def test_a_talk_is_asked_about_in_its_language(name: str) -> None:
    """Each request, whoever speaks."""
    _, _, model = await formed(TALKS[name], "memory:")

    heading = TEXTS[TALKS[name]["language"]].new_messages
    assert all(f"{heading}\n" in each.turns[0].text for each in model.requests)


@pytest.mark.parametrize("name", TALKS)
async def test_without_the_corrections_the_old_facts_stand(name: str) -> None:
    """The control: it is the second part that removes them."""
    profiles, notes, _ = await formed(TALKS[name], "memory:", slice(1))

    told = str([each.value for each in (*profiles, *notes)])
    assert all(each in told for each in TALKS[name]["gone"])
