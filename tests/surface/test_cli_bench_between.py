"""`python -m benchmarks between`: histories counted, and a broken promise told."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.combinations.promises import PROMISES
from benchmarks.program import main

COMMAND = ("between", "--histories", "2", "--on-servers", "0", "--steps", "6")


def test_histories_are_counted(tmp_path: Path) -> None:
    """What is asked for is played and written; a kind of store that is given as 0 is left out."""
    file = tmp_path / "report.json"

    result = CliRunner().invoke(main, [*COMMAND, "--json", str(file)])

    report = json.loads(file.read_text("utf-8"))
    assert 0 == result.exit_code
    assert [("memory", 2, 12), ("sqlite", 2, 12)] == [
        (row["backend"], row["histories"], row["steps"]) for row in report["rows"]
    ]
    assert "sqlite" in result.output


def test_a_broken_promise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is printed with its history and step, and the status is 1."""

    async def broken(*_: object) -> list[str]:
        return ["a message is lost"]

    monkeypatch.setitem(PROMISES, "kept", broken)

    result = CliRunner().invoke(main, COMMAND)

    assert 1 == result.exit_code
    assert "step 0" in result.output
    assert "kept: a message is lost" in result.output
