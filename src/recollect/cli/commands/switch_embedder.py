"""`recollect reembed`: compute the vectors of another embedder, beside those in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import Target, memory_options, run
from recollect.cli.output import print_json, progress_bar
from recollect.cli.store_choice import store_file
from recollect.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from recollect.ports import Embedder

_EXAMPLE: Final = """
\b
Examples:
  recollect reembed --to minilm
  recollect reembed --to openai/text-embedding-3-small
  recollect reembed --to mypackage.embedding:embedder --store postgresql://me@localhost/memory
"""


@click.command(epilog=_EXAMPLE, short_help="Compute the vectors of another embedder.")
@memory_options(embedder=False, scope=False)
@click.option("--to", "name", required=True, metavar="NAME", help="The embedder, as in --embedder.")
def reembed(target: Target, name: str) -> None:
    """
    Compute the vectors of another embedder for a whole store, beside those in use.

    The store stays usable: recall continues with the current embedder. Afterwards open the store
    with the new one, in all processes. Open it with the old one to go back. The command can be
    stopped at any time and run again.
    """
    file = store_file(target.store)
    if file is not None and not file.exists():
        raise NotFoundError(f"there is no store at {str(file)!r}")
    embedder = embedder_named(name)
    identity = run(lambda: _reembed(target.store, embedder))
    if target.is_json:
        print_json({"embedder": identity})
    else:
        click.echo(f"all entries have a vector of {identity}: open the store with it")


def embedder_named(name: str) -> Embedder:
    """
    Return the embedder *name*, with the keys of ``.env``.

    Raises:
        UsageError: *name* is not the name of an embedder.
        MissingExtraError: A package that it needs is not installed.
        EmbedderError: Its weights are not installed, or its key is missing.
    """
    from recollect.embedders import open_embedder
    from recollect.providers.environment import load_environment

    load_environment()
    opened = open_embedder(name)
    if opened is None:
        raise UsageError(f"{name!r} is not an installed embedder: name 'minilm', or another")
    return opened


async def _reembed(store: str, embedder: Embedder) -> str:
    from recollect.lifecycle.embedder_switch import build_vectors
    from recollect.recall.vector_backlog import Embedding
    from recollect.stores.locator import open_store

    async with open_store(store) as opened:
        embedding = Embedding(opened, embedder)
        with progress_bar("embedding") as bar:
            bar.update(f"embedding with {await embedding.learn_identity()}", None)
            await build_vectors(embedding)
        return embedding.identity
