"""Recorded answers about groups of memories: right merges are kept, wrong ones mostly stopped."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.commands.consolidation import consolidation_bench
from benchmarks.consolidation_replay import ConsolidationReport, replay_consolidations
from recollect.errors import UsageError
from recollect.formation import consolidation

CORPUS = Path(__file__).parents[1] / "corpus"
WRONG_MOST = 13
"""Of 42 wrong calls: what the checks keep today, and one more."""


def kept_wrong(report: ConsolidationReport) -> int:
    """Return how many wrong calls were kept."""
    return sum(each.kept for each in report.wrong)


def test_right_merges_are_kept_and_most_wrong_ones_are_not() -> None:
    report = replay_consolidations(CORPUS)

    calls = sum(each.calls for each in report.right)
    assert (50, 42) == (calls, sum(each.calls for each in report.wrong))
    assert sum(each.kept for each in report.right) >= 0.95 * calls
    assert kept_wrong(report) <= WRONG_MOST
    assert [] == report.told


@pytest.mark.parametrize("check", ["unsupported", "_beyond", "_denials_lost"])
def test_without_a_check_more_wrong_ones_are_kept(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants: each check stops calls that no other one does."""
    before = kept_wrong(replay_consolidations(CORPUS))
    monkeypatch.setattr(consolidation, check, lambda *_: [])

    assert kept_wrong(replay_consolidations(CORPUS)) > before


def test_the_benchmark_prints_both_halves(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ["--data", str(CORPUS), "--json", str(report)]

    shown = CliRunner().invoke(consolidation_bench, arguments, catch_exceptions=False)

    assert "developed, zh-hant" in shown.output
    assert "kept apart, invention" in shown.output
    assert report.stat().st_size > 0


def test_answers_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="consolidations"):
        replay_consolidations(tmp_path)
