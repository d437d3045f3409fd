"""Watches the keys of the requests that are open: one read for all of them, twice a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import anyio

from recollect.access import Keys, Principal
from recollect.errors import KeyRevokedError, StoreError
from recollect.key_checks import revoked

LOOK_EVERY_S: Final = 0.5
FRESH_S: Final = 0.25
"""So long a key that was found good counts as such for the next piece of an answer."""

Ended: TypeAlias = Callable[[KeyRevokedError], None]


@dataclass(slots=True)
class _Held:
    """A key by which requests are open, and when it was last known to be good."""

    checked_at: float
    answers: dict[object, Ended] = field(default_factory=dict)


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
        self._held: dict[Principal, _Held] = {}
        self._changed_at = monotonic_s()
        self._changed = anyio.Event()

    @contextmanager
    def watching(self, principal: Principal, ended: Ended) -> Iterator[None]:
        """Call *ended* during the block once the key that *principal* came with is not good."""
        held = self._held.get(principal)
        if held is None:
            held = self._held[principal] = _Held(self._monotonic_s())
        token = object()
        held.answers[token] = ended
        try:
            yield
        finally:
            del held.answers[token]
            if not held.answers:
                self._held.pop(principal, None)

    def is_fresh(self, principal: Principal) -> bool:
        """Return True if the key is known to be good as of a moment ago."""
        held = self._held.get(principal)
        if held is None:
            return False
        return held.checked_at > max(self._changed_at, self._monotonic_s() - FRESH_S)

    async def check(self, principal: Principal) -> None:
        """
        Look whether the key is good, unless it was a moment ago; end its answers if it is not.

        Raises:
            StoreError: It cannot be read.
        """
        if not self.is_fresh(principal):
            await self._look([principal])

    def note_change(self) -> None:
        """Look at once: a key was changed through this process."""
        self._changed_at = self._monotonic_s()
        self._changed.set()

    async def run(self) -> None:
        """Look, for ever."""
        while True:
            with anyio.move_on_after(LOOK_EVERY_S):
                await self._changed.wait()
            self._changed = anyio.Event()
            late = [each for each in self._held if not self.is_fresh(each)]
            try:
                await self._look(late)
            except StoreError:
                continue  # nothing is sent meanwhile: each piece asks, and fails

    async def _look(self, principals: list[Principal]) -> None:
        if not principals:
            return
        began_at = self._monotonic_s()
        errors = await revoked(self._keys, principals, self._now)
        for each in principals:
            held = self._held.get(each)
            if held is None:
                continue
            if error := errors.get(each):
                for ended in list(held.answers.values()):
                    ended(error)
            else:
                held.checked_at = max(held.checked_at, began_at)
