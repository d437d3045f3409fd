"""Synchronous classes whose methods are generated from those of an asynchronous class."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import wraps
from inspect import signature
from operator import methodcaller
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from recollect.errors import StoreClosedError
from recollect.sync.bridge import AsyncBridge, Awaited

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
BehindT = TypeVar("BehindT")
BehindT_co = TypeVar("BehindT_co", covariant=True)
FaceT = TypeVar("FaceT", bound="SyncFace[Any]")
_END: Final = object()


class SyncFace(Generic[BehindT_co]):
    """
    An asynchronous object, used without ``await``: enter it with ``with``.

    It opens and owns the object on a thread of its own, so it works in notebooks and inside a
    running event loop (which it blocks). A subclass lists its methods, each made with
    `sync_method` or `sync_iterator`, and `open` and `close` with `sync_open` and `sync_close`.
    """

    def __init__(self, make: Callable[[], BehindT_co], *, how_to_open: str) -> None:
        self._bridge: AsyncBridge[Any] = AsyncBridge(
            make, name=type(self).__name__, how_to_open=how_to_open
        )

    def __enter__(self) -> Self:
        self._bridge.open()
        return self

    def __exit__(self, *error: object) -> None:
        self._bridge.close()

    def _open(self) -> BehindT_co:
        """Return the asynchronous object; raise `StoreClosedError` if it is not open."""
        behind: BehindT_co = self._bridge.opened
        return behind

    def before_close(self, method: Callable[[], None]) -> None:
        """
        Call a bound *method* when this is closed, before anything else; it may still use this.

        Only a weak reference is held: a collected object's method is not called.
        """
        self._bridge.before_close(method)

    def call(self, function: Callable[[BehindT_co], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* of the object on its own thread, and return its result.

        Several calls of the object in one *function* cost one change of threads.
        """
        return self._bridge.call(function, self._open())

    def here(self, function: Callable[[BehindT_co], Awaitable[ResultT]]) -> ResultT:
        """Run an async *function* on this thread if that is possible, otherwise as `call` does."""
        return self.call(function)

    async def acall(self, function: Callable[[BehindT_co], Awaitable[ResultT]]) -> ResultT:
        """
        Await an async *function* of the object from any event loop; it runs on its own thread.

        The caller's loop is never blocked, however busy the object's loop is. A cancelled wait
        cancels the function. It may also be called on the object's own loop.
        """
        return await self._bridge.visit(function, self._open())


def sync_method(
    method: Callable[Concatenate[BehindT, P], Awaited[ResultT]],
    *,
    in_place: bool = False,
) -> Callable[Concatenate[SyncFace[BehindT], P], ResultT]:
    """
    Return the blocking version of *method* of the asynchronous class, for its face.

    Args:
        in_place: Run it by `SyncFace.here`: for methods that only read, or write once at the end.
    """
    name = method.__name__

    @wraps(method)
    def waiting(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        result: ResultT = self.call(methodcaller(name, *args, **kwargs))
        return result

    @wraps(method)
    def waiting_here(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        result: ResultT = self.here(methodcaller(name, *args, **kwargs))
        return result

    return waiting_here if in_place else waiting


def sync_iterator(
    method: Callable[Concatenate[BehindT, P], AsyncIterator[ResultT]],
) -> Callable[Concatenate[SyncFace[BehindT], P], Iterator[ResultT]]:
    """Return the blocking version of *method*, an async generator; each step waits for its item."""
    name = method.__name__

    @wraps(method)
    def iterating(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[ResultT]:
        found = methodcaller(name, *args, **kwargs)(self._open())
        try:
            while (each := self.call(lambda _: anext(found, _END))) is not _END:
                yield each
        except GeneratorExit:
            # The caller left the loop early: release what the generator holds, such as a
            # connection, now and not when it is collected.
            with suppress(StoreClosedError):
                self.call(lambda _: found.aclose())
            raise

    own = signature(iterating)
    returned = str(own.return_annotation).removeprefix("Async")
    setattr(iterating, "__signature__", own.replace(return_annotation=returned))  # noqa: B010
    return iterating


def sync_open(
    method: Callable[[BehindT], Awaited[BehindT]],
) -> Callable[[FaceT], FaceT]:
    """Return the face's version of *method* `open`: it enters the face."""

    @wraps(method)
    def opening(self: Any, /) -> Any:
        return self.__enter__()

    return opening


def sync_close(
    method: Callable[[BehindT], Awaited[None]],
) -> Callable[[SyncFace[BehindT]], None]:
    """Return the face's version of *method* `close`: it leaves the face."""

    @wraps(method)
    def closing(self: SyncFace[BehindT], /) -> None:
        self.__exit__()

    return closing
