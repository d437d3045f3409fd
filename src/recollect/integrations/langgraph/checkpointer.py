"""`checkpointer`: LangGraph's checkpoints, stored beside the memory and erased with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NoReturn, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from recollect.errors import MissingExtraError, UsageError
from recollect.integrations.langgraph.caller import Whose, check_whose
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.integrations.langgraph.message_mirror import MessageMirror
from recollect.integrations.langgraph.scoped_saver import ScopedSaver
from recollect.integrations.langgraph.serializer import AllowedType, StrictSerializer
from recollect.memory.facade import Recollect
from recollect.memory.runtime import running_loop
from recollect.stores.contract.base import Store
from recollect.stores.locator import (
    check_keeps_checkpoints,
    open_checkpoint_file,
    server_parameters,
)
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import AnyRecollect

if TYPE_CHECKING:
    from recollect.integrations.langgraph.saver_base import CompleteSaver
    from recollect.integrations.langgraph.sqlite_saver import SQLiteCheckpoints


_NOT_ENTERED: Final = (
    "the graph was compiled with checkpointer(…) itself, which is not open: write "
    "`with checkpointer(…) as saver:`, and compile(checkpointer=saver) inside"
)
_ON_ITS_LOOP: Final = (
    "this is the event loop of the memory: write `async with checkpointer(…) as saver:`, and "
    "await the graph (ainvoke)"
)


def checkpointer(
    memory: AnyRecollect | str,
    *,
    scope: Whose | None = None,
    allow: Iterable[AllowedType] = (),
    mirror: bool = False,
    channel: str = "messages",
) -> Checkpointer:
    """
    Return a LangGraph saver, to be entered with ``with`` or ``async with``.

    Its checkpoints are in a file beside that of a SQLite store, or in LangGraph's tables in the
    database of a PostgreSQL store; Redis is not supported. Checkpoints of a *scope* are erased with
    it, or with their thread, from any process. Without *scope*, that holds for a ``thread_id`` that
    `thread_id_of` returns; any other belongs to no scope, of which a warning is logged.

    Args:
        memory: The address of a store, as for `recollect.open`, or an open memory. For ``memory:``,
            checkpoints are erased only if the memory itself is given.
        scope: The scope of all threads, or a function of the `GraphCaller` that returns it. A
            ``thread_id`` is then a thread of that scope.
        allow: Types that may be created when a checkpoint is read, in addition to those of
            LangGraph and LangChain: classes, or (module, name).
        mirror: Mirror the messages of every checkpoint into the memory's thread; needs an open
            memory.
        channel: The channel of the graphs' states that holds their messages.

    Raises:
        UsageError: An argument is invalid; the message says why.
    """
    if not isinstance(memory, str | Recollect | SyncRecollect):
        msg = f"memory is {memory!r}: give a Recollect, a SyncRecollect or a store's address"
        raise UsageError(msg)
    if mirror and isinstance(memory, str):
        raise UsageError("mirror=True needs an open memory: give that, instead of its address")
    if isinstance(memory, str):
        check_keeps_checkpoints(memory)
    whose = None if scope is None else check_whose(scope)
    return Checkpointer(memory, StrictSerializer(allow), channel if mirror else None, whose)


class Checkpointer(BaseCheckpointSaver[str]):
    """
    A context manager that opens a saver and closes it; not reentrant.

    It is a saver by its type alone, so that a graph that was compiled with it says what is missing.
    """

    def __init__(
        self,
        memory: AnyRecollect | str,
        serde: StrictSerializer,
        channel: str | None,
        scope: Whose | None,
    ) -> None:
        super().__init__(serde=serde)
        self._scope = scope
        self._memory = memory
        self._strict = serde
        self._channel = channel
        self._exit: ExitStack | None = None

    def __enter__(self) -> CompleteSaver:
        """
        Open the saver, and create or migrate LangGraph's tables.

        Raises:
            MissingExtraError: LangGraph's saver for this kind of store is not installed.
            StoreError: The saver cannot be opened; the subclass says why.
            UsageError: It is open already; this is the event loop of the memory; or the memory is
                on Redis.
        """
        memory = self._memory
        if isinstance(memory, Recollect) and running_loop() is memory.loop is not None:
            raise UsageError(_ON_ITS_LOOP)
        store = None if isinstance(memory, str) else HomeLoop(memory).call(_store_of)
        return self._opened(store)

    def __exit__(self, *error: object) -> None:
        self._close()

    async def __aenter__(self) -> CompleteSaver:
        """Async variant of ``__enter__``, from any event loop."""
        memory = self._memory
        store = None if isinstance(memory, str) else await HomeLoop(memory).visit(_store_of)
        return await asyncio.to_thread(self._opened, store)

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._close)

    def get_tuple(self, config: RunnableConfig) -> NoReturn:
        """Raise `UsageError`: the saver is what entering this returns."""
        raise UsageError(_NOT_ENTERED)

    async def aget_tuple(self, config: RunnableConfig) -> NoReturn:
        """Raise `UsageError`: the saver is what entering this returns."""
        raise UsageError(_NOT_ENTERED)

    def list(self, config: RunnableConfig | None, **_: object) -> NoReturn:
        """Raise `UsageError`: the saver is what entering this returns."""
        raise UsageError(_NOT_ENTERED)

    def alist(self, config: RunnableConfig | None, **_: object) -> NoReturn:
        """Raise `UsageError`: the saver is what entering this returns."""
        raise UsageError(_NOT_ENTERED)

    def _close(self) -> None:
        opened, self._exit = self._exit, None
        if opened:
            opened.close()

    def _opened(self, store: Store | None) -> CompleteSaver:
        memory = self._memory
        if self._exit is not None:
            msg = "this checkpointer is open already: call checkpointer(…) again for another one"
            raise UsageError(msg)
        address = memory if isinstance(memory, str) else store.address if store else None
        check_keeps_checkpoints(address or "memory:")
        with ExitStack() as exit_:
            saver = _open_saver(address or "memory:", self._strict, exit_)
            # No other process sees an in-memory store: let its own erases delete checkpoints.
            if store and store.address is None:
                kept = cast("SQLiteCheckpoints", saver)
                exit_.callback(store.accompany(kept.erase))
            if self._channel is not None and not isinstance(memory, str):
                saver.mirror = MessageMirror(memory, channel=self._channel)
            if self._scope is not None:
                saver = ScopedSaver(saver, self._scope)
            self._exit = exit_.pop_all()
        return saver


async def _store_of(memory: Recollect) -> Store:
    return memory.store


def _open_saver(address: str, serde: StrictSerializer, exit_: ExitStack) -> CompleteSaver:
    parameters = server_parameters(address)
    if parameters is not None:
        try:
            from recollect.integrations.langgraph.postgres_saver import PostgresCheckpoints
        except ModuleNotFoundError as error:
            raise _missing(error, "langgraph-postgres", "langgraph-checkpoint-postgres") from error
        on_server = PostgresCheckpoints(parameters, serde)
        exit_.callback(on_server.close)
        return on_server
    try:
        from recollect.integrations.langgraph.sqlite_saver import SQLiteCheckpoints
    except ModuleNotFoundError as error:
        raise _missing(error, "langgraph", "langgraph-checkpoint-sqlite") from error
    connection = open_checkpoint_file(address) or sqlite3.connect(
        ":memory:", check_same_thread=False
    )
    exit_.callback(connection.close)
    return SQLiteCheckpoints(connection, serde)


def _missing(error: ModuleNotFoundError, extra: str, package: str) -> ImportError:
    is_ours = bool(error.name) and str(error.name).startswith("recollect")
    return error if is_ours else MissingExtraError(extra, package)
