"""A run asks every question of every system, and its rows alone give every figure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from benchmarks import answer_rows as rows
from benchmarks import recall_report as report
from benchmarks import text_tables as tables
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import DATASETS
from benchmarks.official import lowered_words
from benchmarks.recall_runner import RecallPlan, run
from benchmarks.search_controls import PlainBm25, PlainCosine, dated_text, spoken_text
from recollect.errors import UsageError
from recollect.ports import Vector

TALK = (
    ("c:D1:1", "c:S1", "Ann", "I adopted a cat called Tom"),
    ("c:D1:2", "c:S1", "Bob", "How lovely"),
    ("c:D2:1", "c:S2", "Ann", "Tom ate the plant"),
    ("c:D2:2", "c:S2", "Bob", "Buy a cactus then"),
    ("c:D3:1", "c:S3", "Ann", "The sun shines today"),
)
QUESTIONS: tuple[Mapping[str, object], ...] = (
    {
        "question_id": "q0",
        "question": "Who is Tom?",
        "category": "single_hop",
        "evidence": ["c:D1:1", "c:D2:1"],
        "evidence_raw": ["D1:1", "D2:1"],
    },
    {
        "question_id": "q1",
        "question": "What should Ann buy?",
        "category": "temporal",
        "evidence": ["c:D2:2"],
        "evidence_raw": ["D2:2"],
    },
    {
        "question_id": "q2",
        "question": "What did Bob adopt?",
        "category": "adversarial",
        "unanswerable": True,
        "evidence": ["c:D1:1"],
        "evidence_raw": ["D1:1"],
    },
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write a talk and three questions as a set in the form of LoCoMo."""
    messages = [
        {
            "conversation_id": "c",
            "message_id": message_id,
            "session_id": session,
            "seq": seq,
            "timestamp": "2023-05-08T13:56:00",
            "speaker": speaker,
            "role": "speaker_a" if speaker == "Ann" else "speaker_b",
            "text": text,
        }
        for seq, (message_id, session, speaker, text) in enumerate(TALK)
    ]
    questions = [{"conversation_id": "c", **question} for question in QUESTIONS]
    for name, held in (("conversations", messages), ("questions", questions)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in held), "utf-8")
    return tmp_path


class Scripted:
    """A system that returns what the test says, and notes what it was told."""

    def __init__(self, *ranked: str, name: str = "recollect") -> None:
        self.name = name
        self.told: list[str] = []
        self._ranked = ranked

    async def load(self, conversation: BenchmarkConversation) -> None:
        self.told.append(f"load {conversation.conversation_id}")

    async def rank(self, question: BenchmarkQuestion) -> Sequence[str]:
        self.told.append(f"rank {question.question_id}")
        return self._ranked

    async def close(self) -> None:
        self.told.append("close")


class LetterCounts:
    """An embedder of texts by their letters; it notes what it was asked."""

    identity = "letters/1"
    dimensions = 26

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        self.asked += texts
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> Vector:
        letters = "abcdefghijklmnopqrstuvwxyz"
        counts = np.array([text.count(letter) for letter in letters], dtype=np.float32)
        return counts / np.float32(np.linalg.norm(counts))


def plan_of(
    data: Path, *systems: Scripted | PlainBm25 | PlainCosine, limit: int | None = None
) -> RecallPlan:
    """Plan a run over the small talk."""
    return RecallPlan(dataset=DATASETS["locomo"], data=data, systems=systems, limit=limit)


def ids(*numbers: int) -> tuple[str, ...]:
    """Return the message ids at those places of the talk."""
    return tuple(TALK[number][0] for number in numbers)


async def test_a_system_loads_once_answers_all_and_is_closed(data: Path) -> None:
    """The adversarial question is asked too, since the official metric counts it."""
    system = Scripted(*ids(0, 1))

    await run(plan_of(data, system))

    assert ["load c", "rank q0", "rank q1", "rank q2", "close"] == system.told


async def test_a_row_says_where_the_evidence_stands(data: Path) -> None:
    """Places over messages and sessions, and the tokens returned by the end of each."""
    first, *_ = await run(plan_of(data, Scripted(*ids(3, 2, 1))))

    # "Bob: Buy a cactus then" is 22 characters, "Ann: Tom ate the plant" also: 6 tokens each.
    assert ((None, 2), (None, 12), ("c:S1", "c:S2"), (2, 1)) == (
        first.evidence_places,
        first.evidence_token_ends,
        first.evidence_sessions,
        first.evidence_session_places,
    )


async def test_figures_are_means_over_the_counted_questions(data: Path) -> None:
    """q0 has its evidence at 1 and 3, q1 at 4; the adversarial question has no part."""
    outcomes = await run(plan_of(data, Scripted(*ids(0, 1, 2, 3))))

    figures = report.from_rows(outcomes)

    recollect = figures.systems["recollect"]
    gain = ((1 + 1 / 2) / (1 + 1 / np.log2(3)) + 1 / np.log2(5)) / 2
    assert (2, 2) == (figures.n, recollect.turn["n"])
    assert (1.0, 1.0) == (recollect.turn["recall@5"], recollect.turn["all@5"])
    assert pytest.approx(gain, abs=1e-6) == recollect.turn["ndcg@10"]
    assert {"single_hop", "temporal"} == set(recollect.categories)


async def test_the_official_metric_counts_every_question(data: Path) -> None:
    """Three questions; only q2's and half of q0's evidence is returned."""
    outcomes = await run(plan_of(data, Scripted(*ids(0))))

    official = report.from_rows(outcomes).official

    assert official is not None
    overall = official.systems["recollect"]["overall"]
    assert (3, 0.5) == (overall["n"], overall["dialog R@5"])
    assert [r"official bm25 \w+"] == [name for name in official.systems if name != "recollect"]


async def test_rows_alone_give_every_figure(data: Path, tmp_path: Path) -> None:
    """Written, read back and reckoned again, the report is the same."""
    embedder = CachedEmbedder(LetterCounts(), tmp_path / "cache")
    systems = (PlainBm25(lowered_words, dated_text), PlainCosine(embedder, spoken_text))
    plan = RecallPlan(dataset=DATASETS["locomo"], data=data, systems=systems, embedder=embedder)
    outcomes = await run(plan)

    rows.write_rows(tmp_path / "rows.jsonl", outcomes)

    read = rows.read_rows(tmp_path / "rows.jsonl")
    assert report.from_rows(outcomes) == report.from_rows(read)
    assert "letters/1" == report.from_rows(read).embedder


async def test_places_agree_with_the_ids_listed(data: Path) -> None:
    """Whoever has the ids of a row can check its places."""
    outcomes = await run(plan_of(data, PlainBm25(lowered_words, dated_text)))

    for outcome in outcomes:
        if outcome.ms is not None:
            found = tuple(outcome.ranked.index(each) + 1 for each in outcome.evidence)
            assert found == outcome.evidence_places


async def test_the_report_is_written_as_json(data: Path, tmp_path: Path) -> None:
    """With the layout that is promised to readers."""
    outcomes = await run(plan_of(data, Scripted(*ids(0, 1, 2, 3))))

    report.write_report(tmp_path / "report.json", report.from_rows(outcomes))

    written = json.loads((tmp_path / "report.json").read_text("utf-8"))
    recollect = written["systems"]["recollect"]
    assert ("locomo", 2, "none") == (written["dataset"], written["n"], written["embedder"])
    assert {"turn", "session", "ms", "categories"} == set(recollect)
    assert {"p50", "p95"} == set(recollect["ms"])
    assert 1.0 == recollect["turn"]["tokens_2k"]
    assert 1 == recollect["categories"]["temporal"]["n"]


async def test_a_page_shows_the_controls_and_the_ratios(data: Path) -> None:
    """By level, by category and by the official metric."""
    systems = (Scripted(*ids(0, 1, 2, 3)), Scripted(*ids(4, 3), name="plain"))
    outcomes = await run(plan_of(data, *systems))

    page = tables.render(report.from_rows(outcomes))

    turn = page.split("turn level, n=2")[1].split("\n\n")[0].splitlines()
    assert ["recollect", "plain", "recollect / plain"] == [line[:22].strip() for line in turn[3:]]
    # Recall@5 1.0 against 0.5.
    assert ["100.0", "50.0", "2.00x"] == [line[22:].split()[0] for line in turn[3:]]
    assert "category temporal" in page
    assert "without adversarial, n=2" in page


async def test_a_limit_asks_the_first_questions(data: Path) -> None:
    """And progress is told of as many."""
    told: list[tuple[int, int]] = []

    outcomes = await run(plan_of(data, Scripted(*ids(0)), limit=2), lambda *done: told.append(done))

    assert {"q0", "q1"} == {outcome.question_id for outcome in outcomes}
    assert [(1, 2), (2, 2)] == told


@pytest.mark.parametrize(
    ("ranked", "message"),
    [(("c:D1:1", "c:D1:1"), "'c:D1:1' twice"), (("c:D9:9",), "'c:D9:9' for question 'q0'")],
)
async def test_a_ranking_that_cannot_be_judged_is_refused(
    ranked: tuple[str, ...], message: str, data: Path
) -> None:
    """A repeated id would fill two places, an unknown one hides a fault; systems are closed."""
    system = Scripted(*ranked)

    with pytest.raises(UsageError, match=message):
        await run(plan_of(data, system))

    assert "close" == system.told[-1]


async def test_questions_without_their_conversation_are_refused(data: Path) -> None:
    """Silence would report figures over fewer questions."""
    with (data / "questions.jsonl").open("a", encoding="utf-8") as file:
        row = {**QUESTIONS[0], "conversation_id": "elsewhere", "question_id": "q9"}
        file.write(json.dumps(row) + "\n")

    with pytest.raises(UsageError, match="no messages of the conversations \\['elsewhere'\\]"):
        await run(plan_of(data, Scripted(*ids(0))))


async def test_a_set_without_gold_is_refused(data: Path) -> None:
    """Questions without evidence give no figures."""
    row = {"conversation_id": "c", "question_id": "q", "question": "?", "category": "any"}
    (data / "questions.jsonl").write_text(json.dumps(row) + "\n", "utf-8")

    with pytest.raises(UsageError, match="names evidence"):
        await run(
            RecallPlan(dataset=DATASETS["lifebench"], data=data, systems=(Scripted(*ids(0)),))
        )


async def test_what_was_said_later_cannot_be_recalled(data: Path) -> None:
    """Asked in the second session, only the first is left of a ranking."""
    row = {
        "conversation_id": "c",
        "question_id": "q",
        "question": "Tom ate the plant",
        "category": "any",
        "evidence_sessions": ["c:S1"],
        "at_message": "c:D2:1",
    }
    (data / "questions.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    plan = RecallPlan(dataset=DATASETS["realmem"], data=data, systems=(Scripted(*ids(2, 4, 3, 1)),))

    (outcome,) = await run(plan)

    assert (ids(1), (1,)) == (outcome.ranked, outcome.evidence_session_places)


async def test_a_level_without_evidence_has_no_figures(data: Path) -> None:
    """Evidence by session only: no turn table, and 0 questions at that level."""
    row = {
        "conversation_id": "c",
        "question_id": "q",
        "question": "?",
        "category": "any",
        "evidence_sessions": ["c:S1"],
    }
    (data / "questions.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    plan = RecallPlan(dataset=DATASETS["realmem"], data=data, systems=(Scripted(*ids(0)),))

    figures = report.from_rows(await run(plan))

    assert {"n": 0} == figures.systems["recollect"].turn
    assert 1.0 == figures.systems["recollect"].session["recall@5"]
    assert "turn level" not in tables.render(figures)


async def test_queries_are_embedded_while_the_clock_runs(data: Path, tmp_path: Path) -> None:
    """Entries come from the file on a second run, queries from the embedder each time."""
    for embedder in (LetterCounts(), LetterCounts()):
        cached = CachedEmbedder(embedder, tmp_path / "cache")
        systems = (PlainCosine(cached, spoken_text),)
        plan = RecallPlan(dataset=DATASETS["locomo"], data=data, systems=systems, embedder=cached)
        await run(plan)

    assert [str(question["question"]) for question in QUESTIONS] == embedder.asked


@pytest.mark.parametrize("field", ["evidence_places", "ms", "official"])
def test_a_row_that_was_tampered_with_is_refused(field: str, tmp_path: Path) -> None:
    """A text where numbers belong is named with its line."""
    outcome = rows.QuestionOutcome(
        dataset="locomo",
        embedder="none",
        system="recollect",
        question_id="q",
        conversation_id="c",
        category="any",
        is_counted=True,
        ranked=(),
        ranked_sessions=(),
        evidence=(),
        evidence_places=(),
        evidence_token_ends=(),
        evidence_sessions=(),
        evidence_session_places=(),
        ms=1.0,
        official=None,
    )
    path = tmp_path / "rows.jsonl"
    rows.write_rows(path, [outcome])
    row = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(row | {field: "seven"}), "utf-8")

    with pytest.raises(UsageError, match=r"rows\.jsonl line 1"):
        rows.read_rows(path)


def test_rows_of_no_run_are_refused() -> None:
    """There are no figures without rows."""
    with pytest.raises(UsageError, match="0 runs"):
        report.from_rows([])


async def test_rows_of_two_runs_are_refused(data: Path) -> None:
    """Means over different embedders would say nothing."""
    outcomes = await run(plan_of(data, Scripted(*ids(0))))
    other = [replace(outcome, embedder="other") for outcome in outcomes]

    with pytest.raises(UsageError, match="2 runs"):
        report.from_rows([*outcomes, *other])


class Broken(Scripted):
    """A system that cannot load."""

    async def load(self, conversation: BenchmarkConversation) -> NoReturn:
        msg = f"no room for {conversation.conversation_id!r}"
        raise OSError(msg)


async def test_every_system_is_closed_when_one_fails(data: Path) -> None:
    """A failure leaves nothing open."""
    systems = (Scripted(*ids(0)), Broken(name="broken"))

    with pytest.raises(OSError, match="no room"):
        await run(plan_of(data, *systems))

    assert ["close", "close"] == [system.told[-1] for system in systems]
