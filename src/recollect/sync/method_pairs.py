"""
Pairs of methods, without ``await`` and with it, each made from one function.

`method_pair` and `prepared_pair` make both from a coroutine of the memory that an object is over;
`delegated_pair` from a coroutine that calls pairs of other objects; `threaded` makes the awaited
one from a method that blocks. Names, parameters and docstrings are those of the function.
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
_PREPARED: Final = re.compile(r"Callable\[\[Recollect\], Awaitable\[(.*)\]\]")


class Housed(Protocol):
    """An object whose memory lives in a home."""

    @property
    def home(self) -> Home:
        """The ways to the memory."""
        ...


HousedT = TypeVar("HousedT", bound=Housed)
MethodPair: TypeAlias = tuple[
    Callable[Concatenate[OwnerT, P], ResultT],
    Callable[Concatenate[OwnerT, P], Awaited[ResultT]],
]
"""The method that waits, and the one to await."""


class PairCall(Protocol):
    """Calls one of two methods that do the same: the first without ``await``, or the second."""

    def __call__(
        self,
        waiting: Callable[P, ResultT],
        awaited: Callable[P, Awaitable[ResultT]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Awaitable[ResultT]:
        """Return what to await for the result."""
        ...


def method_pair(
    work: Callable[Concatenate[HousedT, Recollect, P], Awaitable[ResultT]],
    name: str | None = None,
) -> MethodPair[HousedT, P, ResultT]:
    """
    Return two methods that run the coroutine *work* where the memory of their object lives.

    Args:
        name: That of the first; of *work* without its underscore if ``None``. The second's
            begins with an ``a``.
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
    Return two methods that call *prepare*, and run what it returns where the memory lives.

    *prepare* runs on the caller's thread: there arguments are checked, and a user's own iterators
    and functions are called, before anything is asked of the memory.

    Args:
        name: As for `method_pair`.
        in_place: Run it by `Home.here`: for what reads, or writes once, at its end.
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
    Return two methods, or functions, that run *work*, which calls pairs of other objects.

    *work* calls each by ``await call(other.read, other.aread, …)``, and awaits nothing else: so
    the one without ``await`` runs from its beginning to its end on the caller's thread.

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
    """Return the awaited twin of a *method* that blocks: it runs that on a thread."""
    name = method.__name__

    async def awaited(self: object, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        # By its name: a subclass that overrides the method has the twin as well.
        def run() -> ResultT:
            result: ResultT = getattr(self, name)(*args, **kwargs)
            return result

        return await to_thread.run_sync(run)

    _introduce(awaited, method, _awaited_name(name))
    return awaited


async def _call_waiting(
    waiting: Callable[P, ResultT],
    awaited: Callable[P, Awaitable[ResultT]],  # noqa: ARG001 (the other way takes it)
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> ResultT:
    return waiting(*args, **kwargs)


async def _call_awaited(
    waiting: Callable[P, ResultT],  # noqa: ARG001 (the other way takes it)
    awaited: Callable[P, Awaitable[ResultT]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> ResultT:
    return await awaited(*args, **kwargs)


def _awaited_name(name: str) -> str:
    """Return the name of an awaited twin: ``aread`` for ``read``, ``_aread`` for ``_read``."""
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
    Show a method with its name, and the docstring and parameters of *work*, to help and editors.

    Args:
        hidden: The place of the parameter of *work* that the method fills in itself.
    """
    wraps(work)(method)
    vars(method).pop("__isabstractmethod__", None)  # a twin of an abstract method is there
    own = inspect.signature(work)
    shown = [each for at, each in enumerate(own.parameters.values()) if at != hidden]
    method.__name__ = name
    method.__signature__ = own.replace(parameters=shown)


def _show_result(method: Any) -> None:
    """Show the type that a prepared function returns in the end, in place of the function's."""
    own = method.__signature__
    found = _PREPARED.fullmatch(str(own.return_annotation))
    if found:
        method.__signature__ = own.replace(return_annotation=found[1])
