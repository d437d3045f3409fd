"""Draft a case from a past formation, or from a memory and its correction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.errors import NotFoundError, UsageError
from recollect.evaluation.case_drafts import BUILTIN, CaseDraft, ThreadExcerpt
from recollect.evaluation.case_entries import (
    Entry,
    after_correction,
    after_formation,
    ended_entry,
    shown_memories,
)
from recollect.evaluation.cases import objects_in
from recollect.formation.types import MemoryType
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_message
from recollect.records import Formation, JsonObject, Revision, Scope
from recollect.stores.field_evidence import each_evidence
from recollect.stores.pages import each_row
from recollect.stores.provenance import cited_message

CONTEXT_MESSAGES: Final = 4
"""Messages before the formed ones that a case includes as context."""
_PAGE: Final = 500
_FORMED: Final = ("formed", "merged")


async def draft_of_formation(
    memory: Recollect, scope: Scope, formation_id: str, *, types: Sequence[MemoryType] = ()
) -> CaseDraft:
    """
    Return a case that demands the outcomes of a formation, from the same messages and memories.

    Raises:
        NotFoundError: There is no such formation, or its messages are gone.
        UsageError: It formed nothing, its receipt was blanked, or a type is unknown.
    """
    formation = await memory.formation(scope, formation_id)
    if formation is None:
        raise NotFoundError(f"there is no formation {formation_id!r} in this scope")
    outcomes = objects_in(formation.receipt.get("outcomes"))
    if formation.status != "formed" or not outcomes:
        msg = f"the formation {formation_id!r} ({formation.status}) has no outcomes to expect"
        raise UsageError(msg)
    excerpts = [
        await _excerpt_of_formation(memory, scope, formation, thread)
        for thread in formation.watermarks
    ]
    draft = CaseDraft(
        name=f"formation {formation.id}",
        types=(),
        excerpts=tuple(each for each in excerpts if each.new),
        memories=tuple(shown_memories(formation.receipt)),
    )
    if not draft.excerpts:
        msg = f"the messages of the formation {formation_id!r} are gone: a case needs them"
        raise NotFoundError(msg)
    return await _with_outcomes(draft, memory, formation, outcomes, types)


async def _with_outcomes(
    draft: CaseDraft,
    memory: Recollect,
    formation: Formation,
    outcomes: Sequence[JsonObject],
    types: Sequence[MemoryType],
) -> CaseDraft:
    """Return *draft* with expectations derived from a formation's outcomes."""
    known = _types([*draft.memories, *outcomes], types)
    musts: list[Entry] = []
    must_nots: list[Entry] = []
    for each in outcomes:
        type_, key = known[str(each["type"])], str(each["key"])
        history = await memory.history(formation.scope, type_.name, key)
        at = next(
            (n for n, found in enumerate(history) if found.believed_from == formation.at), None
        )
        if at is None:
            continue
        if each["action"] == "ended":
            musts.append(ended_entry(type_, history[at]))
        elif each["action"] in {"stored", "changed"}:
            before = history[at - 1] if at else None
            found = after_formation(type_, before, history[at], draft.messages)
            musts += found.must
            must_nots += found.must_not
    expectations = {"must": musts, "must_not": must_nots}
    return replace(draft, types=tuple(known.values()), expectations=expectations)


async def draft_of_memory(
    memory: Recollect, scope: Scope, type_name: str, key: str, *, types: Sequence[MemoryType] = ()
) -> CaseDraft:
    """
    Return a case that demands a memory as it is now, from the messages that it cites.

    Values that were corrected or rejected since it was formed must not be remembered.

    Raises:
        NotFoundError: There is no such memory, or the messages it cites are gone.
        UsageError: Its type is unknown.
    """
    history = await memory.history(scope, type_name, key)
    formed = [n for n, each in enumerate(history) if each.cause.startswith(_FORMED)]
    if not formed:
        msg = f"there is no memory {type_name}/{key} that was formed from a conversation"
        raise NotFoundError(msg)
    at = formed[-1]
    type_ = _types([{"type": type_name}], types)[type_name]
    before = history[at - 1] if at else None
    excerpts = await _excerpts_of_revision(memory, scope, history[at], before)
    if not excerpts:
        msg = f"the messages that {type_name}/{key} cites are gone: a case needs them"
        raise NotFoundError(msg)
    draft = CaseDraft(name=f"memory {type_name}/{key}", types=(type_,), excerpts=excerpts)
    found = after_correction(type_, before, (history[at], history[-1]), draft.messages)
    standing: tuple[Entry, ...] = ({"type": type_name, "value": before.value},) if before else ()
    expectations = {"must": found.must, "must_not": found.must_not}
    return replace(draft, memories=standing, expectations=expectations)


def _types(named: Sequence[JsonObject], given: Sequence[MemoryType]) -> dict[str, MemoryType]:
    """Return the types in *named* records; types *given* take precedence over built-in ones."""
    known = {**BUILTIN, **{each.name: each for each in given}}
    names = list(dict.fromkeys(str(each["type"]) for each in named))
    unknown = [name for name in names if name not in known]
    if unknown:
        msg = f"the memory type {unknown[0]!r} is not built in: give the file of your types"
        raise UsageError(msg)
    return {name: known[name] for name in names}


async def _excerpt_of_formation(
    memory: Recollect, scope: Scope, formation: Formation, thread: str
) -> ThreadExcerpt:
    """Return the messages that a formation formed in a thread, and those before."""
    after = await _formed_before(memory, scope, formation, thread)
    page = await memory.messages(scope, thread, after=after, limit=_PAGE)
    before = await memory.last_messages(scope, thread, limit=CONTEXT_MESSAGES, before=after + 1)
    reached = formation.watermarks[thread]
    new = tuple(each for each in page.rows if each.position <= reached)
    return ThreadExcerpt(thread=thread, before=before, new=new)


async def _formed_before(memory: Recollect, scope: Scope, formation: Formation, thread: str) -> int:
    is_earlier = False
    async for each in each_row(lambda cursor: memory.formations(scope, cursor=cursor, limit=_PAGE)):
        if is_earlier and thread in each.watermarks:
            return each.watermarks[thread]
        is_earlier = is_earlier or each.id == formation.id  # newest first: the rest is earlier
    return 0


async def _excerpts_of_revision(
    memory: Recollect, scope: Scope, revision: Revision, before: Revision | None
) -> tuple[ThreadExcerpt, ...]:
    """Return the messages that *revision* cites and the version *before* it does not."""
    old = set(_cited(before)) if before else set()
    wanted: dict[str, set[str]] = {}
    for thread, message in _cited(revision):
        if (thread, message) not in old:
            wanted.setdefault(thread, set()).add(message)
    found = [await _excerpt_with(memory, scope, thread, ids) for thread, ids in wanted.items()]
    return tuple(each for each in found if each.new)


def _cited(revision: Revision) -> Iterator[tuple[str, str]]:
    return map(cited_message, each_evidence(revision.evidence))


async def _excerpt_with(
    memory: Recollect, scope: Scope, thread: str, ids: set[str]
) -> ThreadExcerpt:
    """Return the messages of a thread from the first to the last of *ids*."""
    rows = [each async for each in each_message(memory, scope, thread)]
    places = [at for at, each in enumerate(rows) if each.id in ids]
    if not places:
        return ThreadExcerpt(thread=thread, before=(), new=())
    first, last = places[0], places[-1]
    before = tuple(rows[max(0, first - CONTEXT_MESSAGES) : first])
    return ThreadExcerpt(thread=thread, before=before, new=tuple(rows[first : last + 1]))
