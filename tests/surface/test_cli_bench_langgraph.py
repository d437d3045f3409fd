"""`python -m benchmarks langgraph` prints the times of LangGraph's stores beside each other."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.datasets import DATASETS
from benchmarks.langgraph_recall import find_all
from benchmarks.program import main
from recollect.testing import HashedEmbedder

pytest.importorskip("langgraph", reason="its stores are measured")


def test_the_stores_are_measured_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation, in every store that can do it; here in a few turns."""
    monkeypatch.setattr("benchmarks.langgraph_store.REPEATS", 3)
    monkeypatch.setattr("benchmarks.langgraph_store.LONG_REPEATS", 2)
    written = tmp_path / "report.json"

    result = CliRunner().invoke(main, ["langgraph", "--size", "20", "--json", str(written)])

    assert 0 == result.exit_code, result.exception
    assert "beside langgraph-checkpoint" in result.stdout
    rows = json.loads(written.read_text("utf-8"))["rows"]
    assert [20] * 11 == [row["items"] for row in rows]
    for row in rows:
        assert {"RecollectStore", "InMemoryStore"} <= row["median_ms"].keys()
        assert all(time > 0 for time in row["median_ms"].values())


def test_what_is_found_of_equal_texts_is_measured(tmp_path: Path) -> None:
    """Each store has every message as an item; a share is of the evidence."""
    texts = ["We move to Oslo in May.", "I baked rye bread.", "The dog is ill.", "It rains."]
    messages = [
        {
            "conversation_id": "c",
            "message_id": f"m{number}",
            "session_id": "s",
            "seq": number,
            "timestamp": "2023-05-08T13:56:00",
            "speaker": "Ann",
            "role": "speaker_a",
            "text": text,
        }
        for number, text in enumerate(texts)
    ]
    question = {
        "question_id": "q",
        "conversation_id": "c",
        "question": "Who baked bread?",
        "category": "single-hop",
        "question_date": "2023-06-01T00:00:00",
        "unanswerable": False,
        "evidence": ["m1", "m9"],
    }
    for name, rows in (("conversations", messages), ("questions", [question])):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    report = find_all(DATASETS["locomo"], tmp_path, HashedEmbedder(64))

    assert 1 == report.questions
    assert {"RecollectStore", "RecollectStore, no embedder", "InMemoryStore"} == set(report.stores)
    assert {0.5} == {found["recall@5"] for found in report.stores.values()}
