"""The program `recollect`: lazily loaded commands, and exit statuses for errors."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Final

import click

from recollect import __version__
from recollect.errors import EXIT_STATUS, RecollectError

_COMMANDS: Final = {
    "demo": "recollect.cli.commands.demo:demo",
    "import": "recollect.cli.commands.import_files:import_",
    "recall": "recollect.cli.commands.recall:recall",
    "context": "recollect.cli.commands.context:context",
    "threads": "recollect.cli.commands.listings:threads",
    "memories": "recollect.cli.commands.listings:memories",
    "chat": "recollect.cli.commands.chat:chat",
    "serve": "recollect.cli.commands.serve:serve",
    "keys": "recollect.cli.commands.keys:keys",
    "form": "recollect.cli.commands.formation:form",
    "formation": "recollect.cli.commands.formation:formation",
    "worker": "recollect.cli.commands.worker:worker",
    "consolidate": "recollect.cli.commands.consolidate:consolidate",
    "export": "recollect.cli.commands.export:export",
    "copy": "recollect.cli.commands.copy:copy",
    "backup": "recollect.cli.commands.backup:backup",
    "restore": "recollect.cli.commands.backup:restore",
    "reembed": "recollect.cli.commands.switch_embedder:reembed",
    "tune": "recollect.cli.commands.tune:tune",
    "erase": "recollect.cli.commands.erase:erase",
    "mcp": "recollect.cli.commands.mcp:mcp",
    "audit": "recollect.cli.commands.audit:audit",
    "doctor": "recollect.cli.commands.doctor:doctor",
    "embedder": "recollect.cli.commands.embedder:embedder",
    "eval": "recollect.cli.commands.evaluate:evaluate",
}


class PlainErrors(click.Group):
    """A group that reports `RecollectError` as one sentence and an exit status."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, and report an error."""
        _escape_unencodable()
        try:
            return super().invoke(ctx)
        except RecollectError as error:
            click.echo(f"recollect: {error}", err=True)
            ctx.exit(EXIT_STATUS[error.code])


class Program(PlainErrors):
    """A group that loads a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which a new user needs them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, ``None`` if there is none."""
        if cmd_name not in _COMMANDS:
            return None
        # Imported only now: the imports of all commands would slow every start.
        module, _, name = _COMMANDS[cmd_name].partition(":")
        found: object = getattr(import_module(module), name)
        return found if isinstance(found, click.Command) else None


def _escape_unencodable() -> None:
    """Make output escape characters that its encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@click.command(
    cls=Program,
    epilog="Try `recollect demo` first. Every command has an example in its --help.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="recollect")
def main() -> None:
    """
    Recollect, the memory of LLM applications, at the command line.

    It stores conversations and memories in a file, by scope: whose memory it is.
    """
