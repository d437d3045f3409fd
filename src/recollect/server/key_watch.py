"""Check that the keys of all open requests are still valid, with one read twice a second."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

import anyio

from recollect.errors import KeyRevokedError, StoreError
from recollect.server.api_keys import Key, Keys, key_from
from recollect.server.authorization import Principal
from recollect.side_records import KEYS_SCOPE, SERVICE_KEY
from recollect.stores.unit_of_work import Proviso, Rows

LOOK_EVERY_S: Final = 0.5
FRESH_S: Final = 0.25
"""A check of a key stays valid for this long."""


class OpenAnswer(Protocol):
    """A response that is sent as long as the key of *principal* is valid."""

    @property
    def principal(self) -> Principal:
        """The caller, with the key as it was when the request began."""
        ...

    def end(self, error: KeyRevokedError) -> None:
        """Stop the response."""
        ...


@dataclass(slots=True)
class _Held:
    """The open responses of one key, and when the key was last found valid."""

    checked_at: float
    answers: set[OpenAnswer] = field(default_factory=set)
    looking: anyio.Lock = field(default_factory=anyio.Lock)
    """Held while one response reads the key on behalf of all that wait."""


class KeyWatch:
    """
    Ends the responses of requests whose key was revoked, narrowed, rotated or has expired.

    A change through this process is noticed at once, one through another process at the next
    poll. While the store cannot be read, no response is ended and none can send.
    """

    def __init__(self, keys: Keys, now: Callable[[], datetime]) -> None:
        self._keys = keys
        self._now = now
        self._held: dict[str, _Held] = {}
        """By digest of the presented secret: a key has two around a rotation."""
        self._changed_at = time.monotonic()
        self._changed = anyio.Event()

    def begin(self, answer: OpenAnswer) -> float:
        """Watch the key of a response until `end`; return the monotonic time."""
        now = time.monotonic()
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
        """Return True if the key was checked, or the response began, within ``FRESH_S``."""
        late_at = self._late_at()
        return began_at > late_at or self._held[answer.principal.credential].checked_at > late_at

    def _late_at(self) -> float:
        """Return the time before which checks have expired."""
        return max(self._changed_at, time.monotonic() - FRESH_S)

    async def check(self, answer: OpenAnswer) -> None:
        """
        Check the key of a response, once for all concurrent callers.

        Raises:
            StoreError: The key cannot be read.
        """
        credential, late_at = answer.principal.credential, self._late_at()
        held = self._held[credential]
        async with held.looking:
            # Another waiter may have read the key while this one waited for the lock.
            if held.checked_at <= late_at:
                await self._look([credential])

    def note_change(self) -> None:
        """Check at once: a key was changed through this process."""
        # Earlier checks of all keys expire at once, not only in the next round of `run`.
        self._changed_at = time.monotonic()
        self._changed.set()

    async def run(self) -> None:
        """Check periodically, forever."""
        while True:
            with anyio.move_on_after(LOOK_EVERY_S):
                await self._changed.wait()
            # Replaced before the read, so that a change during it causes another round.
            self._changed = anyio.Event()
            late_at = self._late_at()
            late = [each for each, held in self._held.items() if held.checked_at <= late_at]
            try:
                await self._look(late)
            except StoreError:
                continue  # each response checks before it sends, and fails meanwhile

    async def _look(self, credentials: Collection[str]) -> None:
        """Read keys, and end the responses of those that are invalid."""
        if not credentials:
            return
        # The time of the start counts: a change during the read may not be in its result.
        began_at, helds = time.monotonic(), [self._held[each] for each in credentials]
        ids = {answer.principal.key_id for held in helds for answer in held.answers}
        found, now = await self._keys.by_id(ids), self._now()
        for held in helds:
            for answer in list(held.answers):
                key = found.get(answer.principal.key_id)
                if error := revocation_of(answer.principal, key, now):
                    answer.end(error)
            held.checked_at = max(held.checked_at, began_at)


def revocation_of(principal: Principal, key: Key | None, now: datetime) -> KeyRevokedError | None:
    """Return the error if *key*, the caller's key as stored now, no longer allows the request."""
    reason = _reason(principal, key, now)
    if reason is None:
        return None
    msg = (
        f"the API key {principal.key_id!r} {reason} since the request began: nothing more is "
        "answered or written; repeat the request with a valid key"
    )
    return KeyRevokedError(msg)


def _reason(principal: Principal, key: Key | None, now: datetime) -> str | None:
    if key is None:
        return "was revoked"
    if found := key.invalid_reason(principal.credential, now):
        return found
    if key.scope != principal.scope:
        return "was bound to another scope"
    if missing := sorted(principal.permissions - key.permissions):
        return f"lost permissions ({', '.join(missing)})"
    return None


def proviso_of(principal: Principal, now: Callable[[], datetime]) -> Proviso | None:
    """
    Return a check, run inside the write transaction, that fails once the key is invalid.

    ``None`` for a caller without a key. See `Store.acting`.
    """
    if not principal.credential:
        return None

    def proviso(rows: Rows) -> None:
        # Read in the write's own transaction, so that a revocation cannot slip in between.
        row = rows.setting(KEYS_SCOPE, SERVICE_KEY, principal.key_id)
        key = key_from(row.key, json.loads(row.value), row.version) if row else None
        if error := revocation_of(principal, key, now()):
            raise error

    return proviso
