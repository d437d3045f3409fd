"""`CallableModel`: a function as a model, with `async def` or with `def`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from inspect import isawaitable
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from recollect.errors import ModelError
from recollect.models.structured_output import calls_before, read_calls
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Usage
from recollect.providers.object_names import identity_of, is_async
from recollect.providers.provider_errors import provider_call
from recollect.records import JsonObject

Answered: TypeAlias = "ModelAnswer | str | JsonObject"
Ask: TypeAlias = "Callable[[ModelRequest], Awaitable[Answered] | Answered]"
TIMEOUT_S: Final = 120.0
_THREADS_AT_ONCE: Final = 64
"""Calls of one plain function at once: as many as a worker may form scopes."""

_STOPS: Final = ("end", "length", "refusal")
_ANSWER_FIELDS: Final = frozenset({"text", "calls", "stopped", "usage"})
_CALL_FIELDS: Final = frozenset({"name", "tool", "arguments", "id"})
_USAGE_FIELDS: Final = frozenset({"input_tokens", "output_tokens", "cached_tokens"})


class CallableModel:
    """
    A callable from a `ModelRequest` to a `ModelAnswer`, a text, or a dict.

    An async one is awaited on the event loop of the memory, so it must not block; a plain one runs
    in a thread. Past the timeout an async one is cancelled; a plain one is no longer waited for.

    If the request has tools, a text in the form of calls, ``{"calls": [{"tool": …, "arguments":
    {…}}]}``, is parsed as calls; any other text is the answer's text. A dict can have the keys of
    `ModelAnswer`: ``text``, ``calls`` (dicts of ``name``, ``arguments`` as an object or JSON text,
    and ``id``), ``stopped`` and ``usage``.

    Errors of the callable are raised as `ModelError`, classified by the ``status_code`` and
    ``response.headers`` that HTTP clients' errors have. Its identity is its ``identity`` attribute
    if it has one, else its module and name.
    """

    def __init__(
        self,
        ask: Ask,
        *,
        identity: str | None = None,
        timeout_s: float = TIMEOUT_S,
        secrets: Iterable[str] = (),
    ) -> None:
        self._ask = ask
        self._is_async = is_async(ask)
        self._identity = identity or identity_of(ask)
        self._timeout_s = timeout_s
        self._secrets = frozenset(secrets)

    def __repr__(self) -> str:
        return f"CallableModel({self._identity!r})"

    @property
    def identity(self) -> str:
        """The callable's name."""
        return self._identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer within the timeout."""
        async with provider_call(self._identity, timeout_s=self._timeout_s, secrets=self._secrets):
            answered = await self._asked(request)
        try:
            return read_answered(answered, request)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self._identity} returned an invalid answer: {error}") from error

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the answer in one piece."""
        yield (await self.answer(request)).text

    async def _asked(self, request: ModelRequest) -> object:
        if self._is_async:
            answered: object = self._ask(request)
        else:
            answered = await to_thread.run_sync(
                self._ask, request, abandon_on_cancel=True, limiter=self._threads()
            )
        # A plain function may return a coroutine too: `lambda request: ask(client, request)`.
        return await answered if isawaitable(answered) else answered

    def _threads(self) -> CapacityLimiter:
        """
        Return this model's limiter on the running event loop.

        A thread cannot be stopped: calls that hang keep theirs. With the limiter that all share
        they would take the threads of the embedder and of the store as well.
        """
        limiters = _limiters.get(None)
        if limiters is None:
            _limiters.set(limiters := WeakKeyDictionary())
        if self not in limiters:
            limiters[self] = CapacityLimiter(_THREADS_AT_ONCE)
        return limiters[self]


_limiters: Final[RunVar[WeakKeyDictionary[CallableModel, CapacityLimiter]]] = RunVar(
    "recollect_callable_models"
)


def read_answered(answered: object, request: ModelRequest) -> ModelAnswer:
    """
    Convert a callable's result to a `ModelAnswer`.

    Raises:
        TypeError: The result is not a `ModelAnswer`, text or dict, or a part has a wrong type.
        ValueError: A dict has an unknown key or an invalid value.
    """
    if isinstance(answered, ModelAnswer):
        return answered
    if isinstance(answered, str):
        number = 1 + calls_before(request)
        calls = read_calls(answered, number_from=number) if request.tools else None
        is_text = calls is None or (request.must_call and not calls)
        return ModelAnswer(text=answered) if is_text else ModelAnswer(calls=calls or ())
    if not isinstance(answered, Mapping):
        raise TypeError(f"a {type(answered).__name__}: return a ModelAnswer, a str or a dict")
    _check_keys(answered, _ANSWER_FIELDS, "the answer")
    stopped, text = answered.get("stopped", "end"), answered.get("text") or ""
    if stopped not in _STOPS or not isinstance(text, str):
        raise ValueError(f"stopped={stopped!r}, text a {type(text).__name__}: one of {_STOPS}, str")
    usage = answered.get("usage") or {}
    _check_keys(usage, _USAGE_FIELDS, "usage")
    listed = enumerate(answered.get("calls") or (), 1 + calls_before(request))
    return ModelAnswer(
        text=text,
        calls=tuple(_call(call, number) for number, call in listed),
        stopped=stopped,
        usage=Usage(**usage),
    )


def _call(call: object, number: int) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    _check_keys(call, _CALL_FIELDS, f"call {number}")
    found: JsonObject = call if isinstance(call, Mapping) else {}
    name, arguments = found.get("name", found.get("tool", "")), found.get("arguments", "")
    if not isinstance(name, str) or not isinstance(arguments, str | Mapping):
        kinds = f"{type(name).__name__} and {type(arguments).__name__}"
        raise TypeError(f"call {number}: name and arguments are {kinds}: str, and dict or str")
    return ToolCall(name=name, arguments=arguments, id=str(found.get("id") or f"call_{number}"))


def _check_keys(value: object, known: frozenset[str], what: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} is a {type(value).__name__}, not a dict")
    unknown = sorted(map(str, set(value) - known))
    if unknown:
        raise ValueError(f"{what} has the keys {unknown}; known are {sorted(known)}")
