"""Presentation of the demonstration, act by act, each answer with its evidence."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import recollect
from recollect.cli.output import print_labelled, print_line, print_title, program_name
from recollect.demo.acts import (
    DOOR_CODE,
    DOOR_QUESTION,
    PROMPT_QUESTION,
    PROMPT_TOKENS,
    QUESTIONS,
    THENS,
    DemoQuestion,
    Then,
    Timed,
    ask,
    count_in_files,
    entries_of,
    erase_door_code,
    fact_at,
    scan_ms,
)
from recollect.demo.story import SCOPE, Played, StoryClock, play, read_chapters
from recollect.memory.facade import Recollect
from recollect.recall.results import Recalled
from recollect.records import Memory, Message
from recollect.stores.plans.erase_targets import EraseReceipt

REASONS: Final = {
    "dense": "meaning",
    "entry": "its words",
    "window": "words beside it",
    "session": "words of its session",
    "session_dense": "meaning of its session",
    "personal": "about oneself",
    "opening": "opens its session",
    "speaker": "who said it",
    "when": "asks when",
    "date": "the day",
    "outside": "meaning, by an outside store",
}
"""Recall signals in plain words; others are shown under their own names."""

_SUBJECT: Final = "Mira talks to her assistant: about moving, about work, about her kitchen."
_REASONS_SHOWN: Final = 3
_LABEL_WIDTH: Final = 12
_QUOTES_SHOWN: Final = 1


class DemoStage:
    """The output of the demonstration."""

    def __init__(self) -> None:
        self._said: Mapping[tuple[str, str], Message] = {}

    def know(self, entries: Sequence[Message | Memory]) -> None:
        """Store the messages that evidence may cite."""
        self._said = {(m.thread, m.id): m for m in entries if isinstance(m, Message)}

    def act(self, title: str, sentence: str) -> None:
        """Begin an act."""
        print_line()
        print_title(title)
        if sentence:
            self.say(sentence, "dim")

    def say(self, sentence: str, style: str = "") -> None:
        """Print a sentence, or several lines."""
        for line in sentence.split("\n"):
            print_line((line, style))

    def rows(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Print rows of a label and a text in a style."""
        for label, text, style in rows:
            print_labelled(label, (text, style), label_width=_LABEL_WIDTH)

    def answer(self, question: DemoQuestion, timed: Timed) -> None:
        """Print a question with its best entries, and why they were found."""
        print_line()
        print_line((question.text, "bold cyan"), ("   ", ""), (question.about, "dim"))
        for entry in timed.shown:
            self.rows(self._entry_rows(entry, question.text))

    def _entry_rows(self, entry: Recalled, query: str) -> list[tuple[str, str, str]]:
        content = entry.content
        rows = [(_label(content), content.text, "")]
        if isinstance(content, Message):
            rows.append(("said", f"{_day(content)}, in the thread {content.thread}", "dim"))
        else:
            rows += [("rests on", quote, "dim") for quote in self._quotes(content, query)]
        return [*rows, ("because", reasons_of(entry), "dim")]

    def _quotes(self, memory: Memory, query: str) -> list[str]:
        """Return the newest quotes that support the field asked about."""
        fields = sorted(memory.evidence, key=lambda name: -_shared(memory, name, query))
        found = memory.evidence[fields[0]] if fields else ()
        newest = sorted(found, key=lambda each: self._said[each.thread, each.message].time)
        return [
            f"“{each.quote}”, {_day(self._said[each.thread, each.message])}, in {each.thread}"
            for each in newest[-_QUOTES_SHOWN:]
        ]

    def then(self, then: Then, answers: Sequence[tuple[datetime | None, Recalled | None]]) -> None:
        """Print the values that were true, or believed, at other times and now."""
        print_line()
        print_line((then.text, "bold cyan"), ("   ", ""), (then.kind, "dim"))
        self.rows(
            [
                (f"{at.day} {at:%B}" if at else "now", entry.text if entry else "nothing", "")
                for at, entry in answers
            ]
        )


def _label(content: Message | Memory) -> str:
    if isinstance(content, Message):
        return content.name or content.role
    return content.type


def _shared(memory: Memory, pointer: str, query: str) -> int:
    field = str(memory.value.get(pointer.removeprefix("/"), ""))
    return len(set(re.findall(r"\w+", field.lower())) & set(re.findall(r"\w+", query.lower())))


def _day(message: Message) -> str:
    return f"{message.time.day} {message.time:%B}"


def reasons_of(entry: Recalled) -> str:
    """Return an entry's strongest signals, in words, with their shares of its score."""
    parts = sorted(entry.signals.items(), key=lambda part: -part[1])[:_REASONS_SHOWN]
    return " · ".join(f"{REASONS.get(name, name)} {part:.2f}" for name, part in parts if part > 0)


async def show(store: Path | str, embedder: str, *, has_page: bool = True) -> None:
    """
    Run the demonstration on a new store at *store*, a file or a URL, which is kept.

    Without *has_page* the page comes after the command that builds it.
    """
    stage, clock = DemoStage(), StoryClock()
    stage.say(_SUBJECT, "bold")
    async with recollect.open(str(store), embedder=embedder, clock=clock) as memory:
        await _keep(stage, memory, clock)
        await _recall(stage, memory)
        await _travel(stage, memory)
        await _prompt(stage, memory)
    before = _count(store)
    async with recollect.open(str(store), embedder=embedder, clock=clock) as memory:
        receipt, left = await _erase(stage, memory)
    _forgotten(stage, receipt, left, before, _count(store))
    _next(stage, has_page=has_page)


async def prepare(store: Path | str, embedder: str) -> None:
    """Leave *store* as the demonstration does, and print in short what is in it."""
    stage, clock = DemoStage(), StoryClock()
    stage.say(_SUBJECT, "bold")
    async with recollect.open(str(store), embedder=embedder, clock=clock) as memory:
        played = await play(memory, clock, read_chapters())
        await memory.settled(SCOPE)
        await erase_door_code(memory)
    stage.say(
        f"{_talk_sentence(played)} What is known of them stands on the page; `{program_name()} "
        "demo` tells here how it came to be.",
        "dim",
    )


def _count(store: Path | str) -> int | None:
    """Count occurrences of the door code in the store's files; ``None`` for a server."""
    return count_in_files(store, DOOR_CODE) if isinstance(store, Path) else None


async def _keep(stage: DemoStage, memory: Recollect, clock: StoryClock) -> None:
    played = await play(memory, clock, read_chapters())
    await memory.settled(SCOPE)
    entries = await entries_of(memory)
    stage.know(entries)
    stage.act("1. Keep and form", _summary_sentence(played))
    memories = [entry for entry in entries if isinstance(entry, Memory)]
    known = [each for each in memories if each.state == "active" and each.valid_until is None]
    stage.rows([(each.type, each.text, "") for each in known])
    for each in memories:
        if each.state == "quarantined":
            stage.say(f"For review, since a letter says so and not she: “{each.text}”.")
    by = f"meaning ({memory.embedder}) and words" if memory.embedder else "words alone"
    stage.say(f"All of it is found by {by}. No model was called: its answers were recorded.", "dim")


def _summary_sentence(played: Played) -> str:
    return (
        f"{_talk_sentence(played)} After each of the {played.sessions} sessions a model read what "
        "was new and noted what "
        f"is worth knowing, with the words it rests on: {played.operations} operations. What is "
        "known now:"
    )


def _talk_sentence(played: Played) -> str:
    days = f"{played.began_at.day} {played.began_at:%B} to {played.ended_at.day} "
    return f"{played.messages} messages in {played.threads} threads, {days}{played.ended_at:%B %Y}."


async def _recall(stage: DemoStage, memory: Recollect) -> None:
    stage.act("2. Recall", "Messages and memories together, best first, each with its reasons.")
    queries = [question.text for question in QUESTIONS]
    answers = [await ask(memory, query) for query in queries]
    for question, timed in zip(QUESTIONS, answers, strict=True):
        stage.answer(question, timed)
    again = statistics.median([(await ask(memory, query)).ms for query in queries])
    control = await scan_ms(memory, queries)
    times = [timed.ms for timed in answers]
    repeated = ", the question being embedded already" if memory.embedder else ""
    stage.say(
        f"\nOver {answers[0].recall.eligible} entries: the first answer in {times[0]:.1f} ms, with "
        f"building the index; the others in {statistics.median(times[1:]):.1f} ms; asked once more"
        f"{repeated}, in {again:.1f} ms. The control, reading all entries and comparing words: "
        f"{control:.1f} ms.",
        "dim",
    )


async def _travel(stage: DemoStage, memory: Recollect) -> None:
    stage.act(
        "3. Then and now",
        "valid_at asks what was true at another time, known_at what was believed then.",
    )
    for then in THENS:
        stage.then(then, [(at, await fact_at(memory, then, at)) for at in then.moments])


async def _prompt(stage: DemoStage, memory: Recollect) -> None:
    found = await memory.context(SCOPE, PROMPT_QUESTION, budget_tokens=PROMPT_TOKENS)
    stage.act(
        "4. For the prompt",
        f"“{PROMPT_QUESTION}” within {PROMPT_TOKENS} tokens: {found.tokens} used. The profile, "
        "what bears on the question with its dates, and who said what on which day; a source is "
        "in brackets.",
    )
    stage.say(found.text)


async def _erase(stage: DemoStage, memory: Recollect) -> tuple[EraseReceipt, list[Recalled]]:
    stage.act("5. Forget", "“Forget the code of the street door.”")
    known = await ask(memory, DOOR_QUESTION, limit=1)
    stage.rows([("before", each.text, "") for each in known.recall.entries])
    receipt = await erase_door_code(memory)
    after = await ask(memory, DOOR_QUESTION, limit=1_000)
    return receipt, [each for each in after.recall.entries if DOOR_CODE in each.text]


def _forgotten(
    stage: DemoStage,
    receipt: EraseReceipt,
    left: Sequence[Recalled],
    before: int | None,
    after: int | None,
) -> None:
    bytes_are = "gone" if receipt.clean_at else "not gone yet"
    went = f"{receipt.messages} messages, and {receipt.memories} memory that rested on them alone"
    rows = [
        ("receipt", f"{went}; their bytes are {bytes_are}", ""),
        ("after", f"{DOOR_CODE} is in {len(left)} of all entries", ""),
    ]
    if before is not None:
        stood = f"{DOOR_CODE} stood there {before} times before, {after} after"
        rows.append(("in the file", stood, ""))
    stage.rows(rows)


def _next(stage: DemoStage, *, has_page: bool) -> None:
    stage.act("Next: its page, then your own talk", "")
    program = program_name()
    page = f"{program} demo --serve"
    stage.rows(
        [
            ("the page", page if has_page else f"make page && {page}", "bold"),
            ("keep", f"{program} import chats.jsonl", "bold"),
            ("recall", f'{program} recall "where did we want to go in May?"', "bold"),
            ("examine", f"{program} doctor", "bold"),
        ]
    )
