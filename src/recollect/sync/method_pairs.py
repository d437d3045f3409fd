"""
Pairs of a blocking and an async method, both made from one function.

`method_pair` and `prepared_pair` make both from a coroutine that runs on the object's memory,
`delegated_pair` from a coroutine that calls pairs of other objects; `threaded` makes the async
one from a blocking method. Names, parameters and docstrings are those of the function.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeAlias, TypeVar

from anyio import to_thread

from recollect.memory.facade import Recollect
from recollect.stores.in_place import run_in_place
from recollect.sync.bridge import Awaited
from recollect.sync.object_home import Home

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
OwnerT = TypeVar("OwnerT")
# The annotation of a function that `prepared_pair` takes; the group is the type of its result.
_PREPARED: Final = re.compile(r"Callable\[\[Recollect\], Awaitable\[(.*)\]\]")


class Housed(Protocol):
    """An object with a memory, which it reaches through its `home`."""

    @property
    def home(self) -> Home:
        """Runs functions of the memory."""
        ...


HousedT = TypeVar("HousedT", bound=Housed)
MethodPair: TypeAlias = tuple[
    Callable[Concatenate[OwnerT, P], ResultT],
    Callable[Concatenate[OwnerT, P], Awaited[ResultT]],
]
"""The blocking method, and the async one."""


class PairCall(Protocol):
    """Calls one method of a pair: always the blocking one, or always the async one."""

    def __call__(
        self,
        waiting: Callable[P, ResultT],
        awaited: Callable[P, Awaitable[ResultT]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Awaitable[ResultT]:
        """Return an awaitable of the result."""
        ...


def method_pair(
    work: Callable[Concatenate[HousedT, Recollect, P], Awaitable[ResultT]],
    name: str | None = None,
) -> MethodPair[HousedT, P, ResultT]:
    """
    Return a blocking and an async method that run the coroutine *work* on the object's memory.

    Args:
        name: Name of the blocking method; by default that of *work* without its underscore. The
            async method's name has an ``a`` in front.
    """

    def waiting(self: HousedT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return self.home.call(lambda memory: work(self, memory, *args, **kwargs))

    async def awaited(self: HousedT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await self.home.visit(lambda memory: work(self, memory, *args, **kwargs))

    _introduce_both(waiting, awaited, work, name, hidden=1)
    return waiting, awaited


def prepared_pair(
    prepare: Callable[Concatenate[HousedT, P], Callable[[Recollect], Awaitable[ResultT]]],
    name: str | None = None,
    *,
    in_place: bool = False,
) -> MethodPair[HousedT, P, ResultT]:
    """
    Return a blocking and an async method that run the function *prepare* returns on the memory.

    *prepare* itself runs on the caller's thread. It checks the arguments, and calls the user's own
    iterators and functions, which must not run on the memory's thread.

    Args:
        name: As for `method_pair`.
        in_place: Run it by `Home.here`: for functions that only read, or write once at the end.
    """

    def waiting(self: HousedT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        run = self.home.here if in_place else self.home.call
        return run(prepare(self, *args, **kwargs))

    async def awaited(self: HousedT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await self.home.visit(prepare(self, *args, **kwargs))

    _introduce_both(waiting, awaited, prepare, name)
    _show_result(waiting)
    _show_result(awaited)
    return waiting, awaited


def delegated_pair(
    work: Callable[Concatenate[OwnerT, PairCall, P], Awaited[ResultT]],
    name: str | None = None,
) -> MethodPair[OwnerT, P, ResultT]:
    """
    Return a blocking and an async method that run *work*, which calls pairs of other objects.

    *work* calls each by ``await call(other.read, other.aread, …)``, and must await nothing else:
    the blocking method runs it to its end on the caller's thread, without an event loop.

    Args:
        name: As for `method_pair`.
    """

    def waiting(self: OwnerT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return run_in_place(lambda: work(self, _call_waiting, *args, **kwargs))

    async def awaited(self: OwnerT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await work(self, _call_awaited, *args, **kwargs)

    _introduce_both(waiting, awaited, work, name, hidden=1)
    return waiting, awaited


def threaded(
    method: Callable[Concatenate[Any, P], ResultT],
) -> Callable[Concatenate[Any, P], Awaited[ResultT]]:
    """Return the async version of a blocking *method*: it runs the method on a worker thread."""
    name = method.__name__

    async def awaited(self: object, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        # Looked up by name, so that it calls the method of a subclass that overrides it.
        def run() -> ResultT:
            result: ResultT = getattr(self, name)(*args, **kwargs)
            return result

        return await to_thread.run_sync(run)

    _introduce(awaited, method, _awaited_name(name))
    return awaited


async def _call_waiting(
    waiting: Callable[P, ResultT],
    awaited: Callable[P, Awaitable[ResultT]],  # noqa: ARG001 (for `_call_awaited`)
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> ResultT:
    return waiting(*args, **kwargs)


async def _call_awaited(
    waiting: Callable[P, ResultT],  # noqa: ARG001 (for `_call_waiting`)
    awaited: Callable[P, Awaitable[ResultT]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> ResultT:
    return await awaited(*args, **kwargs)


def _awaited_name(name: str) -> str:
    """Return the name of the async method: ``aread`` for ``read``, ``_aread`` for ``_read``."""
    return f"_a{name[1:]}" if name.startswith("_") else f"a{name}"


def _introduce_both(
    waiting: object,
    awaited: object,
    work: Callable[..., object],
    name: str | None,
    *,
    hidden: int | None = None,
) -> None:
    name = name or work.__name__.removeprefix("_")
    _introduce(waiting, work, name, hidden=hidden)
    _introduce(awaited, work, _awaited_name(name), hidden=hidden)


def _introduce(
    method: Any, work: Callable[..., object], name: str, *, hidden: int | None = None
) -> None:
    """
    Give *method* its *name*, and the docstring and signature of *work*, for help and editors.

    Args:
        hidden: Position of the parameter of *work* that the method fills in itself.
    """
    wraps(work)(method)
    # Copied by `wraps`; the async version of an abstract method is implemented.
    vars(method).pop("__isabstractmethod__", None)
    own = inspect.signature(work)
    shown = [each for at, each in enumerate(own.parameters.values()) if at != hidden]
    method.__name__ = name
    method.__signature__ = own.replace(parameters=shown)


def _show_result(method: Any) -> None:
    """Replace the function type in the signature by the type of the function's result."""
    own = method.__signature__
    found = _PREPARED.fullmatch(str(own.return_annotation))
    if found:
        method.__signature__ = own.replace(return_annotation=found[1])
