"""Encoding of evidence as JSON text, validated when it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.records import Evidence, EvidenceMap
from recollect.stores.validation import check_id, check_object, check_position, check_text

NO_EVIDENCE: Final = "{}"


def encode_evidence(evidence: EvidenceMap) -> str:
    """Return *evidence* as JSON: each pointer maps to a list of [thread, message, quote, group]."""
    if not isinstance(evidence, Mapping):
        msg = f"evidence maps JSON pointers to lists of Evidence; it is not {evidence!r}"
        raise UsageError(msg)
    if not evidence:
        return NO_EVIDENCE
    encoded = {
        _check_pointer(pointer): [_check_evidence(each) for each in _check_list(found)]
        for pointer, found in evidence.items()
    }
    return check_object(encoded, "a memory's evidence")


def _check_list(found: object) -> Sequence[Evidence]:
    if isinstance(found, str) or not isinstance(found, Sequence):
        msg = f"the evidence of a field is a list of Evidence, not {found!r}"
        raise UsageError(msg)
    return found


def _check_pointer(pointer: str) -> str:
    check_text(pointer, "a JSON pointer")
    if pointer and not pointer.startswith("/"):
        msg = f"{pointer!r} is not a JSON pointer: it is empty or begins with '/' (RFC 6901)"
        raise UsageError(msg)
    return pointer


def _check_evidence(each: Evidence) -> list[str | int | None]:
    if not isinstance(each, Evidence):
        msg = f"evidence is an Evidence(thread=…, message=…), not {each!r}"
        raise UsageError(msg)
    thread = check_id(each.thread, "an evidence's thread")
    message = check_id(each.message, "an evidence's message")
    quote = None if each.quote is None else check_text(each.quote, "a quote")
    group = check_position(each.group, "the group of an evidence")
    if group < 0:
        msg = f"the group of an evidence is {group}; groups begin at 1, 0 is none"
        raise UsageError(msg)
    return [thread, message, quote, *([group] if group else [])]


def decode_evidence(text: str) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence that `encode_evidence` encoded."""
    if text == NO_EVIDENCE:
        return {}
    return {
        pointer: tuple(
            Evidence(thread=t, message=m, quote=q, group=group[0] if group else 0)
            for t, m, q, *group in found
        )
        for pointer, found in json.loads(text).items()
    }


def evidence_messages(text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs in stored evidence."""
    if text == NO_EVIDENCE:
        return set()
    return {(each[0], each[1]) for found in json.loads(text).values() for each in found}
