"""A reader that keeps a copy of a scope by following its feed."""

from __future__ import annotations

from recollect.records import Scope
from recollect.stores.change_feed import Cursor, Feed, FeedEntry


class FeedFollower:
    """
    Keeps a copy of the live entries of a scope, by following its feed.

    After `take_in` of every response to `changes` for *cursor*, it has the entries that a new
    reader would get. To follow another embedder's vectors, pass its name to `changes`.
    """

    def __init__(self, scope: Scope) -> None:
        self.cursor = Cursor(scope=scope)
        self.entries: dict[int, FeedEntry] = {}

    def take_in(self, feed: Feed) -> None:
        """Apply *feed*, the response to `changes` after this reader's cursor."""
        if feed.reset:
            self.entries = {}
        for uid in feed.removed:
            self.entries.pop(uid, None)
        self.entries |= {entry.uid: entry for entry in feed.entries}
        self.cursor = Cursor(scope=feed.scope, seq=feed.seq, epoch=feed.epoch)
