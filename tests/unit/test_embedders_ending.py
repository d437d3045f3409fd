"""The end of a program waits for native code, and lets none begin."""

from collections.abc import Callable
from threading import Condition

import pytest

from recollect.embedders.native_shutdown import END_S, NativeCalls
from recollect.errors import EmbedderError


def test_the_end_waits_for_calls_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the last thread has left native code, but not for ever."""
    calls, seen = NativeCalls(), list[tuple[bool, float | None]]()

    def waited(_: Condition, is_done: Callable[[], bool], timeout: float | None = None) -> bool:
        calls.__exit__()  # as another thread does
        seen.append((is_done(), timeout))
        return is_done()

    monkeypatch.setattr(Condition, "wait_for", waited)
    for _ in range(2):
        calls.__enter__()
    calls.end()
    calls.end()

    assert [(False, END_S), (True, END_S)] == seen


def test_no_call_begins_after_the_end() -> None:
    """A daemon that goes on would be stopped within it."""
    calls = NativeCalls()
    calls.end()

    with pytest.raises(EmbedderError, match="is ending"), calls:
        pass
