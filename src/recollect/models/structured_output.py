"""Tool calls for models without tool support: calls as one JSON answer, parsed leniently."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.models.json_scanner import Unfinished, elements_of, end_of, members_of, string_in
from recollect.ports import Model, ModelAnswer, ModelRequest, Tool, ToolCall, Turn
from recollect.records import Json, JsonObject

UNFINISHED_MAX: Final = 4
"""Unfinished values to skip in an answer, at most; each costs a scan of the rest of the text."""
CALLS_TITLE: Final = "calls"

_OPENING: Final = re.compile(r"[{\[]")


class PromptedModel:
    """A model that gets its tools described in the prompt, and answers with JSON."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __repr__(self) -> str:
        return f"PromptedModel({self._model!r})"

    @property
    def identity(self) -> str:
        """The wrapped model's identity."""
        return self._model.identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer, with the calls in its text parsed into ``calls``."""
        if not request.tools:
            return await self._model.answer(request)
        return with_calls(await self._model.answer(in_words(request, describe=True)), request)

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the answer piece by piece; no tools are offered."""
        return self._model.stream(in_words(request, describe=False))


def calls_schema(tools: Sequence[Tool], *, must_call: bool) -> JsonObject:
    """
    Return the JSON Schema of an answer with any number of calls of *tools*.

    Parameters with references to their own parts are moved below ``$defs`` as a whole, and the
    references adjusted.
    """
    definitions: dict[str, Json] = {}
    kinds: list[Json] = []
    for tool in tools:
        parameters: Json = tool.parameters
        if '"$ref"' in json.dumps(tool.parameters):
            place = f"#/$defs/{tool.name.replace('~', '~0').replace('/', '~1')}"
            definitions[tool.name] = _moved(tool.parameters, place)
            parameters = {"$ref": place}
        kinds.append(
            {
                "type": "object",
                "properties": {
                    "tool": {"type": "string", "enum": [tool.name]},
                    "arguments": parameters,
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
        )
    calls: dict[str, Json] = {
        "type": "array",
        "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds},
    }
    if must_call:
        calls["minItems"] = 1
    schema: dict[str, Json] = {
        "title": CALLS_TITLE,
        "description": "The calls to make, in order.",
        "type": "object",
        "properties": {"calls": calls},
        "required": ["calls"],
        "additionalProperties": False,
    }
    return {**schema, "$defs": definitions} if definitions else schema


def _moved(schema: Json, place: str) -> Json:
    """Return *schema* with its internal references, ``#…``, pointing below *place*."""
    if isinstance(schema, Mapping):
        return {
            name: place + part[1:]
            if name == "$ref" and isinstance(part, str) and part.startswith("#")
            else _moved(part, place)
            for name, part in schema.items()
        }
    return [_moved(part, place) for part in schema] if isinstance(schema, list | tuple) else schema


def in_words(request: ModelRequest, *, describe: bool) -> ModelRequest:
    """
    Return *request* without tools: earlier calls and their answers become text.

    With *describe* the system text lists the tools and explains how to call them; without, another
    part of the request must do so, such as a schema.
    """
    system = request.system
    if describe and request.tools:
        system = f"{system}\n\n{_instructions(request.tools, must_call=request.must_call)}"
    turns = tuple(_turn_in_words(turn) for turn in request.turns)
    return replace(request, system=system, turns=turns, tools=(), must_call=False)


def _instructions(tools: Sequence[Tool], *, must_call: bool) -> str:
    empty = "Make at least one call." if must_call else 'With nothing to call: {"calls": []}.'
    listed = "\n".join(
        json.dumps(
            {"tool": each.name, "description": each.description, "arguments": each.parameters},
            ensure_ascii=False,
        )
        for each in tools
    )
    return (
        "Answer with one JSON object and nothing else, in this form:\n"
        '{"calls": [{"tool": "<name>", "arguments": {…}}, …]}\n'
        f"{empty} The tools, each with the JSON Schema of its arguments:\n{listed}"
    )


def _turn_in_words(turn: Turn) -> Turn:
    if turn.role == "tool":
        return Turn(role="user", text=f"Answer to call {turn.answers or '?'}: {turn.text}")
    if not turn.calls:
        return turn
    written = ", ".join(_written(call) for call in turn.calls)
    ids = ", ".join(call.id or "?" for call in turn.calls)
    calls = f'{{"calls": [{written}]}}\n(calls {ids})'
    return Turn(role=turn.role, text=f"{turn.text}\n{calls}" if turn.text else calls)


def _written(call: ToolCall) -> str:
    raw = call.arguments
    arguments = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return f'{{"tool": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {arguments}}}'


def with_calls(answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
    """
    Return *answer* with the calls parsed from its text.

    Malformed text becomes one call without a name, so that it is rejected with a reason and never
    taken for "no calls". A refusal stays text.
    """
    if answer.calls or not answer.text.strip() or answer.stopped == "refusal":
        return answer
    number = 1 + calls_before(request)
    calls = read_calls(answer.text, number_from=number)
    if calls is None:
        calls = (ToolCall(name="", arguments=answer.text, id=f"call_{number}"),)
    # Keep an empty list of calls as text: if a call is required, the caller must see the answer.
    text = answer.text if request.must_call and not calls else ""
    return replace(answer, text=text, calls=calls)


def calls_before(request: ModelRequest) -> int:
    """Return the number of calls in the turns of *request*, so that new ids continue theirs."""
    return sum(len(turn.calls) for turn in request.turns)


def read_calls(text: str, *, number_from: int = 1) -> tuple[ToolCall, ...] | None:
    """
    Return the calls in *text*, with unparsed arguments; ``None`` if it contains no calls.

    Accepted are ``{"calls": […]}``, a list of calls and a single call, also with text or a code
    fence around them. If the text breaks off, the complete calls are returned, and a last one with
    the rest of the text, so that an incomplete list is never taken for a complete one.

    >>> [call.arguments for call in read_calls('{"calls": [{"tool": "a", "arguments": {"b": 1}}]}')]
    ['{"b": 1}']
    """
    for start in _starts(text):
        listed = _listed(text, start)
        if listed is not None:
            numbered = enumerate(listed, number_from)
            return tuple(replace(call, id=f"call_{number}") for number, call in numbered)
    return None


def _starts(text: str) -> Iterator[int]:
    """Yield the starts of values that may hold calls, skipping those inside complete values."""
    at, unfinished = 0, 0
    while unfinished < UNFINISHED_MAX and (found := _OPENING.search(text, at)) is not None:
        yield found.start()
        try:
            at = end_of(text, found.start())
        except Unfinished:
            at, unfinished = found.end(), unfinished + 1


def _listed(text: str, start: int) -> list[ToolCall] | None:
    """Return the calls in the value at *start*; ``None`` if it holds no calls."""
    if text[start] == "[":
        calls = list(_calls(text, start))
        return calls if any(call.name for call in calls) else None
    single = False
    for name, begin, _ in members_of(text, start):
        if name == "calls" and text[begin : begin + 1] == "[":
            return list(_calls(text, begin))
        single = single or name == "tool"
    return [_call(text, start)] if single else None


def _calls(text: str, start: int) -> Iterator[ToolCall]:
    for begin, _ in elements_of(text, start):
        yield _call(text, begin)


def _call(text: str, start: int) -> ToolCall:
    """Return the call at *start*; if it breaks off or lacks arguments, its text is used as such."""
    name, arguments = "", None
    if text[start : start + 1] == "{":
        for member, begin, end in members_of(text, start):
            raw = text[begin:end]
            if member == "tool":
                name = string_in(raw) or ""
            elif member == "arguments":
                written = string_in(raw)  # some models encode the arguments as a JSON string
                arguments = raw if written is None else written
    try:
        whole = text[start : end_of(text, start)]
    except Unfinished:
        return ToolCall(name=name, arguments=text[start:])
    return ToolCall(name=name, arguments=whole if arguments is None else arguments)
