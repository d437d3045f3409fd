"""
A reader that follows the feed has what is there: every interleaving of some writers is visited.

Two writers, an erase and a compaction take turns with a reader, in every order. The writers'
steps are the store's own plans; the reader is the one that is shipped for followers.
"""

from collections import deque
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cache

import pytest

from recollect.errors import NotFoundError
from recollect.records import DeleteMemory, NewMessage, PutMemory
from recollect.stores.change_feed import Cursor, Feed, FeedEntry
from recollect.stores.in_process.rows import ScopeTable
from recollect.stores.in_process.store import Tables
from recollect.stores.plans import idempotency as requests
from recollect.stores.plans.changes import read_feed
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope
from recollect.stores.plans.erasure import plan_erase
from recollect.stores.plans.memory_writes import plan_apply
from recollect.stores.plans.prepared_writes import prepare_write
from recollect.stores.plans.thread_edits import Replacement, plan_removal, plan_replacement
from recollect.stores.plans.threads import Append, PreparedMessage, plan_append, prepare_message
from recollect.stores.rows import ReceiptRow, ScopeRow
from recollect.stores.unit_of_work import Plan
from recollect.testing import NOON, CountingIds
from recollect.testing.follower import FeedFollower

SCOPE, THREAD = ("ada",), "talk"
NOW = int(NOON.timestamp()) * 1_000_000


class BrokenPromiseError(Exception):
    """A reader that does not have what is there."""


@cache
def prepared(message: str, text: str) -> PreparedMessage:
    """Return a message as it is kept."""
    said = NewMessage(role="user", id=message, text=text, time=NOON)
    return prepare_message(said, NOW, CountingIds())


def append(message: str, uid: int) -> Plan[object]:
    """Return a plan that appends a message."""
    request = Append(
        scope=SCOPE,
        thread=THREAD,
        messages=[prepared(message, "hello")],
        idempotency=None,
        debounce=Debounce(),
        now=NOW,
    )
    return lambda rows: plan_append(rows, request, CountingIds(uid))


def edit(message: str) -> Plan[object]:
    """Return a plan that replaces a message."""
    request = Replacement(
        scope=SCOPE,
        thread=THREAD,
        message=prepared(message, "better"),
        idempotency=None,
        now=NOW,
    )
    return lambda rows: plan_replacement(rows, request)


def remove(message: str) -> Plan[object]:
    """Return a plan that removes a message."""
    return lambda rows: plan_removal(rows, SCOPE, THREAD, [message])


def write(memory: PutMemory | DeleteMemory, uid: int) -> Plan[object]:
    """Return a plan that writes a memory."""
    return lambda rows: plan_apply(
        rows, SCOPE, [prepare_write(memory)], None, ids=CountingIds(uid), now=NOW
    )


def erase(target: EraseMessages | EraseScope) -> Plan[object]:
    """Return a plan that erases something."""
    receipt = ReceiptRow(id="r", target=b"", messages=0, memories=0, revised=0, erased_at=NOW)
    return lambda rows: plan_erase(rows, SCOPE, target, receipt=receipt)


HOME = PutMemory(type="Fact", key="home", value={"city": "Oslo"})
GONE = DeleteMemory(type="Fact", key="home")
Script = tuple[Plan[object] | None, ...]
"""What one participant does, in order; ``None`` compacts the tombstones."""
SCRIPTS: tuple[Script, ...] = (
    (append("m1", 10), edit("m1"), remove("m1")),
    (write(HOME, 20), append("m2", 21), write(GONE, 0)),
    (erase(EraseMessages(thread=THREAD, messages=["m2"])), erase(EraseScope())),
    (None,),
)


@dataclass(slots=True)
class World:
    """The rows, how far each participant is, and the reader."""

    tables: Tables = field(default_factory=Tables)
    places: tuple[int, ...] = (0,) * len(SCRIPTS)
    reader: FeedFollower = field(default_factory=lambda: FeedFollower(SCOPE))
    drawn: tuple[int | None, ...] = (None,) * len(SCRIPTS)  # by a mutant, before its transaction
    given: int = 0

    def key(self) -> tuple[object, ...]:
        """Return all that decides about the future."""
        cursor, feed = self.reader.cursor, live(self.tables)
        scope = self.tables.scope(SCOPE)
        return (
            self.places, self.drawn, self.given, cursor.seq, scope and scope.seq,
            scope and (scope.epoch == cursor.epoch, scope.compacted),
            frozenset(feed.entries), frozenset(self.reader.entries.values()),
            frozenset(self.tables.removed(scope.id, 0)) if scope else None,
        )  # fmt: skip

    def copy(self) -> "World":
        """Return the same world, to be changed apart from this one."""
        tables = Tables()
        tables._number = self.tables._number
        tables._by_segments = dict(self.tables._by_segments)
        for id_, table in self.tables._scopes.items():
            tables._scopes[id_] = copy(table)
            for each in fields(ScopeTable):
                setattr(tables._scopes[id_], each.name, _copied(getattr(table, each.name)))
        reader = copy(self.reader)
        reader.entries = dict(reader.entries)
        return replace(self, tables=tables, reader=reader)


def _copied(part: object) -> object:
    """Return a part of a scope's table with lists and dicts of its own; rows never change."""
    if isinstance(part, dict):
        return {key: _copied(each) for key, each in part.items()}
    return list(part) if isinstance(part, list) else part


def live(tables: Tables) -> Feed:
    """Return what a new reader gets."""
    return follow(tables, Cursor(scope=SCOPE))


def follow(tables: Tables, cursor: Cursor) -> Feed:
    """Return what a reader gets."""
    return read_feed(tables, cursor, embedder=None, conditions=None, now=NOW)


class Writers:
    """The steps that writers and reader can take."""

    reader = FeedFollower

    def steps(self, world: World) -> Iterator[World]:
        """Yield every world that can come next."""
        for who, place in enumerate(world.places):
            if place < len(SCRIPTS[who]):
                yield self.step(world.copy(), who, SCRIPTS[who][place])
        following = world.copy()
        following.reader.take_in(follow(world.tables, world.reader.cursor))
        yield following

    def step(self, world: World, who: int, plan: Plan[object] | None) -> World:
        """Carry out one transaction."""
        if plan is None:
            self.compact(world.tables)
        else:
            carry_out(world.tables, plan)
        world.places = moved(world.places, who)
        return world

    def compact(self, tables: Tables) -> None:
        """Forget the tombstones, and say up to where."""
        scope = tables.scope(SCOPE)
        if scope:
            table = tables._scopes[scope.id]
            table.tombstones.clear()
            table.row = replace(scope, compacted=scope.seq)


def moved(places: tuple[int, ...], who: int) -> tuple[int, ...]:
    """Return the places with one participant a step further."""
    return tuple(place + (who == each) for each, place in enumerate(places))


def carry_out(tables: Tables, plan: Plan[object]) -> None:
    """Run a plan in one transaction; what is not there cannot be edited."""
    try:
        tables.write(plan(tables).effect)
    except NotFoundError:
        return


def check(world: World) -> None:
    """Expect that a reader that follows now has what a new one gets."""
    there = {entry.uid: entry for entry in live(world.tables).entries}
    reader = world.copy().reader
    reader.take_in(follow(world.tables, reader.cursor))
    if there != reader.entries:
        missed, kept = there.keys() - reader.entries.keys(), reader.entries.keys() - there.keys()
        msg = f"the reader missed {missed}, kept {kept}, or has an old state of another entry"
        raise BrokenPromiseError(msg)


def explore(writers: Writers) -> int:
    """Visit every state that can be reached; return how many there are."""
    start = World(reader=writers.reader(SCOPE))
    seen, waiting = {start.key()}, deque([start])
    while waiting:
        world = waiting.popleft()
        check(world)
        for following in writers.steps(world):
            key = following.key()
            if key not in seen:
                seen.add(key)
                waiting.append(following)
    return len(seen)


def test_a_follower_always_has_what_is_there() -> None:
    """In every state that can be reached, whoever follows now has every live entry, as it is."""
    assert explore(Writers()) > 1_000


class DrawFirst(Writers):
    """Writers that draw their seq before their transaction, as from a sequence of the database."""

    def step(self, world: World, who: int, plan: Plan[object] | None) -> World:
        """Draw a number; in another step write with it."""
        if plan is None:
            return super().step(world, who, plan)
        number = world.drawn[who]
        if number is None:
            world.given += 1
            numbers = list(world.drawn)
            numbers[who] = world.given
            world.drawn = tuple(numbers)
            return world
        world.drawn = tuple(None if each == who else n for each, n in enumerate(world.drawn))
        highest = seq_of(world.tables)
        set_seq(world.tables, number - 1)
        world = super().step(world, who, plan)
        set_seq(world.tables, max(highest, number))
        return world


def seq_of(tables: Tables) -> int:
    """Return the seq of the scope."""
    scope = tables.scope(SCOPE)
    return scope.seq if scope else 0


def set_seq(tables: Tables, seq: int) -> None:
    """Set the seq of the scope."""
    scope = tables.scope(SCOPE)
    if scope:
        tables._scopes[scope.id].row = replace(scope, seq=seq)


class CompactSilently(Writers):
    """Forgets tombstones without saying so."""

    def compact(self, tables: Tables) -> None:
        """Forget the tombstones."""
        scope = tables.scope(SCOPE)
        if scope:
            tables._scopes[scope.id].tombstones.clear()


class DeafFollower(FeedFollower):
    """A reader that does not heed a reset."""

    def take_in(self, feed: Feed) -> None:
        """Keep what it had."""
        super().take_in(replace(feed, reset=False))


class ForDeaf(Writers):
    """Writers with a reader that does not heed a reset."""

    reader = DeafFollower


def one_epoch(tables: Tables, segments: tuple[str, ...], now: int) -> ScopeRow:
    """Give every scope the same epoch, also one that was made anew."""
    return replace(open_scope(tables, segments, now), epoch=1)


open_scope = requests.open_scope


def without_edits(
    tables: Tables, scope_id: int, after: int, embedder: str | None
) -> list[FeedEntry]:
    """Tell of new entries alone: an edit keeps the seq that its entry had."""
    found = Changed(tables, scope_id, after, embedder)
    return [entry for entry in found if entry.seq > after + 1 or after == 0]


Changed = Tables.changed
Wrong = tuple[str, Callable[..., object]] | None
MUTANTS: dict[str, tuple[Writers, Wrong]] = {
    "the seq is drawn outside the transaction": (DrawFirst(), None),
    "a reset is ignored": (ForDeaf(), None),
    "tombstones go without a word": (CompactSilently(), None),
    "removals leave no tombstone": (Writers(), ("in_process.store.Tables.removed", lambda *_: ())),
    "changes are passed over": (Writers(), ("in_process.store.Tables.changed", without_edits)),
    "a scope made anew has the old epoch": (
        Writers(), ("plans.threads.open_scope", one_epoch),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_weaker_feed_misleads_a_reader(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whatever is left out of the feed's rules, some interleaving leaves a reader astray."""
    writers, wrong = MUTANTS[name]
    if wrong:
        monkeypatch.setattr(f"recollect.stores.{wrong[0]}", wrong[1])

    with pytest.raises(BrokenPromiseError):
        explore(writers)
