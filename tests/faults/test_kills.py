"""Killing a writing process at any time."""

from pathlib import Path

import pytest

from benchmarks.durability import kill


@pytest.mark.parametrize("kills", [25, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_no_kill_costs_or_doubles_what_was_acknowledged(kills: int, tmp_path: Path) -> None:
    """All of it is there once, after clients repeated what went unanswered under their ids."""
    outcome = await kill(tmp_path, kills)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert kills == outcome.tried
    assert outcome.acknowledged > kills


async def test_repeating_without_ids_is_seen_to_double(tmp_path: Path) -> None:
    """The mutant: clients that repeat what went unanswered as if it were new."""
    doubled = 0
    for seed in range(1, 7):  # on a busy machine all 15 may hit between two commits
        folder = tmp_path / str(seed)
        folder.mkdir()
        outcome = await kill(folder, 15, seed=seed, careful=False)
        assert 0 == outcome.failures["corrupt"]
        if doubled := outcome.failures["doubled"]:
            break

    assert doubled > 0
