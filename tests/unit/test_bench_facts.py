"""A memory is credited with what its own text says, and not with all that its message says."""

import json
from pathlib import Path

import pytest

from benchmarks.datasets import DATASETS
from benchmarks.recall_with_facts import (
    FactsReport,
    Gold,
    RecalledEntry,
    _figures,
    ask_all,
    facts_page,
)

GOLD = Gold(evidence=frozenset({"m1"}), words=frozenset({"tom", "cat"}))
HOME = RecalledEntry(frozenset({"m1"}), frozenset({"live", "oslo"}), tokens=4)
CAT = RecalledEntry(frozenset({"m1"}), frozenset({"cat", "tom"}), tokens=4)
OTHER = RecalledEntry(frozenset({"m2"}), frozenset({"cat", "tom"}), tokens=4)


@pytest.mark.parametrize(
    ("entries", "by_message", "by_words"),
    [
        ([HOME], 1, 0),
        ([HOME, CAT], 1, 1),
        ([CAT], 1, 1),
        ([OTHER], 0, 0),
        ([], 0, 0),
        ([RecalledEntry(frozenset({"m1"}), frozenset({"cat"}), tokens=9)], 1, 0.5),
    ],
)
def test_another_fact_of_the_message_is_no_answer(
    entries: list[RecalledEntry], by_message: float, by_words: float
) -> None:
    """By its message a fact is credited with its siblings; by its words it is not."""
    found = dict(_figures(GOLD, entries))

    assert (by_message, by_words) == (found["recall@5"], found["words@5"])
    assert (by_message, by_words) == (found["in 500 tokens"], found["words in 500 tokens"])


def _write(path: Path, *rows: object) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")


@pytest.mark.anyio
async def test_both_credits_are_printed(tmp_path: Path) -> None:
    """A set of one message and one fact of it, of which the question asks for another."""
    ids = {"conversation_id": "c", "session_id": "c:S1"}
    text = "I live in Oslo with my cat Tom"
    _write(
        tmp_path / "conversations.jsonl",
        {
            **ids,
            "message_id": "c:1",
            "seq": 1,
            "timestamp": "2023-05-08T13:56:00",
            "speaker": "Ada",
            "role": "speaker_a",
            "text": text,
        },
    )
    asked = {"question_id": "q", "conversation_id": "c", "question": "What is her cat called?"}
    gold = {"answer": "Tom", "category": "single_hop", "evidence": ["c:1"]}
    more = {"evidence_sessions": ["c:S1"], "unanswerable": False, "question_date": None}
    _write(tmp_path / "questions.jsonl", {**asked, **gold, **more})
    fact = {"fact_id": "f", "timestamp": "2023-05-08T13:56:00", "subject": "Ada"}
    _write(
        tmp_path / "facts.jsonl",
        {**ids, **fact, "text": "Ada lives in Oslo.", "evidence": ["c:1"]},
    )

    report = await ask_all(DATASETS["locomo"], tmp_path, "none")

    assert FactsReport(1, 1, "none", report.systems) == report
    assert {"messages", "messages and facts"} == set(report.systems)
    assert 1 == report.systems["messages and facts"]["words@5"]
    assert "words@5" in facts_page(report)
