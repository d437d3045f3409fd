"""Find the scopes that lose words by a write, so that files derived from them are deleted too."""

from __future__ import annotations

from collections.abc import Callable

from recollect.stores.rows import MessageRow
from recollect.stores.unit_of_work import Effect, Rows


def scopes_losing_words(
    rows: Rows, effect: Effect, is_concerned: Callable[[int], bool]
) -> set[int]:
    """
    Return the ids of scopes that contain words now which *effect* removes everywhere.

    Every erase, expiry, deletion and replacement is carried out as an effect, so that this sees all
    of them. Text of a memory that stays in a revision is not lost.

    Args:
        rows: The rows before the effect is carried out.
        effect: The rows about to be written.
        is_concerned: Whether the caller has files of a scope; other scopes are skipped.
    """
    lost = {each for each in _scopes_that_shrink(effect) if is_concerned(each)}
    for scope in effect.scopes:
        if scope.id not in lost and is_concerned(scope.id):
            # A new epoch means an erase, regardless of the written rows.
            stored = rows.scope_by_id(scope.id)
            if stored is not None and stored.epoch != scope.epoch:
                lost.add(scope.id)
    replaced = {each.scope_id for each in effect.messages}
    replaced |= {each.scope_id for each in effect.memories}
    return lost | {
        each
        for each in replaced - lost
        if is_concerned(each) and _replaces_words(rows, effect, each)
    }


def _scopes_that_shrink(effect: Effect) -> set[int]:
    """Return the ids of scopes from which an effect removes rows."""
    return {
        *effect.dropped_scopes,
        *(scope_id for scope_id, _, _ in effect.dropped_revisions),
        *(scope_id for scope_id, _, _ in effect.dropped_evidence),
        *(each.scope_id for each in effect.removed),
        *(each.scope_id for each in effect.dropped_threads),
    }


def _replaces_words(rows: Rows, effect: Effect, scope_id: int) -> bool:
    """Return True if an effect overwrites a text or a speaker's name that is kept nowhere else."""
    messages = {each.uid: each for each in effect.messages if each.scope_id == scope_id}
    if any(
        _words_of(each) != _words_of(messages[each.uid])
        for each in rows.messages_by_uid(scope_id, list(messages))
    ):
        return True
    kept = {each.uid for each in effect.revisions if each.scope_id == scope_id}
    memories = {
        each.uid: each
        for each in effect.memories
        if each.scope_id == scope_id and each.uid not in kept
    }
    return any(
        each.text_hash != memories[each.uid].text_hash
        for each in rows.memories_by_uid(scope_id, list(memories))
    )


def _words_of(row: MessageRow) -> tuple[bytes, str | None, str]:
    return row.text_hash, row.name, row.session
