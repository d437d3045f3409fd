"""Events that are over when they are told: their day is known, and the memory stays in force."""

from datetime import date
from typing import Final

import pytest

from benchmarks.formation_corpus import Call, Case, played
from recollect.formation.grounding import grounds

pytestmark = pytest.mark.anyio
PASSED: Final = "the midterm was on 26 November 2025, got a B"
TRIP: Final = "we were in Kyoto from 2 to 7 November 2025"
DENTIST: Final = "dentist on 20 March 2026 at nine"


def case(said: str) -> Case:
    """Return a case of one message, said on 12 March 2026."""
    line = {
        "role": "user",
        "name": None,
        "time": "2026-03-12T10:00:00Z",
        "text": said,
        "new": True,
    }
    return {"id": "made", "language": "en", "lines": [line], "known": [], "replaced": []}


def note(content: str, said: str, since: str, until: str) -> Call:
    """Return the call that keeps a note with its days."""
    value = {"content": content}
    because = [f"1: {said}"]
    arguments = {"value": value, "because": because, "since": since, "until": until}
    return {"name": "Note", "arguments": arguments}


@pytest.mark.parametrize(
    ("said", "content", "since", "until", "ends"),
    [
        (PASSED, "The midterm was on 2025-11-26, with a B", "2025-11-26", "2025-11-26", None),
        # A stretch of days was true in them, and what is to come is over on its day.
        (TRIP, "In Kyoto from 2025-11-02 to 2025-11-07", "2025-11-02", "2025-11-07", "2025-11-07"),
        (DENTIST, "Dentist on 2026-03-20 at nine", "2026-03-20", "2026-03-20", "2026-03-20"),
    ],
)
async def test_what_happened_on_a_day_stays_true(
    said: str, content: str, since: str, until: str, ends: str | None
) -> None:
    done = await played(case(said), [note(content, said, since, until)])

    assert done.passes
    (kept,) = done.memories
    end = None if ends is None else date.fromisoformat(ends)
    assert end == (kept.valid_until and kept.valid_until.date())


async def test_an_event_that_lapses_with_its_day_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounds, "_is_event", lambda *_: False)
    with pytest.raises(AssertionError):
        await test_what_happened_on_a_day_stays_true(
            PASSED, "The midterm was on 2025-11-26, with a B", "2025-11-26", "2025-11-26", None
        )
