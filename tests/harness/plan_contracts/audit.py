"""Decisions on the audit: what is recorded, and how tampering is detected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Final, TypeVar, cast

import pytest

from recollect.errors import UsageError
from recollect.stores.contract.base import ActingStore, Store
from recollect.stores.plans.audit import hash_of
from recollect.stores.rows import AuditRow
from recollect.stores.unit_of_work import Query, Rows
from recollect.testing.contract_audit import (
    KEY,
    actions,
    four_changes,
)
from recollect.testing.contract_base import (
    ADA,
    BOB,
    Contract,
    fact,
    tell,
)

ResultT = TypeVar("ResultT")
Tampering = Callable[[list[AuditRow]], list[AuditRow]]


def _changed(rows: list[AuditRow], **change: Any) -> list[AuditRow]:
    """Change the second row, and recompute its hash."""
    row = replace(rows[1], **change)
    return [rows[0], replace(row, hash=hash_of(row)), *rows[2:]]


def _renumbered(rows: list[AuditRow]) -> list[AuditRow]:
    return [replace(row, n=number) for number, row in enumerate(rows, 1)]


def _chained(rows: list[AuditRow]) -> list[AuditRow]:
    """Renumber and rechain rows, as an attacker who knows the hash would."""
    found: list[AuditRow] = []
    for row in _renumbered(rows):
        previous = found[-1].hash if found else rows[0].previous
        chained = replace(row, previous=previous)
        found.append(replace(chained, hash=hash_of(chained)))
    return found


TAMPERINGS: Final[dict[str, tuple[int, Tampering]]] = {
    "an action is changed": (2, lambda rows: [rows[0], replace(rows[1], action="x"), *rows[2:]]),
    "a time is changed": (2, lambda rows: [rows[0], replace(rows[1], at=1), *rows[2:]]),
    "a subject is changed": (2, lambda rows: [rows[0], replace(rows[1], subject="{}"), *rows[2:]]),
    "a digest is changed": (2, lambda rows: [rows[0], replace(rows[1], digest=b"x"), *rows[2:]]),
    "an actor is changed": (2, lambda rows: [rows[0], replace(rows[1], actor="eve"), *rows[2:]]),
    "an actor is another without a name": (
        2,
        lambda rows: [rows[0], replace(rows[1], actor=None, actor_key=b"eve"), *rows[2:]],
    ),
    "an actor's key is changed": (
        2,
        lambda rows: [rows[0], replace(rows[1], actor_key=b"eve"), *rows[2:]],
    ),
    "a row and its hash are changed": (3, lambda rows: _changed(rows, action="x")),
    "the first row is gone": (1, lambda rows: rows[1:]),
    "a row is gone": (2, lambda rows: [rows[0], *rows[2:]]),
    "a row is gone, the others renumbered": (2, lambda rows: _renumbered([rows[0], *rows[2:]])),
    "a row is gone, the others chained anew": (4, lambda rows: _chained([rows[0], *rows[2:]])),
    "a row is inserted": (2, lambda rows: _renumbered([rows[0], *rows])),
    "a row is inserted, the others chained anew": (5, lambda rows: _chained([rows[0], *rows])),
    "two rows are exchanged": (2, lambda rows: _renumbered([rows[0], rows[2], rows[1], rows[3]])),
    "the tail is cut off": (4, lambda rows: rows[:-1]),
    "all rows are gone": (1, lambda _: []),
    "a row is added": (5, lambda rows: _chained([*rows, rows[0]])),
    "the last row is changed with its hash": (
        4,
        lambda rows: [*rows[:-1], _chained([*rows[:-1], replace(rows[-1], action="x")])[-1]],
    ),
}


class TamperedStore(ActingStore):
    """A store whose audit rows appear tampered with."""

    def __init__(self, store: Store, tampering: Tampering) -> None:
        super().__init__(store, KEY)
        self._tampering = tampering

    async def _read(self, query: Query[ResultT]) -> ResultT:
        def tampered(rows: Rows) -> ResultT:
            return query(cast("Rows", _TamperedRows(rows, self._tampering)))

        return await super()._read(tampered)


class _TamperedRows:
    def __init__(self, rows: Rows, tampering: Tampering) -> None:
        self._rows = rows
        self._tampering = tampering

    def __getattr__(self, name: str) -> object:
        return getattr(self._rows, name)

    def audit(self, chain: bytes, after: int, limit: int) -> Sequence[AuditRow]:
        whole = self._tampering(list(self._rows.audit(chain, 0, 1_000)))
        return [row for row in whole if row.n > after][:limit]


class AuditPlanContract(Contract):
    """Auditing the changes of an actor."""

    async def test_each_version_has_a_digest_of_its_own(self, store: Store) -> None:
        """The next version of a memory is another writing, be its value the same."""
        acting = store.acting(KEY)
        await acting.apply(ADA, [fact("home")])
        await acting.apply(ADA, [fact("home")])

        one, other = (await store.audit(ADA)).rows

        assert one.digest != other.digest
        assert one.subject == other.subject

    async def test_an_actor_has_a_name(self, store: Store) -> None:
        """actor: Identifies who is responsible, such as the id of an API key; not a secret."""
        for nobody in ("", None, 7, "a\0b"):
            with pytest.raises(UsageError):
                store.acting(nobody)  # type: ignore[arg-type]

        await tell(store.acting("one").acting("other"), "m1")

        assert [("other", "append")] == await actions(store)

    @pytest.mark.parametrize("tampering", TAMPERINGS)
    async def test_tampering_is_found(self, store: Store, tampering: str) -> None:
        """Detects rows that were changed, removed, inserted or cut off the end."""
        await four_changes(store)
        row, tamper = TAMPERINGS[tampering]

        verdict = await TamperedStore(store, tamper).verify_audit(ADA)

        assert (False, row) == (verdict.ok, verdict.broken_at), verdict.reason

    async def test_every_field_counts(self, store: Store) -> None:
        """No field of a row can be another one, but the name of an actor, which an erase takes."""
        await four_changes(store)
        unnoticed = []
        for field in fields(AuditRow):
            for value in (b"x", "x", 7, None):

                def tamper(
                    rows: list[AuditRow], name: str = field.name, value: object = value
                ) -> list[AuditRow]:
                    is_like = type(getattr(rows[1], name)) is type(value)
                    change: dict[str, Any] = {name: value if is_like else None}
                    if None in change.values() and name != "actor":
                        return []
                    return [rows[0], replace(rows[1], **change), *rows[2:]]

                if (await TamperedStore(store, tamper).verify_audit(ADA)).ok:
                    unnoticed.append((field.name, value))

        assert {"actor", "chain"} >= {name for name, _ in unnoticed}

    async def test_a_head_kept_elsewhere_finds_a_chain_written_anew(self, store: Store) -> None:
        """Who can write to the files can forge a whole chain: keep a recent hash elsewhere."""
        await four_changes(store)
        whole = await store.verify_audit(ADA)
        assert whole.head is not None
        forged = (whole.rows, "0" * 64)

        kept = await store.verify_audit(ADA, noted=(whole.rows, whole.head))
        other = await store.verify_audit(ADA, noted=forged)
        gone = await store.verify_audit(BOB, noted=forged)

        assert (True, 4, 1) == (kept.ok, other.broken_at, gone.broken_at)

    async def test_a_noted_row_need_not_be_the_last(self, store: Store) -> None:
        """noted: Number and hash of a row kept elsewhere, which the chain must still contain."""
        acting = await four_changes(store)
        whole = await store.verify_audit(ADA)
        assert whole.head is not None
        await tell(acting, "m9")

        assert (await store.verify_audit(ADA, noted=(whole.rows, whole.head))).ok
