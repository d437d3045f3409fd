"""A copy of a thread that the feed keeps current: what was read once is not read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recollect.records import Message, Scope
from recollect.stores.contract.threads import ThreadStore
from recollect.stores.plans.threads import ThreadChanges

MadeT = TypeVar("MadeT")


class ThreadView:
    """
    The messages of one thread, as far as they were read, by position.

    `refreshed` brings it to the present with one short read, however long the thread is.
    """

    def __init__(self, scope: Scope, thread: str) -> None:
        self.scope = scope
        self.thread = thread
        self._seq = 0
        self._epoch = 0
        self._by_position: dict[int, Message] = {}
        self.generation = 0
        """Changes whenever more happened than that messages were appended."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages as of the last refresh, by position."""
        return tuple(self._by_position.values())

    async def refreshed(self, store: ThreadStore) -> ThreadView:
        """Read what changed since the last time, from the start where that does not suffice."""
        changes = await store.thread_changes(
            self.scope, self.thread, seq=self._seq, epoch=self._epoch
        )
        if not self._took(changes):
            self._took(await store.thread_changes(self.scope, self.thread))
        return self

    def _took(self, changes: ThreadChanges) -> bool:
        """Apply *changes*; return False if the copy is incomplete."""
        if changes.epoch == self._epoch and changes.seq < self._seq:
            return True  # another read of the same copy has come further meanwhile
        known = {} if changes.reset else self._by_position
        appended = [each for each in changes.messages if each.position not in known]
        replaced = [each for each in changes.messages if each.position in known]
        if len(known) + len(appended) != changes.count:
            return False
        in_order = not known or not appended or appended[0].position > next(reversed(known))
        if changes.reset or replaced or not in_order:
            self.generation += 1
            merged = known | {each.position: each for each in changes.messages}
            self._by_position = dict(sorted(merged.items()))
        else:
            known.update((each.position, each) for each in appended)
        self._seq, self._epoch = changes.seq, changes.epoch
        return True


class Made(Generic[MadeT]):
    """
    The cached result of a function for each message of a view.

    It is rebuilt when a message was replaced or removed.
    """

    def __init__(self, view: ThreadView, make: Callable[[Message], MadeT]) -> None:
        self._view = view
        self._make = make
        self._made: list[MadeT] = []
        self._generation = view.generation

    def current(self) -> Sequence[MadeT]:
        """Return the results for all messages in the view; do not modify them."""
        if self._generation != self._view.generation:
            self._made = []
            self._generation = self._view.generation
        new = self._view.messages[len(self._made) :]
        self._made.extend(self._make(each) for each in new)
        return self._made
