"""Visibility of writes between eight processes that share a file."""

from pathlib import Path

import pytest

from benchmarks.durability import PROCESSES, share


@pytest.mark.parametrize("appends", [40, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_processes_share_a_file(appends: int, tmp_path: Path) -> None:
    """
    None is refused, none loses or doubles anything, and each sees at once what others did.

    Positions and sequence numbers have no holes.
    """
    outcome = await share(tmp_path, appends)

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert PROCESSES * appends == outcome.acknowledged


async def test_processes_without_patience_are_seen_to_be_refused(tmp_path: Path) -> None:
    """The mutant: a busy timeout of 0; what was acknowledged is there even so."""
    outcome = await share(tmp_path, 20, patient=False)

    assert {"StoreUnavailableError"} == outcome.failures.keys()
