"""A model with scripted answers, which records its requests."""

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

    The function may be async, e.g. to wait for the test. `requests` has every request in order,
    including failed ones. An answer without usage gets an estimate (`usage_of`); a call without an
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
        """The identity given to the constructor."""
        return self._identity

    def then(self, *answers: ScriptedAnswer) -> None:
        """
        Append answers to the list.

        Raises:
            UsageError: The model answers from a function.
        """
        if self._function is not None:
            raise UsageError("this model answers from a function: then() cannot add answers")
        self._answers = chain(self._answers, answers)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """
        Return the next answer.

        Raises:
            Exception: The next answer is this exception.
            ModelError: The list is used up.
        """
        self.requests.append(request)
        answer = await self._next_answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = ModelAnswer(text=answer)
        elif isinstance(answer, ToolCall):
            answer = ModelAnswer(calls=(answer,))
        elif not isinstance(answer, ModelAnswer):
            answer = ModelAnswer(calls=tuple(answer))
        calls = tuple(
            call if call.id else replace(call, id=f"call_{len(self.requests)}_{number}")
            for number, call in enumerate(answer.calls, 1)
        )
        answer = replace(answer, calls=calls)
        has_usage = answer.usage != Usage()
        return answer if has_usage else replace(answer, usage=usage_of(request, answer))

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the next answer word by word."""
        answer = await self.answer(request)
        for piece in _PIECES.findall(answer.text):
            yield piece

    async def _next_answer(self, request: ModelRequest) -> ScriptedAnswer:
        if self._function is not None:
            answer = self._function(request)
            return await answer if isawaitable(answer) else answer
        try:
            return next(self._answers)
        except StopIteration:
            msg = f"the script has no answer to request {len(self.requests)}: write one more"
            raise ModelError(msg) from None


def usage_of(request: ModelRequest, answer: ModelAnswer) -> Usage:
    """Return the tokens of *request* and *answer*, by the library's estimate."""
    sent = [request.system]
    sent += [f"{tool.name} {tool.description} {_json(tool.parameters)}" for tool in request.tools]
    for turn in request.turns:
        sent += [turn.text, *map(_written, turn.calls)]
    received = [answer.text, *map(_written, answer.calls)]
    return Usage(
        input_tokens=sum(map(estimated_tokens, sent)),
        output_tokens=sum(map(estimated_tokens, received)),
    )


def _written(call: ToolCall) -> str:
    raw = call.arguments
    return f"{call.name} {raw if isinstance(raw, str) else _json(raw)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
