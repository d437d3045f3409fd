"""Reports are kept as JSON and compared: what got better and worse is said case by case."""

import json
from pathlib import Path

import anyio
import pytest

from recollect.errors import NotFoundError, UsageError
from recollect.evaluation import (
    EvalReport,
    compared,
    deeds_of,
    measured,
    read_report,
    report_of,
    run_cases,
    shipped_cases,
    write_report,
)
from recollect.evaluation.eval_report import ROWS, as_json, from_json, page, written
from recollect.evaluation.run_comparison import comparison_page
from recollect.testing.oracle import Oracle
from tests.harness.faulty_models import Forgetful, OverInserting

CASES = shipped_cases()[:12]


def report_by(model: type[Oracle], count: int = len(CASES)) -> EvalReport:
    """Return the report of a model on some shipped cases."""

    async def run() -> EvalReport:
        runs = await run_cases(CASES[:count], lambda case: model(deeds_of(case)))
        return report_of(model.__name__, [measured(each) for each in runs])

    return anyio.run(run)


def test_a_report_comes_back_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    report = report_by(Forgetful)

    write_report(file, report)

    assert report == read_report(file)


def test_a_worse_run_is_told_case_by_case() -> None:
    """Each must that was met and is not any more is among what is worse, and only it."""
    good, bad = report_by(Oracle), report_by(Forgetful)
    missed = {(c.name, v.about) for c in bad.cases for v in c.verdicts if not v.met}

    comparison = compared(bad, good)

    told = {(each.case, line.split(": there is")[0]) for each in comparison.changes
            for line in each.worse}  # fmt: skip
    assert missed <= told
    assert comparison.is_worse
    assert all(not each.better for each in comparison.changes)


def test_a_better_run_is_told_case_by_case() -> None:
    comparison = compared(report_by(Oracle), report_by(OverInserting))

    assert not comparison.is_worse
    assert any("duplicates" in line for each in comparison.changes for line in each.better)


def test_a_run_beside_itself_has_no_changes() -> None:
    report = report_by(Oracle)

    comparison = compared(report, report)

    assert () == comparison.changes
    assert "nothing got better or worse" in comparison_page(comparison)


def test_cases_of_one_run_alone_are_named_and_left_out_of_the_figures() -> None:
    """A longer case file must not look like a better model."""
    now, then = report_by(Oracle), report_by(Oracle, count=3)

    comparison = compared(now, then)

    assert tuple(case.name for case in CASES[3:]) == comparison.only_now
    assert comparison.figures_then == comparison.figures_now


def test_the_page_shows_every_figure_beside_its_controls() -> None:
    runs = report_by(Forgetful)
    report = EvalReport(
        model="forgets", cases=runs.cases, controls={"oracle": report_by(Oracle).figures}
    )

    shown = page(report)

    for row in ROWS:
        (line,) = [each for each in shown.splitlines() if each.startswith(row.name)]
        assert line.split()[-1] == written(row, report.controls["oracle"]).split()[-1]
    assert "not as it should be:" in shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2}',
        '{"format": 1, "model": "x"}',
        "nonsense",
        '{"format": 1, "model": "x", "cases": [{}], "controls": {}}',
    ],
)
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(text, "utf-8")

    with pytest.raises(UsageError, match="is not a report"):
        read_report(file)


def test_a_missing_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no report"):
        read_report(tmp_path / "none.json")


def test_a_report_is_plain_json() -> None:
    report = report_by(Oracle, count=2)

    assert report == from_json(json.loads(json.dumps(as_json(report))))
