"""The lines of requests are written together, once a turn of the event loop, and none is lost."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest

from recollect.server.http.request_log import JsonLines, TurnHandler


class Stream(io.StringIO):
    """A stream that keeps what each write wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[list[str]] = []

    def write(self, text: str) -> int:
        self.writes.append([json.loads(line)["event"] for line in text.splitlines()])
        return len(text)


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    handler, log = TurnHandler(), logging.getLogger("recollect.test.turns")
    handler.setFormatter(JsonLines())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    handler.setStream(Stream())
    yield log
    log.removeHandler(handler)
    handler.close()


def writes(log: logging.Logger) -> list[list[str]]:
    """Return the events of each write."""
    found: list[list[str]] = log.handlers[0].stream.writes  # type: ignore[attr-defined]
    return found


def test_requests_of_one_turn_are_written_together(log: logging.Logger) -> None:
    """Those of the next turn are written after it."""

    async def turns() -> list[int]:
        found = []
        for count in (3, 2):
            for _ in range(count):
                log.info("request")
            found.append(len(writes(log)))
            await asyncio.sleep(0)
        return found

    assert [0, 1] == asyncio.run(turns())
    assert [["request"] * 3, ["request"] * 2] == writes(log)


def test_another_line_is_written_at_once_after_those_that_wait(log: logging.Logger) -> None:
    """An error may be the last thing that a process says."""

    async def turn() -> list[list[str]]:
        log.info("request")
        log.error("failed")
        return list(writes(log))

    assert [["request"], ["failed"]] == asyncio.run(turn())


def test_without_a_loop_each_line_is_written_at_once(log: logging.Logger) -> None:
    log.info("request")
    log.info("request")

    assert [["request"], ["request"]] == writes(log)


def test_what_waits_is_written_at_the_end(log: logging.Logger) -> None:
    """The control: before, nothing is."""

    async def turn() -> None:
        log.info("request")
        assert not writes(log)

        async def end() -> None:
            log.handlers[0].flush()

        await end()

    asyncio.run(turn())
    assert [["request"]] == writes(log)


def test_a_stream_that_fails_does_not_fail_the_request(
    log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)

    def fail(_: Stream, text: str) -> int:
        raise OSError(text)

    monkeypatch.setattr(Stream, "write", fail)
    failures: list[object] = []

    async def turn() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: failures.append(context))
        log.info("request")
        await asyncio.sleep(0)
        log.error("failed")

    asyncio.run(turn())
    assert not failures
