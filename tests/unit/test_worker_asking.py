"""Asking a model: one call in the normal case, repairs of what was wrong, and an end to it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.formation_receipt import ModelExchanges
from recollect.formation.offer import offer_of
from recollect.formation.operations import Insert, Patch
from recollect.formation.types import NOTE, USER
from recollect.formation.window import Window, WindowLine
from recollect.ports import ModelAnswer, ToolCall, Usage
from recollect.records import Json
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from recollect.worker.model_calls import FormationDialogue
from tests.harness.sample_contents import sample_memory, sample_message

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORDS = "I moved to Porto. I own a boat. I like tea."
NOTHING = ToolCall(name="remember_nothing", arguments="{}")
BROKEN = ToolCall(name="Note", arguments="{")


def note(content: str, quote: str | None = None) -> ToolCall:
    """Return the call that keeps a note."""
    value = {"context": "in passing", "content": content}
    because = [{"message": 1, "quote": quote or content}]
    return ToolCall(name="Note", arguments=json.dumps({"value": value, "because": because}))


def patch(path: str, value: Json, quote: str) -> ToolCall:
    """Return the call that changes the profile."""
    change = {"op": "add", "path": path, "value": value, "message": 1, "quote": quote}
    return ToolCall(name="patch_memory", arguments=json.dumps({"id": "m1", "changes": [change]}))


async def ask(
    *answers: ScriptedAnswer, repairs: int = 2, tokens: int = 10**6, known: bool = False
) -> tuple[ModelExchanges, ScriptedModel]:
    """Return what came of these answers, and the model that gave them."""
    line = WindowLine(
        number=1,
        message=sample_message(id="id1", text=WORDS, time=AT),
        text=WORDS,
        new=True,
    )  # fmt: skip
    profile = sample_memory(type="User", key="User", value={"home": "Oslo"}, at=AT)
    window = Window(scope=("u",), lines=(line,), watermarks={"talk": 1})
    settings = FormationSettings(
        types=(USER, NOTE), limits=FormationLimits(repairs=repairs, tokens_a_formation=tokens)
    )
    model = ScriptedModel(answers)
    offer = offer_of(settings.types, [profile] if known else [], WORDS)
    return await FormationDialogue(model, window, offer, settings).ask(), model


def contents(asked: ModelExchanges) -> list[str]:
    """Return the notes and patches that are kept, and how sure of them one is."""
    found = []
    for each in asked.grounded:
        operation = each.operation
        doubt = "?" if each.grounds.doubts else ""
        if isinstance(operation, Insert):
            found.append(f"{operation.value['content']}{doubt}")
        elif isinstance(operation, Patch):
            found += [f"{change.operation['path']}{doubt}" for change in operation.changes]
    return found


def kinds(asked: ModelExchanges) -> list[str]:
    """Return the kinds of what was refused."""
    return [fault.kind for _, fault in asked.refused]


@pytest.mark.parametrize("answer", [[NOTHING], [note("I own a boat"), note("I like tea")]])
async def test_a_right_answer_is_the_only_one(answer: Sequence[ToolCall]) -> None:
    """One call, whatever the number of types and of memories."""
    asked, model = await ask(answer)

    assert (1, True, ()) == (asked.calls, asked.is_whole, asked.refused)
    assert 1 == len(model.requests)


@pytest.mark.parametrize("repairs", [0, 1, 2, 5])
async def test_repairs_have_an_end(repairs: int) -> None:
    """And then everything is told that is still wrong."""
    asked, model = await ask(*[[BROKEN]] * 10, repairs=repairs)

    assert 1 + repairs == len(model.requests) == asked.calls
    assert not asked.is_whole
    assert ["call"] == kinds(asked)
    assert "no JSON" in asked.failure


async def test_what_cannot_be_repaired_leaves_the_rest() -> None:
    """One whole answer is enough."""
    asked, _ = await ask([note("I own a boat"), BROKEN], [BROKEN], [BROKEN])

    assert (["I own a boat"], True) == (contents(asked), asked.is_whole)
    assert "call" in kinds(asked)


async def test_a_repair_that_is_right_leaves_nothing_to_tell() -> None:
    asked, _ = await ask([BROKEN, note("I own a boat")], [note("I like tea")])

    assert (["I own a boat", "I like tea"], []) == (contents(asked), kinds(asked))


@pytest.mark.parametrize("repair", [[NOTHING], [note("I like tea")]])
async def test_a_wrong_call_that_is_let_go_is_told(repair: Sequence[ToolCall]) -> None:
    """Also where another tool is called rightly instead."""
    wrong = patch("/home", "Porto", "I went to Porto")

    asked, _ = await ask([wrong], repair, known=True)

    assert ["quote"] == kinds(asked)


async def test_every_wrong_call_needs_a_repair_of_its_own() -> None:
    """One right call does not stand for two wrong ones."""
    asked, _ = await ask([BROKEN, BROKEN], [note("I like tea")])

    assert (["I like tea"], ["call"]) == (contents(asked), kinds(asked))


@pytest.mark.parametrize("stopped", ["refusal", "length"])
async def test_an_answer_that_did_not_end_is_asked_for_again(stopped: str) -> None:
    """And what was in it before is kept, once."""
    cut = ModelAnswer(calls=(note("I own a boat"),), stopped=stopped)  # type: ignore[arg-type]

    asked, _ = await ask(cut, [note("I own a boat"), note("I like tea")])

    assert ["I own a boat", "I like tea"] == contents(asked)
    assert (True, []) == (asked.is_whole, kinds(asked))


async def test_a_repair_within_an_answer_that_was_cut_off_counts() -> None:
    """What it put right is not told as wrong."""
    wrong, right = note("I like tea", "I like coffee"), note("I like tea")
    cut = ModelAnswer(calls=(right,), stopped="length")

    asked, _ = await ask([wrong], cut, [NOTHING])

    assert (["I like tea"], []) == (contents(asked), kinds(asked))


async def test_what_stays_doubtful_waits_for_a_person() -> None:
    """What was never said at all does not."""
    doubtful, invented = (
        note("a boat of 9 metres", "I own a boat"),
        note("I like tea", "I hate tea"),
    )

    asked, _ = await ask(*[[doubtful, invented]] * 3)

    assert ["a boat of 9 metres?"] == contents(asked)
    assert {"quote"} == set(kinds(asked))


async def test_calls_without_ids_of_their_own_are_settled_one_by_one() -> None:
    """A doubtful one among them does not swallow another."""
    first, second = note("a boat of 9 metres", "I own a boat"), note("5 cups of tea", "I like tea")
    answers = [ModelAnswer(calls=(first,)), ModelAnswer(calls=(second, first), stopped="length")]

    asked, _ = await ask(*answers, repairs=1)

    assert {"a boat of 9 metres?", "5 cups of tea?"} == {*contents(asked)}


async def test_a_formation_that_has_cost_enough_is_not_repaired() -> None:
    """Tokens are counted as the provider does."""
    costly = ModelAnswer(calls=(BROKEN, note("I own a boat")), usage=Usage(input_tokens=900))

    asked, model = await ask(costly, [NOTHING], tokens=900)

    assert (1, 900) == (len(model.requests), asked.tokens)
    assert (["I own a boat"], ["call"]) == (contents(asked), kinds(asked))


async def test_patches_of_one_document_are_kept_one_by_one() -> None:
    """A wrong one takes no other along, and is mended alone."""
    home, age = (
        patch("/home", "Porto", "I moved to Porto"),
        patch("/interests", ["tea"], "like tea!"),
    )
    wrong = patch("/interests", ["tea"], "I like coffee")

    asked, model = await ask([home, wrong], [age], known=True)

    assert (["/home", "/interests"], []) == (contents(asked), kinds(asked))
    told = [turn.text for turn in model.requests[1].turns if turn.role == "tool"]
    assert [True] == ["I like coffee" in each for each in told]
