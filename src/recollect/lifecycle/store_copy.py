"""Copy a store into another, of any kinds: resumable, verified, and while the source is in use."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from recollect.errors import ConflictError, StoreCorruptError, StoreError, UsageError
from recollect.lifecycle.copy_journal import (
    MARK,
    CopyJournal,
    check_unmarked,
    each_scope,
    mark_destination,
    read_journal,
)
from recollect.lifecycle.erased_records import Doomed, Erasures, ScopeErasures, note_erased
from recollect.observability.logs import package_logger, summary_of
from recollect.records import JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.archive import RESTORE_RECORDS
from recollect.stores.plans.erase_ledger import LedgerEntry, erases_below, named_in
from recollect.stores.plans.idempotency_archive import requests_among
from recollect.text.scope_paths import written_scope
from recollect.wire.record_digests import Digest, digests_of

LOG: Final = package_logger("recollect.lifecycle.store_copy")
PASSES_MAX: Final = 5
"""Maximum of passes over the source; each copies the writes made during the one before."""
_Archives: TypeAlias = tuple[list[JsonObject], list[JsonObject]]

CopyProgress: TypeAlias = Callable[[int, int, int], None]
"""Called after each scope with the number of the pass, of its scopes, and of written records."""


def _content_of(digests: Counter[int]) -> str:
    found = Digest()
    found.take(digests)
    return f"{found.count}:{found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """
    The result of a copy.

    *source* and *destination* are digests of all records, read from each store in the last pass.
    They are equal unless the source was written to during that pass; then *behind* counts the
    scopes that had changed since the previous pass and were copied again.
    """

    scopes: int
    records: int
    written: int
    passes: int
    source: str
    destination: str
    behind: int
    erases: int

    @property
    def is_verified(self) -> bool:
        """Whether a whole pass found both stores equal."""
        return self.source == self.destination and not self.behind


@dataclass(slots=True, kw_only=True)
class _Copying:
    """The state of one run of a copy."""

    source: Store
    destination: Store
    prefix: Scope
    """The scopes from here down are copied; all, if it is empty."""
    journal: CopyJournal
    owns: bool
    """Whether everything in the destination came from the source."""
    replaces: bool
    """Whether other data in the destination's scopes may be replaced by the source's."""
    progress: CopyProgress
    carries_keys: bool = False
    """Whether the destination can recognise the idempotency keys of the source."""
    erased: Erasures = field(default_factory=lambda: Erasures(()))
    """Erasures of the destination alone: copying must not bring such records back."""
    written: int = 0
    passes: int = 0
    behind: int = 0
    scopes: int = 0
    gone: set[Scope] = field(default_factory=set)
    """Scopes that a pass found only at the destination."""
    digests: tuple[Digest, Digest] = field(default_factory=lambda: (Digest(), Digest()))

    async def repeat_passes(self, *, was_empty: bool) -> int:
        """Run passes until one finds nothing to copy; return how many erases were copied."""
        known = {each.id for each in await self.destination.ledger()}
        erases = 0
        while self.passes < PASSES_MAX:
            # Read before the pass, which then cannot copy any data that these erases name.
            since = [
                each for each in await _erases(self.source, self.prefix) if each.id not in known
            ]
            await self.run_pass(since)
            # Only an empty store in its first pass cannot have held bytes of the erased data.
            never_here = was_empty and self.passes == 1
            erases += await self.destination.adopt(since, unclean=not never_here)
            known |= {each.id for each in since}
            if not self.behind:
                await self.finish()
                break
        return erases

    async def run_pass(self, since: Sequence[LedgerEntry]) -> None:
        """
        Read the whole source once, and copy missing or different records.

        Data that the source no longer has is removed from the destination if it came from there;
        *since* lists erases that the destination does not know.
        """
        self.passes += 1
        self.behind = self.scopes = 0
        self.digests = (Digest(), Digest())
        self.journal.begin_pass()
        try:
            await self._compare(since)
        finally:  # also after an error, so that the next run recognises what was copied
            await self.journal.store_findings()

    async def _compare(self, since: Sequence[LedgerEntry]) -> None:
        seen: set[Scope] = set()
        async with aclosing(self._read_ahead()) as reading:
            async for scope, (wanted, there) in reading:
                seen.add(scope)
                self.scopes += 1
                await self._copy_scope(scope, wanted, there)
                self.progress(self.passes, self.scopes, self.written)
        async for scope in each_scope(self.destination, self.prefix):
            if scope not in seen:
                self.gone.add(scope)
                await self._follow(scope, since)
        # Keys of scopes that were erased do not tell of which: without them, a retry that reaches
        # the destination would write erased words again. A scope's own keys come before these.
        await self._carry_keys(None, ())

    async def _read_ahead(self) -> AsyncGenerator[tuple[Scope, _Archives]]:
        """Yield each scope of the source as both hold it; the next is read while one is used."""
        one, other = self.source, self.destination
        ahead: tuple[Scope, asyncio.Task[_Archives]] | None = None
        try:
            async for scope in each_scope(one, self.prefix):
                reading = asyncio.create_task(_both_archives(one, other, scope))
                ready, ahead = ahead, (scope, reading)
                if ready is not None:
                    yield ready[0], await ready[1]
            if ahead is not None:
                yield ahead[0], await ahead[1]
        finally:
            if ahead is not None:
                ahead[1].cancel()
                await asyncio.gather(ahead[1], return_exceptions=True)

    async def finish(self) -> None:
        """Forget scopes that the source no longer has, and that an empty store was being filled."""
        if self.prefix:
            await self.journal.drop(self.gone)
            return
        await self.journal.drop_others()
        await self.destination.vacate(MARK)

    async def _carry_keys(self, scope: Scope | None, records: Sequence[JsonObject]) -> None:
        """Copy the keys of the requests that wrote *records*, those of a scope."""
        if not self.carries_keys:
            return
        if requests := requests_among(await self.source.requests(scope), records):
            await self.destination.adopt_requests(scope, requests)

    async def _copy_scope(
        self, scope: Scope, wanted: Sequence[JsonObject], there: Sequence[JsonObject]
    ) -> None:
        digests, found = digests_of(wanted), digests_of(there)
        if digests != found:
            self.behind += 1
            await self._make_way(scope, wanted, found, others=(found - digests).total())
            for start in range(0, len(wanted), RESTORE_RECORDS):
                part = wanted[start : start + RESTORE_RECORDS]
                self.written += await self.destination.restore(scope, part)
            found = digests_of(await self.destination.archive(scope))
            if digests != found:
                raise StoreCorruptError(
                    f"the scope {written_scope(scope)} differs after it was copied: another "
                    "program writes to the destination; stop it, and copy again"
                )
        if wanted:
            await self._carry_keys(scope, wanted)
            self.journal.find(scope, _content_of(found))
        self.digests[0].take(digests)
        self.digests[1].take(found)

    async def _make_way(
        self, scope: Scope, wanted: Sequence[JsonObject], found: Counter[int], *, others: int
    ) -> None:
        """Empty *scope* in the destination if it holds other data, or raise if it may not."""
        is_untouched = self.journal.is_untouched(scope, _content_of(found))
        if not (self.owns or self.replaces or is_untouched):
            self._check_free(scope, others)
        self._check_erased(scope, wanted)
        if not self.owns:
            # Before the first write: after a crash, half a scope is known to be the copy's own.
            await self.journal.begin(scope)
        if others:
            await self.destination.vacate(scope)

    def _check_erased(self, scope: Scope, wanted: Sequence[JsonObject]) -> None:
        doomed = Doomed()
        if self.erased:
            note_erased(ScopeErasures(self.erased, scope), wanted, doomed)
        if doomed:
            raise ConflictError(
                f"the scope {written_scope(scope)} holds data at the source that was erased at the "
                "destination: erase it at the source as well, or restore it (--restore-erased)"
            )

    def _check_free(self, scope: Scope, others: int) -> None:
        if scope in self.journal:
            raise ConflictError(
                f"the scope {written_scope(scope)} was written or erased at the destination since "
                "it was copied there: copy into an empty store, or replace it (--replace)"
            )
        if others:
            raise ConflictError(
                f"the scope {written_scope(scope)} has {others} records at the destination that "
                "differ from the source or are not there: copy into an empty store, or replace "
                "them (--replace)"
            )

    async def _follow(self, scope: Scope, since: Sequence[LedgerEntry]) -> None:
        """Remove data from the destination's *scope* that the source no longer has."""
        if self.owns or scope in self.journal:
            await self._copy_scope(scope, (), await self.destination.archive(scope))
        elif since:
            targets = named_in(since, await self.destination.archive(scope))
            if targets and not self.replaces:
                raise ConflictError(
                    f"the scope {written_scope(scope)} holds data at the destination that was "
                    "erased at the source: erase it there, or let the copy do that (--replace)"
                )
            self.behind += bool(targets)
            for target in targets:
                await self.destination.erase(scope, target)


async def copy_store(
    source: Store,
    destination: Store,
    *,
    scope: Scope = (),
    replace: bool = False,
    restore_erased: bool = False,
    progress: CopyProgress = lambda *_: None,
) -> Copied:
    """
    Copy *source* to *destination*, scope by scope, each from one snapshot.

    It may be killed at any time and called again: data already copied is not written again. The
    source may be written to meanwhile; passes repeat until nothing has changed. Calling it again
    later updates the data that came from this source, including removals and erases; the
    destination records its origin by scope. Vectors are not copied: they are computed when the
    destination is opened. The erase ledger is copied, and so are the idempotency keys, if the
    destination was empty before the first copy. At most two scopes are held in memory at a time,
    each twice, and two digests per scope.

    Args:
        scope: Copy this scope and those below it only, and the erases in them.
        replace: Replace other data, scope by scope, in a destination that was not empty or was used
            since; erases of the source are applied. Scopes that the source does not have, and that
            did not come from it, are left alone.
        restore_erased: Restore data that was erased at the destination.

    Raises:
        ConflictError: The destination holds other records in a scope of the source, was used in one
            since it was copied, holds data erased at the source, or has erased data that the source
            holds.
        UsageError: The source is itself the destination of an unfinished copy.
        StoreError: One of the stores failed; call again to continue.
    """
    if await source.archive(MARK):
        msg = "the source is itself the destination of an unfinished copy: finish that first"
        raise UsageError(msg)
    was_empty = not (await destination.scopes(limit=1)).rows
    carries_keys = await _share_secret(source, destination, was_empty=was_empty)
    copying = await _begun(source, destination, progress, scope=scope, replaces=replace)
    copying.carries_keys = carries_keys
    if not restore_erased:
        everywhere = [*await source.ledger(), *await _erases(source, scope)]
        copying.erased = Erasures(await unknown_erases(destination, everywhere))
    erases = await copying.repeat_passes(was_empty=was_empty)
    await try_clean(destination)
    return Copied(
        scopes=copying.scopes,
        records=copying.digests[0].count,
        written=copying.written,
        passes=copying.passes,
        source=str(copying.digests[0]),
        destination=str(copying.digests[1]),
        behind=copying.behind,
        erases=erases,
    )


async def _erases(source: Store, scope: Scope) -> list[LedgerEntry]:
    """Return the erases to copy: all, or those in and below *scope*."""
    ledger = await source.ledger()
    return erases_below(ledger, scope) if scope else ledger


async def _begun(
    source: Store, destination: Store, progress: CopyProgress, *, scope: Scope, replaces: bool
) -> _Copying:
    """Return a run of a copy; mark an empty destination of a whole store as being filled."""
    name = await source.digest_of("source of copies")
    if scope:
        await check_unmarked(destination)
    return _Copying(
        source=source,
        destination=destination,
        prefix=scope,
        owns=False if scope else await mark_destination(destination, name),
        journal=await read_journal(destination, name),
        replaces=replaces,
        progress=progress,
    )


async def _share_secret(source: Store, destination: Store, *, was_empty: bool) -> bool:
    """Return True if both have the same digest secret; an empty destination adopts the source's."""
    secret = await source.digest_secret()
    if secret == await destination.digest_secret():
        return True
    return was_empty and await destination.adopt_secret(secret)


async def unknown_erases(store: Store, known: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Return the entries of *store*'s erase ledger that are not among *known*."""
    ids = {each.id for each in known}
    return [each for each in await store.ledger() if each.id not in ids]


async def _both_archives(one: Store, other: Store, scope: Scope) -> _Archives:
    """Read a scope of two stores concurrently."""
    # With *return_exceptions*, an error of one read does not leave the other running.
    first, second = await asyncio.gather(
        one.archive(scope), other.archive(scope), return_exceptions=True
    )
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


async def content_digest(store: Store) -> Digest:
    """Return the digest of all records of a store, each scope read at one point in time."""
    found = Digest()
    async for scope in each_scope(store):
        found.add(await store.archive(scope))
    return found


async def try_clean(store: Store) -> None:
    """Remove the bytes of deleted data now if possible; otherwise a later `clean` does."""
    try:
        await store.clean()
    except StoreError as error:  # another process reads, or the disk is full: the copy is complete
        LOG.warning("the bytes of deleted data are still there: %s", summary_of(error))
