"""Encoding of evidence as JSON text, validated when it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from recollect.errors import UsageError
from recollect.records import Evidence, EvidenceKind, EvidenceMap, FileLines, Json, Trust
from recollect.stores.file_lines import check_file_lines
from recollect.stores.remainder import MEMORY_THREAD
from recollect.stores.validation import check_id, check_object, check_position, check_text

NO_EVIDENCE: Final = "{}"
_KINDS: Final = get_args(EvidenceKind)
_FINDINGS: Final = tuple(f'"{kind}"' for kind in _KINDS if kind != "message")
_MESSAGE_FIELDS: Final = 4
"""So many fields stored evidence has at most that names a message."""


def encode_evidence(evidence: EvidenceMap) -> str:
    """
    Return *evidence* as JSON: each pointer maps to a list of [thread, message, quote, group].

    Behind them a finding has its kind, and one in a file [path, line, last line, digest].
    """
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


def _check_evidence(each: Evidence) -> list[Json]:
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
    if each.kind == "message" and each.file is None:
        return [thread, message, quote, *([group] if group else [])]
    return [thread, message, quote, group, *_check_finding(each)]


def _check_finding(each: Evidence) -> list[Json]:
    """Return the kind of a finding, with its place if it is in a file."""
    if each.kind not in _KINDS:
        msg = f"the kind of an evidence is {each.kind!r}: give one of {', '.join(_KINDS)}"
        raise UsageError(msg)
    if (each.kind == "file") != (each.file is not None):
        msg = (
            f"evidence of the kind {each.kind!r} has file={each.file!r}: give lines to 'file' only"
        )
        raise UsageError(msg)
    if each.thread == MEMORY_THREAD:
        msg = f"a finding is made in a talk, not in {MEMORY_THREAD!r}: name the thread it is from"
        raise UsageError(msg)
    if each.file is None:
        return [each.kind]
    file = check_file_lines(each.file)
    return [each.kind, [file.path, file.line, file.last_line, file.digest]]


def decode_evidence(text: str) -> dict[str, tuple[Evidence, ...]]:
    """Return the evidence that `encode_evidence` encoded."""
    if text == NO_EVIDENCE:
        return {}
    return {
        pointer: tuple(_decoded(*each) for each in found)
        for pointer, found in json.loads(text).items()
    }


def _decoded(  # noqa: PLR0917 (as it is stored)
    thread: str,
    message: str,
    quote: str | None,
    group: int = 0,
    kind: EvidenceKind = "message",
    file: Sequence[Any] | None = None,
) -> Evidence:
    if kind == "message" and file is None:
        return Evidence(thread=thread, message=message, quote=quote, group=group)
    lines = None
    if file is not None:
        path, line, last_line, digest = file
        lines = FileLines(path=path, line=line, last_line=last_line, digest=digest)
    return Evidence(thread=thread, message=message, quote=quote, group=group, kind=kind, file=lines)


def evidence_messages(text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs in stored evidence."""
    if text == NO_EVIDENCE:
        return set()
    return {(each[0], each[1]) for found in json.loads(text).values() for each in found}


def trust_with(text: str, trust: Trust) -> Trust:
    """Return the trust of a memory that rests on stored evidence: of a finding, an agent's."""
    # A quotation mark inside a text is escaped: without these no kind is named.
    if not any(each in text for each in _FINDINGS):
        return trust
    found = (each for cited in json.loads(text).values() for each in cited)
    return "agent" if any(len(each) > _MESSAGE_FIELDS for each in found) else trust
