"""The benchmarks of a changed embedder and of an external store, on a set that is made up."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from benchmarks.datasets import DATASETS
from benchmarks.outside_vectors import TRIED, weighing
from benchmarks.outside_vectors import run as run_outside
from benchmarks.reembed_under_load import (
    ProjectedEmbedder,
    RebuildStage,
    ReembeddingReport,
    run,
)
from recollect.ports import Embedder
from recollect.recall.fusion import WEIGHTS
from recollect.testing.hashed_embedder import HashedEmbedder

THINGS = "kayak cello orchid lighthouse sourdough telescope harmonica glacier walnut".split()


def write(path: Path, rows: Sequence[object]) -> None:
    """Write *rows* as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return the folder of a set: a question about each message, in other forms of its words."""
    messages = [
        {
            "conversation_id": "c",
            "message_id": f"m{number}",
            "session_id": "s",
            "seq": number,
            "timestamp": "2023-05-08T13:56:00",
            "speaker": "Ann",
            "role": "speaker_a",
            "text": f"I bought a {thing} today",
        }
        for number, thing in enumerate(THINGS)
    ]
    questions = [
        {
            "question_id": f"q{number}",
            "conversation_id": "c",
            "question": f"{thing[:-1]}ish",
            "category": "single-hop",
            "question_date": "2023-06-01T00:00:00",
            "unanswerable": False,
            "evidence": [f"m{number}"],
        }
        for number, thing in enumerate(THINGS)
    ]
    write(tmp_path / "conversations.jsonl", messages)
    write(tmp_path / "questions.jsonl", questions)
    return tmp_path


def test_a_changed_embedder_is_sampled_to_its_end(data: Path) -> None:
    """All questions are asked before and after; the new embedder made every entry's vector."""
    small = HashedEmbedder(64)

    report = anyio.run(run, DATASETS["locomo"], data, small, HashedEmbedder(256), lambda _: None)

    assert (len(THINGS), len(THINGS)) == (report.questions, report.entries)
    assert 0 < report.by_words <= 1
    assert 0 < report.before <= 1
    assert 0 < report.after <= 1


def test_turned_vectors_keep_what_is_near_and_cannot_be_mixed() -> None:
    """Of two turns the same texts are alike in each, and neither to the other's."""
    texts = ["the kayak is red", "a red kayak it is", "an unpaid invoice"]
    one, other = (ProjectedEmbedder(HashedEmbedder(256), 128, seed) for seed in (1, 2))

    near, same, far = one.embed(texts)
    turned, *_ = other.embed(texts)

    assert near is not None
    assert same is not None
    assert far is not None
    assert turned is not None
    assert near @ same > near @ far + 0.3
    assert abs(near @ turned) < 0.4
    assert one.identity != other.identity


PART = RebuildStage(until=1.0, questions=50, found=0.8, before=0.8, by_words=0.7)
REPORT = ReembeddingReport(
    questions=50,
    entries=100,
    before=0.8,
    after=0.8,
    by_words=0.7,
    beside=[PART],
    control=[replace(PART, found=0.75)],
)


def test_a_report_holds_only_beside_a_control_that_does_not() -> None:
    """A dip below words, a control without a dip, and no samples at all are each told."""
    assert REPORT.holds
    assert not replace(REPORT, beside=[replace(PART, found=0.69)]).holds
    assert not replace(REPORT, control=[PART]).holds
    assert not replace(REPORT, beside=[]).holds


def test_what_is_outside_is_weighed_again_and_again(data: Path) -> None:
    """By words alone forms of a word are not found; with the outside signal they are."""
    pytest.importorskip("chromadb", reason="what is outside is a Chroma store")
    embedders: dict[str, Embedder] = {"spelling": HashedEmbedder()}

    report = anyio.run(run_outside, DATASETS["locomo"], data, embedders, lambda _: None)

    assert [("none", "spelling"), ("spelling", "spelling")] == [
        (row.own, row.outside) for row in report.rows
    ]
    assert [f"{weight:g}" for weight in TRIED] == list(report.rows[0].found)
    with weighing(0.6):
        assert 0.6 == WEIGHTS["outside"]
    assert 0.6 != WEIGHTS["outside"]
