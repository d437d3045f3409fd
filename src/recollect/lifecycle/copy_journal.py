"""The journal that a copy keeps in its destination: the source, and the scopes copied from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice
from typing import Final

from recollect.errors import ConflictError
from recollect.records import Scope
from recollect.side_records import DeleteSideRecord, PutSideRecord, SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.digests import keyed_digest
from recollect.stores.pages import each_row
from recollect.stores.plans.outside_removals import OUTSIDE_SCOPE
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX

MARK: Final[Scope] = ("recollect", "copy")
"""Scope that marks a destination as incomplete; it is removed when the copy is complete."""
JOURNAL: Final[Scope] = ("recollect", "copied")
"""Scope that records which scopes of a destination came from which source; it is never copied."""
_OWN: Final = frozenset({MARK, JOURNAL, OUTSIDE_SCOPE})
"""Scopes with a store's internal data: of copies into it, and of external vector stores."""
_MARK_KIND: Final = "Copy"
_WRITING: Final = "being written"
_BEING_FILLED: Final = (
    "the destination is being filled from another source: finish that copy, or name an empty store"
)


async def mark_destination(destination: Store, name: str) -> bool:
    """
    Mark an empty destination; return True if it is now marked as filled from the source *name*.

    Everything in a marked store came from that source.

    Raises:
        ConflictError: It is being filled from another source.
    """
    mark = PutSideRecord(kind=_MARK_KIND, key="source", value={"digest": _named(name)})
    there = await destination.side_record(MARK, _MARK_KIND, "source")
    if there is not None:
        if there.value != mark.value:
            raise ConflictError(_BEING_FILLED)
        return True
    if (await destination.scopes(limit=1)).rows:
        return False
    await destination.apply(MARK, [mark])
    return True


async def check_unmarked(destination: Store) -> None:
    """
    Check that no copy of a whole store is filling *destination*.

    Raises:
        ConflictError: One is, and would take what others write there for its own.
    """
    if await destination.side_record(MARK, _MARK_KIND, "source"):
        raise ConflictError(_BEING_FILLED)


def _named(name: str) -> str:
    return blake2b(name.encode(), digest_size=16).hexdigest()


async def each_scope(store: Store, prefix: Scope = ()) -> AsyncIterator[Scope]:
    """Yield each scope in and below *prefix* with data, in order, except the store's own."""
    pages = partial(store.scopes, prefix=prefix, limit=PAGE_ROWS_MAX)
    async for scope in each_row(lambda cursor: pages(cursor=cursor)):
        if scope not in _OWN:
            yield scope


@dataclass(slots=True, kw_only=True)
class CopyJournal:
    """
    The scopes of a destination that came from one source, and their content at that time.

    Scope and content are recorded as keyed digests, in one side record per scope. A scope is
    recorded before it is written, so that a run after a crash recognises it.
    """

    destination: Store
    source: str
    key: bytes = field(repr=False)
    noted: dict[str, str]
    found: dict[str, str] = field(default_factory=dict)
    """Contents that this pass found equal to the source's."""

    def __contains__(self, scope: Scope) -> bool:
        return self._place(scope) in self.noted

    def is_untouched(self, scope: Scope, content: str) -> bool:
        """Return True if *content* is what the copy left in *scope*, or the copy was writing it."""
        return self.noted.get(self._place(scope)) in (_WRITING, self._seal(content))

    def begin_pass(self) -> None:
        """Reset the findings of an earlier pass."""
        self.found = {}

    def find(self, scope: Scope, content: str) -> None:
        """Record that *scope* has *content* in both stores."""
        self.found[self._place(scope)] = self._seal(content)

    async def begin(self, scope: Scope) -> None:
        """Record that *scope* is being written: until it is found equal, the copy owns its data."""
        place = self._place(scope)
        if self.noted.get(place) != _WRITING:
            await self._write([self._put(place, _WRITING)])
            self.noted[place] = _WRITING

    async def store_findings(self) -> None:
        """Store the findings of the last pass, even of one that ended early."""
        changed = {at: held for at, held in self.found.items() if self.noted.get(at) != held}
        await self._write([self._put(at, held) for at, held in changed.items()])
        self.noted |= changed

    async def drop_others(self) -> None:
        """Drop the records of scopes that the last pass did not find in the source."""
        await self._drop(self.noted.keys() - self.found)

    async def drop(self, scopes: Iterable[Scope]) -> None:
        """Drop the records of those of *scopes* that the last pass did not find in the source."""
        places = {self._place(each) for each in scopes}
        await self._drop((places & self.noted.keys()) - self.found.keys())

    async def _drop(self, gone: Collection[str]) -> None:
        await self._write([DeleteSideRecord(kind=self.source, key=at) for at in gone])
        self.noted = {at: held for at, held in self.noted.items() if at not in gone}

    def _put(self, place: str, held: str) -> PutSideRecord:
        return PutSideRecord(kind=self.source, key=place, value={"holds": held})

    async def _write(self, writes: Sequence[SideWrite]) -> None:
        for batch in _batches(writes):
            await self.destination.apply(JOURNAL, batch)

    def _place(self, scope: Scope) -> str:
        return keyed_digest(self.key, "scope", scope).hex()

    def _seal(self, content: str) -> str:
        return keyed_digest(self.key, "content", content).hex()


async def read_journal(destination: Store, source: str) -> CopyJournal:
    """Return the journal of copies from *source*, the digest that identifies that store."""
    key = bytes.fromhex(await destination.digest_of("copies from", source))
    found = each_row(
        lambda cursor: destination.side_records(JOURNAL, source, cursor=cursor, limit=PAGE_ROWS_MAX)
    )
    noted = {each.key: str(each.value["holds"]) async for each in found}
    return CopyJournal(destination=destination, source=source, key=key, noted=noted)


def _batches(writes: Sequence[SideWrite]) -> Iterator[list[SideWrite]]:
    left = iter(writes)
    while batch := list(islice(left, WRITES_MAX)):
        yield batch
