"""Whatever is done with a memory, and whatever fails of it, no word of a user is logged."""

import logging
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import recollect
from recollect import (
    DeleteMemory,
    EraseMessages,
    EraseScope,
    EraseThread,
    Evidence,
    NewMessage,
    PutMemory,
    Recollect,
    RecollectError,
    Where,
)
from recollect.errors import (
    EmbedderError,
    ModelDeniedError,
    ModelError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
)
from recollect.formation.rule_model import RuleModel
from recollect.observability.health import TaskMonitor
from recollect.observability.logs import summary_of
from recollect.ports import ToolCall, Vector
from recollect.records import JsonObject
from recollect.testing import HashedEmbedder
from recollect.testing.scripted_model import Script, ScriptedAnswer, ScriptedModel

MARKS = ("Heliotrope", "Quarrender", "Ottoline", "Vermilion", "Periwinkle", "Zinnober")
TEXT, PERSON, KEY, THREAD, TYPE, QUERY = MARKS
SCOPE = ("users", PERSON)
NOISE = ("recollect", "asyncio", "concurrent", "httpx", "anyio")
Step = Callable[[Recollect], Awaitable[object]]


@pytest.fixture(autouse=True)
def _everything_is_collected(caplog: pytest.LogCaptureFixture) -> None:
    """Collect records of all levels, of all loggers."""
    caplog.set_level(logging.DEBUG)


def parts_of(record: logging.LogRecord) -> list[str]:
    """Return everything in a record that a handler could show."""
    found = [record.getMessage(), repr(record.msg), repr(record.args), record.exc_text or ""]
    if record.exc_info:
        found += traceback.format_exception(*record.exc_info)
    known = vars(logging.LogRecord("", 0, "", 0, "", (), None)).keys()
    found += [repr(value) for name, value in vars(record).items() if name not in known]
    return found


def marked(records: Sequence[logging.LogRecord], level: int) -> list[str]:
    """Return the lines at *level* or above that have a mark in any part."""
    return [
        f"{each.levelname} {each.name}: {part}"
        for each in records
        if each.levelno >= level
        for part in parts_of(each)
        if any(mark.lower() in part.lower() for mark in MARKS)
    ]


class Quoting(HashedEmbedder):
    """An embedder that fails now and then, with an error that quotes the texts."""

    asked = 0

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        """Fail every other time."""
        self.asked += 1
        if self.asked % 2:
            raise EmbedderError(f"cannot embed {texts}")
        return super().embed(texts)


def answers() -> Script:
    """Return answers that fail in every way: refusals, faults, nonsense, a stranger's error."""
    quoted = f"it said {TEXT}, {PERSON}"
    insert: JsonObject = {
        "value": {"context": TEXT, "content": f"{PERSON} moved"},
        "because": [TEXT],
    }
    kinds: list[ScriptedAnswer] = [
        ModelDeniedError(quoted),
        ModelError(quoted),
        ValueError(quoted),
        f"no call, but {TEXT}",
        ToolCall(name=TEXT, arguments=TEXT),
        ToolCall(name="Note", arguments=insert),
        ToolCall(name="Note", arguments={"value": TEXT}),
    ]
    turn = iter(range(10_000))
    return lambda _: kinds[next(turn) % len(kinds)]


def said(number: int) -> list[NewMessage]:
    """Return a message with marks in every field."""
    text = f"My name is {PERSON}, I like {TEXT} and live in {QUERY} {number}"
    return [
        NewMessage(
            role="user", text=text, id=f"{KEY}{number}", name=PERSON, source=THREAD, session=KEY,
            metadata={KEY: TEXT},
        )
    ]  # fmt: skip


async def talk(memory: Recollect, number: int) -> None:
    """Say something, and have it formed."""
    await memory.append(SCOPE, THREAD, said(number), idempotency_key=f"{KEY}{number}")
    await memory.form(SCOPE)


async def remember(memory: Recollect) -> None:
    """Write memories, right ones and wrong ones."""
    evidence = {"/text": [Evidence(thread=THREAD, message=f"{KEY}0", quote=TEXT)]}
    put = PutMemory(type=TYPE, key=KEY, value={"text": TEXT}, evidence=evidence)
    await memory.apply(SCOPE, [put], idempotency_key=KEY)
    await memory.apply(SCOPE, [PutMemory(type=TYPE, key=KEY, value={"text": TEXT}, expected=7)])


STEPS: Sequence[Step] = (
    *(lambda memory, number=number: talk(memory, number) for number in range(8)),
    remember,
    lambda memory: memory.put(SCOPE, TYPE, KEY, {"text": f"{TEXT} again"}),
    lambda memory: memory.put(SCOPE, TYPE, "bad\0key", {"text": TEXT}),
    lambda memory: memory.append(SCOPE, THREAD, [NewMessage(role="user", text=TEXT, id=f"{KEY}0")]),
    lambda memory: memory.recall(SCOPE, f"where is {QUERY}", where=Where(filter={KEY: TEXT})),
    lambda memory: memory.recall(SCOPE, QUERY, below=True),
    lambda memory: memory.recall(SCOPE, ""),
    lambda memory: memory.settled(SCOPE),
    lambda memory: memory.consolidate(SCOPE),
    lambda memory: memory.reject(SCOPE, TYPE, KEY),
    lambda memory: memory.approve(SCOPE, TYPE, KEY),
    lambda memory: memory.undo(SCOPE, KEY),
    lambda memory: memory.retry(SCOPE, formation_id=KEY),
    lambda memory: memory.pause(SCOPE, THREAD),
    lambda memory: memory.resume(SCOPE, THREAD),
    lambda memory: memory.state(SCOPE, THREAD),
    lambda memory: memory.replace(SCOPE, THREAD, said(1)[0]),
    lambda memory: memory.replace(SCOPE, TEXT, said(1)[0]),
    lambda memory: memory.remove(SCOPE, THREAD, [f"{KEY}1"]),
    lambda memory: memory.acting(KEY).put(SCOPE, TYPE, f"{KEY}2", {"text": TEXT}),
    lambda memory: memory.import_records([{"kind": TEXT, "scope": list(SCOPE)}]),
    lambda memory: memory.apply(SCOPE, [DeleteMemory(type=TYPE, key=KEY)]),
    lambda memory: memory.erase(SCOPE, EraseMessages(thread=THREAD, messages=[f"{KEY}2"])),
    lambda memory: memory.erase(SCOPE, EraseThread(thread=THREAD)),
    lambda memory: memory.health(),
    lambda memory: memory.erase(SCOPE, EraseScope(below=True)),
)
"""Everything that a memory does, with marks in every argument; some of it is refused."""

STORE_ERRORS = (StoreError, StoreUnavailableError, StoreCorruptError)


async def play(memory: Recollect, steps: Sequence[Step] = STEPS) -> int:
    """Take all steps; return how many failed."""
    failed = 0
    for step in steps:
        try:
            await step(memory)
        except (RecollectError, ValueError):
            failed += 1
    return failed


@pytest.mark.parametrize("place", ["memory:", "file"])
async def test_no_word_is_logged_above_debug(
    place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Model and embedder fail with errors that quote everything: only DEBUG shows a mark."""
    url = "memory:" if place == "memory:" else str(tmp_path / "memory.db")
    model = ScriptedModel(answers())
    async with recollect.open(url, embedder=Quoting(), model=model, worker=False) as memory:
        assert await play(memory) > 5

    assert [] == marked(caplog.records, logging.INFO)
    assert marked(caplog.records, logging.DEBUG)
    levels = {each.levelno for each in caplog.records if each.name.startswith("recollect")}
    assert {logging.DEBUG, logging.INFO, logging.WARNING} <= levels


@pytest.mark.parametrize("error", STORE_ERRORS)
async def test_no_word_is_logged_of_a_store_that_fails(
    error: type[StoreError], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every transaction fails with a text that quotes, after some that did not."""
    async with recollect.open("memory:", embedder=Quoting(), model=RuleModel()) as memory:
        await play(memory, STEPS[:2])
        for name in ("_transact", "_read", "_clean"):

            async def fail(*_: object) -> None:
                raise error(f"cannot write {TEXT} of {PERSON}") from ValueError(TEXT)

            monkeypatch.setattr(memory.store, name, fail)
        await play(memory)
        monkeypatch.undo()

    assert [] == marked(caplog.records, logging.INFO)
    assert [each for each in caplog.records if each.levelno >= logging.WARNING]


async def test_a_text_of_an_error_in_the_log_is_noticed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: where the error's own text is logged, the test above reports it."""
    monkeypatch.setattr("recollect.observability.health.summary_of", str)
    model = ScriptedModel(answers())
    async with recollect.open("memory:", embedder="none", model=model, worker=False) as memory:
        await play(memory)

    assert marked(caplog.records, logging.WARNING)


async def test_a_traceback_in_the_log_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    """The mutant: a traceback ends with the error's text, wherever a handler puts it."""
    with suppress(ValueError):
        try:
            int(TEXT)
        except ValueError:
            logging.getLogger("recollect.test").exception("failed")
            raise

    assert marked(caplog.records, logging.ERROR)


async def test_each_unit_of_work_is_logged_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    """With scope, counts and time: what an operator needs to follow one talk."""
    async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
        await memory.append(SCOPE, THREAD, [NewMessage(role="user", text="I moved to Oslo")])
        await memory.recall(SCOPE, "Oslo")
        await memory.form(SCOPE)
        await memory.erase(SCOPE, EraseThread(thread=THREAD))

    lines = [each.getMessage() for each in caplog.records if each.levelno == logging.DEBUG]
    for name in ("append", "recall", "form", "erase"):
        assert [each for each in lines if each.startswith(f"{name} ((") and PERSON in each], lines
    assert any("in 0." in each or "in 1" in each for each in lines)


async def test_an_operation_that_takes_long_is_a_warning(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each operation, however often it happens."""
    defaults = "recollect.observability.spans.observed.__wrapped__.__kwdefaults__"
    monkeypatch.setattr(defaults, {"slow_s": 0.0})
    async with recollect.open("memory:", embedder="none") as memory:
        for number in range(3):
            await memory.append(SCOPE, THREAD, said(number))

    slow = [each.getMessage() for each in caplog.records if "was slow" in each.getMessage()]
    assert 1 == len(slow)
    assert slow[0].startswith("append was slow: 0.0 s")


def test_a_program_without_logging_is_told_nothing() -> None:
    """The library has a handler that does nothing: Python prints no warning of ours by itself."""
    program = (
        "import asyncio, recollect\n"
        "async def refuse(request): raise ValueError('x')\n"
        "async def main():\n"
        "    async with recollect.open(model=refuse, embedder='none', worker=False) as memory:\n"
        "        await memory.append(('a',), 't', [recollect.NewMessage(role='user', text='hi')])\n"
        "        assert [each.end for each in await memory.form(('a',))] == ['failed']\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_every_logger_is_that_of_a_package() -> None:
    """One place names loggers: everything else asks it, by a name below ``recollect``."""
    source = Path(recollect.__file__).parent
    found = [
        f"{path.relative_to(source)}:{number}"
        for path in source.rglob("*.py")
        if path.name not in {"logs.py", "process.py", "restarts.py"}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "getLogger(" in line or "exc_info=True" in line or ".exception(" in line
    ]

    assert [] == found


def test_a_monitor_keeps_no_text() -> None:
    """What `health` shows is the summary alone."""
    monitor = TaskMonitor("task", logging.getLogger("recollect.test"))
    error = StoreError(TEXT)
    monitor.failed(error)
    found = monitor.health().last_error

    assert found is not None
    assert (summary_of(error), "StoreError") == (found.text, found.type)
