"""A guard for tests: no event loop waits for a file, a lock, a socket or another thread."""

from __future__ import annotations

import inspect
import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final
from unittest import mock

import apsw
import blockbuster
from anyio.from_thread import BlockingPortal
from blockbuster import BlockBuster, BlockBusterFunction, BlockingError

import recollect
from recollect.stores.in_place import run_in_place

_PACKAGE: Final = str(Path(recollect.__file__).parent)
_COROUTINE: Final = (
    inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
)
# What breaks stores and examines them blocks the loops of its own tests as it likes.
_HARNESSES: Final = (f"{_PACKAGE}/testing/", str(Path(__file__).parents[2] / "benchmarks"))
# Where a record of the log goes, the program chose that opened the memory; the web framework looks
# for the source of each route once.
_STRANGERS: Final = frozenset({logging.__file__, inspect.__file__})
_LINES_TOLD: Final = 6
_ALLOWED: Final = (
    # A file is opened where `open` is called, before anything can wait for the memory.
    ("stores/locator.py", "_open_sqlite"),
    # So is MiniLM's folder looked for, lest a file is made for an embedder that is not there.
    ("memory/facade.py", "_checked"),
    # Commands that run alone, on a loop of their own: they copy files as fast as they can.
    ("lifecycle/backups.py", None),
    ("lifecycle/backup_restore.py", None),
    ("lifecycle/backup_lines.py", None),
    ("cli/", None),
)
_SCANNED: Final = ["recollect"]
_EXCLUDED: Final = ["recollect.testing"]
_WAITS: Final[dict[Any, tuple[str, ...]]] = {
    apsw.Connection: ("execute", "executemany"),
    apsw.Cursor: ("execute", "executemany"),
    BlockingPortal: ("start_task_soon",),
    threading.Condition: ("wait",),
}


@dataclass(frozen=True, slots=True)
class BlockingCall:
    """A call that stopped an event loop, and the lines of the package by which it came."""

    function: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.function} in {' < '.join(reversed(self.lines[-_LINES_TOLD:]))}"


@contextmanager
def guarded_loops(callers: Path) -> Iterator[list[BlockingCall]]:
    """
    Fail every call of the package that blocks a thread on which an event loop runs.

    A plain function that a coroutine below the folder *callers* calls is exempt, and all that
    it calls: who uses the synchronous API inside a loop means to wait. So is what the package
    itself allows, each place for its reason.

    Yields:
        A list that fills with the calls that failed, also those whose error was swallowed.
    """
    found: list[BlockingCall] = []

    class NotedError(BlockingError):
        def __init__(self, func: str) -> None:
            super().__init__(func)
            found.append(BlockingCall(func, _lines_of(traceback.extract_stack())))

    guard = BlockBuster(_SCANNED, excluded_modules=_EXCLUDED)
    guard.functions |= _unknown(_SCANNED)
    for each in guard.functions.values():
        each.can_block_predicate = _or_meant(each.can_block_predicate, str(callers))
    with mock.patch.object(blockbuster.blockbuster, "BlockingError", NotedError):
        guard.activate()
        try:
            yield found
        finally:
            guard.deactivate()


def _or_meant(can_block: Callable[..., bool], callers: str) -> Callable[..., bool]:
    def allowed(*args: Any, **kwargs: Any) -> bool:
        return can_block(*args, **kwargs) or _is_meant(inspect.currentframe(), callers)

    return allowed


def _is_meant(frame: FrameType | None, callers: str) -> bool:
    """Return True where the package may block, or where the nearest coroutine is of *callers*."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _STRANGERS or _is_allowed(code.co_filename, code.co_name):
            return True
        if code.co_flags & _COROUTINE:
            driver = _driver_of(frame)
            if driver is None or not _is_in_place(driver):
                return code.co_filename.startswith((callers, *_HARNESSES))
            frame = driver
        frame = frame.f_back
    return False


def _driver_of(frame: FrameType) -> FrameType | None:
    """Return the frame that runs the coroutine of *frame*, and those that await it."""
    driver: FrameType | None = frame
    while driver is not None and driver.f_code.co_flags & _COROUTINE:
        driver = driver.f_back
    return driver


def _is_in_place(driver: FrameType) -> bool:
    """Return True if a plain function runs a coroutine to its end: no loop awaits that one."""
    return driver.f_code is run_in_place.__code__


def _is_allowed(file: str, function: str) -> bool:
    if not file.startswith(_PACKAGE):
        return False
    place = file.removeprefix(_PACKAGE).lstrip("/")
    return any(place.startswith(where) and name in {None, function} for where, name in _ALLOWED)


def _lines_of(stack: traceback.StackSummary) -> tuple[str, ...]:
    return tuple(
        f"{each.filename.removeprefix(_PACKAGE)}:{each.lineno} {each.name}"
        for each in stack
        if each.filename.startswith(_PACKAGE) and each.filename != __file__
    )


def _waits_for_nothing(*args: Any, timeout: float | None = None, **_: Any) -> bool:
    """Return True for `Condition.wait` with a timeout of 0."""
    is_condition = bool(args) and isinstance(args[0], threading.Condition)
    return is_condition and 0 == (args[1] if len(args) > 1 else timeout)


def _unknown(scanned: list[str]) -> dict[str, BlockBusterFunction]:
    """
    Return what blocks and the guard does not know: our SQLite driver, and waits for threads.

    A lock is noticed only while another holds it, so that a quick answer of another thread would
    hide a wait for it: the waits themselves are noticed.
    """
    return {
        f"{kind.__name__}.{name}": BlockBusterFunction(
            kind,
            name,
            scanned_modules=scanned,
            excluded_modules=_EXCLUDED,
            # A thread that is started says at once that it runs.
            can_block_functions=[("threading.py", {"start"})],
            can_block_predicate=_waits_for_nothing,
        )
        for kind, names in _WAITS.items()
        for name in names
    }
