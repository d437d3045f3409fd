"""`python -m benchmarks service`: the HTTP service under load, and killed under load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from benchmarks.commands.reports import report_option, write_json, write_report_file
from recollect.cli.output import progress_bar
from recollect.errors import MissingExtraError

if TYPE_CHECKING:
    from benchmarks.service_report import Figure, ServiceReport

_EXAMPLE: Final = """
\b
Examples:
  python -m benchmarks service
  python -m benchmarks service --seconds 3 --turns 1 --streams 200 --kills 20
"""


@click.command(epilog=_EXAMPLE, short_help="the HTTP service under load, and killed")
@click.option(
    "--rate", type=click.FloatRange(1), default=500.0, show_default=True, help="Appends per second."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0.1),
    default=10.0,
    show_default=True,
    help="Duration of each load.",
)
@click.option("--turns", type=click.IntRange(1), default=3, show_default=True, help="Rounds.")
@click.option(
    "--most",
    type=click.IntRange(64),
    default=5_000,
    show_default=True,
    help="Requests that determine the maximum rate.",
)
@click.option(
    "--recalls", type=click.IntRange(10), default=200, show_default=True, help="Of each kind."
)
@click.option(
    "--streams",
    type=click.IntRange(1, 3_000),
    default=1_000,
    show_default=True,
    help="Idle streams.",
)
@click.option(
    "--kills", type=click.IntRange(0), default=50, show_default=True, help="0 leaves them out."
)
@report_option()
def service(
    rate: float,
    seconds: float,
    turns: int,
    most: int,
    recalls: int,
    *,
    streams: int,
    kills: int,
    json_file: str | None,
) -> None:
    """
    Measure `recollect serve` over loopback, on SQLite and with keys; status 1 if writes are lost.

    The load comes from a separate process. Its schedule does not wait for responses, and each
    latency counts from the scheduled time.
    """
    try:
        import fastapi
        import httptools
        import prometheus_client
        import uvicorn
        import uvloop
    except ImportError as error:
        raise MissingExtraError("service", error.name or "fastapi") from error
    del fastapi, httptools, prometheus_client, uvicorn, uvloop
    from benchmarks.service_report import ServicePlan
    from benchmarks.service_speed import run as run_service

    plan = ServicePlan(
        rate=rate,
        seconds=seconds,
        turns=turns,
        most=most,
        recalls=recalls,
        lags=recalls,
        streams=streams,
        kills=kills,
    )
    with progress_bar("service") as bar:
        report = run_service(plan, lambda said: bar.update(said, None))
    click.echo(service_page(report), nl=False)
    write_report_file(json_file, lambda path: write_json(path, report))
    if not report.kills.holds:
        raise SystemExit(1)


def service_page(report: ServiceReport) -> str:
    """Return the figures as text, one line each with goal and controls, followed by the kills."""
    width = max(len(each.name) for each in report.figures)
    lines = [_line(each, width) for each in report.figures]
    if report.kills.rows:
        lines += ["", str(report.kills)]
    return "\n".join(lines) + "\n"


def _line(figure: Figure, width: int) -> str:
    line = f"{figure.name:<{width}}  {figure.value:>10,.2f} {figure.unit}"
    if figure.goal is not None:
        sign = "≥" if figure.is_least else "≤"
        met = "" if figure.is_met else ", missed"
        line += f" ({sign} {figure.goal:,g}{met})"
    controls = [f"{name}: {value:,.2f}" for name, value in figure.controls.items()]
    return "; ".join([line, *controls])
