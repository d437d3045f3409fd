"""Both faces of a method, with ``await`` and without, made of one coroutine."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollect.memory.facade import Recollect
from recollect.sync.object_home import Home

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


class Housed(Protocol):
    """An object whose memory lives in a home."""

    home: Home


OwnerT = TypeVar("OwnerT", bound=Housed)


def twins(
    work: Callable[Concatenate[OwnerT, Recollect, P], Awaitable[ResultT]],
    name: str | None = None,
) -> tuple[
    Callable[Concatenate[OwnerT, P], ResultT],
    Callable[Concatenate[OwnerT, P], Coroutine[Any, Any, ResultT]],
]:
    """
    Return the method that waits for *work* where the memory lives, and the one to await.

    Args:
        name: That of the first; of *work* without its underscore if ``None``. The second's
            begins with an ``a``.
    """

    @wraps(work)
    def waiting(self: OwnerT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return self.home.call(lambda memory: work(self, memory, *args, **kwargs))

    @wraps(work)
    async def awaited(self: OwnerT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await self.home.visit(lambda memory: work(self, memory, *args, **kwargs))

    name = name or getattr(work, "__name__", "").removeprefix("_")
    _introduce(waiting, work, name)
    _introduce(awaited, work, f"a{name}")
    return waiting, awaited


def _introduce(face: object, work: Callable[..., object], name: str) -> None:
    """Let a face be seen with its own name and parameters, for help and editors."""
    signature = inspect.signature(work)
    own = [each for at, each in enumerate(signature.parameters.values()) if at != 1]
    names = {"__name__": name, "__signature__": signature.replace(parameters=own)}
    for attribute, found in names.items():
        setattr(face, attribute, found)
