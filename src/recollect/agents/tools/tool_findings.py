"""Findings: the source of a call that rests on no words of the talk, and its changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from recollect.stores.file_lines import check_file_lines
from recollect.stores.json_pointers import join_pointer, leaves
from recollect.stores.validation import check_text, encode_json

WHERE_FROM = (
    "say where it is from: 'quotes' of what the user said; or 'found_in' with path and line of the "
    "file, or 'found_by_agent': true, if you found it out yourself"
)
UNCITED = "0: found"
"""A citation of no message, with which a call is read that rests on none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding of the agent itself: in the lines of a *file*, if in one, with their words."""

    file: FileLines | None = None
    quote: str | None = None

    def evidence(self, thread: str, id_: str, source: str | None = None) -> Evidence:
        """Return it as evidence, made in *thread* under an id of its own."""
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
    """The source of a call: *quotes*, or a *finding*."""

    quotes: tuple[str, ...] = ()
    finding: Finding | None = None


def source_of(
    quotes: Sequence[str], found_in: Mapping[str, Json] | None, *, found_by_agent: bool
) -> CallSource:
    """
    Return what a call rests on.

    Raises:
        UsageError: It names nothing, or both words of the talk and a finding; or the place in a
            file is none.
    """
    is_found = found_in is not None or found_by_agent
    if is_found == bool(quotes):
        both = "it rests on quotes or on what you found, not on both: " if quotes else ""
        raise UsageError(both + WHERE_FROM)
    if not is_found:
        return CallSource(quotes=tuple(quotes))
    return CallSource(finding=Finding() if found_in is None else _in_file(found_in))


def _in_file(found_in: Mapping[str, Json]) -> Finding:
    """Return a finding in a file; the digest is that of the text that was given, if any was."""
    fields: dict[str, Json] = dict(found_in)
    text = fields.pop("text", None)
    try:
        given = FileLines(**fields)  # type: ignore[arg-type]
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
        raise UsageError("the digest is not that of the text: give one of both")
    last = file.last_line or read.last_line
    return Finding(file=replace(read, last_line=last), quote=quote[:QUOTE_CHARACTERS_MAX] or None)


def grounds_of_finding(operation: Operation, type_: MemoryType, finding: Finding) -> Grounds:
    """
    Return the support of what an agent found: none of a user's, and what a person has to decide.

    Raises:
        UsageError: More is asked to be kept than is read of any call.
    """
    told = list(_leaves_of(operation))
    texts = [str(leaf) for _, leaf in told] + [finding.quote or ""]
    if sum(map(len, texts)) > ASKED_CHARACTERS_MAX:
        msg = f"more than {ASKED_CHARACTERS_MAX} characters are asked to be kept: say less"
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
    """Yield pointer and value of all that an operation would keep."""
    if isinstance(operation, Insert):
        yield from leaves(operation.value)
    elif isinstance(operation, Patch):
        for change in operation.changes:
            path = str(change.operation.get("path"))
            for at, leaf in leaves(change.operation.get("value")):
                yield path + at, leaf


def is_known(memory: Memory, write: PutMemory, found: Evidence) -> bool:
    """Return True if *write* only adds a finding that *memory* rests on already."""
    if (memory.value, memory.state) != (write.value, write.state):
        return False
    known = (each for cited in memory.evidence.values() for each in cited if each.is_finding)
    return any(replace(each, message=found.message, group=0) == found for each in known)


def changed_type(operation: Operation, offer: Offer) -> MemoryType:
    """Return the type of the memory that an operation makes or changes."""
    if isinstance(operation, Insert):
        return offer.types[operation.type]
    return offer.types[offer.known[operation.target].type]


def as_patch(arguments: Mapping[str, Json], target: Memory, source: CallSource) -> dict[str, Json]:
    """
    Return the arguments of a change with a plain new value as a JSON Patch; {} if nothing changes.

    Where a user is quoted on what an agent found, they bear out what stays as well.
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
    Return the JSON Patch that makes *after* of *before*: the fields that differ.

    With *restates* those that stay are set as well, to what they are.

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
    """Return True if two values are the same JSON: True is not 1."""
    return encode_json(one, "a value") == encode_json(other, "a value")
