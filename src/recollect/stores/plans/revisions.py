"""Versions of a memory: its history, and the version believed at a given time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.records import Revision
from recollect.stores.digests import text_hash
from recollect.stores.plans.evidence import decode_evidence
from recollect.stores.plans.memories import optional_time, revision_row
from recollect.stores.rows import MemoryRow, RevisionRow
from recollect.stores.validation import to_datetime
from recollect.text.terms import encode_terms


def revisions_of(row: MemoryRow, past: Sequence[RevisionRow]) -> tuple[Revision, ...]:
    """Return all versions of a memory, oldest first, the current one last."""
    present = replace(revision_row(row, row.updated_at), cause=row.cause)
    versions = [_revision(each, to_datetime(each.believed_until)) for each in past]
    return (*versions, _revision(present, None))


def _revision(row: RevisionRow, until: datetime | None) -> Revision:
    return Revision(
        version=row.version,
        value=json.loads(row.value),
        text=row.text,
        valid_from=optional_time(row.valid_from),
        valid_until=optional_time(row.valid_until),
        evidence=decode_evidence(row.evidence),
        trust=row.trust,
        state=row.state,
        cause=row.cause,
        believed_from=to_datetime(row.believed_from),
        believed_until=until,
    )


def believed_at(row: MemoryRow, past: Sequence[RevisionRow], at: int) -> MemoryRow | None:
    """Return the memory as it was believed at *at*, as if it were the current version."""
    if row.updated_at <= at:
        return row
    for revision in past:
        if revision.believed_from <= at < revision.believed_until:
            return at_revision(row, revision)
    return None


def at_revision(row: MemoryRow, revision: RevisionRow) -> MemoryRow:
    """Return the row of a memory with the content of a past version."""
    return replace(
        row,
        version=revision.version,
        value=revision.value,
        text=revision.text,
        evidence=revision.evidence,
        trust=revision.trust,
        state=revision.state,
        cause=revision.cause,
        valid_from=revision.valid_from,
        valid_until=revision.valid_until,
        updated_at=revision.believed_from,
        terms=encode_terms(revision.text, None),
        text_hash=text_hash(revision.text),
    )
