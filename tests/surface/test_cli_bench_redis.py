"""`python -m benchmarks redis-durability`: kills counted beside their controls."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import redis_durability
from benchmarks.fault_counts import FaultOutcome
from benchmarks.program import main
from benchmarks.redis_durability import WITHOUT_FILE, RedisFaultPlan
from tests.harness.installed_servers import require_redis_program
from tests.harness.redis_server import RedisServer

COMMAND = ("redis-durability", "--kills", "2", "--relaxed", "0")


@pytest.fixture(autouse=True)
def _program() -> None:
    require_redis_program()


def test_kills_are_printed_beside_their_control(tmp_path: Path) -> None:
    """What is asked for is counted and written; what is given as 0 is left out."""
    file = tmp_path / "report.json"

    result = CliRunner().invoke(main, [*COMMAND, "--json", str(file)])

    assert 0 == result.exit_code, result.output
    assert "2 kills, appendfsync always" in result.output
    (row,) = json.loads(file.read_text("utf-8"))["rows"]
    assert ({}, 2) == (row["failures"], row["tried"])
    assert row["controls"][WITHOUT_FILE]["failures"]["message lost"] > 0


def test_a_lost_write_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that should be 0 and is not is told by the status too."""

    async def lossy(_: RedisServer, plan: RedisFaultPlan) -> FaultOutcome:
        outcome = FaultOutcome(tried=plan.kills)
        outcome.add("message lost", ["m0 of 0"])
        return outcome

    monkeypatch.setattr(redis_durability, "kill", lossy)

    result = CliRunner().invoke(main, COMMAND)

    assert 1 == result.exit_code
    assert "message lost 1" in result.output
