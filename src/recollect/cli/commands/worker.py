"""`recollect worker`: form due threads of a store, alongside any number of other workers."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import FormationOptions, forming_options
from recollect.cli.formation_results import print_outcomes, result_record, summed_up
from recollect.cli.memory_choice import opened_model, opened_to_form
from recollect.cli.options import Target, memory_options
from recollect.cli.output import counted, note, visible
from recollect.cli.store_choice import without_password
from recollect.errors import UsageError
from recollect.text.scope_paths import written_scope
from recollect.wire.elements import scope_to_json, time_to_json

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect
    from recollect.ports import Model
    from recollect.records import Json, Scope
    from recollect.worker.consolidation_run import Consolidator
    from recollect.worker.formation_result import FormationResult

GRACE_S: Final = 7.0
"""Grace period for formations in progress at shutdown; then their leases are released."""
_EXAMPLE: Final = """
\b
Examples:
  recollect worker --model anthropic/claude-haiku-4-5
  recollect worker --config memory.toml --concurrency 8 --store service.db
  recollect worker --model rules --once
"""


@click.command(epilog=_EXAMPLE, short_help="Form memories in the background.")
@memory_options(scope=False)
@forming_options()
@click.option(
    "--concurrency", type=int, default=4, show_default=True, help="Maximum concurrent formations."
)
@click.option("--once", is_flag=True, help="Form what is due now, then exit.")
@click.option("--verbose", is_flag=True, help="Also print the outcome of each memory, and why.")
async def worker(
    target: Target,
    concurrency: int,
    once: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
    *,
    forming: FormationOptions,
) -> None:
    """
    Form memories from due threads of a store, and print a line for each formation.

    Any number of workers may share a store. SIGTERM and Ctrl-C let it finish or release its work,
    and exit within ten seconds; a second one exits at once, and loses nothing either. Warnings are
    logged to standard error, without user content.
    """
    import anyio

    from recollect.cli.graceful_shutdown import GracefulWorker, shut_down_on
    from recollect.memory.formation_control import require_open
    from recollect.worker.worker_options import CONCURRENCY_MAX

    if not 1 <= concurrency <= CONCURRENCY_MAX:
        msg = f"--concurrency {concurrency} is outside 1 to {CONCURRENCY_MAX} (CONCURRENCY_MAX)"
        raise UsageError(msg)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    printer = Printer(is_json=target.is_json, is_verbose=verbose)
    model = opened_model(forming)
    _check_model(forming, is_given=model is not None)
    opening = opened_to_form(
        target, forming, model, worker=False, concurrency=concurrency, notice=printer
    )
    async with opening as memory:
        working = require_open(memory.worker).made_as(GracefulWorker)
        async with anyio.create_task_group() as group:
            scope = group.cancel_scope
            if sys.platform != "win32":  # event loops on Windows have no signal handlers
                signals = (signal.SIGTERM, signal.SIGINT)
                await group.start(shut_down_on, signals, working, scope, GRACE_S)
            if once:
                await working.drain()
                scope.cancel()  # or the task that waits for signals would never end
            else:
                note(f"worker {os.getpid()} is at work on {without_password(target.store)}")
                group.start_soon(_consolidator(memory, model, forming).run)
                await working.run()
    note(f"worker {os.getpid()} ended after {counted(printer.count, 'formation')}")
    if once and printer.outage is not None:
        raise printer.outage


class Printer:
    """Prints a line for each formation that ends, and keeps the model's last outage."""

    def __init__(self, *, is_json: bool, is_verbose: bool) -> None:
        self._is_json = is_json
        self._is_verbose = is_verbose
        self.outage: Exception | None = None
        self.count = 0

    def __call__(self, scope: Scope, result: FormationResult) -> None:
        """Print *result*; memories and reasons only if the printer is verbose."""
        self.count += 1
        self.outage = result.outage
        reason = result.reason if self._is_verbose or result.end == "postponed" else ""
        at = datetime.now(UTC)
        if self._is_json:
            record: dict[str, Json] = {"at": time_to_json(at), "scope": scope_to_json(scope)}
            record |= result_record(result, is_verbose=self._is_verbose)
            click.echo(json.dumps({**record, "reason": reason or None}))
            return
        parts = (f"{at:%Y-%m-%d %H:%M:%S}", written_scope(scope), result.end, summed_up(result))
        click.echo("  ".join(visible(part) for part in (*parts, reason) if part))
        if self._is_verbose:
            print_outcomes(result)


def _consolidator(
    memory: Recollect, model: Model | None, forming: FormationOptions
) -> Consolidator:
    """Return the consolidator for the configured cron lines, if there are any."""
    from recollect.text.token_estimate import estimated_tokens
    from recollect.worker.consolidation_run import open_consolidator

    return open_consolidator(memory.store, model, forming.assistants, count_tokens=estimated_tokens)


def _check_model(forming: FormationOptions, *, is_given: bool) -> None:
    assistants = forming.assistants
    if not is_given and not any(
        each.model for each in (assistants.default, *assistants.named.values())
    ):
        msg = "a worker needs a model: --model provider/model, RECOLLECT_MODEL, or --config FILE"
        raise UsageError(msg)
