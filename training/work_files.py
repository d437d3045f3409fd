"""The files in ``training/work`` that one step writes and another reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from recollect.embedders.wordpiece import read_vocabulary
from recollect.errors import UsageError
from training.candidates import RankedSet, read_ranked

ROOT: Final = Path(__file__).parent
WORK: Final = ROOT / "work"
KNOWN_SHARE_MIN: Final = 0.9
"""A set with fewer known letters is told of: the base does not read its language."""
_SAMPLE_LINES: Final = 500

weights_option = click.option(
    "--weights", required=True, type=click.Path(), help="The published MiniLM's folder."
)


def report(line: str) -> None:
    """Print a line of the log."""
    click.echo(line)


def ranked_set(name: str) -> RankedSet:
    """Return what `candidates` kept of the set; raise `UsageError` if it is missing or cut."""
    path = WORK / f"{name}.jsonl.gz"
    again = f"`python -m training candidates {name}` writes it anew"
    try:
        return read_ranked(path)
    except FileNotFoundError as error:
        msg = f"there is no {path}: {again}"
        raise UsageError(msg) from error
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        msg = f"{path} is cut short or damaged: {again}"
        raise UsageError(msg) from error


def kept_scores(name: str, model: str) -> dict[str, list[float]]:
    """Return what `score` kept of the set; raise `UsageError` if it is missing or cut short."""
    path = WORK / f"{name}.{model}.json"
    again = f"`python -m training score {name}` writes it anew"
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        msg = f"there is no {path}: {again}"
        raise UsageError(msg) from error
    except ValueError as error:
        msg = f"{path} is cut short or damaged: {again}"
        raise UsageError(msg) from error
    return {str(name): list(scores) for name, scores in found.items()}


def vocabulary_of(weights: Path) -> list[str]:
    """Return the vocabulary in the folder *weights*; raise `UsageError` if it has none."""
    try:
        return list(read_vocabulary(weights / "vocab.txt"))
    except (OSError, ValueError) as error:
        msg = f"{weights / 'vocab.txt'} cannot be read ({error}): --weights is MiniLM's folder"
        raise UsageError(msg) from error


def known_share(vocabulary: Sequence[str], texts: Sequence[str]) -> float:
    """
    Return the share of the letters of *texts* that stand in the vocabulary.

    >>> known_share(["a", "##b"], ["ab c!"])
    0.6666666666666666
    """
    known = set("".join(vocabulary))
    letters = [each for text in texts for each in text.lower() if each.isalpha()]
    return sum(each in known for each in letters) / len(letters) if letters else 1.0


def unread_language(name: str, ranked: RankedSet, vocabulary: Sequence[str]) -> str:
    """Return a line that tells that the base reads little of the set; "" if it reads it."""
    lines = [each for of in ranked.lines.values() for each in of.values()]
    step = max(1, len(lines) // _SAMPLE_LINES)
    share = known_share(vocabulary, [each.text for each in lines[::step]])
    if share >= KNOWN_SHARE_MIN:
        return ""
    return f"{name}: the vocabulary has {share:.0%} of its letters, so its scores mean little"
