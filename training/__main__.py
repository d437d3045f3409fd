"""`python -m training`: rank, train, measure; each step writes a file that the next one reads."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import click

from recollect.cli.program import PlainErrors
from training.candidates import CANDIDATES
from training.graph_commands import cost, export, recall
from training.reader_commands import requests, verdicts
from training.work_files import (
    ROOT,
    WORK,
    kept_scores,
    ranked_set,
    report,
    unread_language,
    vocabulary_of,
    weights_option,
)


@click.group(cls=PlainErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--device", help="Of PyTorch, such as cuda; default the processor.")
def main(device: str | None) -> None:
    """Train a reranker and an encoder on talk, and measure what they are worth."""
    if device:
        import torch

        torch.set_default_device(device)


@main.command()
@click.argument("name")
@click.option("--data", default=str(ROOT / "data"), help="Folder of the set, or its parent.")
@click.option("--embedder", default="auto", help="What today's ranking embeds with.")
@click.option("--limit", type=int, help="Ask so many questions alone.")
def candidates(name: str, data: str, embedder: str, limit: int | None) -> None:
    """Write what today's recall ranks for each question of the set NAME."""
    from benchmarks.commands.reports import cached
    from training.candidates import dataset_named, rank_set, write_ranked

    dataset = dataset_named(name)
    WORK.mkdir(exist_ok=True)
    vectors = cached(embedder, WORK / "vectors")
    rows = asyncio.run(rank_set(dataset, dataset.find_folder(Path(data)), vectors, limit))
    write_ranked(rows, WORK / f"{name}.jsonl.gz")


@main.command()
@weights_option
@click.option("--set", "names", multiple=True, default=("talk",), help="Train on its candidates.")
@click.option("--epochs", default=2, show_default=True)
@click.option("--rate", default=6e-5, show_default=True)
@click.option("--minutes", default=600.0, show_default=True, help="Stop after so long.")
@click.option("--out", default="reranker", show_default=True)
def reranker(
    weights: str, names: tuple[str, ...], epochs: int, rate: float, minutes: float, out: str
) -> None:
    """Train a cross-encoder; keep it in work/OUT.pt."""
    from training.reranker import TrainingPlan, train, untrained_reranker, write

    model, words = untrained_reranker(Path(weights))
    plan = TrainingPlan(epochs=epochs, rate=rate, minutes_max=minutes)
    for name in names:
        train(model, ranked_set(name), words, plan, report)
    write(model, WORK / f"{out}.pt")


@main.command()
@weights_option
@click.argument("names", nargs=-1, required=True)
@click.option("--model", default="reranker", show_default=True)
@click.option("--every", default=1, show_default=True, help="Each so manieth question alone.")
@click.option("--depth", default=CANDIDATES, show_default=True, help="So many candidates of each.")
def score(weights: str, names: tuple[str, ...], model: str, every: int, depth: int) -> None:
    """Write the cross-encoder's scores of the candidates of each set of NAMES."""
    from training.minilm import take_weights
    from training.reranker import scores_of, untrained_reranker

    scorer, words = untrained_reranker(Path(weights))
    take_weights(scorer, WORK / f"{model}.pt", "reranker")
    scorer.eval()
    for name in names:
        ranked = ranked_set(name)
        if unread := unread_language(name, ranked, vocabulary_of(Path(weights))):
            report(unread)
        began = time.perf_counter()
        found = {
            each.id: scores_of(scorer, words, each, ranked.lines[each.conversation], depth)
            for each in ranked.questions[::every]
        }
        spent = time.perf_counter() - began
        (WORK / f"{name}.{model}.json").write_text(json.dumps(found))
        report(f"{name}: {1_000 * spent / len(found):.0f} ms a question")


@main.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--model", default="reranker", show_default=True)
@click.option("--kinds", is_flag=True, help="By kind of question too.")
@click.option("--depth", default=CANDIDATES, show_default=True, help="So many candidates of each.")
def measure(names: tuple[str, ...], model: str, depth: int, *, kinds: bool) -> None:
    """Print each set without the scores, and with them at the weight that the others choose."""
    from training.evidence_figures import WEIGHTS, at_weight, kinds_at_weight, weight_without

    scores = {
        name: {each: found[:depth] for each, found in kept_scores(name, model).items()}
        for name in names
    }
    ranked = {name: ranked_set(name).only(scores[name]) for name in names}
    found = {
        name: {weight: at_weight(ranked[name], scores[name], weight) for weight in WEIGHTS}
        for name in names
    }
    gains = {
        name: {
            weight: each.recall_10 + each.whole_1k - rows[0.0].recall_10 - rows[0.0].whole_1k
            for weight, each in rows.items()
        }
        for name, rows in found.items()
    }
    for name in names:
        chosen = weight_without(name, gains)
        report(f"{name}, {found[name][0.0].questions} questions, weight of the others {chosen}")
        for weight, each in found[name].items():
            mark = "*" if weight == chosen else " "
            report(f" {mark} {weight:<5} recall@10 {each.recall_10:.3f}  whole {each.whole_1k:.3f}")
        if kinds:
            today = kinds_at_weight(ranked[name], scores[name], 0.0)
            for kind, each in kinds_at_weight(ranked[name], scores[name], chosen).items():
                was = today[kind]
                report(
                    f"   {kind:<28} {each.questions:>5}  recall@10 {was.recall_10:.3f} to "
                    f"{each.recall_10:.3f}  whole {was.whole_1k:.3f} to {each.whole_1k:.3f}"
                )


@main.command()
@weights_option
@click.option("--set", "name", default="talk", show_default=True)
@click.option("--teacher", default="reranker", show_default=True)
@click.option("--epochs", default=2, show_default=True)
@click.option("--rate", default=2e-5, show_default=True)
@click.option("--minutes", default=600.0, show_default=True, help="Stop after so long.")
@click.option("--out", default="encoder", show_default=True)
def encoder(
    weights: str, name: str, teacher: str, epochs: int, rate: float, minutes: float, out: str
) -> None:
    """Train an encoder of single texts from the cross-encoder's scores; keep work/OUT.pt."""
    from training.encoder import EncoderPlan, taught, train
    from training.reranker import untrained_reranker, write

    model, words = untrained_reranker(Path(weights))
    scores = kept_scores(name, teacher)
    examples = taught(ranked_set(name), scores)
    plan = EncoderPlan(epochs=epochs, rate=rate, minutes_max=minutes)
    train(model.encoder, examples, words, plan, report)
    write(model.encoder, WORK / f"{out}.pt")


@main.command()
@weights_option
@click.argument("name")
@click.option("--data", default=str(ROOT / "data"), help="Folder of the set, or its parent.")
@click.option("--model", default="encoder", show_default=True)
@click.option(
    "--share", default=1.0, show_default=True, help="Of the trained weights; 0 is today's."
)
@click.option("--limit", type=int, help="Ask so many questions alone.")
def encode(weights: str, name: str, data: str, model: str, share: float, limit: int | None) -> None:
    """Print what recall finds with the trained encoder in place of today's."""
    from training.candidates import dataset_named, rank_set, ranked_of
    from training.encoder import TrainedEmbedder, mixed
    from training.evidence_figures import figure_lines
    from training.minilm import MiniLm, take_weights
    from training.reranker import untrained_reranker

    held, words = untrained_reranker(Path(weights))
    trained = MiniLm()
    take_weights(trained, WORK / f"{model}.pt", "encoder")
    embedder = TrainedEmbedder(mixed(held.encoder, trained, share), words, f"{model}/{share}")
    dataset = dataset_named(name)
    rows = asyncio.run(rank_set(dataset, dataset.find_folder(Path(data)), embedder, limit))
    for line in figure_lines(f"{name} {model} {share}", ranked_of(rows)):
        report(line)


for _command in (export, recall, cost, requests, verdicts):
    main.add_command(_command)


if __name__ == "__main__":
    main()
