"""The embedding backlog: find entries without a vector, and store the vectors made for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from recollect.records import Scope
from recollect.stores.rows import MessageRow, VectorRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Removal, Rows
from recollect.text.searchable import message_text

EMBED_ENTRIES_MAX: Final = 256
"""Entries in one batch, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unembedded:
    """
    The next entries of a scope to embed, with their texts.

    After the batch the embedder has processed all changes up to *until*. *removed* lists the
    entries removed since its last batch, unless more than ``CHANGES_FOLLOWED_MAX`` changes have
    happened since.
    """

    scope_id: int
    scope: Scope
    until: int
    entries: tuple[tuple[int, bytes, str], ...]
    """The uid, the hash of the text, and the text of each."""
    removed: tuple[int, ...] = ()
    has_more: bool = False
    """Whether the scope holds entries behind these."""


Embedded: TypeAlias = tuple[int, bytes, bytes]
"""An entry's uid, the hash of the text that was embedded, and the vector in stored form."""


def read_unembedded(rows: Rows, scope_id: int, embedder: str) -> Unembedded | None:
    """Return the next entries of a scope to embed, ``None`` if there are none."""
    scope = rows.scope_by_id(scope_id)
    after = rows.embedded_seq(scope_id, embedder)
    if scope is None or after >= scope.seq:
        return None
    # One more than a batch: the change of the first entry left out bounds what is processed.
    pending = rows.unembedded(scope_id, after, embedder, EMBED_ENTRIES_MAX + 1)
    more = len(pending) > EMBED_ENTRIES_MAX
    waiting = [uid for uid, _ in pending[:EMBED_ENTRIES_MAX]]
    until = pending[EMBED_ENTRIES_MAX][1] - 1 if more else scope.seq
    texts = [
        (row.uid, row.text_hash, searched_text(row))
        for row in rows.messages_by_uid(scope_id, waiting)
    ] + [(row.uid, row.text_hash, row.text) for row in rows.memories_by_uid(scope_id, waiting)]
    return Unembedded(
        scope_id=scope_id,
        scope=scope.segments,
        until=max(until, after),
        entries=tuple(texts),
        removed=tuple(rows.removed(scope_id, after)),
        has_more=more,
    )


def read_backlog(rows: Rows, embedder: str, limit: int) -> int:
    """Count the entries without a vector of *embedder*, up to *limit*."""
    count = 0
    for scope_id in rows.unembedded_scopes(embedder, limit):
        after = rows.embedded_seq(scope_id, embedder)
        count += len(rows.unembedded(scope_id, after, embedder, limit - count))
        if count >= limit:
            break
    return count


def searched_text(row: MessageRow) -> str:
    """Return the text of a message that is indexed and embedded."""
    content = None if row.content is None else json.loads(row.content)
    return message_text(row.text, row.name, content)


def plan_embedded(
    rows: Rows, scope_id: int, embedder: str, done: Sequence[Embedded], until: int
) -> PlannedWrite[int]:
    """Store the vectors of entries whose text has not changed, and advance their seq."""
    scope = rows.scope_by_id(scope_id)
    if scope is None:
        return PlannedWrite(NOTHING, 0)
    uids = [uid for uid, _, _ in done]
    hashes = {row.uid: row.text_hash for row in rows.messages_by_uid(scope_id, uids)}
    hashes |= {row.uid: row.text_hash for row in rows.memories_by_uid(scope_id, uids)}
    accepted = [
        VectorRow(scope_id=scope_id, uid=uid, embedder=embedder, text_hash=hash_, data=vector)
        for uid, hash_, vector in done
        if hashes.get(uid) == hash_
    ]
    # Another process may have embedded further meanwhile: never move the progress back.
    looked_at = max(until, rows.embedded_seq(scope_id, embedder))
    if accepted:
        if looked_at >= scope.seq:
            looked_at = scope.seq + 1  # the vectors' own change, which nobody has to look at
        scope = replace(scope, seq=scope.seq + 1)
    effect = Effect(
        scopes=[scope] if accepted else [],
        vectors=accepted,
        raised=[Removal(scope_id=scope_id, uid=row.uid, seq=scope.seq) for row in accepted],
        embedded=[(scope_id, embedder, looked_at)],
    )
    return PlannedWrite(effect, len(accepted))
