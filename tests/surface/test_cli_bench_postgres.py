"""`python -m benchmarks postgres-durability`: counts beside controls, as a table and as JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import postgres_durability
from benchmarks.fault_counts import FaultOutcome
from benchmarks.program import main
from tests.harness.installed_servers import require_programs
from tests.harness.postgres_server import PostgresServer

COMMAND = ("postgres-durability", "--messages", "0", "--histories", "0", "--cuts", "0")


@pytest.fixture(autouse=True)
def _binaries() -> None:
    require_programs()


def test_counts_are_printed_beside_their_control(tmp_path: Path) -> None:
    """What is asked for is counted and written; what is given as 0 is left out."""
    file = tmp_path / "report.json"
    given = [*COMMAND, "--cancels", "0", "--requests", "60", "--json", str(file)]

    result = CliRunner().invoke(main, given)

    assert 0 == result.exit_code, result.output
    assert "60 requests of two tenants" in result.output
    report = json.loads(file.read_text("utf-8"))
    assert report["holds"]
    (row,) = report["rows"]
    assert ({}, 60) == (row["failures"], row["tried"])
    assert row["controls"]["settings of the session"]["failures"]["foreign row"] > 0


def test_a_broken_promise_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that should be 0 and is not is told by the status too."""

    async def interleave(_: PostgresServer, number: int, _control: str) -> FaultOutcome:
        outcome = FaultOutcome(tried=number)
        outcome.add("foreign row", ["of another tenant"])
        return outcome

    monkeypatch.setattr(postgres_durability, "interleave", interleave)

    result = CliRunner().invoke(main, [*COMMAND, "--cancels", "0", "--requests", "20"])

    assert 1 == result.exit_code
    assert "foreign row 1" in result.output
