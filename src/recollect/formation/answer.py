"""Parse a model's answer strictly into operations and faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from recollect.errors import UsageError
from recollect.formation.answer_forms import calls_of, unfenced, whole_arguments
from recollect.formation.citations import check_fields, read_because, read_citation
from recollect.formation.document_calls import document_target, patch_arguments
from recollect.formation.offer import Offer
from recollect.formation.operations import (
    Citation,
    End,
    Fault,
    Insert,
    Operation,
    Patch,
    PatchChange,
    WrongCallError,
)
from recollect.formation.patch import PatchError, apply_patch
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.tool_names import END, NOTHING, PATCH
from recollect.formation.types.schema import violations
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list
from recollect.stores.validation import ID_CHARACTERS_MAX, encode_json

OPERATIONS_MAX: Final = 100
DATE_CHARACTERS_MAX: Final = 100
YEAR_MIN: Final = 1900
YEAR_MAX: Final = 2199
_TIMES: Final = frozenset({"since", "until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """
    A parsed answer: its valid operations, and all faults of the rest.

    *calls* are the parsed calls, each with a unique id. *is_whole* is True if the answer was not
    cut off and made at least one call that could be parsed.
    """

    operations: tuple[Operation, ...]
    faults: tuple[Fault, ...]
    calls: tuple[ToolCall, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _Earlier:
    """Operations parsed so far, from earlier answers and from this one."""

    kept: Sequence[Operation]
    read: Sequence[Operation]

    def patches_of(self, target: str) -> list[PatchChange]:
        """Return the patches of a memory that were parsed so far."""
        return [*_changes_of(target, self.kept), *_changes_of(target, self.read)]

    def check_alone(self, target: str, kind: type[Patch | End]) -> None:
        """Reject a memory that is both patched and ended, or ended twice."""
        for each in (*self.kept, *self.read):
            if isinstance(each, Insert) or each.target != target:
                continue
            if not (isinstance(each, Patch) and kind is Patch):
                done = "patched" if isinstance(each, Patch) else "ended"
                reason = f"{target} is {done} in another call: do one of both"
                raise WrongCallError("value", reason, target=target)


def _changes_of(target: str, operations: Sequence[Operation]) -> list[PatchChange]:
    patches = (e for e in operations if isinstance(e, Patch) and e.target == target)
    return [change for each in patches for change in each.changes]


def read_answer(
    answer: ModelAnswer,
    offer: Offer,
    *,
    kept: Sequence[Operation] = (),
    taken: AbstractSet[str] = frozenset(),
) -> ReadAnswer:
    """
    Parse *answer*; a faulty call does not affect the others.

    Args:
        kept: The operations of earlier answers: repetitions are dropped, and patches build on them.
        taken: Ids of earlier calls, not to be reused.
    """
    names = [*(tool.name for tool in offer.tools), *(each.name for each in offer.described)]
    given = calls_of(answer, names)
    calls = _with_ids(given[:OPERATIONS_MAX], taken)
    operations: list[Operation] = []
    faults = _faults_of_whole(answer, len(given))
    unread = 0
    for call in calls:
        try:
            operation = _read_call(call, offer, _Earlier(kept, operations))
            if operation is not None:
                operations.append(operation)
        except WrongCallError as error:
            unread += error.kind == "call"
            faults.append(_fault_of(call, error, offer))
    return ReadAnswer(
        operations=tuple(operations),
        faults=tuple(faults),
        calls=calls,
        is_whole=answer.stopped == "end" and unread < len(calls),
    )


def _fault_of(call: ToolCall, error: WrongCallError, offer: Offer) -> Fault:
    is_offered = any(tool.name == call.name for tool in offer.tools)
    return Fault(
        call=call.id,
        kind=error.kind,
        reason=error.reason,
        tool=call.name if is_offered else None,
        target=error.target,
    )


def _with_ids(calls: tuple[ToolCall, ...], taken: AbstractSet[str]) -> tuple[ToolCall, ...]:
    """Give each call a unique id, for error reports."""
    seen = set(taken)
    named = []
    for number, call in enumerate(calls, start=len(taken) + 1):
        is_good = call.id.isprintable() and 0 < len(call.id) <= ID_CHARACTERS_MAX
        id_ = call.id if is_good and call.id not in seen else f"call-{number}"
        while id_ in seen:
            id_ = f"{id_}-again"
        seen.add(id_)
        named.append(ToolCall(name=call.name, arguments=call.arguments, id=id_))
    return tuple(named)


def _faults_of_whole(answer: ModelAnswer, calls: int) -> list[Fault]:
    if answer.stopped == "refusal":
        reason = "the answer was a refusal: nothing was asked but what the messages say"
        return [Fault(call=None, kind="answer", reason=reason)]
    if answer.stopped == "length":
        reason = "the answer was cut off at its length: make the calls that are missing, shorter"
        return [Fault(call=None, kind="answer", reason=reason)]
    if not calls:
        reason = f"no tool was called: call one, or {NOTHING} if there is nothing to remember"
        return [Fault(call=None, kind="answer", reason=reason)]
    if calls > OPERATIONS_MAX:
        reason = f"{calls} calls in one answer: only the first {OPERATIONS_MAX} were read"
        return [Fault(call=None, kind="call", reason=reason)]
    return []


def _read_call(call: ToolCall, offer: Offer, earlier: _Earlier) -> Operation | None:
    if all(tool.name != call.name for tool in offer.tools):
        return _read_document(call, offer, earlier)
    arguments = _arguments(call, offer)
    if call.name == NOTHING:
        return None
    if call.name in {PATCH, END}:
        read = _read_patch if call.name == PATCH else _read_end
        return read(call.id, arguments, offer, earlier)
    return _read_insert(call.id, call.name, arguments, offer)


def _read_document(call: ToolCall, offer: Offer, earlier: _Earlier) -> Patch | None:
    """Read a call that has no tool, because its document exists, as a patch of that."""
    target = document_target(call.name, offer)
    arguments = patch_arguments(target, _arguments(call, offer), offer)
    return _read_patch(call.id, arguments, offer, earlier) if arguments["changes"] else None


def _arguments(call: ToolCall, offer: Offer) -> Mapping[str, Json]:
    arguments: Json
    if isinstance(call.arguments, str):
        try:
            arguments = read_json(unfenced(call.arguments) or "{}")
        except NotJsonError as error:
            raise WrongCallError("call", f"the arguments cannot be read: {error}") from None
    else:
        arguments = call.arguments
    arguments = whole_arguments(call.name, arguments, offer)
    if not isinstance(arguments, Mapping):
        raise WrongCallError("call", "the arguments must be a JSON object")
    try:
        encode_json(arguments, "the arguments")
    except UsageError as error:
        raise WrongCallError("call", str(error)) from None
    return arguments


def _read_insert(call: str, name: str, arguments: Mapping[str, Json], offer: Offer) -> Insert:
    check_fields(arguments, {"value", "because", "since", "until"}, {"value", "because"})
    value = arguments["value"]
    if not isinstance(value, Mapping):
        raise WrongCallError("value", "'value' must be a JSON object")
    wrong = violations(offer.types[name], value)
    if wrong:
        raise WrongCallError("value", f"the value does not fit {name}: {'; '.join(wrong)}")
    return Insert(
        call=call,
        type=name,
        value=value,
        because=tuple(_for_value(each, value) for each in read_because(arguments["because"])),
        since=_date(arguments, "since"),
        until=_date(arguments, "until"),
    )


def _for_value(cited: Citation, value: JsonObject) -> Citation:
    """Return a citation of when it is true, "/since", as one of the whole that says it."""
    field = cited.path.removeprefix("/")
    return replace(cited, path="") if field in _TIMES and field not in value else cited


def _read_patch(
    call: str, arguments: Mapping[str, Json], offer: Offer, earlier: _Earlier
) -> Patch | None:
    check_fields(arguments, {"id", "changes"}, {"id", "changes"})
    target = _known(arguments["id"], offer)
    changes = arguments["changes"]
    if not is_list(changes) or not changes:
        raise WrongCallError(
            "call", "'changes' must be a list of at least one operation", target=target
        )
    if len(changes) > OPERATIONS_MAX:
        reason = f"{len(changes)} changes; at most {OPERATIONS_MAX}"
        raise WrongCallError("call", reason, target=target)
    earlier.check_alone(target, Patch)
    done = [change.operation for change in _changes_of(target, earlier.kept)]
    try:
        read = [_read_change(each, at) for at, each in enumerate(changes)]
        _check_is_visible(read, offer.hidden[target])
        new = tuple(change for change in read if change.operation not in done)
        _check_patched(target, [*earlier.patches_of(target), *new], offer)
    except WrongCallError as error:
        raise WrongCallError(error.kind, error.reason, target=target) from None
    return Patch(call=call, target=target, changes=new) if new else None


def _read_change(change: Json, at: int) -> PatchChange:
    if not isinstance(change, Mapping):
        raise WrongCallError("call", f"changes[{at}] must be a JSON object")
    where, cited = f"changes[{at}]", _cited_fields(change)
    check_fields(change, {"op", "path", "from", "value", *cited}, {"op", "path", *cited}, where)
    because, *besides = _cited_in(change, where)
    operation = {name: each for name, each in change.items() if name not in cited}
    return PatchChange(operation=operation, because=because, besides=tuple(besides))


def _cited_fields(given: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the names of the fields that hold the citations of a change or an end."""
    return ("message", "quote") if "because" not in given and "message" in given else ("because",)


def _cited_in(given: Mapping[str, Json], where: str) -> tuple[Citation, ...]:
    """Return the citations of a change or an end; each supports all of it."""
    fields = _cited_fields(given)
    if fields == ("because",):
        cited = read_because(given["because"], f"{where}.because")
    else:
        cited = (read_citation({name: given[name] for name in fields}, where),)
    return tuple(replace(each, path="") for each in cited)


def _check_patched(target: str, changes: Sequence[PatchChange], offer: Offer) -> None:
    """Reject a patch that cannot be applied or breaks the document's schema."""
    memory = offer.known[target]
    try:
        patched = apply_patch(memory.value, [change.operation for change in changes])
    except PatchError as error:
        raise WrongCallError("value", f"the patch does not apply: {error}") from None
    type_ = offer.types[memory.type]
    wrong = violations(type_, patched)
    if wrong:
        reason = f"the patched document does not fit {type_.name}: {'; '.join(wrong)}"
        raise WrongCallError("value", reason)


def _check_is_visible(changes: Sequence[PatchChange], hidden: frozenset[str]) -> None:
    """Reject a change of the whole document, or of a field that the model was not shown."""
    for change in changes:
        for name in ("path", "from"):
            pointer = change.operation.get(name)
            if pointer == "":
                reason = f"{name!r} is the whole document: name only the fields that change"
                raise WrongCallError("value", reason)
            field = str(pointer or "").partition("/")[2].partition("/")[0]
            if field.replace("~1", "/").replace("~0", "~") in hidden:
                raise WrongCallError("value", f"{pointer} was not shown to you: leave it as it is")


def _read_end(call: str, arguments: Mapping[str, Json], offer: Offer, earlier: _Earlier) -> End:
    cited = _cited_fields(arguments)
    check_fields(arguments, {"id", "at", *cited}, {"id", *cited})
    target = _known(arguments["id"], offer)
    if offer.types[offer.known[target].type].update_mode == "patch":
        reason = f"{target} is a document of its own: patch it, it cannot end"
        raise WrongCallError("value", reason, target=target)
    earlier.check_alone(target, End)
    return End(
        call=call,
        target=target,
        because=_cited_in(arguments, "the arguments"),
        at=_date(arguments, "at"),
    )


def _known(id_: Json, offer: Offer) -> str:
    if not isinstance(id_, str) or id_ not in offer.known:
        known = ", ".join(offer.known) or "none"
        raise WrongCallError("call", f"there is no memory {str(id_)[:80]!r}; there are: {known}")
    return id_


def _date(arguments: Mapping[str, Json], name: str) -> str | None:
    """Return a date as written; grounding validates it later."""
    given = arguments.get(name)
    if isinstance(given, int) and YEAR_MIN <= given <= YEAR_MAX:
        return str(given)
    if given is not None and not isinstance(given, str):
        raise WrongCallError("call", f"{name!r} must be a date as text, such as 2024-05-07")
    return given[:DATE_CHARACTERS_MAX] if given else None
