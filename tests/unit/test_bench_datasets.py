"""Sets are read from plain and compressed files, and what is wrong with a file is said."""

import gzip
import json
import lzma
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.conversation_files import (
    BenchmarkConversation,
    BenchmarkMessage,
    BenchmarkQuestion,
    read_fields,
)
from benchmarks.datasets import DATASETS
from recollect.errors import UsageError

Row = Mapping[str, object]

WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
}


def write(folder: Path, name: str, rows: Iterable[Row]) -> None:
    """Write rows as JSON Lines, packed as the end of *name* says."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(name).write_bytes(WRITERS[name.partition(".jsonl")[2]](text.encode()))


def message_row(conversation: str, session: str, number: int, **more: object) -> Row:
    """Make one row of a conversation."""
    return {
        "conversation_id": conversation,
        "session_id": f"{conversation}:{session}",
        "message_id": f"{conversation}:{session}:{number}",
        "seq": number,
        "timestamp": "2023-05-08T13:56:00",
        "speaker": "Ada",
        "role": "user",
        "text": f"words {number}",
        **more,
    }


def question_row(conversation: str, **more: object) -> Row:
    """Make one row of the questions."""
    return {
        "question_id": "q1",
        "conversation_id": conversation,
        "question": "Which words?",
        "category": "any",
        "question_date": "2023-06-01T00:00:00",
        "unanswerable": False,
        "evidence": [f"{conversation}:s1:0"],
        **more,
    }


@pytest.mark.parametrize("suffix", [*WRITERS])
def test_a_file_is_read_whatever_it_is_packed_in(suffix: str, tmp_path: Path) -> None:
    """Plain, .gz and .xz give the same rows."""
    write(tmp_path, f"rows.jsonl{suffix}", [{"text": "一"}, {"text": "two"}])

    assert ["一", "two"] == [row.text("text") for row in read_fields(tmp_path, "rows.jsonl")]


def test_messages_are_gathered_by_conversation(tmp_path: Path) -> None:
    """In the order of the file; a time without a zone is UTC."""
    rows = [message_row("a", "s1", 0, image_caption="a kite"), message_row("b", "s1", 0)]
    write(tmp_path, "conversations.jsonl", rows)

    first, second = DATASETS["locomo"].conversations(tmp_path)

    expected = BenchmarkMessage(
        message_id="a:s1:0",
        session_id="a:s1",
        seq=0,
        time=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        speaker="Ada",
        role="user",
        text="words 0",
        image_caption="a kite",
    )
    assert BenchmarkConversation(conversation_id="a", messages=(expected,)) == first
    assert "b" == second.conversation_id


def test_a_conversation_that_resumes_is_refused(tmp_path: Path) -> None:
    """Read as two it would lose its first half without a word."""
    rows = [message_row("a", "s1", 0), message_row("b", "s1", 0), message_row("a", "s2", 1)]
    write(tmp_path, "conversations.jsonl", rows)

    with pytest.raises(UsageError, match="'a' do not stand together"):
        list(DATASETS["locomo"].conversations(tmp_path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2 is not a JSON object"),
        ('{"question_id": 7}', "line 2: 'question_id' is 7, not a text"),
    ],
)
def test_a_broken_row_is_named(line: str, message: str, tmp_path: Path) -> None:
    """The error says which file, line, field and value."""
    write(tmp_path, "questions.jsonl", [question_row("a")])
    with tmp_path.joinpath("questions.jsonl").open("a") as file:
        file.write(line)

    with pytest.raises(UsageError, match=f"questions.jsonl {message}"):
        DATASETS["locomo"].questions(tmp_path)


@pytest.mark.parametrize("below", ["", "locomo"])
def test_a_set_is_found_in_its_folder_or_its_parent(below: str, tmp_path: Path) -> None:
    """`--data` may name either."""
    folder = tmp_path / below
    write(folder, "conversations.jsonl.gz", [message_row("a", "s1", 0)])
    write(folder, "questions.jsonl", [question_row("a")])

    assert folder == DATASETS["locomo"].find_folder(tmp_path)


def test_a_set_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    """The error says which files and folders would do."""
    with pytest.raises(UsageError, match=r"'lifebench_zh' or 'lifebench'.*--data"):
        DATASETS["lifebench"].find_folder(tmp_path)


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({}, True),
        ({"evidence": []}, False),
        ({"evidence": [], "evidence_sessions": ["a:s1"]}, True),
        ({"unanswerable": True}, False),
    ],
)
def test_questions_with_evidence_count(more: Row, counts: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """Evidence of either level is enough; what has no answer does not count."""
    write(tmp_path, "questions.jsonl", [question_row("a", **more)])
    dataset = DATASETS["longmemeval"]

    (question,) = dataset.questions(tmp_path)

    assert counts == dataset.counts(question)


def test_a_question_in_the_middle_knows_only_earlier_sessions() -> None:
    """Asked in the second of three sessions, it may recall the first."""
    messages = tuple(
        BenchmarkMessage(
            message_id=f"{session}{number}",
            session_id=session,
            seq=number,
            time=datetime(2023, 5, 8, tzinfo=UTC),
            speaker="user",
            role="user",
            text="words",
        )
        for session in "abc"
        for number in range(2)
    )
    conversation = BenchmarkConversation(conversation_id="x", messages=messages)
    question = BenchmarkQuestion(
        question_id="q",
        conversation_id="x",
        text="?",
        category="any",
        evidence=(),
        asked_in="b1",
    )

    kept = conversation.kept_before(question)

    assert ["a0", "a1"] == [each.message_id for each in kept]


FACTS = (
    {"conversation_id": "a", "session_id": "a:s1", "text": "likes tea", "evidence": ["a:s1:0"]},
    {"conversation_id": "a", "session_id": "a:s9", "text": "likes tea", "evidence": ["a:s9:4"]},
    {"conversation_id": "a", "session_id": "a:s2", "text": "has a cat", "evidence": ["a:s2:1"]},
    {"conversation_id": "a", "session_id": "a:s2", "text": "is well", "evidence": []},
)


@pytest.mark.parametrize(
    ("needed", "evidence"),
    [
        (["likes tea", "has a cat"], ("a:s1:0", "a:s2:1")),
        (["likes tea", "is well"], ()),
        (["likes tea", "unheard of"], ()),
        ([], ()),
    ],
)
def test_realmem_evidence_by_turn_comes_from_recorded_memories(
    needed: list[str], evidence: tuple[str, ...], tmp_path: Path
) -> None:
    """Of the sessions that count as evidence, and only if every needed memory has a source."""
    row = question_row(
        "a",
        evidence=[],
        evidence_sessions=["a:s1", "a:s2"],
        gold_memories=needed,
        at_message="a:s3:0",
    )
    write(tmp_path, "questions.jsonl", [row])
    write(tmp_path, "facts.jsonl", FACTS)

    (question,) = DATASETS["realmem"].questions(tmp_path)

    assert (evidence, "a:s3:0") == (question.evidence, question.asked_in)


def test_madial_memories_form_one_library(tmp_path: Path) -> None:
    """Each memory is a session of its own; the question is the last line of its dialogue."""
    memories = [
        {"memory_id": f"m{number}", "timestamp": "2023-12-25T00:00:00", "text": "words"}
        for number in range(2)
    ]
    query = {
        "question_id": "d0",
        "context": [{"speaker": "Bart", "text": "Hello"}, {"speaker": "Bart", "text": "Well?"}],
        "question": "Well?",
        "evidence": ["m1"],
        "category": "memory_recall",
    }
    write(tmp_path, "memories.jsonl", memories)
    write(tmp_path, "queries.jsonl", [query])
    dataset = DATASETS["madial"]

    (conversation,) = dataset.conversations(tmp_path)
    (question,) = dataset.questions(tmp_path)

    assert ["m0", "m1"] == [each.session_id for each in conversation.messages]
    assert conversation.conversation_id == question.conversation_id
    assert ("Well?", ("m1",), (("Bart", "Hello"), ("Bart", "Well?"))) == (
        question.text,
        question.evidence,
        question.context,
    )
