"""Record a model's answers in a file, and replay them without a model or a network."""

import json
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Final

import anyio.to_thread

from recollect.errors import ModelError, UsageError
from recollect.ports import Model, ModelAnswer, ModelRequest, ToolCall, Usage

FORMAT: Final = 1
DIFFERENCES_TOLD_MAX: Final = 6
"""Differences named in an error, at most."""
_FILE_MODE: Final = 0o600  # answers contain personal data

Parts = Mapping[str, str]
"""The digest of each part of a request, by the part's name, e.g. ``turns[2]``."""


class RecordedModel:
    """
    A model whose answers are recorded in a file of JSON Lines.

    A line holds the answer and digests of the request's parts, never the request itself or a key.
    Failures are not recorded. Requests can run concurrently, but only one recording can write to a
    file.
    """

    def __init__(self, model: Model, path: str | Path) -> None:
        self._model = model
        self._path = Path(path)
        self._line = threading.Lock()

    def __repr__(self) -> str:
        return f"Recording({self._model!r}, {str(self._path)!r})"

    @property
    def identity(self) -> str:
        """The recorded model's identity."""
        return self._model.identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Record the model's answer, and return it."""
        answer = await self._model.answer(request)
        await self._record(request, answer, ())
        return answer

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the model's pieces, and record them at the end."""
        pieces = []
        async for piece in self._model.stream(request):
            pieces.append(piece)
            yield piece
        await self._record(request, ModelAnswer(text="".join(pieces)), pieces)

    async def _record(
        self, request: ModelRequest, answer: ModelAnswer, pieces: Sequence[str]
    ) -> None:
        line = {
            "format": FORMAT,
            "model": self._model.identity,
            "request": parts_of(request),
            "answer": vars_of(answer),
            **({"pieces": pieces} if pieces else {}),
        }
        try:
            text = json.dumps(line, ensure_ascii=False, default=_plain)
        except (TypeError, ValueError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            msg = f"an answer of {self.identity} cannot be recorded ({reason}): it is no JSON"
            raise ModelError(msg) from error
        await anyio.to_thread.run_sync(self._append, f"{text}\n")

    def _append(self, line: str) -> None:
        with self._line:
            if not self._path.exists():
                self._path.touch(_FILE_MODE)
            with self._path.open("a", encoding="utf-8", errors="surrogatepass") as file:
                file.write(line)


class Replay:
    """
    A model that answers from a recording, without any request.

    A request that was recorded several times gets its answers in order, then the last one again.
    """

    def __init__(self, path: str | Path) -> None:
        """
        Read the whole recording at *path*.

        Raises:
            UsageError: The file does not exist, or a line is not a recorded answer.
        """
        self._path = Path(path)
        self._identity = "replay/empty"
        self._requests: list[Parts] = []
        self._answers: defaultdict[str, list[tuple[ModelAnswer, Sequence[str]]]] = defaultdict(list)
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError as error:
            msg = f"there is no recording at {str(self._path)!r} ({error.strerror}): record one"
            raise UsageError(msg) from error
        for number, line in enumerate(lines, 1):
            self._add_line(line, number)

    def __repr__(self) -> str:
        return f"Replay({str(self._path)!r}, {len(self._requests)} answers)"

    @property
    def identity(self) -> str:
        """The identity of the recorded model."""
        return self._identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """
        Return the recorded answer.

        Raises:
            ModelError: There is none; the error names the differences from the nearest request.
        """
        return self._next(request)[0]

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the recorded pieces, or the recorded text as one."""
        answer, pieces = self._next(request)
        for piece in pieces or (answer.text,):
            yield piece

    def _next(self, request: ModelRequest) -> tuple[ModelAnswer, Sequence[str]]:
        parts = parts_of(request)
        answers = self._answers.get(_digest(parts))
        if answers is None:
            msg = f"{str(self._path)!r} has no answer to this request: {self._explain(parts)}"
            raise ModelError(f"{msg}; record it again")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def _explain(self, parts: Parts) -> str:
        if not self._requests:
            return "it is empty"
        number, nearest = min(
            enumerate(self._requests, 1), key=lambda each: len(differences(each[1], parts))
        )
        found = differences(nearest, parts)
        more = len(found) - DIFFERENCES_TOLD_MAX
        listed = "; ".join(found[:DIFFERENCES_TOLD_MAX]) + (f"; {more} more" if more > 0 else "")
        return f"of {len(self._requests)} the nearest is that of line {number}, where {listed}"

    def _add_line(self, line: bytes, number: int) -> None:
        try:
            found = json.loads(line.decode("utf-8", "surrogatepass"))
            _check_format(found["format"])
            parts = {str(name): str(digest) for name, digest in found["request"].items()}
            answer = _answer(found["answer"])
            self._identity = str(found["model"])
            pieces = [str(each) for each in found.get("pieces", ())]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            place = f"line {number} of {str(self._path)!r}"
            raise UsageError(f"{place} is no recorded answer ({reason}): remove it") from error
        self._requests.append(parts)
        self._answers[_digest(parts)].append((answer, pieces))


def _check_format(found: object) -> None:
    if found != FORMAT:
        raise ValueError(f"its format is {found!r}, not {FORMAT}")


def parts_of(request: ModelRequest) -> Parts:
    """Return the digest of each part of *request*, by name."""
    parts = {"system": _digest(request.system)}
    parts |= {f"tool {tool.name!r}": _digest(asdict(tool)) for tool in request.tools}
    parts["order of tools"] = _digest([tool.name for tool in request.tools])
    parts |= {f"turns[{place}]": _digest(asdict(turn)) for place, turn in enumerate(request.turns)}
    parts["must_call"] = _digest(request.must_call)
    parts["output_tokens_max"] = _digest(request.output_tokens_max)
    return parts


def differences(recorded: Parts, asked: Parts) -> tuple[str, ...]:
    """
    Return the parts in which two requests differ, each as text.

    >>> differences({"system": "1", "turns[0]": "2"}, {"system": "3", "turns[1]": "2"})
    ('system differs', 'turns[0] was recorded and is missing', 'turns[1] was not recorded')
    """
    found = [
        f"{name} differs" if name in asked else f"{name} was recorded and is missing"
        for name in recorded
        if asked.get(name) != recorded[name]
    ]
    return (*found, *(f"{name} was not recorded" for name in asked if name not in recorded))


def vars_of(answer: ModelAnswer) -> Mapping[str, object]:
    """Return *answer* in the format of a recording."""
    calls = [
        {"name": call.name, "arguments": call.arguments, "id": call.id} for call in answer.calls
    ]
    return {
        "text": answer.text,
        "calls": calls,
        "stopped": answer.stopped,
        "usage": asdict(answer.usage),
    }


def _digest(part: object) -> str:
    text = json.dumps(part, sort_keys=True, default=_plain)
    return sha256(text.encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    """Return custom mappings and sequences as plain JSON types."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a {type(value).__name__} in a request is no JSON")


def _answer(found: Mapping[str, object]) -> ModelAnswer:
    calls, usage = found["calls"], found["usage"]
    if not isinstance(calls, list) or not isinstance(usage, dict):
        raise TypeError("calls is not a list, or usage is not an object")
    stopped = found["stopped"]
    if stopped not in ("end", "length", "refusal"):
        raise ValueError(f"stopped is {stopped!r}")
    return ModelAnswer(
        text=str(found["text"]),
        calls=tuple(ToolCall(**call) for call in calls),
        stopped=stopped,
        usage=Usage(**usage),
    )
