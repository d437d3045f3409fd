"""Encoding of evidence as JSON text, validated when it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from recollect.errors import UsageError
from recollect.records import Evidence, EvidenceKind, EvidenceMap, FileLines, Json, Trust
from recollect.stores.file_lines import check_file_lines
from recollect.stores.remainder import MEMORY_THREAD, SOURCE_THREAD
from recollect.stores.validation import check_id, check_object, check_position, check_text

NO_EVIDENCE: Final = "{}"
_KINDS: Final = get_args(EvidenceKind)
_FINDINGS: Final = tuple(f'"{kind}"' for kind in _KINDS if kind != "message")
_MESSAGE_FIELDS: Final = 4
"""So many fields stored evidence has at most that names a message."""
_SOURCE_PLACE: Final = 6
"""At this place stored evidence has the source of a finding."""


def encode_evidence(evidence: EvidenceMap) -> str:
    """
    Return *evidence* as JSON: each pointer maps to a list of [thread, message, quote, group].

    Behind them a finding has its kind; [path, line, last line, digest] of a file, or null; and its
    source. What it has not, is left out at the end.
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
    if each.kind == "message" and each.file is None and each.source is None:
        return [thread, message, quote, *([group] if group else [])]
    return [thread, message, quote, group, *_check_finding(each)]


def _check_finding(each: Evidence) -> list[Json]:
    """Return the kind of a finding, its place if it is in a file, and its source if it has one."""
    if each.kind not in _KINDS:
        msg = f"the kind of an evidence is {each.kind!r}: give one of {', '.join(_KINDS)}"
        raise UsageError(msg)
    if (each.kind == "file") != (each.file is not None):
        msg = (
            f"evidence of the kind {each.kind!r} has file={each.file!r}: give lines to 'file' only"
        )
        raise UsageError(msg)
    if each.kind == "message":
        msg = f"evidence of a message has source={each.source!r}: the message itself names it"
        raise UsageError(msg)
    if each.thread in {MEMORY_THREAD, SOURCE_THREAD}:
        msg = f"a finding is made in a talk, not in {each.thread!r}: name the thread it is from"
        raise UsageError(msg)
    place: list[Json] | None = None
    if each.file is not None:
        file = check_file_lines(each.file)
        place = [file.path, file.line, file.last_line, file.digest]
    if each.source is None:
        return [each.kind] if place is None else [each.kind, place]
    return [each.kind, place, check_id(each.source, "the source of a finding")]


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
    source: str | None = None,
) -> Evidence:
    if kind == "message":
        return Evidence(thread=thread, message=message, quote=quote, group=group)
    lines = None
    if file is not None:
        path, line, last_line, digest = file
        lines = FileLines(path=path, line=line, last_line=last_line, digest=digest)
    return Evidence(
        thread=thread,
        message=message,
        quote=quote,
        group=group,
        kind=kind,
        file=lines,
        source=source,
    )


def evidence_links(text: str) -> set[tuple[str, str]]:
    """
    Return the pairs by which a store finds the memory that rests on stored evidence.

    They are those of `evidence_messages`, and one for each source of a finding (`source_link`).
    """
    cited = _cited_in(text)
    sources = {each[_SOURCE_PLACE] for each in cited if len(each) > _SOURCE_PLACE}
    return {(each[0], each[1]) for each in cited} | {source_link(each) for each in sources}


def evidence_messages(text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs in stored evidence."""
    return {(each[0], each[1]) for each in _cited_in(text)}


def source_link(source: str) -> tuple[str, str]:
    """Return the pair by which a store finds the memories with findings from a source."""
    return SOURCE_THREAD, source


def findings_from(source: str, text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs of the findings from a source in stored evidence."""
    return {
        (each[0], each[1])
        for each in _cited_in(text)
        if len(each) > _SOURCE_PLACE and each[_SOURCE_PLACE] == source
    }


def _cited_in(text: str) -> list[Sequence[Any]]:
    if text == NO_EVIDENCE:
        return []
    return [each for found in json.loads(text).values() for each in found]


def trust_with(text: str, trust: Trust) -> Trust:
    """Return the trust of a memory that rests on stored evidence: of a finding, an agent's."""
    # A quotation mark inside a text is escaped: without these no kind is named.
    if not any(each in text for each in _FINDINGS):
        return trust
    return "agent" if any(len(each) > _MESSAGE_FIELDS for each in _cited_in(text)) else trust
