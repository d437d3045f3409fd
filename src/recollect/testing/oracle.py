"""
A model that gives the correct answers.

An `Oracle` is constructed with the operations that a perfect model performs on certain quotes. It
takes everything else from the request, as any model must: message numbers, and the short ids of
existing memories.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from recollect.formation.citations import cited_words
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.rule_requests import shown_in
from recollect.formation.tool_names import END, NOTHING, PATCH
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import parse_pointer
from recollect.testing.memory_pattern import MemoryPattern, leaves_at
from recollect.testing.scripted_model import usage_of

Action: TypeAlias = Literal["write", "keep", "remove", "end"]
Called: TypeAlias = tuple[str, dict[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A quote from the message *text*; *path* is the place of the value that it supports."""

    text: str
    quote: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleOperation:
    """
    An operation on a memory of *type* matching *pattern*, triggered by the quotes *because*.

    ``write`` puts *value* at the pattern's path (into the list there with *is_list*) of the
    document, or of the collection entry that the pattern selects; ``keep`` adds *value* to a
    collection; ``remove`` removes what the pattern matches from a document; ``end`` ends entries.
    """

    action: Action
    type: str
    pattern: MemoryPattern
    because: tuple[Cited, ...]
    value: Json = field(default=None, hash=False)
    is_list: bool = False
    since: str | None = None
    until: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as shown in a request; only *new* ones are to be formed."""

    number: int
    speaker: str
    text: str
    new: bool

    @property
    def is_user(self) -> bool:
        """Whether the speaker is a user, named or not."""
        return self.speaker.partition(" ")[0] not in {"assistant", "tool", "system"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMemory:
    """A memory as shown in a request, under its short id."""

    id: str
    type: str
    value: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """The parsed contents of a request."""

    known: tuple[ShownMemory, ...]
    messages: tuple[Said, ...]
    tools: Mapping[str, JsonObject]

    def of_type(self, name: str) -> Iterator[tuple[str, dict[str, Json]]]:
        """Yield short id and value of each known memory of a type."""
        yield from ((each.id, dict(each.value)) for each in self.known if each.type == name)

    def cited(self, cited: Cited) -> Said | None:
        """Return the shown message with the quote of *cited*, preferably a new one."""
        found = [each for each in self.messages if find_quote(cited.quote, each.text)]
        found.sort(key=lambda each: (each.text != cited.text, not each.new))
        return found[0] if found else None


def read_request(request: ModelRequest) -> ParsedRequest:
    """Parse the first turn of a formation's *request*, and its tools."""
    shown = shown_in(request)
    spoken = [(each, False) for each in shown.before] + [(each, True) for each in shown.new]
    return ParsedRequest(
        known=tuple(
            ShownMemory(id=id_, type=type_, value=value) for id_, type_, value in shown.known
        ),
        messages=tuple(
            Said(number=number, speaker=speaker, text=text, new=is_new)
            for (number, speaker, text), is_new in sorted(spoken)
        ),
        tools={tool.name: tool.parameters for tool in request.tools},
    )


class Oracle:
    """
    A `Model` that performs those of its *deeds* whose quotes are in a request's new messages.

    *requests* records its requests. A repair request gets the same answer again.
    """

    def __init__(self, deeds: Sequence[OracleOperation], *, identity: str = "oracle/1") -> None:
        self.requests: list[ModelRequest] = []
        self.deeds = tuple(deeds)
        self._identity = identity

    @property
    def identity(self) -> str:
        """The identity given to the constructor."""
        return self._identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the tool calls of the deeds that are due in *request*."""
        self.requests.append(request)
        called = self.called(read_request(request)) or [(NOTHING, {})]
        calls = tuple(
            ToolCall(name=name, arguments=json.dumps(each, ensure_ascii=False), id=f"call-{number}")
            for number, (name, each) in enumerate(called, 1)
        )
        answer = ModelAnswer(calls=calls)
        return ModelAnswer(calls=calls, usage=usage_of(request, answer))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the answer, which is empty: an oracle only calls tools."""
        yield (await self.answer(request)).text

    def called(self, shown: ParsedRequest) -> list[Called]:
        """Return tool and arguments of each call."""
        due = [each for each in self.deeds if _is_due(each, shown)]
        writes = [each for each in due if each.action in {"write", "remove"}]
        calls = [
            call
            for name in dict.fromkeys(each.type for each in writes)
            for call in _document_calls(name, [each for each in writes if each.type == name], shown)
        ]
        calls += [_kept(each, shown) for each in due if each.action == "keep"]
        return calls + [call for each in due if each.action == "end" for call in _ends(each, shown)]


def _is_due(deed: OracleOperation, shown: ParsedRequest) -> bool:
    found = [said for each in deed.because if (said := shown.cited(each))]
    return len(found) == len(deed.because) and any(said.new for said in found)


def _because(deed: OracleOperation, shown: ParsedRequest, path: str | None = None) -> list[str]:
    """Return the citations of *deed*, with their own paths or with *path*."""
    return [
        cited_words(said.number, each.quote, each.path if path is None else path)
        for each in deed.because
        if (said := shown.cited(each)) is not None
    ]


def _kept(deed: OracleOperation, shown: ParsedRequest) -> Called:
    arguments: dict[str, Json] = {"value": deed.value, "because": _because(deed, shown)}
    dates = {"since": deed.since, "until": deed.until}
    return deed.type, {**arguments, **{name: date for name, date in dates.items() if date}}


def _ends(deed: OracleOperation, shown: ParsedRequest) -> Iterator[Called]:
    for id_, value in shown.of_type(deed.type):
        if deed.pattern.matches(value):
            arguments: dict[str, Json] = {"id": id_, "because": _because(deed, shown, path="")}
            yield END, {**arguments, "at": deed.at} if deed.at else arguments


def _document_calls(
    name: str, deeds: Sequence[OracleOperation], shown: ParsedRequest
) -> Iterator[Called]:
    """Yield a patch for each existing memory that *deeds* concern, or else one new document."""
    found = False
    for id_, value in shown.of_type(name):
        about = [each for each in deeds if each.pattern.selects(value)]
        changes = [change for each in about for change in _changes(each, value, shown)]
        found = found or bool(about)
        if changes:
            yield PATCH, {"id": id_, "changes": changes}
    writes = [each for each in deeds if each.action == "write"]
    if not found and writes and name in shown.tools:
        yield name, _new_document(writes, shown)


def _new_document(deeds: Sequence[OracleOperation], shown: ParsedRequest) -> dict[str, Json]:
    document: dict[str, Json] = {}
    because: list[Json] = []
    for deed in deeds:
        path = _placed(document, deed)
        because += _because(deed, shown, path)
    return {"value": document, "because": because}


def _placed(document: dict[str, Json], deed: OracleOperation) -> str:
    """Put the value of *deed* into *document*; return its pointer."""
    *parents, last = parse_pointer(deed.pattern.path)
    place = document
    for step in parents:
        inner = place.setdefault(step, {})
        place = inner if isinstance(inner, dict) else {}
    if not deed.is_list:
        place[last] = deed.value
        return deed.pattern.path
    listed = place.setdefault(last, [])
    if isinstance(listed, list):
        listed.append(deed.value)
        return f"{deed.pattern.path}/{len(listed) - 1}"
    return deed.pattern.path


def _changes(deed: OracleOperation, value: dict[str, Json], shown: ParsedRequest) -> list[Json]:
    """Return the JSON Patch operations of *deed*, and apply them to *value*."""
    words: dict[str, Json] = {"because": _because(deed, shown, "")}
    if deed.action == "remove":
        return [{"op": "remove", "path": path, **words} for path in _removed(deed.pattern, value)]
    path, field_ = deed.pattern.path, parse_pointer(deed.pattern.path)[0]
    stands = leaves_at(value, path) or field_ in value
    if not deed.is_list:
        operation = "replace" if stands else "add"
        value.setdefault(field_, deed.value)
        return [{"op": operation, "path": path, "value": deed.value, **words}]
    if stands:
        return [{"op": "add", "path": f"{path}/-", "value": deed.value, **words}]
    value[field_] = [deed.value]
    return [{"op": "add", "path": path, "value": [deed.value], **words}]


def _removed(pattern: MemoryPattern, value: JsonObject) -> list[str]:
    """Return the pointers of the leaves that *pattern* matches in *value*, last first."""
    # Removing from the end keeps the earlier positions in a list valid.
    found = [pointer for pointer, leaf in leaves_at(value, pattern.path) if pattern.fits(leaf)]
    return found[::-1]
