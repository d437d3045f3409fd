"""`recollect bench langgraph` prints the times of LangGraph's stores beside each other."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from recollect.cli import main

pytest.importorskip("langgraph", reason="its stores are measured")


def test_the_stores_are_measured_beside_each_other(tmp_path: Path) -> None:
    """Each operation, on each size, in every store that can do it."""
    written = tmp_path / "report.json"

    result = CliRunner().invoke(
        main, ["bench", "langgraph", "--size", "20", "--size", "120", "--json", str(written)]
    )

    assert 0 == result.exit_code, result.exception
    assert "beside langgraph-checkpoint" in result.stdout
    rows = json.loads(written.read_text("utf-8"))["rows"]
    assert [20] * 6 + [120] * 6 == [row["items"] for row in rows]
    for row in rows:
        assert {"RecollectStore", "InMemoryStore"} <= row["median_ms"].keys()
        assert all(time > 0 for time in row["median_ms"].values())
