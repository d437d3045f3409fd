"""Commands of the readers: write questions with the blocks of two rankings, count the verdicts."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import click

from recollect.errors import UsageError
from training.work_files import ROOT, WORK, report

_COUNTS: dict[str, int] = {
    "locomo": 80,
    "longmemeval": 40,
    "realmem": 30,
    "lifebench": 10,
    "talk_kept": 40,
}


@click.command()
@click.option("--data", required=True, help="The folder of the public sets.")
@click.option("--set", "chosen", multiple=True, metavar="NAME=COUNT", help="Default: 200 in all.")
@click.option("--embedder", default="training.graphs:encoder", show_default=True)
@click.option("--seed", default=7, show_default=True)
@click.option("--out", default=str(WORK / "readers"), show_default=True, metavar="DIR")
@click.option("--cache", default=str(WORK / "vectors"), help="Keep vectors there between runs.")
def requests(
    data: str, chosen: tuple[str, ...], embedder: str, seed: int, out: str, cache: str
) -> None:
    """Write drawn questions with two blocks each, by MiniLM as it is and by another embedder."""
    from benchmarks.commands.reports import cached
    from training.candidates import dataset_named
    from training.reader_requests import blocks_of, requests_of, write_requests

    draw = random.Random(seed)  # noqa: S311 (it protects nothing)
    embedders = {"today": cached("minilm", Path(cache)), "trained": cached(embedder, Path(cache))}
    found = []
    for name, count in (_counts_of(chosen) or _COUNTS).items():
        dataset = dataset_named(name)
        folder = dataset.find_folder(ROOT / "data" if name.startswith("talk") else Path(data))
        blocks = asyncio.run(blocks_of(dataset, folder, embedders, count, seed))
        own = list(requests_of(blocks, draw))
        differing = sum(len(each) > 1 for each in own)
        report(f"{name}: {len(own)} questions, the blocks of {differing} differ")
        found += own
    for path in write_requests(Path(out), found, draw):
        report(str(path))


def _counts_of(chosen: tuple[str, ...]) -> dict[str, int]:
    """
    Return how many questions of each set are drawn.

    >>> _counts_of(("locomo=80",))
    {'locomo': 80}
    """
    counts = {}
    for each in chosen:
        name, _, count = each.partition("=")
        if not count.isdigit():
            msg = f"{each!r} is no NAME=COUNT"
            raise UsageError(msg)
        counts[name] = int(count)
    return counts


@click.command()
@click.argument("file", type=click.Path())
@click.option("--key", required=True, type=click.Path(), help="The key.json of the requests.")
def verdicts(file: str, key: str) -> None:
    """
    Count the judge's verdicts in FILE by set and by ranking.

    FILE holds JSON: {id: {"right": true}} or {id: true}, or JSON Lines with "id" and "right".
    """
    from training.reader_verdicts import read_key, read_verdicts, verdict_lines

    for line in verdict_lines(read_key(Path(key)), read_verdicts(Path(file))):
        report(line)
