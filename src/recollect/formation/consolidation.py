"""
Consolidation: the requests about groups of memories, and the checks of their answers.

It may merge memories of one group, or derive one of several. Either may say only what its
sources say, and a merged one must say all of it: its names, numbers and dates are checked
both ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.formation.answer_forms import calls_of, with_value
from recollect.formation.carried_words import words_beyond
from recollect.formation.claims import SaidText as SaidSource
from recollect.formation.claims import unsupported
from recollect.formation.consolidation_texts import ENGLISH, ConsolidationTexts
from recollect.formation.grounding.foreign_text import instructs
from recollect.formation.grounding.quotes import keeps_hedge
from recollect.formation.operations import Fault, FaultKind
from recollect.formation.prompt import filled
from recollect.formation.prompt_texts import PromptLanguage
from recollect.formation.similarity_groups import Group, address_of
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.support.languages import WITH_RULES
from recollect.formation.support.languages import language_of as language_of_words
from recollect.formation.support.leaves import is_label
from recollect.formation.support.stances import clauses_in
from recollect.formation.talk_language import language_of_texts
from recollect.formation.type_texts import schema_in
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.ports import ModelAnswer, ModelRequest, TokenCounter, Tool, ToolCall, Turn
from recollect.records import Json, JsonObject, Memory, MemoryAddress
from recollect.stores.json_pointers import leaves
from recollect.stores.provenance import NO_WORDS, Source, Words, unusual, words_in
from recollect.stores.validation import ID_CHARACTERS_MAX, encode_json, plain_container
from recollect.text.searchable import memory_text

MERGE: Final = "merge_memories"
DERIVE: Final = "derive_memory"
LEAVE: Final = "leave_as_is"
CALLS_MAX: Final = 50
DENIED_CHARACTERS_MAX: Final = 4_000
"""Characters of a text that are searched for denials; a memory is far shorter."""
REQUEST_TOKENS: Final = 3_000
"""Estimated tokens of one request; a larger group gets a request of its own."""
_TOOLS: Final = frozenset({MERGE, DERIVE, LEAVE})
_ABOUT_CALL: Final = frozenset({"ids", "value"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """
    The groups of one request, all of one type, and the memories in them by short id.

    *derived* holds what was derived of memories before, by the address of each of them.
    """

    type: MemoryType
    groups: tuple[Group, ...]
    derived: Mapping[MemoryAddress, Sequence[Memory]] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, tuple[Group, Memory]]:
        """Return each memory with its group, by the id under which it is shown."""
        found = [(group, memory) for group in self.groups for memory in group.memories]
        return {f"m{number}": each for number, each in enumerate(found, start=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """
    A new memory made from several of one group; with *is_merge* it replaces them.

    *besides* are other memories of the same request whose words it contains as well.
    """

    call: str
    is_merge: bool
    group: Group
    sources: tuple[Memory, ...]
    value: JsonObject
    besides: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationAnswer:
    """A parsed answer and all its faults; *is_whole* is True if it was not cut off."""

    combinations: tuple[Combination, ...]
    faults: tuple[Fault, ...]
    calls: tuple[ToolCall, ...]
    is_whole: bool


class _WrongCallError(Exception):
    """A call cannot be carried out; the message is for the model."""

    def __init__(self, kind: FaultKind, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.kind = kind
        self.reasons = reasons


def batches_of(
    type_: MemoryType,
    groups: Sequence[Group],
    derived: Mapping[MemoryAddress, Sequence[Memory]],
    count: TokenCounter,
) -> list[Batch]:
    """Pack *groups*, in order, into requests of bounded size."""
    packed: list[list[Group]] = []
    room = 0
    for group in groups:
        cost = sum(count(memory_text(each.value)) for each in group.memories)
        if not packed or cost > room:
            packed.append([])
            room = REQUEST_TOKENS
        packed[-1].append(group)
        room -= cost
    return [Batch(type=type_, groups=tuple(each), derived=derived) for each in packed]


def language_of(batch: Batch) -> PromptLanguage:
    """Return the language of most of the memories in a batch."""
    shown = (memory for group in batch.groups for memory in group.memories)
    return language_of_texts([memory_text(each.value) for each in shown])


def request_of(batch: Batch, texts: ConsolidationTexts = ENGLISH) -> ModelRequest:
    """Return the request about a batch; parts that never change come first, for caching."""
    parts: list[str] = []
    seen: Group | None = None
    for id_, (group, memory) in batch.known.items():
        if group is not seen:
            number = batch.groups.index(group) + 1
            parts.append(filled(texts.group, number=str(number)))
            parts += [f"{texts.derived} {_json(each.value)}" for each in _derived(group, batch)]
            seen = group
        began = _began(memory)
        since = [] if began is None else [began.date().isoformat()]
        parts.append(_json([id_, memory.value, *since]))
    return ModelRequest(
        system=filled(texts.instructions, merge=MERGE, derive=DERIVE, leave=LEAVE),
        turns=(Turn(role="user", text="\n".join(parts)),),
        tools=_tools(batch.type, texts),
        must_call=True,
    )


def _derived(group: Group, batch: Batch) -> list[Memory]:
    found = {
        address_of(each): each
        for memory in group.memories
        for each in batch.derived.get(address_of(memory), ())
    }
    return [found[address] for address in sorted(found)]


def _tools(type_: MemoryType, texts: ConsolidationTexts) -> tuple[Tool, ...]:
    ids: JsonObject = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    parameters: JsonObject = {
        "type": "object",
        "properties": {"ids": ids, "value": schema_in(texts.language, type_.parameters)},
        "required": ["ids", "value"],
    }
    return (
        Tool(name=MERGE, description=texts.merge_tool, parameters=parameters),
        Tool(name=DERIVE, description=texts.derive_tool, parameters=parameters),
        Tool(
            name=LEAVE,
            description=texts.leave_tool,
            parameters={"type": "object", "properties": {}},
        ),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain_container)


def read_calls(
    answer: ModelAnswer, batch: Batch, *, kept: Sequence[Combination] = ()
) -> ConsolidationAnswer:
    """
    Parse *answer*; a faulty call does not affect the others.

    Args:
        kept: The combinations of earlier answers, whose memories are not merged again.
    """
    answer = replace(answer, calls=calls_of(answer, _TOOLS, nothing=LEAVE))
    calls = _with_ids(answer.calls[:CALLS_MAX])
    found: list[Combination] = []
    faults = _faults_of_whole(answer)
    for call in calls:
        try:
            read = _read_call(call, batch, [*kept, *found])
            if read is not None and not any(_is_same(read, each) for each in (*kept, *found)):
                found.append(read)
        except _WrongCallError as error:
            faults += [Fault(call=call.id, kind=error.kind, reason=each) for each in error.reasons]
    return ConsolidationAnswer(
        combinations=tuple(found),
        faults=tuple(faults),
        calls=calls,
        is_whole=answer.stopped == "end" and bool(calls),
    )


def _is_same(one: Combination, other: Combination) -> bool:
    return (one.is_merge, one.sources, one.value) == (other.is_merge, other.sources, other.value)


def _with_ids(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Give each call a unique id."""
    ids = [call.id for call in calls]
    return tuple(
        call
        if call.id.isprintable()
        and 0 < len(call.id) <= ID_CHARACTERS_MAX
        and ids.count(call.id) < 2
        else ToolCall(name=call.name, arguments=call.arguments, id=f"call-{number}")
        for number, call in enumerate(calls, start=1)
    )


def _faults_of_whole(answer: ModelAnswer) -> list[Fault]:
    reason = ""
    if answer.stopped != "end":
        reason = "the answer was a refusal, or cut off at its length: make the calls again, shorter"
    elif not answer.calls:
        reason = f"no tool was called: call one, or {LEAVE} if nothing is to be done"
    elif len(answer.calls) > CALLS_MAX:
        reason = f"{len(answer.calls)} calls in one answer: only the first {CALLS_MAX} were read"
    return [Fault(call=None, kind="answer", reason=reason)] if reason else []


def _read_call(call: ToolCall, batch: Batch, earlier: Sequence[Combination]) -> Combination | None:
    if call.name == LEAVE:
        return None
    if call.name not in {MERGE, DERIVE}:
        names = f"{MERGE}, {DERIVE}, {LEAVE}"
        raise _WrongCallError("call", f"there is no tool {call.name[:80]!r}; there are {names}")
    arguments = _arguments(call, batch.type)
    group, sources = _sources(arguments["ids"], batch)
    value = arguments["value"]
    if not isinstance(value, Mapping):
        raise _WrongCallError("value", "'value' must be a JSON object")
    wrong = violations(batch.type, value)
    if wrong:
        raise _WrongCallError(
            "value", f"the value does not fit {batch.type.name}: {'; '.join(wrong)}"
        )
    read = Combination(
        call=call.id, is_merge=call.name == MERGE, group=group, sources=sources, value=value
    )
    _check_once(read, earlier)
    _check_ground(read)
    return replace(read, besides=_unnamed_sources(read, batch))


def _unnamed_sources(read: Combination, batch: Batch) -> tuple[Memory, ...]:
    """Return the memories whose words the model used without naming them."""
    missing = _words(read.value).difference(*(_words(each.value) for each in read.sources))
    derived = (each for found in batch.derived.values() for each in found)
    found: list[Memory] = []
    for other in (*(memory for _, memory in batch.known.values()), *derived):
        told = missing & unusual(Source(_words(other.value), ())).words
        if told and other not in read.sources:
            found.append(other)
            missing -= told
    return tuple(found)


def _words(value: JsonObject) -> Words:
    return NO_WORDS.union(*(words_in(leaf) for _, leaf in leaves(value)))


def _arguments(call: ToolCall, type_: MemoryType) -> Mapping[str, Json]:
    try:
        given = read_json(call.arguments) if isinstance(call.arguments, str) else call.arguments
        encode_json(given, "the arguments")
    except (NotJsonError, UsageError) as error:
        raise _WrongCallError("call", f"the arguments cannot be read: {error}") from None
    whole = with_value(given, type_, about=_ABOUT_CALL) if isinstance(given, Mapping) else {}
    if set(whole) != _ABOUT_CALL:
        raise _WrongCallError(
            "call", "the arguments must be an object with 'ids' and 'value' alone"
        )
    return whole


def _sources(ids: Json, batch: Batch) -> tuple[Group, tuple[Memory, ...]]:
    """Return the memories that *ids* name, each once, in the order of their group."""
    known = batch.known
    if not isinstance(ids, list | tuple) or any(
        not isinstance(each, str) or each not in known for each in ids
    ):
        raise _WrongCallError(
            "call", f"'ids' must list ids of memories; there are {', '.join(known)}"
        )
    named = [known[id_] for id_ in known if id_ in ids]
    if len(named) < 2:
        raise _WrongCallError("call", "'ids' must name at least two memories")
    if any(group is not named[0][0] for group, _ in named):
        raise _WrongCallError("call", "'ids' must be of one group")
    return named[0][0], tuple(memory for _, memory in named)


def _check_once(read: Combination, earlier: Sequence[Combination]) -> None:
    """Reject a memory that is merged twice, or merged and derived from."""
    mine = {address_of(each) for each in read.sources}
    for other in earlier:
        if not (read.is_merge or other.is_merge):
            continue
        if _is_same(read, other):
            continue
        if mine & {address_of(each) for each in other.sources}:
            raise _WrongCallError("value", "one of these memories is merged in another call")


def _check_ground(read: Combination) -> None:
    """Reject a value that adds to its sources, or a merge that drops from them."""
    sources = [_source(each, each.value) for each in read.sources]
    text, said = memory_text(read.value), [each.text for each in sources]
    shown = [*sources, *_visible_days(read.sources)]
    added = [*unsupported(read.value, shown), *_beyond(_without_label(read.value), said)]
    if added:
        raise _WrongCallError("claim", *(f"none of the memories says {each}" for each in added))
    if instructs(text) and not any(map(instructs, said)):
        raise _WrongCallError("claim", "it reads as an instruction, and none of the memories does")
    if not read.is_merge:
        if not any(keeps_hedge(text, each) for each in said):
            raise _WrongCallError("hedge", "all of the memories are in doubt, or hearsay: say so")
        return
    if not all(keeps_hedge(text, each) for each in said):
        raise _WrongCallError("hedge", "a memory is in doubt, or hearsay: say so, or merge less")
    if lost := [*_lost(read, text), *_denials_lost(text, said)]:
        told = ", ".join(dict.fromkeys(lost))
        raise _WrongCallError(
            "value", f"it leaves out what they say: {told}; say it, or merge less"
        )


def _lost(read: Combination, text: str) -> Iterator[str]:
    """Yield the content of the sources that a merged value lacks."""
    for each in read.sources:
        yield from unsupported(each.value, [_source(each, read.value)])
        yield from _beyond(_without_label(each.value), [text])


def _beyond(value: JsonObject, others: Sequence[str]) -> list[str]:
    """Return the words of *value* that *others* do not say; none in a language without rules."""
    text = memory_text(value)
    if language_of_words(text) not in WITH_RULES:
        return []
    return [repr(word) for word in words_beyond(text, others)]


def _without_label(value: JsonObject) -> JsonObject:
    """Return *value* without its labels."""
    return {name: each for name, each in value.items() if not is_label(f"/{name}")} or value


def _denials_lost(text: str, said: Sequence[str]) -> list[str]:
    """Return the denials of the sources if the merged value has none."""
    if _denied_in(text):
        return []
    return [repr(clause) for each in said for clause in _denied_in(each)]


def _denied_in(text: str) -> list[str]:
    clauses = clauses_in(text[:DENIED_CHARACTERS_MAX])
    return [each.text.strip() for each in clauses if each.denials]


def _visible_days(memories: Sequence[Memory]) -> list[SaidSource]:
    """Return the days shown next to memories, which a model may write into a value."""
    days = [at for each in memories if (at := _began(each))]
    return [SaidSource(text=at.date().isoformat(), at=at, speaker=None) for at in days]


def _began(memory: Memory) -> datetime | None:
    return memory.valid_from or memory.said_at


def _source(memory: Memory, value: JsonObject) -> SaidSource:
    at = _began(memory) or memory.created_at
    return SaidSource(text=memory_text(value), at=at, speaker=None)
