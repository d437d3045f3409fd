"""An in-process copy of a thread, kept current by reading only the changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recollect.records import Message, Scope
from recollect.stores.contract.threads import ThreadStore
from recollect.stores.plans.threads import ThreadChanges

ResultT = TypeVar("ResultT")


class ThreadView:
    """
    The messages of one thread by position, as of the last refresh.

    `refreshed` reads only what changed since then, however long the thread is.
    """

    def __init__(self, scope: Scope, thread: str) -> None:
        self.scope = scope
        self.thread = thread
        self._seq = 0
        self._epoch = 0
        self._by_position: dict[int, Message] = {}
        self.generation = 0
        """A counter that changes whenever a message was replaced, removed or inserted."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages as of the last refresh, ordered by position."""
        return tuple(self._by_position.values())

    async def refreshed(self, store: ThreadStore) -> ThreadView:
        """Read the changes since the last refresh; reread the thread if these do not suffice."""
        changes = await store.thread_changes(
            self.scope, self.thread, seq=self._seq, epoch=self._epoch
        )
        if not self._apply(changes):
            self._apply(await store.thread_changes(self.scope, self.thread))
        return self

    def _apply(self, changes: ThreadChanges) -> bool:
        """Apply *changes*; return False if the copy is incomplete."""
        # Two tasks may refresh one copy: ignore a read that another has overtaken.
        if changes.epoch == self._epoch and changes.seq < self._seq:
            return True
        known = {} if changes.reset else self._by_position
        appended = [each for each in changes.messages if each.position not in known]
        replaced = [each for each in changes.messages if each.position in known]
        # The count detects removed messages, which the changes do not list.
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


class MessageCache(Generic[ResultT]):
    """
    The cached results of a function for each message of a view.

    Appended messages extend the cache; any other change rebuilds it.
    """

    def __init__(self, view: ThreadView, make: Callable[[Message], ResultT]) -> None:
        self._view = view
        self._make = make
        self._made: list[ResultT] = []
        self._generation = view.generation

    def current(self) -> Sequence[ResultT]:
        """Return the results for all messages in the view; do not modify them."""
        if self._generation != self._view.generation:
            self._made = []
            self._generation = self._view.generation
        new = self._view.messages[len(self._made) :]
        self._made.extend(self._make(each) for each in new)
        return self._made
