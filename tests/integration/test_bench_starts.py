"""`python -m benchmarks starts` starts the command line and the service, and its controls."""

from pathlib import Path

from benchmarks.process_starts import measure

SOURCE = str(Path(__file__).parents[2] / "src")


def test_each_start_is_measured() -> None:
    report = measure([SOURCE], 1, uncounted=0)

    assert 5 == len(report.figures)
    for each in report.figures:
        assert each.median("ms") > 0
        assert each.median("cpu_ms") > 0
