"""`SyncRecollect`: `Recollect` without ``await``, its methods generated from those."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from typing import Concatenate, NoReturn, ParamSpec, Self, TypeVar

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.memory.facade import open as open_async
from recollect.observability.health import BackgroundTasks
from recollect.stores.in_place import NeedsLoopError, has_loop, run_in_place
from recollect.sync.generated_methods import (
    SyncFace,
    sync_close,
    sync_iterator,
    sync_method,
    sync_open,
)

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

ViewT = TypeVar("ViewT", bound="SyncRecollect")


def _sync_view(
    method: Callable[Concatenate[Recollect, P], Recollect],
) -> Callable[Concatenate[ViewT, P], ViewT]:
    """Return the face's version of *method*, which returns a view of a memory."""

    @wraps(method)
    def viewed(self: ViewT, /, *args: P.args, **kwargs: P.kwargs) -> ViewT:
        return self._viewed(lambda memory: method(memory, *args, **kwargs))

    return viewed


class SyncRecollect(SyncFace[Recollect]):
    """
    `Recollect`, called without ``await``; see there for what each method does.

    It opens and owns everything on a thread of its own, so it works in notebooks and inside
    a running event loop (which it blocks). Used after a fork it raises `StoreClosedError`; a
    forked child that leaves the block does not close its parent's memory.

    >>> with open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "Ada prefers short answers.")
    ...     memory.recall("ada", "short answers").entries[0].content == note
    True
    """

    _view: Callable[[Recollect], Recollect] | None = None

    def __init__(self, make: Callable[[], Recollect]) -> None:
        super().__init__(make, how_to_open="use it inside 'with recollect.open_sync(...)'")

    def __enter__(self) -> Self:
        self._check_not_view()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._check_not_view()
        super().__exit__(*error)

    async def __aenter__(self) -> NoReturn:
        raise UsageError(
            "this memory is entered with 'with'; where its calls are awaited, use "
            "'async with recollect.open(...)'"
        )

    async def __aexit__(self, *error: object) -> None:
        """Do nothing: `__aenter__` always raises."""

    def _check_not_view(self) -> None:
        if self._view is not None:
            raise UsageError("a view is open as long as its memory: enter the memory with 'with'")

    def _open(self) -> Recollect:
        memory = self._bridge.opened
        return memory if self._view is None else self._view(memory)

    def _viewed(self, view: Callable[[Recollect], Recollect]) -> Self:
        """Return a synchronous view: *view* is applied to the memory at each call."""
        face = object.__new__(type(self))
        outer = self._view
        composed = view if outer is None else lambda memory: view(outer(memory))
        face.__dict__.update(self.__dict__, _view=composed)
        _ = face._open()  # raise the errors of an invalid view here, not at its first call
        return face

    def here(self, function: Callable[[Recollect], Awaitable[ResultT]]) -> ResultT:
        """
        Run an async *function* of the memory on this thread, and return its result.

        This saves a change of threads, which costs more than most reads. The function may only
        read, or write once at its end: if the store needs an event loop, if one runs on this
        thread, or if the function awaits anything but the store, it is run again from its
        beginning as `call` does.
        """
        memory = self._open()
        if memory.store.answers_in_place and not has_loop():
            with suppress(NeedsLoopError):
                return run_in_place(function, memory)
        return self._bridge.call(function, memory)

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """See `Recollect.loop`; it is the loop of the memory's own thread."""
        return self._open().loop

    @property
    def embedder(self) -> str | None:
        """See `Recollect.embedder`."""
        return self._open().embedder

    @property
    def lacks_model(self) -> bool:
        """See `Recollect.lacks_model`."""
        return self._open().lacks_model

    @property
    def strength(self) -> float | None:
        """See `Recollect.strength`."""
        return self._open().strength

    @property
    def tasks(self) -> BackgroundTasks:
        """See `Recollect.tasks`."""
        return self._open().tasks

    @property
    def outside_error(self) -> str | None:
        """See `Recollect.outside_error`."""
        return self._open().outside_error

    open = sync_open(Recollect.open)
    close = sync_close(Recollect.close)

    # Threads

    append = sync_method(Recollect.append)
    threads = sync_method(Recollect.threads, in_place=True)
    thread = sync_method(Recollect.thread, in_place=True)
    messages = sync_method(Recollect.messages, in_place=True)
    last_messages = sync_method(Recollect.last_messages, in_place=True)
    remove = sync_method(Recollect.remove)
    keep = sync_method(Recollect.keep)
    replace = sync_method(Recollect.replace)
    state = sync_method(Recollect.state, in_place=True)
    set_state = sync_method(Recollect.set_state)
    attach = sync_method(Recollect.attach)
    attachments = sync_method(Recollect.attachments, in_place=True)
    attachment = sync_method(Recollect.attachment, in_place=True)
    detach = sync_method(Recollect.detach)

    # Memories

    put = sync_method(Recollect.put, in_place=True)
    remember = sync_method(Recollect.remember, in_place=True)
    end = sync_method(Recollect.end, in_place=True)
    delete = sync_method(Recollect.delete, in_place=True)
    apply = sync_method(Recollect.apply, in_place=True)
    apply_each = sync_method(Recollect.apply_each, in_place=True)
    get = sync_method(Recollect.get, in_place=True)
    memories = sync_method(Recollect.memories, in_place=True)
    history = sync_method(Recollect.history, in_place=True)
    scopes = sync_method(Recollect.scopes, in_place=True)

    # Recall

    recall = sync_method(Recollect.recall, in_place=True)
    context = sync_method(Recollect.context)
    caught_up = sync_method(Recollect.caught_up)
    nearest = sync_method(Recollect.nearest)
    settled = sync_method(Recollect.settled)
    reembed = sync_method(Recollect.reembed)
    undo_reembed = sync_method(Recollect.undo_reembed)
    tune = sync_method(Recollect.tune)
    forget_strength = sync_method(Recollect.forget_strength)

    # Formation

    form = sync_method(Recollect.form)
    consolidate = sync_method(Recollect.consolidate)
    migrate_type = sync_method(Recollect.migrate_type)
    undo = sync_method(Recollect.undo)
    reject = sync_method(Recollect.reject)
    approve = sync_method(Recollect.approve)
    review = sync_method(Recollect.review)
    pending = sync_method(Recollect.pending, in_place=True)
    signal = sync_method(Recollect.signal)
    pause = sync_method(Recollect.pause)
    resume = sync_method(Recollect.resume)
    formations = sync_method(Recollect.formations, in_place=True)
    formation = sync_method(Recollect.formation, in_place=True)
    retry = sync_method(Recollect.retry)

    # Erasure, export, audit

    erase = sync_method(Recollect.erase)
    quotations = sync_method(Recollect.quotations)
    clean = sync_method(Recollect.clean)
    receipts = sync_method(Recollect.receipts, in_place=True)
    export = sync_iterator(Recollect.export)
    import_records = sync_method(Recollect.import_records)
    health = sync_method(Recollect.health)
    audit = sync_method(Recollect.audit, in_place=True)
    verify_audit = sync_method(Recollect.verify_audit)
    acting = _sync_view(Recollect.acting)
    noting = _sync_view(Recollect.noting)


def _sync_opener(open_memory: Callable[P, Recollect]) -> Callable[P, SyncRecollect]:
    """Return a function that makes a `SyncRecollect`, with the parameters of *open_memory*."""
    parameters = signature(open_memory)

    @wraps(open_memory)
    def open_sync(*args: P.args, **kwargs: P.kwargs) -> SyncRecollect:
        parameters.bind(*args, **kwargs)  # raise TypeError here: `open_memory` runs only later
        return SyncRecollect(partial(open_memory, *args, **kwargs))

    open_sync.__name__ = "open_sync"
    open_sync.__doc__ = (
        "Return a memory to be entered with ``with``; see `recollect.open`.\n\n"
        "*notice* is called on the memory's own thread.\n\n"
        ">>> with open_sync('memory:', embedder='none') as memory:\n"
        "...     kept = memory.append('ada', 'chat', 'I live in Turku.')\n"
        "...     memory.recall('ada', 'Where do I live?').entries[0].text\n"
        "'I live in Turku.'\n"
    )
    return open_sync


open_sync = _sync_opener(open_async)
