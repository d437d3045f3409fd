"""Commands of the int8 graphs: write them, recall with them, and time the reranker's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import click

from recollect.embedders.minilm import MiniLmEmbedder
from recollect.embedders.wordpiece import WordPiece
from training.candidates import CANDIDATES, RankedQuestion, RankedSet
from training.evidence_figures import first_alike
from training.pair_graph import Pair, PairScorer, cost_of, graph_of
from training.pairs import PAIR_PIECES, PairWords
from training.work_files import (
    ROOT,
    WORK,
    kept_scores,
    ranked_set,
    report,
    vocabulary_of,
    weights_option,
)


@click.command()
@weights_option
@click.option("--model", default="encoder", show_default=True)
@click.option(
    "--share", default=0.5, show_default=True, help="Of the trained weights; 0 is today's."
)
@click.option("--out", default="encoder", show_default=True, help="The graph's name.")
def export(weights: str, model: str, share: float, out: str) -> None:
    """Write the trained encoder as an int8 graph: embedder "training.graphs:OUT"."""
    from training.encoder import mixed
    from training.graphs import GRAPHS, write_graph
    from training.minilm import MiniLm, take_weights, write_published
    from training.reranker import untrained_reranker

    held, _ = untrained_reranker(Path(weights))
    trained = MiniLm()
    take_weights(trained, WORK / f"{model}.pt", "encoder")
    GRAPHS.mkdir(parents=True, exist_ok=True)
    exact = GRAPHS / f"{out}.safetensors"
    write_published(mixed(held.encoder, trained, share), exact)
    cosine = write_graph(exact, Path(weights) / "vocab.txt", out)
    exact.unlink()
    report(f"training.graphs:{out}, share {share}: smallest cosine to the exact {cosine:.4f}")


@click.command()
@click.argument("name")
@click.option("--data", default=str(ROOT / "data"), help="Folder of the set, or its parent.")
@click.option("--embedder", default="training.graphs:encoder", show_default=True)
@click.option("--limit", type=int, help="Ask so many questions alone.")
@click.option("--cache", default=str(WORK / "vectors"), help="Keep vectors there between runs.")
def recall(name: str, data: str, embedder: str, limit: int | None, cache: str) -> None:
    """Print what recall finds with an embedder, loaded as the package loads it."""
    from benchmarks.commands.reports import cached
    from training.candidates import dataset_named, rank_set, ranked_of
    from training.evidence_figures import figure_lines

    dataset = dataset_named(name)
    vectors = cached(embedder, Path(cache))
    rows = asyncio.run(rank_set(dataset, dataset.find_folder(Path(data)), vectors, limit))
    for line in figure_lines(f"{name} {embedder}", ranked_of(rows)):
        report(line)


@click.command()
@weights_option
@click.argument("name")
@click.option("--model", default="reranker", show_default=True)
@click.option("--depth", "depths", multiple=True, default=(CANDIDATES, 20), show_default=True)
@click.option("--pieces", "rooms", multiple=True, default=(128, 256), show_default=True)
@click.option("--threads", "threads", multiple=True, default=(1, 2), show_default=True)
@click.option("--every", default=1, show_default=True, help="Each so manieth question alone.")
def cost(
    weights: str,
    name: str,
    model: str,
    depths: tuple[int, ...],
    rooms: tuple[int, ...],
    threads: tuple[int, ...],
    every: int,
) -> None:
    """Write the reranker as an int8 graph, and print what it takes for a question of NAME."""
    graph = graph_of(Path(weights), WORK / f"{model}.pt", WORK / f"{model}.onnx")
    ranked = ranked_set(name)
    pieces = WordPiece(vocabulary_of(Path(weights)))
    embedder = MiniLmEmbedder(workers=1)
    for room in rooms:
        words = PairWords(pieces, room)
        asked = _asked(ranked, words, every, max(depths))
        for depth in depths:
            for count in threads:
                cut = [(each.text, pairs[:depth]) for each, pairs in asked]
                found = cost_of(PairScorer(graph, count), cut, embedder)
                report(
                    f"{name}, {depth} candidates of {found.pieces:.0f} pieces (at most {room}), "
                    f"{count} threads: {found.clock_ms:.0f} ms, {found.processor_ms:.0f} ms of "
                    f"processor time, {found.processor_ms / found.embedding_ms:.0f} times that of "
                    f"a question's vector ({found.questions} questions)"
                )
        if room == PAIR_PIECES:
            alike = _alike(PairScorer(graph), asked, kept_scores(name, model))
            report(f"{name}: {alike:.3f} of the exact model's first ten are its too")


def _asked(
    ranked: RankedSet, words: PairWords, every: int, depth: int
) -> list[tuple[RankedQuestion, list[Pair]]]:
    """Return some of the questions with the pairs of their first *depth* candidates."""
    return [
        (each, [words.pair(each.text, lines[line]) for line in each.ids[:depth]])
        for each in ranked.questions[::every]
        for lines in [ranked.lines[each.conversation]]
    ]


def _alike(
    scorer: PairScorer,
    asked: Sequence[tuple[RankedQuestion, Sequence[Pair]]],
    exact: Mapping[str, Sequence[float]],
) -> float:
    """Return the share of the exact model's first ten that the graph's first ten hold."""
    found = [
        first_alike(exact[each.id][: len(pairs)], scorer.scores(pairs[: len(exact[each.id])]))
        for each, pairs in asked
        if each.id in exact
    ]
    return fmean(found) if found else 0.0
