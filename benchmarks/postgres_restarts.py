"""Form many messages in many processes while their PostgreSQL server restarts repeatedly."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from random import SystemRandom
from typing import Final

from anyio import to_thread

from benchmarks.fault_counts import FaultOutcome
from recollect.errors import RecollectError, StoreUnavailableError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE
from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import NewMessage, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s
from recollect.testing.scripted_model import ScriptedModel
from tests.harness.postgres_faults import WatchedStore, shorten_leases, tear_commits
from tests.harness.postgres_server import PostgresServer, open_server

TORN: Final = "effect and watermark apart"
UNSYNCED: Final = "synchronous_commit=off"
EXPECTED: Final = ("StoreUnavailableError", "LeaseLostError")
"""Errors allowed to callers while the server is down, and to workers that lost their lease."""

_DATABASE: Final = "memory"
_SCOPE_THREADS: Final = 5
_APPENDED: Final = 5
"""Messages per append."""
_CALLERS: Final = 16
_LEAD_MIN: Final = 500
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_LOOK_EVERY_S: Final = 0.1
_AGAIN_S: Final = 0.05
_STILL_S_MAX: Final = 300.0
"""Longest time without progress before the run fails."""
_SOON: Final = Debounce(quiet_s=0.5, max_wait_s=2.0)

# The driver logs each lost connection; here they are lost on purpose.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_processes = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The number of messages, threads and workers, and of server restarts."""

    messages: int = 100_000
    threads: int = 5_000
    restarts: int = 20
    processes: int = 8
    lease_s: float = 60.0
    control: str = ""

    @property
    def lead(self) -> int:
        """Most pending messages before appending pauses."""
        return max(self.messages // 20, _LEAD_MIN)

    def place(self, thread: int) -> tuple[Scope, str]:
        """Return scope and id of a thread."""
        return ("people", str(thread // _SCOPE_THREADS)), f"talk {thread}"

    def said(self) -> Iterator[tuple[int, range]]:
        """Yield the thread and message numbers of each append."""
        each = self.messages // self.threads
        for first in range(0, each, _APPENDED):
            for thread in range(self.threads):
                yield thread, range(first, min(first + _APPENDED, each))


def text_of(thread: int, number: int) -> str:
    """
    Return the unique text of a message.

    >>> text_of(0, 0), text_of(27, 1)
    ('I like caaaa', 'I like cabbb')
    """
    rest, letters = thread * 26 + number % 26, ""
    for _ in range(4):
        rest, at = divmod(rest, 26)
        letters = _LETTERS[at] + letters
    return f"I like {_LETTERS[2 + number // 26]}{letters[:3]}{letters[3]}"


def remembered(request: ModelRequest) -> ModelAnswer:
    """Return a note of each new message, with a unique last word, so that notes stay distinct."""
    chance, calls = SystemRandom(), list[ToolCall]()
    for number, _, words in shown_in(request).new:
        content = f"{words}, {''.join(chance.choices(_LETTERS, k=12))}"
        arguments = {
            "value": {"context": "in passing", "content": content},
            "because": [{"message": number, "quote": words}],
        }
        calls.append(ToolCall(name="Note", arguments=json.dumps(arguments)))
    return ModelAnswer(calls=tuple(calls))


def _form_until_told(url: str, load: Load, told: Connection, tells: Connection) -> None:
    """Child process: form due threads until told to stop, then report the errors."""

    async def main() -> None:
        store = WatchedStore(url)
        shorten_leases(store, load.lease_s)
        if load.control == TORN:
            tear_commits(store, 2 * load.lease_s)  # until somebody else has taken over
        model = ScriptedModel(remembered)
        settings = FormationSettings(types=(NOTE,))
        async with Recollect(store, embedder="none", model=model, formation=settings):
            tells.send("ready")
            await to_thread.run_sync(_wait_for_word, told)
        tells.send(store.errors)

    asyncio.run(main())


def _wait_for_word(told: Connection) -> None:
    try:
        told.recv()
    except EOFError:
        return  # the one who would have told it is gone


@contextmanager
def _workers(url: str, load: Load, errors: Counter[str]) -> Iterator[None]:
    """Run worker processes during the block; count their *errors*."""
    _processes.set_forkserver_preload([__name__])
    started = []
    for _ in range(load.processes):
        told, tell = _processes.Pipe(duplex=False)
        hear, tells = _processes.Pipe(duplex=False)
        process = _processes.Process(
            target=_form_until_told, args=(url, load, told, tells), daemon=True
        )
        process.start()
        told.close()
        tells.close()
        started.append((process, tell, hear))
    for _, _, hear in started:
        hear.recv()
    try:
        yield
    finally:
        for _, tell, _ in started:
            tell.send("end")
        for process, _, hear in started:
            errors.update(hear.recv())
            process.join()


class _Trial:
    """One run: concurrent appends and restarts until everything is formed."""

    def __init__(self, server: PostgresServer, store: Store, load: Load) -> None:
        self._server = server
        self._store = store
        self._load = load
        self._left = load.said()
        self._formed = 0
        self._appending = _CALLERS
        self.appended = 0

    async def run(self, progress: Callable[[str], None]) -> None:
        """Append, restart, and wait until nothing is pending."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(progress))
            for _ in range(_CALLERS):
                group.create_task(self._append())
            await self._restart()

    async def _append(self) -> None:
        for thread, numbers in self._left:
            while self.appended - self._formed > self._load.lead:  # noqa: ASYNC110 - polled
                await asyncio.sleep(_AGAIN_S)
            await self._append_surely(thread, numbers)
        self._appending -= 1

    async def _append_surely(self, thread: int, numbers: range) -> None:
        """Append, retrying with the same ids while the server is down."""
        scope, id_ = self._load.place(thread)
        said = [
            NewMessage(role="user", id=f"m{number}", text=text_of(thread, number))
            for number in numbers
        ]
        while True:
            try:
                await self._store.append(scope, id_, said, debounce=_SOON)
            except StoreUnavailableError:
                await asyncio.sleep(_AGAIN_S)
                continue
            except RecollectError:
                return  # counted by the store, and its messages will be missing
            self.appended += len(said)
            return

    async def _restart(self) -> None:
        """Restart the server after equal parts of the work: stop and crash it alternately."""
        for restart in range(self._load.restarts):
            part = (restart + 1) / (self._load.restarts + 1)
            while self._formed < self._load.messages * part:  # noqa: ASYNC110 - polled
                await asyncio.sleep(_LOOK_EVERY_S)
            is_crash = restart % 2 or self._load.control
            await asyncio.to_thread(self._server.crash if is_crash else self._server.stop)
            await asyncio.to_thread(self._server.start)

    async def _watch(self, progress: Callable[[str], None]) -> None:
        """Count formed messages until all are formed."""
        moved_at_s = timer_s()
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                formed, waiting = await asyncio.to_thread(self._look)
            except StoreUnavailableError:
                continue
            if formed != self._formed:
                self._formed, moved_at_s = formed, timer_s()
                progress(f"{formed:,} of {self._load.messages:,} messages formed")
            if not waiting and not self._appending:
                self._formed = self._load.messages  # what restarts wait for, lost ones included
                return
            if timer_s() - moved_at_s > _STILL_S_MAX:
                msg = f"nothing was formed for {_STILL_S_MAX:g} s: {formed:,} are, {waiting:,} wait"
                raise TimeoutError(msg)

    def _look(self) -> tuple[int, int]:
        """Return the numbers of formed messages and of pending threads."""
        statement = (
            "SELECT sum(formed), count(*) FILTER (WHERE formed < last) FROM recollect.thread"
        )
        ((formed, waiting),) = self._server.ask(statement, _DATABASE)
        return int(str(formed or 0)), int(str(waiting))


async def _judge(store: Store, load: Load, outcome: FaultOutcome) -> None:
    """Count the messages, and their notes, that are missing or duplicated."""
    each = load.messages // load.threads
    for first in range(0, load.threads, _SCOPE_THREADS):
        threads = range(first, min(first + _SCOPE_THREADS, load.threads))
        scope, _ = load.place(first)
        notes = Counter(await _notes(store, scope))
        for thread in threads:
            page = await store.messages(scope, load.place(thread)[1], limit=1_000)
            kept = Counter(message.text for message in page.rows)
            for text in (text_of(thread, number) for number in range(each)):
                for what, times in (("message", kept[text]), ("memory", notes[text])):
                    outcome.add(f"{what} lost", [f"{what} of {text}"] * (not times))
                    outcome.add(f"{what} doubled", [f"{what} of {text}"] * (times > 1))


async def _notes(store: Store, scope: Scope) -> list[str]:
    """Return the distinct messages that the notes of a scope cite."""
    texts: list[str] = []
    cursor: str | None = None
    while True:
        page = await store.memories(scope, type_=NOTE.name, cursor=cursor, limit=1_000)
        texts += [str(each.value["content"]).partition(",")[0] for each in page.rows]
        cursor = page.cursor
        if cursor is None:
            return texts


async def restart(load: Load, progress: Callable[[str], None] = lambda _: None) -> FaultOutcome:
    """
    Append and form messages while the server is restarted repeatedly.

    Callers retry unknown outcomes with the same ids. At the end each message must exist once, with
    one note.
    """
    options = {"synchronous_commit": "off", "wal_writer_delay": "10s"}
    outcome, errors = FaultOutcome(tried=load.restarts), Counter[str]()
    with open_server(**(options if load.control == UNSYNCED else {})) as server:
        url = server.make_database(_DATABASE)
        async with WatchedStore(url) as store:
            server.execute("CHECKPOINT")  # the control is to lose messages, not the schema
            trial = _Trial(server, store, load)
            with _workers(url, load, errors):
                await trial.run(progress)
            outcome.acknowledged = trial.appended
            errors += store.errors
            await _judge(store, load, outcome)
    for name, times in errors.items():
        counted = outcome.told if name in EXPECTED else outcome.failures
        counted[name] += times
    return outcome
