"""Readers' answers are kept with their verdicts, and counted by kind of question."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.commands.readers import readers_bench
from benchmarks.reader_answers import (
    MISSES,
    ReaderReport,
    counts_of,
    judged_answers,
    read_judged,
    readers_page,
    write_judged,
)
from recollect.errors import UsageError


@pytest.fixture
def blocks(tmp_path: Path) -> Path:
    """Write the gold of three questions, and what was answered and judged."""
    gold = [
        {"unanswerable": False, "evidence_shown": True, "kind": "who"},
        {"unanswerable": False, "evidence_shown": False, "kind": "what"},
        {"unanswerable": True, "evidence_shown": False, "kind": "what"},
    ]
    rows = [{"file": f"{n}.txt", "id": f"q{n}", "tokens": 10, **g} for n, g in enumerate(gold)]
    verdicts = {
        "0.txt": {"right": True, "miss": ""},
        "1.txt": {"right": False, "miss": "not shown: her name"},
        "2.txt": {"right": True, "miss": ""},
    }
    _write(tmp_path / "gold.json", rows)
    _write(tmp_path / "answers.json", {row["file"]: "an answer" for row in rows})
    _write(tmp_path / "verdicts.json", verdicts)
    return tmp_path


def _write(path: Path, held: object) -> None:
    path.write_text(json.dumps(held), "utf-8")


def test_what_was_right_is_counted_by_kind(blocks: Path) -> None:
    judged = judged_answers(blocks, blocks)

    assert {
        "answerable": 2,
        "answerable right": 1,
        "shown": 1,
        "shown right": 1,
        "unanswerable": 1,
        "unanswerable right": 1,
        "not shown": 1,
    } == counts_of(judged)
    page = readers_page(ReaderReport({"made": judged}))
    assert "1 of   2  50.0 %" in page
    assert "1 not shown" in page


def test_kept_answers_are_read_again(blocks: Path) -> None:
    judged = judged_answers(blocks, blocks)

    write_judged("made", judged, blocks / "kept")

    assert {"made": judged} == read_judged(blocks / "kept")


@pytest.mark.parametrize("verdict", [None, {"right": False, "miss": "tired"}])
def test_an_answer_without_a_sound_verdict_is_refused(blocks: Path, verdict: object) -> None:
    verdicts = {"0.txt": {"right": True, "miss": ""}, "2.txt": {"right": True, "miss": ""}}
    _write(blocks / "verdicts.json", {**verdicts, **({"1.txt": verdict} if verdict else {})})

    with pytest.raises(UsageError, match=r"1\.txt"):
        judged_answers(blocks, blocks)


def test_the_answers_that_are_kept_are_sound() -> None:
    """Each question is judged once; what is wrong has its reason; and the command prints them."""
    judged = read_judged()

    assert {"locomo", "longmemeval"} <= judged.keys()
    for name, rows in judged.items():
        assert len(rows) == len({row.id for row in rows}), name
        assert all(bool(row.miss) != row.right and row.answer for row in rows), name
        assert {row.kind_of_miss for row in rows if not row.right} <= set(MISSES), name
    printed = CliRunner().invoke(readers_bench)
    assert 0 == printed.exit_code
    assert all(name in printed.output for name in judged)
