"""Talks of months: what readers answered after each session is kept, moved and withdrawn."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import anyio
import pytest

from benchmarks.session_replay import PlayedTalk, played_talks
from recollect.formation import document_updates, reconciliation
from recollect.records import Memory

pytestmark = pytest.mark.timeout(600)
CORPUS = Path(__file__).parents[1] / "corpus"
STILL_STOPPED = {
    *(("r9-e2", 1), ("r11-t2", 1), ("r12-s1", 2), ("r12-s2", 2)),
    *(("r12-e1", 4), ("r12-e2", 3), ("r13-e1", 4), ("r14-e4", 2)),
    *(("r17-e3", 4), ("r17-e4", 3), ("r17-e6", 2)),
}
"""
A profile that cites the subject of a pasted mail; what one tells of another in a profile; the end
of what follows from a move, by the move; a month that follows from "closing, end of January"; an
age with the month of an older version; an employer's letter that changes a profile;
what an assistant said, and the user takes up in other words ("they're done", "I'll ask her about
that"); what another speaker does, kept from an older version.
"""
HIKE = "改2025-11-08出發"
WITHDRAWN = ("用户已戒烟", "飯前血糖168", "爬小山有高山症", "同意给买电吉他", "要退股")
"""Jokes, mistakes, and a wish: said once, and never true."""


def replayed(*words: str) -> tuple[PlayedTalk, ...]:
    """Play all talks, or those with memories that say *words*, with the checks as they are now."""
    saying = [each for each in as_it_is() if memories((each,), *words)] if words else []
    names = [each.sessions[0].talk for each in saying]
    return tuple(anyio.run(played_talks, CORPUS, names))


@cache
def as_it_is() -> tuple[PlayedTalk, ...]:
    """Play all talks once for the tests that only look."""
    return replayed()


def stopped(talks: tuple[PlayedTalk, ...]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return the sessions of which something was asked again or waits, and why."""
    sessions = [each for talk in talks for each in talk.sessions]
    return {
        (each.talk, each.number): (*each.asked_again, *each.stopped)
        for each in sessions
        if not each.passes
    }


def memories(talks: tuple[PlayedTalk, ...], *words: str) -> list[Memory]:
    """Return the memories that say one of *words*."""
    found = [each for talk in talks for each in talk.memories]
    return [each for each in found if any(word in str(each.value) for word in words)]


def test_what_is_right_is_kept_at_once() -> None:
    talks = as_it_is()

    assert stopped(talks).keys() == STILL_STOPPED, stopped(talks)
    assert 408 == sum(len(each.sessions) for each in talks)
    assert not [each for talk in talks for each in talk.contexts.values() if not each.text]


def test_what_was_never_true_is_not_told_as_past(monkeypatch: pytest.MonkeyPatch) -> None:
    def states(talks: tuple[PlayedTalk, ...]) -> set[str]:
        return {each.state for each in memories(talks, *WITHDRAWN)}

    assert {"rejected"} == states(as_it_is())

    monkeypatch.setattr(reconciliation, "is_withdrawn", lambda _quotes: False)

    assert {"active"} == states(replayed(*WITHDRAWN))


def test_a_plan_that_is_put_off_ends_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def until(talks: tuple[PlayedTalk, ...]) -> str:
        (hike,) = memories(talks, HIKE)
        return f"{hike.valid_until:%Y-%m-%d}"

    assert "2025-11-10" == until(as_it_is())

    keep: Callable[..., object] = lambda memory, _value: memory.valid_until  # noqa: E731
    monkeypatch.setattr(document_updates, "moved_end", keep)

    assert "2025-10-20" == until(replayed(HIKE))
