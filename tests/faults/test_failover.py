"""Primaries under Patroni are killed under load: nothing acknowledged is lost or doubled."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.failover import report as failover_report
from benchmarks.failover.kills import (
    ANSWERS_HELD,
    LOG_HELD,
    FailoverPlan,
    FailoverTimes,
    kill_primaries,
)
from benchmarks.failover.patroni import PatroniCluster, find_programs, running_cluster
from benchmarks.fault_counts import FaultOutcome
from benchmarks.program import main
from benchmarks.retrying_writer import RetryingWriter, count_words, kept_texts
from benchmarks.service_process import Process, serving
from recollect.stores.locator import open_store

pytest.importorskip("fastapi", reason="nodes are services")

ANSWER_S_MAX = 120.0

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def _programs() -> None:
    """Skip where the cluster cannot be started."""
    if find_programs() is None:
        pytest.skip("no Patroni: apt-get install patroni etcd-server postgresql")


@pytest.mark.usefixtures("_programs")
def test_killed_primaries_lose_and_double_nothing() -> None:
    """One dies at once, one cut off from its replicas, one before it answers."""
    outcome, times = kill_primaries(FailoverPlan(kills=3))

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert 3 == outcome.tried == len(times.ours_s) == len(times.bare_s)
    assert outcome.acknowledged > 3 * FailoverPlan().writers


@pytest.mark.usefixtures("_programs")
def test_an_asynchronous_cluster_is_seen_to_lose() -> None:
    """The control: what the primary promised alone goes with it."""
    outcome, _ = kill_primaries(FailoverPlan(kills=1, ways=(LOG_HELD,), is_synchronous=False))

    assert outcome.failures["lost"] > 0


@pytest.mark.usefixtures("_programs")
def test_writers_without_keys_are_seen_to_double() -> None:
    """The control: what was committed unheard is repeated as if it were new."""
    outcome, _ = kill_primaries(FailoverPlan(kills=1, ways=(ANSWERS_HELD,), has_keys=False))

    assert outcome.failures["doubled"] > 0


async def write_through(node: Process, cluster: PatroniCluster) -> FaultOutcome:
    """Append words over HTTP, kill the primary, and count once everybody is answered again."""
    writers = [
        RetryingWriter(f"writer{at}", is_careful=True, query=f"?scope=w{at}") for at in range(8)
    ]
    answers = [asyncio.Event() for _ in writers]
    is_over = False

    async def write(writer: RetryingWriter, answered: asyncio.Event) -> None:
        while not is_over:
            await writer.talk(node, answered, lambda: is_over)
            await asyncio.sleep(0.05)

    async def all_answered() -> None:
        for each in answers:
            each.clear()
        async with asyncio.timeout(ANSWER_S_MAX):
            await asyncio.gather(*(each.wait() for each in answers))

    async with asyncio.TaskGroup() as group:
        for writer, answered in zip(writers, answers, strict=True):
            group.create_task(write(writer, answered))
        try:
            await all_answered()
            primary = cluster.primary()
            assert primary is not None
            await asyncio.to_thread(cluster.kill, primary)
            before = sum(len(each.acknowledged) for each in writers)
            await all_answered()
            await all_answered()  # the first answers may have been on their way
        finally:
            is_over = True
    outcome = FaultOutcome(acknowledged=sum(len(each.acknowledged) for each in writers) - before)
    async with open_store(cluster.url()) as store:
        for at, each in enumerate(writers):
            kept = await kept_texts(store, ("copy", f"w{at}"), each.name)
            count_words(each.acknowledged, kept, outcome)
    return outcome


@pytest.mark.usefixtures("_programs")
def test_a_service_goes_on_with_the_new_primary(tmp_path: Path) -> None:
    """Its clients are told to come back meanwhile, and find each word once."""
    with (
        running_cluster() as cluster,
        serving(tmp_path, store=cluster.url(), flags=["--scope", "copy", "--no-worker"]) as node,
    ):
        outcome = asyncio.run(write_through(node, cluster))

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert outcome.acknowledged > 0


def test_the_command_counts_beside_its_controls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Counts, controls and times are printed; a run whose controls notice nothing is no proof."""
    found = {"lost": 3, "doubled": 2}

    def killed(plan: FailoverPlan, _: object = None) -> tuple[FaultOutcome, FailoverTimes]:
        outcome = FaultOutcome(tried=plan.kills, acknowledged=100)
        if not plan.is_synchronous:
            outcome.failures["lost"] = found["lost"]
        if not plan.has_keys:
            outcome.failures += Counter(doubled=found["doubled"])
        return outcome, FailoverTimes([4.0, 6.0], [4.1, 6.3])

    monkeypatch.setattr(failover_report, "kill_primaries", killed)
    file = tmp_path / "failover.json"

    result = CliRunner().invoke(main, ["failover", "--kills", "2", "--json", str(file)])

    assert 0 == result.exit_code, result.output
    assert "2 primaries killed" in result.output
    assert "behind the bare client 0.2 s (at most 0.3)" in result.output
    assert '"bare_s"' in file.read_text("utf-8")
    found["doubled"] = 0
    assert 1 == CliRunner().invoke(main, ["failover", "--kills", "2"]).exit_code
