"""Every shipped case can be met, and a model that is bad in its own way scores worse by it."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import anyio
import pytest

from recollect.errors import ModelDeniedError, ModelUnavailableError
from recollect.evaluation import (
    EvaluationCase,
    Figures,
    RunPlan,
    case_params,
    deeds_of,
    form,
    measured,
    run_cases,
    shipped_cases,
)
from recollect.evaluation.case_files import read_cases
from recollect.evaluation.measures import total
from recollect.formation.rule_model import RuleModel
from recollect.formation.support import Support
from recollect.ports import Model, ToolCall
from recollect.records import Json, JsonObject
from recollect.testing.oracle import Called, Oracle, ParsedRequest
from recollect.testing.scripted_model import ScriptedModel
from tests.harness.faulty_models import (
    Forgetful,
    Hallucinating,
    OverInserting,
    OverUpdating,
)

TOLD_TWICE = """
[[case]]
name = "told twice"
types = ["Fact"]

[[case.talks]]
messages = ["Our cat is called Pixel."]

[[case.must]]
type = "Fact"
where = { object = "Pixel" }
value = { subject = "our cat", predicate = "is called", object = "Pixel" }
message = 1
quote = "Our cat is called Pixel"
"""


class Amnesic(Oracle):
    """An oracle to which nobody shows what is remembered."""

    def called(self, shown: ParsedRequest) -> list[Called]:
        return super().called(replace(shown, known=()))


async def figures_of(model_of: Callable[[EvaluationCase], Model]) -> Figures:
    """Return the totals over all shipped cases."""
    return total(measured(each).figures for each in await run_cases(shipped_cases(), model_of))


@cache
def scored(model: type[Oracle]) -> Figures:
    """Return the totals of an oracle, or of one of the models that spoil its answers."""
    return anyio.run(figures_of, lambda case: model(deeds_of(case)))


@pytest.mark.parametrize("case", case_params())
async def test_an_oracle_meets_every_shipped_case(case: EvaluationCase) -> None:
    """All that must be remembered is, nothing else, nothing twice, nothing that was not said."""
    figures = (result := await form(case, Oracle(deeds_of(case)))).figures

    assert () == result.problems
    assert figures.met == figures.musts
    assert figures.covered == figures.formed
    assert (0, 0) == (figures.duplicates, figures.near_duplicates)
    assert (0, 0, 0) == (figures.attempted, figures.invented, figures.overwritten)


def test_there_are_cases_of_every_kind() -> None:
    """The shipped cases are at least 32, 8 of them Chinese, and cover what goes wrong."""
    cases = shipped_cases()
    tags = {tag for case in cases for tag in case.tags}

    assert len(cases) >= 32
    assert sum(case.language == "zh" for case in cases) >= 8
    assert {"update", "correction", "negation", "hedge", "pronouns", "same name"} <= tags
    assert {"injection", "wish", "single value", "ending", "duplicate", "rejected"} <= tags
    assert {"numbers", "dates", "threads"} <= tags


@pytest.mark.parametrize("name", ["recall", "precision"])
def test_the_oracle_reaches_the_whole(name: str) -> None:
    assert 1.0 == getattr(scored(Oracle), name)


def test_a_model_that_forgets_scores_worse_on_recall() -> None:
    recall = scored(Forgetful).recall

    assert recall is not None
    assert recall < 0.7


def test_a_model_that_inserts_too_much_scores_worse_on_duplicates_and_precision() -> None:
    figures = scored(OverInserting)

    assert figures.near_duplicates + figures.duplicates >= 10
    assert figures.precision is not None
    assert figures.precision < 0.9
    assert figures.inserted > scored(Oracle).inserted


def test_a_model_that_updates_too_much_scores_worse_on_what_is_overwritten() -> None:
    figures = scored(OverUpdating)

    assert figures.overwritten >= 5
    assert figures.patched > scored(Oracle).patched


def test_a_model_that_hallucinates_scores_worse_on_what_is_ungrounded() -> None:
    """It is caught: nothing invented is stored, and its attempts are counted."""
    figures = scored(Hallucinating)

    assert figures.attempted >= 20
    assert 0 == figures.invented


@pytest.mark.parametrize(
    ("model", "measure"),
    [
        (OverInserting, "near_duplicates"),
        (OverUpdating, "overwritten"),
        (Hallucinating, "attempted"),
    ],
)
def test_each_bad_model_is_the_worst_on_its_own_measure(model: type[Oracle], measure: str) -> None:
    models = (Forgetful, OverInserting, OverUpdating, Hallucinating, Oracle)
    figures = {each.__name__: getattr(scored(each), measure) for each in models}

    worst = figures.pop(model.__name__)

    assert worst > max(figures.values())


def test_without_grounding_what_is_invented_is_stored_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The count of ungrounded leaves does not rest on the refusals: it reads what is stored."""
    heard = "recollect.formation.support.heard_window.HeardWindow.lacks"
    monkeypatch.setattr(heard, lambda *_, **__: ())
    monkeypatch.setattr("recollect.formation.grounding.grounds.support_of", lambda *_: Support())

    figures = anyio.run(figures_of, lambda case: Hallucinating(deeds_of(case)))

    assert figures.invented >= 20


def test_a_model_that_is_not_shown_what_is_known_fails() -> None:
    """The cases need the block of memories: without it, updates become second copies."""
    figures = anyio.run(figures_of, lambda case: Amnesic(deeds_of(case)))

    assert figures.recall is not None
    assert figures.recall < 0.95
    assert figures.violations > 0


async def test_the_same_said_again_is_a_duplicate() -> None:
    """Two entries that meet the same must are near duplicates, whatever their words."""
    (case,) = read_cases(TOLD_TWICE, "twice.toml")
    told: list[JsonObject] = [
        {"subject": "our cat", "predicate": "is called", "object": "Pixel"},
        {"subject": "the cat", "predicate": "is called", "object": "Pixel"},
    ]
    because: list[Json] = [{"message": 1, "quote": "Our cat is called Pixel"}]
    calls = [
        ToolCall(name="Fact", arguments={"value": value, "because": because}) for value in told
    ]

    figures = (await form(case, ScriptedModel([calls]))).figures

    assert 1 == figures.near_duplicates


async def test_rules_meet_some_musts_and_not_all() -> None:
    """A model that is no oracle runs through the same cases."""
    rules = RuleModel()

    figures = await figures_of(lambda _: rules)

    assert 0 < figures.met < figures.musts
    assert figures.formations > 0


async def test_a_model_that_denies_ends_the_run() -> None:
    with pytest.raises(ModelDeniedError, match="no credit"):
        await run_cases(
            shipped_cases()[:3], lambda _: ScriptedModel([ModelDeniedError("no credit")])
        )


async def test_a_model_that_is_busy_is_waited_for() -> None:
    """It asks for four seconds, gets them, and answers then; nothing is lost."""
    (case,) = read_cases(TOLD_TWICE, "twice.toml")
    oracle = Oracle(deeds_of(case))
    waited: list[float] = []
    busy = [ModelUnavailableError("busy", retry_after_s=4.0)]

    async def wait(wait_s: float) -> None:
        waited.append(wait_s)

    model = ScriptedModel(lambda request: busy.pop() if busy else oracle.answer(request))
    (run,) = await run_cases([case], lambda _: model, RunPlan(wait=wait))

    assert [4.0] == waited
    assert () == measured(run).problems


async def test_a_model_that_stays_away_ends_the_run() -> None:
    (case,) = read_cases(TOLD_TWICE, "twice.toml")

    async def wait(_: float) -> None:
        await anyio.lowlevel.checkpoint()

    away = ScriptedModel(lambda _: ModelUnavailableError("away"))
    with pytest.raises(ModelUnavailableError, match="away"):
        await run_cases([case], lambda _: away, RunPlan(wait=wait))


def test_cases_run_at_once_give_the_same_figures() -> None:
    """Each case has a store and a clock of its own."""
    cases = shipped_cases()

    runs = anyio.run(run_cases, cases, lambda case: Oracle(deeds_of(case)), RunPlan(at_once=8))

    assert list(cases) == [each.case for each in runs]
    assert scored(Oracle) == total(measured(each).figures for each in runs)


async def test_a_formation_that_fails_is_told() -> None:
    """An answer that is never readable is counted as failed, and the musts as missed."""
    (case,) = read_cases(TOLD_TWICE, "twice.toml")

    result = await form(case, ScriptedModel(lambda _: "I would rather chat."))

    assert result.figures.failures > 0
    assert 0 == result.figures.met
    assert any("no tool was called" in each for each in result.problems)
