"""Evidence as JSON text: encode and validate it, decode it, and find what it cites."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from recollect.errors import UsageError
from recollect.records import Evidence, EvidenceKind, EvidenceMap, FileLines, Json, Trust
from recollect.stores.file_lines import check_file_lines
from recollect.stores.remainder import MEMORY_THREAD, ORIGIN_QUOTE, SOURCE_THREAD
from recollect.stores.validation import check_id, check_object, check_position, check_text

NO_EVIDENCE: Final = "{}"
_KINDS: Final = get_args(EvidenceKind)
_FINDINGS: Final = tuple(f'"{kind}"' for kind in _KINDS if kind != "message")
_MESSAGE_FIELDS: Final = 4
"""Length of stored evidence that cites a message, at most; a finding has more fields."""
_SOURCE_PLACE: Final = 6
"""Index of a finding's source in stored evidence."""


def encode_evidence(evidence: EvidenceMap) -> str:
    """
    Return *evidence* as JSON: each pointer maps to a list of [thread, message, quote, group].

    A finding continues with its kind; [path, line, last line, digest] of a file, or null; and its
    source. Absent fields at the end are left out.
    """
    if not isinstance(evidence, Mapping):
        msg = f"evidence must map JSON pointers to lists of Evidence, not be {evidence!r}"
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
        raise UsageError(f"the evidence of a field is a list of Evidence, not {found!r}")
    return found


def _check_pointer(pointer: str) -> str:
    check_text(pointer, "a JSON pointer")
    if pointer and not pointer.startswith("/"):
        msg = f"{pointer!r} is not a JSON pointer: it is empty or begins with '/' (RFC 6901)"
        raise UsageError(msg)
    return pointer


def _check_evidence(each: Evidence) -> list[Json]:
    if not isinstance(each, Evidence):
        raise UsageError(f"evidence is an Evidence(thread=…, message=…), not {each!r}")
    thread = check_id(each.thread, "an evidence's thread")
    message = check_id(each.message, "an evidence's message")
    quote = None if each.quote is None else check_text(each.quote, "a quote")
    group = check_position(each.group, "the group of an evidence")
    if group < 0:
        msg = f"the group of an evidence is {group}: groups begin at 1, 0 stands for no group"
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
        raise UsageError(
            f"evidence of the kind {each.kind!r} has file={each.file!r}: give lines to 'file' only"
        )
    if each.kind == "message":
        msg = f"evidence of a message has source={each.source!r}: the message itself names it"
        raise UsageError(msg)
    if each.thread in {MEMORY_THREAD, SOURCE_THREAD}:
        msg = f"a finding has the thread {each.thread!r}: give the thread in which it was made"
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


def _decoded(  # noqa: PLR0917 (the fields in stored order)
    thread: str,
    message: str,
    quote: str | None,
    group: int = 0,
    kind: EvidenceKind = "message",
    file: tuple[str, int, int | None, str | None] | None = None,
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
    Return the pairs under which a store lists a memory with this stored evidence.

    These are its messages (`evidence_messages`), and the source of each finding (`source_link`).
    """
    cited = _cited_in(text)
    sources = {each[_SOURCE_PLACE] for each in cited if len(each) > _SOURCE_PLACE}
    return {(each[0], each[1]) for each in cited} | {source_link(each) for each in sources}


def evidence_messages(text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs in stored evidence."""
    return {(each[0], each[1]) for each in _cited_in(text)}


def stating_messages(text: str) -> set[tuple[str, str]]:
    """
    Return the (thread, message) pairs in stored evidence that state what they are cited for.

    Not those with an empty quote, which are only the origin of some words (`Evidence`).
    """
    return {(each[0], each[1]) for each in _cited_in(text) if each[2] != ORIGIN_QUOTE}


def dating_messages(text: str) -> set[tuple[str, str]]:
    """
    Return the (thread, message) pairs whose newest gives a memory its *said_at*.

    None if a person wrote a part over what the messages say: it is as new as its last write.
    """
    places = () if text == NO_EVIDENCE else json.loads(text).values()
    if any(found and all(each[2] == ORIGIN_QUOTE for each in found) for found in places):
        return set()
    return stating_messages(text)


def source_link(source: str) -> tuple[str, str]:
    """Return the pair under which a store lists the memories with findings from a source."""
    return SOURCE_THREAD, source


def findings_from(source: str, text: str) -> set[tuple[str, str]]:
    """Return the (thread, message) pairs of the findings from a source in stored evidence."""
    return {
        (each[0], each[1])
        for each in _cited_in(text)
        if len(each) > _SOURCE_PLACE and each[_SOURCE_PLACE] == source
    }


def quoted_in(text: str, thread: str) -> set[str]:
    """
    Return the messages of *thread* that stored evidence quotes.

    A part with a finding quotes none: what is cited beside one belongs to other memories.
    """
    places = () if text == NO_EVIDENCE else json.loads(text).values()
    quoted = [found for found in places if not any(len(each) > _MESSAGE_FIELDS for each in found)]
    return {each[1] for found in quoted for each in found if each[0] == thread}


def _cited_in(text: str) -> list[Sequence[Any]]:
    if text == NO_EVIDENCE:  # most memories: spare the parser
        return []
    return [each for found in json.loads(text).values() for each in found]


def trust_with(text: str, trust: Trust) -> Trust:
    """Return *trust*, or ``agent`` if the stored evidence contains a finding."""
    # Quick check before parsing. Quotation marks inside a text are escaped, so that a kind in
    # quotation marks can only be missed if there is no finding.
    if not any(each in text for each in _FINDINGS):
        return trust
    return "agent" if any(len(each) > _MESSAGE_FIELDS for each in _cited_in(text)) else trust
