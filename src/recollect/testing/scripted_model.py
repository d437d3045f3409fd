"""A model that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from inspect import isawaitable
from itertools import chain
from typing import Final, TypeAlias

from recollect.errors import ModelError, UsageError
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Usage
from recollect.text.token_estimate import estimated_tokens

ScriptedAnswer: TypeAlias = ModelAnswer | str | ToolCall | Sequence[ToolCall] | Exception
"""A whole answer, its text, its call or calls, or an error to raise."""
Script: TypeAlias = (
    Iterable[ScriptedAnswer] | Callable[[ModelRequest], ScriptedAnswer | Awaitable[ScriptedAnswer]]
)

_PIECES: Final = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """
    A model that answers from a list, one answer a request, or from a function of the request.

    The function may be async, e.g. to wait for the test. Every request is in `requests`, in
    order, also one that fails. An answer without usage gets `usage_of` it; a call without an
    id gets one.

    >>> model = ScriptedModel(["Hello, Ada."])
    >>> model.identity, model.requests
    ('scripted/model', [])
    """

    def __init__(self, script: Script, *, identity: str = "scripted/model") -> None:
        self.requests: list[ModelRequest] = []
        self._identity = identity
        self._function = script if callable(script) else None
        self._answers: Iterator[ScriptedAnswer] = iter(() if callable(script) else script)

    def __repr__(self) -> str:
        return f"ScriptedModel({self._identity!r}, {len(self.requests)} requests)"

    @property
    def identity(self) -> str:
        """Name it as it was told."""
        return self._identity

    def then(self, *answers: ScriptedAnswer) -> None:
        """
        Append answers to the list.

        Raises:
            UsageError: The model answers from a function.
        """
        if self._function is not None:
            raise UsageError("this model answers from a function: change what that returns")
        self._answers = chain(self._answers, answers)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """
        Return the next answer.

        Raises:
            Exception: The one in its place.
            ModelError: The list is used up.
        """
        self.requests.append(request)
        said = await self._said(request)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, str):
            said = ModelAnswer(text=said)
        elif isinstance(said, ToolCall):
            said = ModelAnswer(calls=(said,))
        elif not isinstance(said, ModelAnswer):
            said = ModelAnswer(calls=tuple(said))
        calls = tuple(
            call if call.id else replace(call, id=f"call_{len(self.requests)}_{number}")
            for number, call in enumerate(said.calls, 1)
        )
        said = replace(said, calls=calls)
        return said if said.usage != Usage() else replace(said, usage=usage_of(request, said))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the next answer word by word."""
        answer = await self.answer(request)
        for piece in _PIECES.findall(answer.text):
            yield piece

    async def _said(self, request: ModelRequest) -> ScriptedAnswer:
        if self._function is not None:
            said = self._function(request)
            return await said if isawaitable(said) else said
        try:
            return next(self._answers)
        except StopIteration:
            msg = f"the script has no answer to request {len(self.requests)}: write one more"
            raise ModelError(msg) from None


def usage_of(request: ModelRequest, answer: ModelAnswer) -> Usage:
    """Return about what *request* and *answer* cost in tokens, by the library's estimate."""
    asked = [request.system]
    asked += [f"{tool.name} {tool.description} {_json(tool.parameters)}" for tool in request.tools]
    for turn in request.turns:
        asked += [turn.text, *map(_written, turn.calls)]
    said = [answer.text, *map(_written, answer.calls)]
    return Usage(
        input_tokens=sum(map(estimated_tokens, asked)),
        output_tokens=sum(map(estimated_tokens, said)),
    )


def _written(call: ToolCall) -> str:
    raw = call.arguments
    return f"{call.name} {raw if isinstance(raw, str) else _json(raw)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
