"""The program `recollect`: its commands, loaded when they are named, and its exit statuses."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Final

import click

from recollect import __version__
from recollect.errors import EXIT_STATUS, RecollectError

_COMMANDS: Final = {
    "demo": "recollect.cli.demo:demo",
    "import": "recollect.cli.importing:import_",
    "recall": "recollect.cli.recalling:recall",
    "threads": "recollect.cli.listing:threads",
    "memories": "recollect.cli.listing:memories",
    "chat": "recollect.cli.chatting:chat",
    "serve": "recollect.cli.serving:serve",
    "formation": "recollect.cli.forming:formation",
    "worker": "recollect.cli.working:worker",
    "consolidate": "recollect.cli.consolidating:consolidate",
    "export": "recollect.cli.exporting:export",
    "copy": "recollect.cli.copying:copy",
    "backup": "recollect.cli.backing_up:backup",
    "restore": "recollect.cli.backing_up:restore",
    "reembed": "recollect.cli.reembedding:reembed",
    "erase": "recollect.cli.erasing:erase",
    "mcp": "recollect.cli.mcp_serving:mcp",
    "audit": "recollect.cli.auditing:audit",
    "doctor": "recollect.cli.doctor:doctor",
    "embedder": "recollect.cli.embedder:embedder",
    "bench": "recollect.cli.bench:bench",
    "eval": "recollect.cli.evaluating:evaluate",
}


class Program(click.Group):
    """A group that loads a command when it is named, and turns our errors into a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order in which a newcomer needs them."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, ``None`` if there is none."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        found: object = getattr(import_module(module), name)
        return found if isinstance(found, click.Command) else None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; one of our errors becomes a sentence and its exit status."""
        _replace_what_cannot_be_shown()
        try:
            return super().invoke(ctx)
        except RecollectError as error:
            click.echo(f"recollect: {error}", err=True)
            ctx.exit(EXIT_STATUS[error.code])


def _replace_what_cannot_be_shown() -> None:
    """Let a character that the terminal's encoding lacks be escaped, and not end the program."""
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

    It keeps what was said in a store (a file), by scope: whose memory it is.
    """
