"""`python -m benchmarks peers` times ours and other stores, each in a process of its own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.peer_stores.adapters import NOTHING, OURS
from benchmarks.peer_stores.child import MissingPeerError, opened_child
from benchmarks.peer_stores.known_vectors import write_vectors
from benchmarks.peer_stores.report import (
    MEMORY,
    QUERY,
    REASONS,
    ROWS,
    START,
    WRITE,
    PeerFigure,
    PeersReport,
)
from benchmarks.program import main


def test_each_deed_is_timed_in_every_store(tmp_path: Path) -> None:
    """What ends with its process has no cold start; an unknown store is refused."""
    pytest.importorskip("langgraph", reason="one of its stores is measured")
    written = tmp_path / "report.json"
    stores = [f"--store={each}" for each in (NOTHING, OURS, "InMemoryStore")]

    result = CliRunner().invoke(main, ["peers", "--items", "100", *stores, "--json", str(written)])
    unknown = CliRunner().invoke(main, ["peers", "--store", "nobody's"])

    assert result.exception is None, result.exception
    figures = json.loads(written.read_text("utf-8"))["figures"]
    assert set(ROWS) == figures.keys()
    assert {NOTHING, OURS} == figures[START].keys()
    assert all(figures[row][OURS]["value"] > 0 for row in ROWS)
    assert figures[MEMORY][NOTHING]["value"] < figures[MEMORY][OURS]["value"]
    assert unknown.exit_code != 0
    assert "use one of" in unknown.output


def test_a_store_that_finds_nothing_is_noticed(tmp_path: Path) -> None:
    """The mutant: a store that was never filled answers fast."""
    write_vectors(tmp_path, 1)

    with (
        opened_child(OURS, tmp_path) as child,
        pytest.raises(RuntimeError, match="a query found nothing") as failed,
    ):
        child.spent("query", number=0)

    assert not isinstance(failed.value, MissingPeerError)


def test_a_row_that_is_not_ours_has_its_reason() -> None:
    """Processor time decides where it was counted; what keeps no files does not count."""
    report = PeersReport(items=1)
    ours, theirs = PeerFigure(value=9, cpu_ms=2), PeerFigure(value=3, cpu_ms=4)
    report.figures = {
        WRITE: {OURS: ours, "Chroma": theirs, "InMemoryStore": PeerFigure(value=1, cpu_ms=1)},
        QUERY: {OURS: theirs, "Chroma": ours},
    }

    assert "ours" == report.verdict(WRITE)
    assert f"Chroma, 2.0 times as good as ours: {REASONS[QUERY]}" == report.verdict(QUERY)
