"""`python -m benchmarks below` asks every store in both ways, before and after an append."""

import asyncio

from benchmarks.below_scopes import STORES, measure


def test_every_store_is_asked_in_both_ways() -> None:
    report = asyncio.run(measure(3, 2))

    assert {"memory", "sqlite"} <= {row.store for row in report.rows} <= set(STORES)
    for row in report.rows:
        for name in ("below", "named", "below_after", "named_after"):
            assert 2 == len(getattr(row, name))
            assert row.median(name) > 0
