"""The public data sets: their files, the meaning of their rows, and the counted questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.conversation_files import (
    BenchmarkConversation,
    BenchmarkMessage,
    BenchmarkQuestion,
    RowFields,
    locate,
    read_fields,
)
from benchmarks.locomo import LOCOMO
from benchmarks.longmemeval import LONGMEMEVAL
from benchmarks.official import Official
from recollect.errors import UsageError

Entry = tuple[str, BenchmarkMessage]
"""A message and the id of its conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """
    The description of one public data set, so that the runner knows none by name.

    *folders* are the names that its folder may have below ``--data``, best first.
    *read_entry* is given a row and its number. *official* is the metric of the set's
    own authors, where there is one.
    """

    name: str
    folders: tuple[str, ...]
    entries_file: str = "conversations.jsonl"
    questions_file: str = "questions.jsonl"
    read_entry: Callable[[RowFields, int], Entry]
    read_questions: Callable[[Path, str], Iterator[BenchmarkQuestion]]
    official: Official | None = None

    def counts(self, question: BenchmarkQuestion) -> bool:
        """Return True if the set names evidence that answers *question*."""
        return not question.is_unanswerable and bool(
            question.evidence or question.evidence_sessions
        )

    def find_folder(self, data: Path) -> Path:
        """
        Return the folder of this set: *data* itself, or the first of its names below *data*.

        Raises:
            UsageError: None of them holds the set's files.
        """
        for folder in (data, *(data / name for name in self.folders)):
            if locate(folder, self.entries_file) and locate(folder, self.questions_file):
                return folder
        names = " or ".join(repr(name) for name in self.folders)
        msg = (
            f"{str(data)!r} holds neither {self.entries_file!r} and {self.questions_file!r} "
            f"nor a folder {names} with them: give --data the folder of {self.name}, or its parent"
        )
        raise UsageError(msg)

    def questions(self, folder: Path) -> list[BenchmarkQuestion]:
        """Return every question of the set, in the order of its file."""
        return list(self.read_questions(folder, self.questions_file))

    def conversations(self, folder: Path) -> Iterator[BenchmarkConversation]:
        """
        Yield the conversations one at a time, in the order of their file.

        Raises:
            UsageError: The rows of one conversation do not stand together.
        """
        entries = (
            self.read_entry(row, number)
            for number, row in enumerate(read_fields(folder, self.entries_file))
        )
        return group_by_conversation(entries)


def group_by_conversation(entries: Iterable[Entry]) -> Iterator[BenchmarkConversation]:
    """Group consecutive entries; raise `UsageError` for a conversation that resumes."""
    seen: set[str] = set()
    current: str | None = None
    messages: list[BenchmarkMessage] = []
    for conversation_id, message in entries:
        if conversation_id != current:
            if current is not None:
                yield BenchmarkConversation(conversation_id=current, messages=tuple(messages))
            if conversation_id in seen:
                msg = (
                    f"the rows of conversation {conversation_id!r} do not stand together: "
                    "sort the file by conversation_id and seq"
                )
                raise UsageError(msg)
            seen.add(conversation_id)
            current, messages = conversation_id, []
        messages.append(message)
    if current is not None:
        yield BenchmarkConversation(conversation_id=current, messages=tuple(messages))


def read_message(row: RowFields, _number: int) -> Entry:
    """Return one message of a ``conversations.jsonl``."""
    message = BenchmarkMessage(
        message_id=row.text("message_id"),
        session_id=row.text("session_id"),
        seq=row.number("seq"),
        time=row.time("timestamp"),
        speaker=row.text("speaker"),
        role=row.text("role"),
        text=row.text("text"),
        image_caption=row.optional_text("image_caption"),
        source=row.optional_text("source"),
    )
    return row.text("conversation_id"), message


def read_question(row: RowFields) -> BenchmarkQuestion:
    """Return one question of a ``questions.jsonl``."""
    return BenchmarkQuestion(
        question_id=row.text("question_id"),
        conversation_id=row.text("conversation_id"),
        text=row.text("question"),
        category=row.text("category"),
        evidence=_distinct(row.texts("evidence")),
        evidence_sessions=_distinct(row.texts("evidence_sessions")),
        asked=row.optional_time("question_date"),
        is_unanswerable=row.flag("unanswerable"),
        extras=row,
    )


def read_questions(folder: Path, name: str) -> Iterator[BenchmarkQuestion]:
    """Yield the questions of a set in the common form."""
    return map(read_question, read_fields(folder, name))


def read_questions_with_sources(folder: Path, name: str) -> Iterator[BenchmarkQuestion]:
    """
    Yield questions asked in the middle of a conversation, with evidence by session.

    The messages that the recorded memories were written from are the evidence by turn,
    where they are known for every memory that the question needs.
    """
    sources = _memory_sources(folder) if locate(folder, "facts.jsonl") else {}
    for row in read_fields(folder, name):
        question = read_question(row)
        needed = [
            [
                message
                for session, message in sources.get((question.conversation_id, memory), ())
                if session in question.evidence_sessions
            ]
            for memory in row.texts("gold_memories")
        ]
        derived = [each for found in needed for each in found] if all(needed) else []
        yield replace(
            question,
            evidence=question.evidence or _distinct(derived),
            asked_in=row.optional_text("at_message"),
        )


def _memory_sources(folder: Path) -> Mapping[tuple[str, str], list[tuple[str, str]]]:
    """Return (session, message) pairs by conversation and the memory's text."""
    sources: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for row in read_fields(folder, "facts.jsonl"):
        key = (row.text("conversation_id"), row.text("text"))
        sources[key] += [(row.text("session_id"), message) for message in row.texts("evidence")]
    return sources


_ONE_LIBRARY: Final = "madial"


def read_memory(row: RowFields, number: int) -> Entry:
    """Return one memory as a session of its own; all memories form one library."""
    message = BenchmarkMessage(
        message_id=row.text("memory_id"),
        session_id=row.text("memory_id"),
        seq=number,
        time=row.time("timestamp"),
        speaker="user",
        role="user",
        text=row.text("text"),
    )
    return _ONE_LIBRARY, message


def read_reminders(folder: Path, name: str) -> Iterator[BenchmarkQuestion]:
    """Yield dialogues whose last line should recall memories."""
    for row in read_fields(folder, name):
        yield BenchmarkQuestion(
            question_id=row.text("question_id"),
            conversation_id=_ONE_LIBRARY,
            text=row.text("question"),
            category=row.text("category"),
            evidence=_distinct(row.texts("evidence")),
            context=tuple(
                (each.text("speaker"), each.text("text")) for each in row.rows("context")
            ),
            extras=row,
        )


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


DATASETS: Final[Mapping[str, Dataset]] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="locomo",
            folders=("locomo",),
            read_entry=read_message,
            read_questions=read_questions,
            official=LOCOMO,
        ),
        Dataset(
            name="longmemeval",
            folders=("longmemeval_s", "longmemeval", "longmemeval_s_small"),
            read_entry=read_message,
            read_questions=read_questions,
            official=LONGMEMEVAL,
        ),
        Dataset(
            name="lifebench",
            folders=("lifebench_zh", "lifebench"),
            read_entry=read_message,
            read_questions=read_questions,
        ),
        Dataset(
            name="realmem",
            folders=("realmem",),
            read_entry=read_message,
            read_questions=read_questions_with_sources,
        ),
        *(
            Dataset(
                name=name,
                folders=(name,),
                read_entry=read_message,
                read_questions=read_questions,
            )
            for name in ("talk", "talk_kept")
        ),
        Dataset(
            name="madial",
            folders=("madial_zh", "madial"),
            entries_file="memories.jsonl",
            questions_file="queries.jsonl",
            read_entry=read_memory,
            read_questions=read_reminders,
        ),
    )
}
"""The data sets of ``python -m benchmarks``, by command name."""
