"""Findings: facts that the agent found itself, without a quote, as evidence; pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.errors import UsageError
from recollect.formation.evidence import QUOTE_CHARACTERS_MAX
from recollect.formation.grounding.grounds import Grounds
from recollect.formation.grounding.injection import instructs
from recollect.formation.offer import Offer
from recollect.formation.operations import Insert, Operation, Patch
from recollect.formation.support.heard_window import ASKED_CHARACTERS_MAX
from recollect.formation.support.judgement import PREFERENCE_FIELDS
from recollect.formation.types import MemoryType
from recollect.records import Evidence, FileLines, Json, JsonObject, Memory, PutMemory
from recollect.stores.field_evidence import each_evidence
from recollect.stores.file_lines import check_file_lines
from recollect.stores.json_pointers import join_pointer, leaves
from recollect.stores.validation import check_text, encode_json

WHERE_FROM = (
    "say where it is from: 'quotes' of what the user said; or 'found_in' with path and line of the "
    "file, or 'found_by_agent': true, if you found it out yourself"
)
UNCITED = "0: found"
"""A citation that names no message, for parsing a call that has no quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding of the agent: the lines of a *file* with their text as *quote*, if in a file."""

    file: FileLines | None = None
    quote: str | None = None

    def evidence(self, thread: str, id_: str, source: str | None = None) -> Evidence:
        """Return the finding as evidence, under a message id of its own in *thread*."""
        return Evidence(
            thread=thread,
            message=id_,
            quote=self.quote,
            kind="file" if self.file else "agent",
            file=self.file,
            source=source,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSource:
    """The evidence given in a call: *quotes*, or a *finding*."""

    quotes: tuple[str, ...] = ()
    finding: Finding | None = None


def source_of(
    quotes: Sequence[str], found_in: Mapping[str, Json] | None, *, found_by_agent: bool
) -> CallSource:
    """
    Return the source that a call names.

    Raises:
        UsageError: It names no source, or both quotes and a finding; or the place in a file is
            invalid.
    """
    is_found = found_in is not None or found_by_agent
    if is_found == bool(quotes):
        both = "it rests on quotes or on what you found, not on both: " if quotes else ""
        raise UsageError(both + WHERE_FROM)
    if not is_found:
        return CallSource(quotes=tuple(quotes))
    return CallSource(finding=Finding() if found_in is None else _in_file(found_in))


def _in_file(found_in: Mapping[str, Json]) -> Finding:
    """Return a finding in a file, with the digest of the given text or the given digest."""
    fields: dict[str, Any] = dict(found_in)
    text = fields.pop("text", None)
    try:
        given = FileLines(**fields)
    except TypeError:
        raise UsageError(
            "'found_in' has path and line, and may have last_line, text and digest"
        ) from None
    file = check_file_lines(given)
    if text is None:
        return Finding(file=file)
    quote = check_text(text, "the text of the lines")
    read = FileLines.quoting(file.path, file.line, quote)
    if file.digest not in {None, read.digest}:
        raise UsageError("the digest is not that of the text: give only one of them")
    last = file.last_line or read.last_line
    return Finding(file=replace(read, last_line=last), quote=quote[:QUOTE_CHARACTERS_MAX] or None)


def grounds_of_finding(operation: Operation, type_: MemoryType, finding: Finding) -> Grounds:
    """
    Return the grounds of a finding: the trust ``agent``, and doubts for a reviewer.

    Raises:
        UsageError: The call has more than ``ASKED_CHARACTERS_MAX`` characters to store.
    """
    told = list(_leaves_of(operation))
    texts = [str(leaf) for _, leaf in told] + [finding.quote or ""]
    if sum(map(len, texts)) > ASKED_CHARACTERS_MAX:
        msg = f"the call has more than {ASKED_CHARACTERS_MAX} characters to save: save less"
        raise UsageError(msg)
    doubts = []
    if any(map(instructs, texts)):
        doubts.append("it rests on an instruction, and no user said it")
    is_theirs = {"tool", "system"} & set(type_.roles)
    is_wish = any(not PREFERENCE_FIELDS.isdisjoint(at.split("/")) for at, _ in told)
    if not is_theirs and (type_.update_mode == "patch" or is_wish):
        doubts.append("an agent found it, and it says who the user is or what they want")
    return Grounds(trust="agent", doubts=tuple(doubts))


def _leaves_of(operation: Operation) -> Iterator[tuple[str, Json]]:
    """Yield the pointer and value of each leaf that an operation would store."""
    if isinstance(operation, Insert):
        yield from leaves(operation.value)
    elif isinstance(operation, Patch):
        for change in operation.changes:
            path = str(change.operation.get("path"))
            for at, leaf in leaves(change.operation.get("value")):
                yield path + at, leaf


def is_known(memory: Memory, write: PutMemory, found: Evidence) -> bool:
    """Return True if *write* only repeats a finding that *memory* has as evidence."""
    if (memory.value, memory.state) != (write.value, write.state):
        return False
    known = (each for each in each_evidence(memory.evidence) if each.is_finding)
    return any(replace(each, message=found.message, group=0) == found for each in known)


def changed_type(operation: Operation, offer: Offer) -> MemoryType:
    """Return the type of the memory that an operation creates or changes."""
    if isinstance(operation, Insert):
        return offer.types[operation.type]
    return offer.types[offer.known[operation.target].type]


def as_patch(arguments: Mapping[str, Json], target: Memory, source: CallSource) -> dict[str, Json]:
    """
    Return the arguments of a change as a JSON Patch, if it gives a whole value; {} if unchanged.

    If a user's quote confirms an agent's finding, the fields that stay are set again, so that they
    get the user's evidence as well.
    """
    value = arguments.get("value")
    if not isinstance(value, Mapping):
        return {name: each for name, each in arguments.items() if name != "value"}
    restates = source.finding is None and target.trust == "agent"
    changes: list[Json] = list(changes_to(target.value, value, restates=restates))
    return {"changes": changes, "version": arguments.get("version")} if changes else {}


def changes_to(
    before: Json, after: JsonObject, at: str = "", *, restates: bool = False
) -> list[JsonObject]:
    """
    Return the JSON Patch from *before* to *after*; with *restates*, equal fields are set as well.

    >>> changes_to({"home": "Oslo", "pet": "cat"}, {"home": "Rome"})
    [{'op': 'replace', 'path': '/home', 'value': 'Rome'}, {'op': 'remove', 'path': '/pet'}]
    """
    old = before if isinstance(before, Mapping) else {}
    changes: list[JsonObject] = []
    for name, value in after.items():
        path = at + join_pointer([name])
        standing = old.get(name)
        if name not in old:
            changes.append({"op": "add", "path": path, "value": value})
        elif isinstance(value, Mapping) and isinstance(standing, Mapping):
            changes += changes_to(standing, value, path, restates=restates)
        elif restates or not _same_json(standing, value):
            changes.append({"op": "replace", "path": path, "value": value})
    gone = (name for name in old if name not in after)
    return [*changes, *({"op": "remove", "path": at + join_pointer([name])} for name in gone)]


def _same_json(one: Json, other: Json) -> bool:
    """Return True if two values are the same JSON (in Python, True equals 1)."""
    return encode_json(one, "a value") == encode_json(other, "a value")
