"""
Evaluation of formation: cases with what must, may and must not be remembered of a conversation.

Under pytest, a case file becomes tests::

    @pytest.mark.parametrize("case", case_params("my_cases.toml"))
    async def test_a_case_is_formed_right(case: Case) -> None:
        assert () == (await form(case, model)).problems
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.evaluation.case_files import load_cases, shipped_cases
from recollect.evaluation.case_runner import CaseRun, RunPlan, run_case, run_cases
from recollect.evaluation.cases import CaseTalk, EvaluationCase, Expectation, chosen
from recollect.evaluation.eval_report import EvalReport, report_of, write_report
from recollect.evaluation.langsmith_export import dataset_rows, send_rows
from recollect.evaluation.measures import CaseVerdict, Figures, Measured, measured
from recollect.evaluation.oracle_script import deeds_of
from recollect.evaluation.run_comparison import Comparison, compared, read_report
from recollect.ports import Model

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

__all__ = (
    "CaseRun",
    "CaseTalk",
    "CaseVerdict",
    "Comparison",
    "EvalReport",
    "EvaluationCase",
    "Expectation",
    "Figures",
    "Measured",
    "RunPlan",
    "case_params",
    "chosen",
    "compared",
    "dataset_rows",
    "deeds_of",
    "form",
    "load_cases",
    "measured",
    "read_report",
    "report_of",
    "run_case",
    "run_cases",
    "send_rows",
    "shipped_cases",
    "write_report",
)


def case_params(*paths: str | Path, tags: Sequence[str] = ()) -> list[ParameterSet]:
    """
    Return the cases of files as parameters for ``pytest.mark.parametrize``; ids are their names.

    Args:
        paths: Case files; without any, the cases that come with the library.
        tags: Only cases with one of these tags, or of one of these languages.

    Raises:
        UsageError: A case is invalid; the error names the place.
    """
    import pytest  # noqa: PLC0415 (a library for tests, which programs need not have)

    cases = load_cases(*paths) if paths else shipped_cases()
    return [pytest.param(case, id=case.name) for case in chosen(cases, tags)]


async def form(case: EvaluationCase, model: Model, plan: RunPlan | None = None) -> Measured:
    """
    Form *case* with *model*, and return the measures; ``problems`` is empty if all is as expected.

    With a *plan*, its prompts and limits apply.

    Raises:
        ModelError: The model is unavailable.
    """
    return measured(await run_case(case, model, plan))
