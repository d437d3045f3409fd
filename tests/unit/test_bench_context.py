"""What a prompt is shown is counted by the text itself, and readers never see the gold."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.asked_memory import QuestionChoice
from benchmarks.datasets import DATASETS
from benchmarks.idle_queries import FITTED, SECOND_UNSEEN, UNSEEN
from benchmarks.reader_blocks import NOTHING, reader_blocks, write_blocks
from benchmarks.script_equality import SCRIPTS, measure_scripts, scripts_page
from benchmarks.shown_evidence import measure_shown, shown_page

TALK = (
    ("s1", "user", "I adopted a cat called Tom"),
    ("s1", "assistant", "How lovely"),
    ("s2", "user", "Tom ate the cactus"),
    ("s2", "assistant", "Buy a new cactus then"),
)
QUESTIONS: tuple[Mapping[str, object], ...] = (
    {
        "question_id": "q0",
        "question": "Who is Tom?",
        "answer": "Anns zahme Katze",
        "category": "who",
        "evidence": ["m0"],
        "at_message": "m2",
    },
    {
        "question_id": "q1",
        "question": "What did Tom eat?",
        "answer": "a cactus",
        "category": "what",
        "evidence": ["m2"],
    },
    {
        "question_id": "q2",
        "question": "asdf qwerty",
        "category": "what",
        "unanswerable": True,
        "evidence": [],
    },
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write a talk of two sessions and three questions, the first asked before the second."""
    messages = [
        {
            "conversation_id": "c",
            "message_id": f"m{seq}",
            "session_id": session,
            "seq": seq,
            "timestamp": f"2023-05-0{session[1]}T13:56:00",
            "speaker": role,
            "role": role,
            "text": text,
        }
        for seq, (session, role, text) in enumerate(TALK)
    ]
    questions = [{"conversation_id": "c", **question} for question in QUESTIONS]
    for name, held in (("conversations", messages), ("questions", questions)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in held), "utf-8")
    return tmp_path


@pytest.mark.anyio
async def test_a_reader_sees_the_block_and_the_question_alone(data: Path, tmp_path: Path) -> None:
    """The gold answer stands in gold.json, and what was said after a question nowhere."""
    blocks = await reader_blocks(DATASETS["realmem"], data, None, QuestionChoice(), budget=500)
    write_blocks(tmp_path / "blocks", blocks)

    texts = [(tmp_path / "blocks" / f"00{at}.txt").read_text("utf-8") for at in (1, 2, 3)]
    gold = json.loads((tmp_path / "blocks" / "gold.json").read_text("utf-8"))
    assert "called Tom" in texts[0]
    assert "cactus" not in texts[0]
    assert "Katze" not in texts[0]
    assert texts[2].startswith(NOTHING)
    assert [each["answer"] for each in gold] == ["Anns zahme Katze", "a cactus", ""]
    assert [each["evidence_shown"] for each in gold] == [True, True, False]
    assert [each["unanswerable"] for each in gold] == [False, False, True]


def test_a_seed_draws_the_same_questions(data: Path) -> None:
    """A sample stands in the order of the set, and is the same at each run."""
    questions = DATASETS["realmem"].questions(data)
    drawn = [QuestionChoice(sample=2, seed=5).of(questions) for _ in range(2)]

    assert drawn[0] == drawn[1]
    assert drawn[0] == sorted(drawn[0], key=questions.index)
    assert len(drawn[0]) == 2


@pytest.mark.anyio
async def test_every_system_is_counted_within_the_same_budget(data: Path) -> None:
    """Evidence that a block holds counts, for the controls as for the context."""
    report = await measure_shown(
        DATASETS["realmem"], data, None, QuestionChoice(), budgets=(120, 2_000)
    )

    systems = {system for system, _ in report.tallies}
    assert systems == {
        *("context", "render()", "render(), limit=10"),
        *("plain lines", "mem0's form", "LangMem's form"),
    }
    for (system, budget), tally in report.tallies.items():
        assert max(tally.tokens) <= budget, system
    assert all(report.tallies[system, 2_000].whole == [True, True] for system in systems)
    assert report.nothing["unanswerable"] == [True]
    assert len(report.nothing["idle, unseen"]) == len(UNSEEN)
    assert len(report.nothing["idle, second unseen"]) == len(SECOND_UNSEEN)
    assert len({*FITTED, *UNSEEN, *SECOND_UNSEEN}) == sum(map(len, (FITTED, UNSEEN, SECOND_UNSEEN)))
    assert "tokens at equal coverage, to render()" in shown_page(report)


@pytest.mark.anyio
async def test_a_question_is_asked_in_both_scripts_of_both_talks(data: Path) -> None:
    """A question that one script alone answers is counted as differing."""
    report = await measure_scripts(
        DATASETS["realmem"], data, None, QuestionChoice(), budgets=(500,)
    )
    assert set(report.whole) == {(talk, asked, 500) for talk in SCRIPTS for asked in SCRIPTS}
    assert report.differing("simplified", 500) == 0

    report.whole["simplified", "traditional", 500][0] = False
    assert report.differing("simplified", 500) == 1
    assert "shown in one script alone: 1 of 2" in scripts_page(report)
