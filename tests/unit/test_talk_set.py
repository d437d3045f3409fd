"""The set of written talk: whole, and its two parts share no author, talk or question."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import DATASETS

DATA = Path(__file__).parents[2] / "training" / "data"
KINDS = {
    "fact", "several", "time", "change", "preference", "inference", "who", "unanswerable"
}  # fmt: skip
PARTS = ("talk", "talk_kept")


def part(name: str) -> tuple[list[BenchmarkConversation], list[BenchmarkQuestion]]:
    """Return the talks and questions of a part."""
    dataset = DATASETS[name]
    folder = dataset.find_folder(DATA)
    return list(dataset.conversations(folder)), dataset.questions(folder)


@pytest.mark.parametrize("name", PARTS)
def test_evidence_is_in_the_talk_of_its_question(name: str) -> None:
    """Every id that a question names is a message of its talk; the unanswerable name none."""
    talks, questions = part(name)
    said = {talk.conversation_id: {each.message_id for each in talk.messages} for talk in talks}

    assert KINDS == {each.category for each in questions}
    for each in questions:
        assert said[each.conversation_id].issuperset(each.evidence)
        assert (each.category == "unanswerable") == each.is_unanswerable == (not each.evidence)


@pytest.mark.parametrize("name", PARTS)
def test_a_talk_has_ten_sessions_in_order_of_time(name: str) -> None:
    """Sessions follow one another, and each holds a talk, not a line."""
    talks, _ = part(name)
    for talk in talks:
        sizes = Counter(each.session_id for each in talk.messages)
        times = [each.time for each in talk.messages]

        assert len(sizes) == 10
        assert min(sizes.values()) >= 12, talk.conversation_id
        assert times == sorted(times), talk.conversation_id


def test_the_parts_are_as_large_as_told_and_apart() -> None:
    """480 sessions and more than 4,700 questions; a third is by authors of its own."""
    (talks, asked), (kept_talks, kept_asked) = map(part, PARTS)
    authors, kept_authors = (
        {talk.conversation_id.split("T")[0] for talk in each} for each in (talks, kept_talks)
    )

    assert (len(talks), len(kept_talks)) == (32, 16)
    assert len(asked) + len(kept_asked) > 4_700
    assert authors.isdisjoint(kept_authors)
    assert {each.text for each in asked}.isdisjoint(each.text for each in kept_asked)
