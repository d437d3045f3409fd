"""
Normalise the forms in which models answer into complete tool calls.

Some models write calls as JSON text inside Markdown, leave out a level of the arguments, or write
one object where a list belongs. These forms are accepted; missing content is never invented.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from recollect.formation.offer import Offer
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.formation.tool_names import END, NOTHING, PATCH
from recollect.formation.types import MemoryType
from recollect.ports import ModelAnswer, ToolCall
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list, value_at

TEXT_CHARACTERS_MAX: Final = 200_000
"""Calls are not searched for in a longer text."""
CALLS_MAX: Final = 1_000
_FENCED: Final = re.compile(r"```[a-zA-Z]{0,10}[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_AROUND_NAME: Final = " \t\n\r`*.\"'()[]{}"
_NAMES: Final = ("name", "tool", "tool_name", "type", "function")
_ARGUMENTS: Final = ("arguments", "input", "parameters", "args")
_WRAPPERS: Final = ("calls", "tool_calls", "operations", "memories")
_ABOUT_CALL: Final = frozenset({"value", "because", "since", "until"})
_VALIDITY: Final = ("since", "until")
"""Arguments for the validity of a new memory; a change holds from when it was said."""
_CHANGE: Final = ("op", "path", "value", "from", "message", "quote")


def calls_of(
    answer: ModelAnswer, tools: Collection[str], *, nothing: str = NOTHING
) -> tuple[ToolCall, ...]:
    """
    Return the tool calls of an answer, or else the calls that its text spells as JSON.

    An empty JSON list is a call of the tool *nothing*, and so is its name alone.
    """
    text = answer.text
    if len(answer.calls) == 1 and not answer.calls[0].name:
        # With tools described in the prompt, an answer of another form becomes a call without name.
        text = str(answer.calls[0].arguments)
    elif answer.calls:
        return answer.calls
    if answer.stopped != "end":
        return answer.calls
    return tuple(_calls_in_text(text, tools, nothing))[:CALLS_MAX] or answer.calls


def _calls_in_text(text: str, tools: Collection[str], nothing: str) -> Iterator[ToolCall]:
    if text[:TEXT_CHARACTERS_MAX].strip(_AROUND_NAME) == nothing:
        yield ToolCall(name=nothing, arguments="{}")
    for written in _json_in(text[: TEXT_CHARACTERS_MAX + 1]):
        if _is_empty(written):
            yield ToolCall(name=nothing, arguments="{}")
        yield from _calls_in(written, tools)


def unfenced(written: str) -> str:
    r"""
    Return JSON without the Markdown fence around it.

    >>> unfenced('```json\n{"a": 1}\n```')
    '{"a": 1}'
    """
    fenced = _FENCED.fullmatch(written.strip()) if "```" in written else None
    return fenced[1] if fenced else written


def _json_in(text: str) -> Iterator[Json]:
    """Yield the JSON values of a text: the whole of it, or its fenced blocks."""
    if len(text) > TEXT_CHARACTERS_MAX or not ("{" in text or "[" in text):
        return
    parts = [match[1] for match in _FENCED.finditer(text)]
    if not parts:
        starts = [at for mark in "[{" if (at := text.find(mark)) >= 0]
        parts = [text[min(starts) : max(text.rfind("]"), text.rfind("}")) + 1]]
    for part in parts:
        try:
            yield read_json(part)
        except NotJsonError:
            continue


def _is_empty(written: Json) -> bool:
    """Return True for a list of no calls, bare or in an object."""
    if isinstance(written, Mapping) and len(written) == 1:
        (name, inner), *_ = written.items()
        return name in _WRAPPERS and _is_empty(inner) and is_list(inner)
    return is_list(written) and not written


def _calls_in(written: Json, tools: Collection[str]) -> Iterator[ToolCall]:
    if is_list(written):
        for each in written:
            yield from _calls_in(each, tools) if isinstance(each, Mapping) else ()
        return
    if not isinstance(written, Mapping):
        return
    for wrapper in _WRAPPERS:
        inner = written.get(wrapper)
        if is_list(inner):
            yield from _calls_in(inner, tools)
            return
    yield from _calls_of_object(written, tools)


def _calls_of_object(written: JsonObject, tools: Collection[str]) -> Iterator[ToolCall]:
    function = written.get("function")
    if isinstance(function, Mapping):
        yield from _calls_of_object(function, tools)
        return
    field = next((each for each in _NAMES if written.get(each) in tools), None)
    if field is not None:
        inside = next((written[each] for each in _ARGUMENTS if each in written), None)
        rest = {name: each for name, each in written.items() if name not in {field, "id"}}
        if field == "type" or inside is None:
            rest = {name: each for name, each in written.items() if name != field}
        yield _call(str(written[field]), rest if inside is None else inside)
        return
    for name, arguments in written.items():
        if name in tools:
            for each in arguments if is_list(arguments) else [arguments]:
                yield _call(name, each)


def _call(name: str, arguments: Json) -> ToolCall:
    if isinstance(arguments, Mapping | str):
        return ToolCall(name=name, arguments=arguments)
    return ToolCall(name=name, arguments="{}")


def whole_arguments(tool: str, given: Json, offer: Offer) -> Json:
    """Return the arguments of a call, with levels added that the model left out."""
    if is_list(given) and len(given) == 1:
        given = given[0]
    if not isinstance(given, Mapping):
        return given
    if given.get("tool") == tool:  # a call in a list that has no level for its arguments
        given = {name: each for name, each in given.items() if name != "tool"}
    if tool == PATCH:
        return _whole_patch(given, offer)
    if tool in offer.types and tool not in {END, NOTHING}:
        return with_value(given, offer.types[tool])
    return given


def with_value(
    given: JsonObject, type_: MemoryType, *, about: Collection[str] = _ABOUT_CALL
) -> JsonObject:
    """
    Return the arguments of a call, with the fields of a memory moved into ``value``.

    *about* are the arguments that say something of the call.
    """
    value = given.get("value")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return {**given, "value": read_json(unfenced(value))}
        except NotJsonError:
            return given
    fields = type_.parameters.get("properties")
    known = set(fields) if isinstance(fields, Mapping) else set()
    flat = {name: each for name, each in given.items() if name not in about}
    if "value" in given or not flat or known.intersection(about) or (known and flat.keys() - known):
        return given
    beside = {name: each for name, each in given.items() if name in about}
    return {"value": flat, **beside}


def _whole_patch(given: JsonObject, offer: Offer) -> JsonObject:
    """Return the arguments of a patch as a list of changes, each with its citations."""
    changes = given.get("changes")
    because = given.get("because")
    if isinstance(changes, Mapping):
        changes = [changes]
    elif changes is None and "path" in given:
        changes = [{name: given[name] for name in _CHANGE if name in given}]
    if not is_list(changes):
        return given
    target = given.get("id")
    memory = offer.known.get(target) if isinstance(target, str) else None
    before = memory.value if memory else {}
    whole = _with_new_lists([_whole_change(each, because, before) for each in changes], before)
    moved = {"changes", *_VALIDITY} if whole == changes else {"changes", "because", *_VALIDITY}
    moved |= set() if "changes" in given else set(_CHANGE)
    outer = {name: each for name, each in given.items() if name not in moved}
    return {**outer, "changes": whole}


def _whole_change(change: Json, because: Json, before: JsonObject) -> Json:
    if not isinstance(change, Mapping):
        return change
    found: dict[str, Json] = {n: each for n, each in change.items() if n not in _VALIDITY}
    if because is not None and not found.keys() & {"because", "message"}:
        found["because"] = because
    path = found.get("path")
    if "op" not in found and "value" in found and isinstance(path, str):
        found["op"] = "replace" if _stands(before, path) else "add"
    return found


def _with_new_lists(changes: Sequence[Json], before: JsonObject) -> list[Json]:
    """Return *changes* with the first element of a list that is not there yet as a list."""
    made: set[str] = set()
    found: list[Json] = []
    for each in changes:
        path = each.get("path") if isinstance(each, Mapping) else None
        if isinstance(each, Mapping) and isinstance(path, str) and each.get("op") == "add":
            place = path.removesuffix("/-")
            is_new = place.count("/") == 1 and place not in made and not _stands(before, place)
            made.add(place)
            if path != place and is_new and "value" in each:
                found.append({**each, "path": place, "value": [each["value"]]})
                continue
        found.append(each)
    return found


def _stands(value: JsonObject, path: str) -> bool:
    try:
        value_at(value, path)
    except (LookupError, ValueError):
        return False
    return True
