"""The invariants of a store's file after any fault, and the promises made to its clients."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

import apsw

from recollect.errors import LeaseLostError
from recollect.records import Evidence, JsonObject, Message, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.digests import text_hash
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.scope_paths import stored_path
from recollect.stores.sqlite.examination import SCOPED_TABLES, examine
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.text.stored_terms import decode_terms
from recollect.text.terms import encode_terms

Contents: TypeAlias = Mapping[str, tuple[tuple[object, ...], ...]]
"""Every row of a scope, by table."""

Place: TypeAlias = tuple[Scope, str]
"""A scope and the id of a thread in it."""

Address: TypeAlias = tuple[Scope, str, str]
"""Scope, type and key of a memory."""

_UNTIL_SIGNALLED: Final = Debounce(quiet_s=math.inf)

_ENCODINGS: Final = ("utf-8", "utf-16-le", "utf-16-be")

_ROWS: Final = {
    "scope": "SELECT * FROM scope WHERE id = ?",
    **{name: f"SELECT * FROM {name} WHERE scope_id = ?" for name in SCOPED_TABLES},  # noqa: S608 (our names)
}


def violations(path: str | PathLike[str], *, vfs: str | None = None) -> list[str]:
    """
    Return what is wrong with a store's file; the empty list is a sound one.

    It only reads, in one transaction; see `recollect.stores.sqlite.examination`.
    """
    try:
        with _reading(path, vfs) as connection:
            return list(examine(connection))
    except (apsw.Error, ValueError) as error:
        return [f"unreadable: {error!r}"]


def contents(path: str | PathLike[str], scope: Scope, *, vfs: str | None = None) -> Contents:
    """
    Return every row that a store's file holds of exactly this scope, its own included.

    After a fault they equal those before or after the write that it hit, or something was
    lost, doubled or half done.
    """
    with _reading(path, vfs) as connection:
        found = connection.execute("SELECT id FROM scope WHERE path = ?", [stored_path(scope)])
        scope_id = next((row[0] for row in found), None)
        return {name: tuple(connection.execute(sql, (scope_id,))) for name, sql in _ROWS.items()}


@contextmanager
def _reading(path: str | PathLike[str], vfs: str | None) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READWRITE
    layer = vfs or checksum_layer()
    with closing(apsw.Connection(fspath(path), flags=flags, vfs=layer)) as connection:
        connection.pragma("query_only", "ON")
        connection.execute("BEGIN")
        yield connection


@dataclass(slots=True)
class Promises:
    """
    The answers that a client got, to be compared with a store's content after a fault.

    Messages are known by their texts, of which no two may be equal.
    """

    kept: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    erased: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    versions: dict[Address, list[JsonObject]] = field(default_factory=lambda: defaultdict(list))
    """All values that a memory was given, in order; none for one that was erased."""

    async def broken(self, store: Store) -> dict[str, list[str]]:
        """Return what *store* does not keep of it: sentences, by what happened; or none."""
        lost, doubled, unwritten, misplaced = [], [], [], []
        for place in {*self.kept, *self.erased}:
            where = f"thread {place[1]!r} of {place[0]!r}"
            present = [message async for message in messages_of(store, *place)]
            texts = Counter(message.text for message in present)
            lost += [f"{where} lost {text!r}" for text in self.kept[place] - texts.keys()]
            unwritten += [f"{where} has {text!r}" for text in texts.keys() - self.kept[place]]
            doubled += [f"{where} has {n} times {text!r}" for text, n in texts.items() if n > 1]
            positions = [message.position for message in present]
            if not self.erased[place] and positions != list(range(1, len(positions) + 1)):
                misplaced.append(f"{where} has the positions {positions!r}")
        for address, promised in self.versions.items():
            values = [each.value for each in await store.history(*address)]
            doubled += [f"{address!r} has again {b!r}" for a, b in pairwise(values) if a == b]
            lost += [f"{address!r} lost {each!r}" for each in promised if each not in values]
            unwritten += [f"{address!r} has {each!r}" for each in values if each not in promised]
        found = {"lost": lost, "doubled": doubled, "never written": unwritten}
        return {what: each for what, each in {**found, "misplaced": misplaced}.items() if each}


class FaultClient:
    """
    Somebody with a scope of his own, whose n-th turn is always the same, and so its outcome.

    A turn that was perhaps cut off is taken again, under the same ids and keys. A client
    that is not *careful* has none, and so does things twice. Clients of one store share the
    lock *forming*, so that each forms his own scope.
    """

    def __init__(
        self, name: str, *, careful: bool = True, forming: AbstractAsyncContextManager[object]
    ) -> None:
        self.scope: Scope = ("clients", name)
        self.place: Place = (self.scope, "talk")
        self.promises = Promises()
        self._name = name
        self._careful = careful
        self._forming = forming

    def texts(self, turn: int) -> list[str]:
        """Return what he says in a turn, or said in it once."""
        if turn % 10 not in {0, 1, 2, 4, 5, 7}:
            return []
        long = " and so on" * (900 if turn % 20 == 5 else 1)
        return [f"{self._name} says {turn}.{part}{long}" for part in range(1 + turn % 3)]

    async def take(self, store: Store, turn: int) -> AsyncIterator[None]:
        """Take a turn; yield after each call that was answered."""
        key = f"turn {turn}" if self._careful else None
        match turn % 10:
            case 3 | 8:
                await store.apply(self.scope, self._writes(turn), idempotency_key=key)
            case 6:
                gone = EraseMessages(thread="talk", messages=self._ids(turn - 4))
                await store.erase(self.scope, gone)
            case 9:
                async for _ in self._tidy(store, turn):
                    yield
            case _:
                ids = self._ids(turn) if self._careful else [None] * len(self.texts(turn))
                said = [
                    NewMessage(role="user", id=id_, text=text, source=f"turn {turn}")
                    for id_, text in zip(ids, self.texts(turn), strict=True)
                ]
                await store.append(
                    self.scope, "talk", said, idempotency_key=key, debounce=_UNTIL_SIGNALLED
                )
        yield

    def answered(self, turn: int) -> None:
        """Note what a turn promised, once it was answered."""
        self.promises.kept[self.place] |= set(self.texts(turn))
        for write in self._writes(turn) if turn % 10 in {3, 8} else []:
            self.promises.versions[self.scope, write.type, write.key].append(write.value)
        if turn % 10 == 6:
            gone = set(self.texts(turn - 4))
            self.promises.kept[self.place] -= gone
            self.promises.erased[self.place] |= gone
            self.promises.versions[self.scope, "Note", f"{turn - 3}"].clear()

    def _ids(self, turn: int) -> list[str]:
        return [f"{turn}.{part}" for part, _ in enumerate(self.texts(turn))]

    def _writes(self, turn: int) -> list[PutMemory]:
        """Return two writes: the next version of a fact, and a note on the turn before."""
        tally = PutMemory(type="Fact", key="tally", value={"turn": turn})
        found = [Evidence(thread="talk", message=f"{turn - 1}.0", quote="says")]
        note = PutMemory(type="Note", key=f"{turn}", value={"on": turn}, evidence={"/on": found})
        return [tally, note]

    async def _tidy(self, store: Store, turn: int) -> AsyncIterator[None]:
        """Form what was said, let vectors come, and now and then clean the files."""
        async with self._forming:
            await store.signal(self.scope, "talk")
            yield
            lease = await store.claim(self._name)
            yield
            await form(store, lease, turn)
            yield
        scope_id = await store.scope_id(self.scope)
        batch = None if scope_id is None else await store.unembedded(scope_id, "none/1")
        if batch:
            done = [(uid, hash_, b"\0\0\x80?\1\2\3") for uid, hash_, _ in batch.entries]
            await store.keep_vectors(batch, "none/1", done)
            yield
        if turn % 20 == 9:
            await store.clean()


async def form(store: Store, lease: Lease | None, turn: int) -> None:
    """
    Form what *lease* gives right to, if it does, into one more version of a fact.

    Nothing is formed if another client, whose scope it is, erases meanwhile: the result is dropped.
    """
    if lease:
        write = PutMemory(type="Fact", key="formed", value={"turn": turn})
        watermarks = {each.thread: each.last for each in lease.threads}
        with suppress(LeaseLostError):
            await store.commit(lease, [write], Formed(watermarks=watermarks))


async def messages_of(store: Store, scope: Scope, thread: str) -> AsyncIterator[Message]:
    """Yield all messages of a thread, by position."""
    after = 0
    while page := (await store.messages(scope, thread, after=after, limit=1_000)).rows:
        for message in page:
            yield message
        after = page[-1].position


class Canary:
    """
    Words that stand nowhere else, and every form in which their bytes may outlive them.

    All words begin and end alike, around a letter that encodings disagree about, so that
    half a word is recognised in any of them.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.words = 0
        self.said = ""
        self._ends = ["".join(random.choices("bcdfghjkmnpqrtvwxz", k=9)) for _ in "<>"]
        halves = [(name, half.encode(name)) for half in self._ends for name in _ENCODINGS]
        self._forms = {form: f"a word in {encoding}" for encoding, form in halves}

    def word(self) -> str:
        """Return a new word."""
        self.words += 1
        return f"{self._ends[0]}{self.words}é{self._ends[1]}"

    def text(self, more: str = "") -> str:
        """Return a text with a new word in it, of which no hash may be left either."""
        self.said = word = self.word()
        text = f"{word} {more}".strip()
        if len(self._forms) < 50:
            hashes = decode_terms([encode_terms(word, None)]).hashes
            self._forms |= {each.tobytes(): "the hash of a term" for each in hashes}
            self._forms[text_hash(text)] = "the hash of a text"
        return text

    def is_in(self, text: str) -> bool:
        """Return True if one of the words is in *text*."""
        return any(end in text for end in self._ends)

    def found_in(self, folder: Path) -> list[str]:
        """Return where words are found in the files of *folder*: the file, and in which form."""
        found = []
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            content = path.read_bytes().strip(b"\0")
            found += [
                f"{path.name}: {what}" for form, what in self._forms.items() if form in content
            ]
        return found
