"""Watches the keys of the requests that are open: one read for all of them, twice a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

import anyio

from recollect.errors import KeyRevokedError, StoreError
from recollect.server.api_keys import Keys
from recollect.server.authorization import Principal
from recollect.server.key_checks import revocation_of

LOOK_EVERY_S: Final = 0.5
FRESH_S: Final = 0.25
"""So long a key that was found good counts as such for the next piece of an answer."""


class OpenAnswer(Protocol):
    """An answer that goes on as long as the key of *principal* is good."""

    @property
    def principal(self) -> Principal:
        """The caller, with the key as it was when the request began."""
        ...

    def end(self, error: KeyRevokedError) -> None:
        """Stop the response."""
        ...


@dataclass(slots=True)
class _Held:
    """A key by which answers are open, and when it was last known to be good."""

    checked_at: float
    answers: set[OpenAnswer] = field(default_factory=set)
    looking: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the one who reads the key for all that ask at the time."""


class KeyWatch:
    """
    Ends the answers to requests whose key was revoked, narrowed, rotated or has expired.

    A change through this process is noticed at once, one through another process at the next
    look. While the store is away no answer is ended, and no piece of one is let through.
    """

    def __init__(
        self,
        keys: Keys,
        now: Callable[[], datetime],
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._now = now
        self._monotonic_s = monotonic_s
        self._held: dict[str, _Held] = {}
        """By what was presented: a key before and after a rotation are two."""
        self._changed_at = monotonic_s()
        self._changed = anyio.Event()

    def begin(self, answer: OpenAnswer) -> float:
        """Watch the key of an answer until its `end`; return when that began."""
        now = self._monotonic_s()
        held = self._held.get(answer.principal.credential)
        if held is None:
            held = self._held[answer.principal.credential] = _Held(now)
        held.answers.add(answer)
        return now

    def end(self, answer: OpenAnswer) -> None:
        """Record that a response has ended."""
        held = self._held[answer.principal.credential]
        held.answers.remove(answer)
        if not held.answers:
            del self._held[answer.principal.credential]

    def is_fresh(self, answer: OpenAnswer, began_at: float) -> bool:
        """Return True if its key was found good a moment ago, or the answer *began_at* then."""
        late_at = self._late_at()
        return began_at > late_at or self._held[answer.principal.credential].checked_at > late_at

    def _late_at(self) -> float:
        """Return the moment up to which what was found then has to be looked at again."""
        return max(self._changed_at, self._monotonic_s() - FRESH_S)

    async def check(self, answer: OpenAnswer) -> None:
        """
        Check the key of a response, once for all concurrent callers.

        Raises:
            StoreError: The key cannot be read.
        """
        credential, late_at = answer.principal.credential, self._late_at()
        held = self._held[credential]
        async with held.looking:
            if held.checked_at <= late_at:
                await self._look([credential])

    def note_change(self) -> None:
        """Check at once: a key was changed through this process."""
        self._changed_at = self._monotonic_s()
        self._changed.set()

    async def run(self) -> None:
        """Check periodically, forever."""
        while True:
            with anyio.move_on_after(LOOK_EVERY_S):
                await self._changed.wait()
            self._changed = anyio.Event()
            late_at = self._late_at()
            late = [each for each, held in self._held.items() if held.checked_at <= late_at]
            try:
                await self._look(late)
            except StoreError:
                continue  # nothing is sent meanwhile: each piece asks, and fails

    async def _look(self, credentials: Collection[str]) -> None:
        """Read keys, and end the answers by those that are not good."""
        if not credentials:
            return
        began_at, helds = self._monotonic_s(), [self._held[each] for each in credentials]
        ids = {answer.principal.key_id for held in helds for answer in held.answers}
        found, now = await self._keys.by_id(ids), self._now()
        for held in helds:
            for answer in list(held.answers):
                key = found.get(answer.principal.key_id)
                if error := revocation_of(answer.principal, key, now):
                    answer.end(error)
            held.checked_at = max(held.checked_at, began_at)
