"""The profile of a context: the active documents, shortened to the fields that fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.recall.citation_handles import Handles
from recollect.recall.context import ProfileDocument
from recollect.recall.context_plan import ContextPlan, TokenRoom, memory_name
from recollect.recall.context_text import profile_heading, safe_lines
from recollect.recall.field_changes import FieldChange
from recollect.recall.memory_sentences import WAITING, day_of
from recollect.records import Json, Memory, Revision
from recollect.text.analysis import terms_of
from recollect.text.searchable import memory_text

PROFILE_SHARE: Final = 0.5
"""Share of the budget that a profile may take if entries bear on the query as well."""


def profile_documents(
    plan: ContextPlan,
    documents: Sequence[Memory],
    handle: Handles,
    room: TokenRoom,
    *,
    is_alone: bool,
) -> Iterator[ProfileDocument]:
    """
    Yield each document with the fields that fit, and charge them to *room*.

    Fields that share words with the query are preferred; those shown keep their order.
    """
    share = room.tokens if is_alone else int(room.tokens * PROFILE_SHARE)
    asked = set(terms_of(plan.query))
    for memory in documents:
        name = handle.of(memory.scope, f"{memory.type}/{memory.key}")
        heading = room.count(profile_heading(name, memory, chinese=plan.is_chinese) + "\n")
        left = min(share, room.tokens) - heading
        former = plan.former.get(memory_name(memory))
        lines = [_field_line(plan, memory, each, former) for each in memory.value]
        lines = [each for each in lines if each]
        kept = set[int]()
        spent = 0
        for at in sorted(
            range(len(lines)), key=lambda at: (-len(asked & set(terms_of(lines[at]))), at)
        ):
            cost = room.count(lines[at] + "\n")
            if spent + cost <= left:
                spent += cost
                kept.add(at)
        if not kept:
            continue
        cost = spent + heading
        share -= cost
        room.tokens -= cost
        yield ProfileDocument(
            handle=name,
            memory=memory,
            fields=tuple(lines[at] for at in sorted(kept)),
            is_excerpt=len(kept) < len(lines),
            tokens=cost,
        )


def _listed(value: Json) -> Json:
    """Join a list of texts by semicolons if one has a comma; return other values as they are."""
    if not isinstance(value, list | tuple):
        return value
    texts = [each for each in value if isinstance(each, str)]
    has_commas = any(re.search("[,，]", each) for each in texts)
    return "; ".join(texts) if has_commas and len(texts) == len(value) else value


def _change_note(change: FieldChange, *, chinese: bool) -> str:
    """Return the days of a change, as they stand before the former value."""
    since = day_of(change.since, chinese=chinese) if change.since else ""
    until = day_of(change.until, chinese=chinese) if change.until else ""
    ended = f"至{until}" if chinese else f"until {until}"
    if not until or until == since:
        ended = "之前" if chinese else "before"
    begun = f"自{since}；" if chinese else f"since {since}; "
    return f"{begun}{ended}" if since else ended


def _field_line(plan: ContextPlan, memory: Memory, name: str, former: Revision | None) -> str:
    """
    Return the line of a field, marked if a change of it waits for review.

    It includes the field's previous value and when that ended, if *former* has one.
    """
    value, chinese = memory.value[name], plan.is_chinese
    words = memory_text({name: _listed(value)})
    before = former.value.get(name) if former else None
    if isinstance(before, list | tuple) and isinstance(value, list | tuple):
        before = [each for each in before if each not in value] or None
    if words and former and before not in (None, value):
        changes = plan.changes.get(memory_name(memory), {})
        change = changes.get(name) or FieldChange(until=former.valid_until or memory.updated_at)
        was = memory_text({"": before}).removeprefix(": ")
        words += f" ({_change_note(change, chinese=chinese)}: {was})"
    waiting = plan.waiting.get(memory_name(memory), ())
    if words and name in waiting:
        words += f" ({WAITING[chinese]})"
    return f"- {safe_lines(words)}" if words else ""
