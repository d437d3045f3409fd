"""The parts of the training that need no network: pairs, fusion, weights, the file of rankings."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage
from recollect.embedders.wordpiece import WordPiece
from training.candidates import (
    RankedQuestion,
    RankedSet,
    SpokenLine,
    lines_of,
    ranked_of,
    read_ranked,
    write_ranked,
)
from training.evidence_figures import (
    WEIGHTS,
    at_weight,
    fused_order,
    kinds_at_weight,
    weight_without,
)
from training.pairs import PAIR_PIECES, PairWords, passage_of

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz,:?.0123456789"]
VOCABULARY += [f"##{each}" for each in "abcdefghijklmnopqrstuvwxyz0123456789"]
QUESTION = RankedQuestion(
    set="talk",
    id="q1",
    conversation="t1",
    text="who sings?",
    category="who",
    evidence=("c",),
    ids=("a", "b", "c", "d"),
    scores=(4.0, 3.0, 2.0, 1.0),
)


def line(name: str, text: str = "la la", before: str = "") -> SpokenLine:
    """Return a message of ten tokens."""
    return SpokenLine(name, "Ana", "4 March 2024", text, before, 10)


RANKED = RankedSet([QUESTION], {"t1": {each: line(each) for each in "abcd"}})


def test_fusion_moves_what_the_model_prefers() -> None:
    """Without weight the order stays; with much the model's order stands; the rest follows."""
    scores = [0.0, 0.0, 5.0]

    assert list("abcd") == fused_order(QUESTION, scores, 0.0)
    assert list("cabd") == fused_order(QUESTION, scores, 5.0)


def test_figures_count_evidence_that_moved() -> None:
    """The first ten, and the tokens up to the last message that is needed."""
    short = replace(QUESTION, ids=tuple("abdefghijkc"), scores=tuple(range(11, 0, -1)))
    lines = {"t1": {each: line(each) for each in short.ids}}
    ranked = RankedSet([short], lines)
    scores = {"q1": [0.0] * 10 + [9.0]}

    assert 0.0 == at_weight(ranked, scores, 0.0).recall_10
    assert 1.0 == at_weight(ranked, scores, 5.0).recall_10
    assert {"who"} == set(kinds_at_weight(ranked, scores, 1.0))


def test_a_weight_is_chosen_on_the_other_sets() -> None:
    """A set's own gain does not count for its weight."""
    own = {weight: float(weight == 5.0) for weight in WEIGHTS}
    other = {weight: float(weight == 0.5) for weight in WEIGHTS}

    assert 0.5 == weight_without("own", {"own": own, "other": other})
    assert 5.0 == weight_without("other", {"own": own, "other": other})


def test_a_pair_is_cut_to_its_room() -> None:
    """A long message loses its end, never the question; the first part is the question."""
    words = PairWords(WordPiece(VOCABULARY))
    pieces, first = words.pair("who sings?", line("a", "x y z " * 400, "so long " * 40))

    assert len(pieces) <= PAIR_PIECES
    assert pieces[:first] == words.single("who sings?", 48)[0]
    assert pieces[-1] == pieces[first - 1]


@pytest.mark.parametrize("text", ["", "short", "one. " * 200, "x" * 5_000])
def test_a_passage_is_of_the_text_and_short(text: str) -> None:
    """Every sentence shown stands in the text, in its order; a sentence without end is cut."""
    shown = passage_of(text, "which one?")

    assert len(shown) <= 420
    assert shown in {text, text[:420]} or all(each in text for each in shown.split(". "))


def test_a_passage_holds_what_was_asked_for() -> None:
    """The sentence with the question's words stands though it is far back."""
    text = "Nothing here. " * 60 + "The piano costs nine hundred. " + "More of it. " * 60

    assert "piano" in passage_of(text, "How much was the piano?")


def test_a_line_knows_the_one_before_it_in_its_session() -> None:
    """The first line of a session has none."""
    said = [
        BenchmarkMessage(
            message_id=str(at),
            session_id=str(at // 2),
            seq=at,
            time=datetime(2024, 3, 4, tzinfo=UTC),
            speaker="Ana",
            role="speaker",
            text=f"line {at}",
        )
        for at in range(3)
    ]
    lines = list(lines_of(BenchmarkConversation(conversation_id="t", messages=tuple(said))))

    assert ["", "Ana: line 0", ""] == [each.before for each in lines]
    assert "4 March 2024" == lines[0].day


def test_rankings_come_back_as_they_were_written(tmp_path: Path) -> None:
    """Questions, and the lines of their talks."""
    rows: list[RankedQuestion | tuple[str, SpokenLine]] = [
        *(("t1", each) for each in RANKED.lines["t1"].values()),
        QUESTION,
    ]
    write_ranked(rows, tmp_path / "talk.jsonl.gz")
    found = read_ranked(tmp_path / "talk.jsonl.gz")

    assert found == ranked_of(rows)
    assert [] == found.only(()).questions
