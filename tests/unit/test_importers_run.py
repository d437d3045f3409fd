"""What is imported is kept once, in batches; what cannot be kept is refused row by row."""

import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollect
from recollect.errors import UsageError
from recollect.importers import (
    BATCH_ROWS,
    FileReport,
    InputFile,
    Refused,
    import_file,
    import_redis,
)
from recollect.importers import openai_chats as openai
from recollect.lifecycle.cited_evidence import NOWHERE
from recollect.lifecycle.record_import import UNFOUNDED
from recollect.memory.facade import Recollect
from recollect.records import Evidence, NewMessage
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans import erasure
from recollect.stores.plans.erase_targets import (
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
)
from recollect.stores.validation import to_datetime
from recollect.testing import FrozenClock

ADA = ("users", "ada")


@pytest.fixture
async def memory() -> AsyncIterator[Recollect]:
    """Open a memory without an embedder, whose clock stands still."""
    async with Recollect(InProcessStore(clock=FrozenClock()), embedder="none") as memory:
        yield memory


def row(number: int, **changed: object) -> Mapping[str, object]:
    """Return one message row."""
    return {
        "conversation_id": "c",
        "message_id": f"m{number}",
        "timestamp": "2024-05-05T12:00:00",
        "role": "user",
        "text": f"text {number}",
        **changed,
    }


def source_of(values: Sequence[object], name: str = "talk.jsonl") -> InputFile:
    """Return a file with one value a line."""
    stream = io.BytesIO("".join(json.dumps(value) + "\n" for value in values).encode())
    size = len(stream.getvalue())
    return InputFile(name=name, stream=stream, packed=stream, size_bytes=size)


async def imported(
    memory: Recollect, values: Sequence[object], name: str = "talk.jsonl"
) -> tuple[FileReport, list[Refused]]:
    """Import *values*, and return the report with everything refused."""
    refused: list[Refused] = []
    report = await import_file(memory, ADA, source_of(values, name), on_refused=refused.append)
    return report, refused


async def texts_in(memory: Recollect, thread: str = "c") -> list[str]:
    """Return the texts of a thread, by position."""
    return [each.text for each in (await memory.messages(ADA, thread, limit=1_000)).rows]


async def test_every_row_is_counted_once(memory: Recollect) -> None:
    """Taken, present and refused add up to the rows."""
    rows = [row(1), row(2), row(2), row(3, role="robot"), row(4, timestamp=None)]

    report, refused = await imported(memory, rows)

    assert report == FileReport(
        name="talk.jsonl",
        rows=5,
        taken=3,
        present=1,
        refused=1,
        zoneless=3,
        undated=1,
        is_cut=False,
        scopes=(ADA,),
        threads=1,
    )
    assert ["line 4"] == [each.place for each in refused]
    assert ["text 1", "text 2", "text 4"] == await texts_in(memory)


def test_a_memory_without_await_is_refused_at_once() -> None:
    """Not in a coroutine that such a program awaits nowhere; `call` imports into it."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        given: Any = memory

        with pytest.raises(UsageError, match=r"import_file is awaited .* memory\.call"):
            _ = import_file(given, ("ada",), source_of([row(1)]))
        with pytest.raises(UsageError, match="import_redis is awaited"):
            _ = import_redis(given, ("ada",), "redis://127.0.0.1:1/0")
        done = memory.call(lambda each: import_file(each, ("ada",), source_of([row(1)])))

    assert 1 == done.taken


async def test_importing_again_changes_nothing(memory: Recollect) -> None:
    """Rows are known by their ids, chats by file, place and content."""
    rows = [row(1), row(2), {"role": "user", "content": "hi"}, {"role": "user", "content": "hi"}]

    first, _ = await imported(memory, rows)
    second, _ = await imported(memory, rows)

    assert (4, 0) == (first.taken, first.present)
    assert (0, 4) == (second.taken, second.present)
    assert ["hi", "hi"] == await texts_in(memory, "talk")


async def test_ids_that_differ_each_time_would_be_noticed(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: with ids made by chance, importing again would keep everything twice."""
    numbers = iter(range(100))
    monkeypatch.setattr(openai, "made_id", lambda *_: f"chance {next(numbers)}")
    rows = [{"role": "user", "content": "hi"}]

    await imported(memory, rows)
    second, _ = await imported(memory, rows)

    assert (1, 0) == (second.taken, second.present)


async def test_a_file_that_grew_adds_only_what_is_new(memory: Recollect) -> None:
    """What was there keeps its position."""
    await imported(memory, [row(1), row(2)])

    report, _ = await imported(memory, [row(1), row(2), row(3)])

    assert (1, 2) == (report.taken, report.present)
    assert ["text 1", "text 2", "text 3"] == await texts_in(memory)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"text": "a\0b"}, "contains a NUL"),
        ({"text": "\ud83d"}, "half of a surrogate pair"),
        ({"text": ""}, "needs text, content or metadata"),
        ({"text": "x" * 1_000_001}, "TEXT_CHARACTERS_MAX is 1000000"),
        ({"timestamp": "2099-01-01T00:00:00Z"}, "lies in the future"),
        ({"message_id": "x" * 300}, "ID_CHARACTERS_MAX is 256"),
        ({"message_id": "m0", "text": "other"}, "exists with other content"),
        ({"conversation_id": "a\nb"}, "contains a control character"),
        ({"metadata": {"n": float("nan")}}, "which JSON cannot express"),
        ({"metadata": {"n": 1 << 70}}, "INTEGER_BITS_MAX is 64"),
    ],
)
async def test_what_the_store_refuses_is_refused_alone(
    memory: Recollect, changed: Mapping[str, object], said: str
) -> None:
    """One bad row among many costs no other row."""
    rows = [row(0), *(row(number) for number in range(1, 8)), row(8, **changed), row(9)]

    report, (refused,) = await imported(memory, rows)

    assert (9, 1) == (report.taken, report.refused)
    assert "line 9" == refused.place
    assert said in refused.reason
    assert "text 9" == (await texts_in(memory))[-1]


async def test_refusals_are_told_in_the_order_of_the_file(memory: Recollect) -> None:
    """Whoever found them."""
    rows = [row(0, text=""), row(1, role="robot"), row(2), row(3, text=""), row(4, role="robot")]

    _, refused = await imported(memory, rows)

    assert ["line 1", "line 2", "line 4", "line 5"] == [each.place for each in refused]


async def test_a_long_file_is_kept_in_batches(memory: Recollect) -> None:
    """Progress is told after each, and the order stays."""
    rows = [row(number) for number in range(2 * BATCH_ROWS + 1)]
    told: list[int] = []

    await import_file(memory, ADA, source_of(rows), progress=lambda count, _: told.append(count))

    assert [BATCH_ROWS, 2 * BATCH_ROWS, 2 * BATCH_ROWS + 1] == told
    assert [f"text {number}" for number in range(1_000)] == await texts_in(memory)


async def test_threads_that_alternate_keep_their_order(memory: Recollect) -> None:
    """Each conversation of a file is a thread of its own."""
    rows = [row(number, conversation_id="ab"[number % 2]) for number in range(6)]

    report, _ = await imported(memory, rows)

    assert 2 == report.threads
    assert ["text 0", "text 2", "text 4"] == await texts_in(memory, "a")


async def test_an_export_comes_back_as_it_was(memory: Recollect) -> None:
    """With ids, positions, history and evidence, into the scope that it names."""
    await imported(memory, [row(1), row(2)])
    for city in ("Oslo", "Bergen"):
        evidence = {"/city": [Evidence(thread="c", message="m1", quote="text 1")]}
        await memory.put(ADA, "Thing", "home", {"city": city}, evidence=evidence)
    records = [record async for record in memory.export(ADA)]
    async with Recollect(InProcessStore(clock=FrozenClock()), embedder="none") as copy:
        report = await import_file(copy, ("elsewhere",), source_of(records))
        again = await import_file(copy, ("elsewhere",), source_of(records))

        copied = [record async for record in copy.export(ADA)]

    assert records == copied
    assert (4, 0, (ADA,)) == (report.taken, report.refused, report.scopes)
    assert (0, 4) == (again.taken, again.present)


async def test_rows_that_were_erased_here_stay_away() -> None:
    """They are left out and counted, unless they are asked for; what was said later is new."""
    rows, clock = [row(1), row(2)], FrozenClock()
    later = row(3, timestamp=(clock.now() + timedelta(seconds=60)).isoformat())
    async with Recollect(InProcessStore(clock=clock), embedder="none") as memory:
        await imported(memory, rows)
        await memory.erase(ADA, EraseThread(thread="c"))
        clock.advance(120)

        again, _ = await imported(memory, [*rows, later])
        texts = await texts_in(memory)
        await import_file(memory, ADA, source_of(rows), restore_erased=True)
        left = await texts_in(memory)

    assert (1, 2, 3) == (again.taken, again.erased, again.rows)
    assert ["text 3"] == texts
    assert ["text 3", "text 1", "text 2"] == left


async def test_memories_that_were_erased_here_stay_away(memory: Recollect) -> None:
    """Those of another program as well, with a date or without."""
    dated = {"id": "1", "memory": "Ada likes tea", "created_at": "2020-01-01T00:00:00Z"}
    undated = {"id": "2", "memory": "Ada likes rowing"}
    file = {"results": [dated, undated]}
    first, _ = await imported(memory, [file], name="mem0.json")
    await memory.erase(ADA, EraseScope())

    again, _ = await imported(memory, [file], name="mem0.json")

    assert (2, 2) == (first.memories, again.erased)
    assert () == (await memory.memories(ADA)).rows


async def _taken_again(memory: Recollect, target: EraseTarget) -> int:
    """Import a row of an hour ahead, as of another zone, twice; *target* is erased in between."""
    ahead = to_datetime(memory.store.now()) + timedelta(hours=1)
    rows = [row(1, timestamp=ahead.isoformat())]
    await imported(memory, rows)
    await memory.erase(ADA, target)
    return (await imported(memory, rows))[0].taken


AHEAD: list[EraseTarget] = [
    EraseScope(),
    EraseThread(thread="c"),
    EraseMessages(thread="c", messages=["m1"]),
]


@pytest.mark.parametrize("target", AHEAD)
async def test_erased_rows_stay_away_that_were_dated_ahead(
    memory: Recollect, target: EraseTarget
) -> None:
    """A row has only the time at which it was said, which the wrong zone puts after the erase."""
    assert 0 == await _taken_again(memory, target)


@pytest.mark.parametrize("target", AHEAD)
async def test_an_erase_that_is_dated_by_the_clock_alone_is_noticed(
    memory: Recollect, target: EraseTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "_newest_time", lambda *_: 0)

    assert 1 == await _taken_again(memory, target)


async def test_a_memory_may_come_before_what_it_rests_on(memory: Recollect) -> None:
    """An export that was sorted otherwise is imported whole; nothing is told of it."""
    await imported(memory, [row(1)])
    evidence = {"": [Evidence(thread="c", message="m1", quote="text 1")]}
    await memory.put(ADA, "Item", "n", {"content": "x"}, evidence=evidence)
    records = [record async for record in memory.export(ADA)]
    dangling = {**records[-1], "key": "dangling", "evidence": {"": [["c", "m9", "made up"]]}}
    async with Recollect(InProcessStore(clock=FrozenClock()), embedder="none") as copy:
        report = await import_file(copy, ADA, source_of([dangling, *reversed(records)]))

        copied = [r async for r in copy.export(ADA) if r.get("key") != "dangling"]
        found = await copy.get(ADA, "Item", "dangling")

    assert records == copied
    assert (4, 0, 1) == (report.rows, report.refused, report.changed[UNFOUNDED])
    assert found is not None
    tie = Evidence(thread="c", message=NOWHERE)
    assert ({"": (tie,)}, "external") == (found.evidence, found.trust)


async def test_a_bad_record_is_refused_alone(memory: Recollect) -> None:
    """Records that differ from what is there, or lack a field, cost no other record."""
    await imported(memory, [row(1), row(2)])
    records = [dict(record) async for record in memory.export(ADA)]
    records[1]["digest"] = "00"
    del records[2]["text"]
    records[2] |= {"id": "m3", "position": 3}
    await memory.put(("other",), "Item", "n", {"a": 1})
    others = [record async for record in memory.export(("other",))]

    report, refused = await imported(memory, [*records, *others, {**others[0], "scope": "x"}])

    assert ["line 2", "line 3", "line 5"] == [each.place for each in refused]
    assert (0, 2) == (report.taken, report.present)


async def test_a_record_without_a_field_is_refused_in_words(memory: Recollect) -> None:
    """They name the field, and are no exception's."""
    await memory.append(ADA, "talk", [NewMessage(role="user", text="Hello")])
    records = [dict(record) async for record in memory.export(ADA)]
    del records[1]["text"]
    records[1]["id"] = "other"

    _, refused = await imported(memory, [{**records[1], "position": 2}])

    assert ["a message record lacks the field 'text'"] == [each.reason for each in refused]


async def test_an_entity_that_comes_again_otherwise_is_named(memory: Recollect) -> None:
    """By its name: nobody knows its key."""
    first = {"type": "entity", "name": "Ada", "entityType": "person"}
    again = {**first, "entityType": "poet"}

    _, together = await imported(memory, [first, again], "graph.jsonl")
    _, later = await imported(memory, [again], "graph.jsonl")

    assert ["Entity 'Ada' came before with other content"] == [each.reason for each in together]
    assert ["memory Entity 'Ada' exists at version 1 with other content"] == [
        each.reason for each in later
    ]


async def test_messages_with_a_time_keep_it(memory: Recollect) -> None:
    """The store's clock dates only those that have none."""
    await imported(memory, [row(1), row(2, timestamp=None)])

    times = [each.time for each in (await memory.messages(ADA, "c")).rows]

    assert [datetime(2024, 5, 5, 12, tzinfo=UTC), datetime(2024, 5, 6, 12, tzinfo=UTC)] == times
