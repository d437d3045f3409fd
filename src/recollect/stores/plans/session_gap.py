"""Sessions: a long pause between two messages of a thread begins another one."""

from __future__ import annotations

from typing import Final

from recollect.stores.rows import MICROSECONDS, MessageRow

SESSION_GAP_S: Final = 1_800
"""A longer pause between two messages of a thread begins another session."""


def session_after(previous: MessageRow | None, time: int, position: int) -> str:
    """Return the session of a message that names none: the previous one's, or a new one."""
    if previous and abs(time - previous.time) <= SESSION_GAP_S * MICROSECONDS:
        return previous.session
    return f"@{position}"
