"""`CompleteSaver`: adds async methods, missing operations and a message mirror to savers."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from recollect.errors import ConflictError, NotFoundError, StoreClosedError, UsageError
from recollect.integrations.langgraph.caller import RUNTIME
from recollect.integrations.langgraph.message_mirror import MessageMirror
from recollect.integrations.langgraph.schema_types import derive_for
from recollect.observability.logs import package_logger
from recollect.stores.checkpoint_threads import thread_of
from recollect.sync.method_pairs import threaded

STRATEGIES = ("keep_latest", "delete")
CLOSED: Final = (
    "the checkpointer is closed, its `with` block has ended: run the graph inside `with "
    "checkpointer(…) as saver:`, or open another one and compile the graph with that"
)
_log: Final = package_logger("recollect.integrations.langgraph")


class CompleteSaver(BaseCheckpointSaver[str]):
    """
    A base that precedes one of LangGraph's synchronous savers, and completes it.

    Every asynchronous method runs its synchronous counterpart in a worker thread; both can be used
    from any thread and any event loop.
    """

    mirror: MessageMirror | None = None
    _process: int | None = None
    """The process that opened the saver."""

    @property
    def is_inherited(self) -> bool:
        """Whether a parent process opened the saver, before the fork of this one."""
        return self._process not in {None, os.getpid()}

    def check_process(self) -> None:
        """
        Check that this process opened the saver: a child would share connections with its parent.

        Raises:
            StoreClosedError: Another one did.
        """
        if self.is_inherited:
            raise StoreClosedError(
                f"this checkpointer belongs to process {self._process}, which opened it: open "
                "one after the fork, in the process that uses it"
            )

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """
        Return checkpoints, newest first, as of the time of the call.

        LangGraph's savers hold their lock until the iterator ends, so that a loop that writes
        while it iterates would deadlock: read the list first.
        """
        found = super().list(config, filter=filter, before=before, limit=limit)
        return iter([*found])

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """
        Save a checkpoint, and mirror the messages that it changes, if they are mirrored.

        Its metadata gets the ``run_id`` of its run, for `delete_for_runs`.
        """
        if thread_of(str(config["configurable"]["thread_id"])) is None:
            warn_of_no_scope()
        noted = _with_run(metadata, config)
        saved = super().put(config, checkpoint, noted, new_versions)
        if self.mirror:
            kept = CheckpointTuple(saved, checkpoint, noted, parent_config=config)
            self.mirror.saved(self, kept, new_versions)
        return saved

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """
        Copy all checkpoints and writes of a thread, in all its namespaces, to a new thread.

        Raises:
            NotFoundError: The source has no checkpoints.
            ConflictError: The target has checkpoints already; nothing is copied.
        """
        self._copy_thread(str(source_thread_id), str(target_thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """
        Delete the checkpoints of runs, by the ``run_id`` in their metadata, with their writes.

        The ``run_id`` is that of the run's ``configurable`` or ``metadata``, else the run's own,
        ``config={"run_id": …}``. LangGraph passes a run's own id to the graph and to the subgraphs
        in its nodes, but not to their subgraphs: give a ``run_id`` in ``configurable`` or
        ``metadata`` to find the checkpoints of these.

        A remaining checkpoint whose parent is deleted has no parent any more.

        Raises:
            NotImplementedError: A remaining checkpoint has a `DeltaChannel`, which is read from its
                parents; nothing is deleted.
        """
        self._delete_for_runs(_texts(run_ids, "run id"))

    @abstractmethod
    def _copy_thread(self, source: str, target: str) -> None: ...

    @abstractmethod
    def _delete_for_runs(self, run_ids: Sequence[str]) -> None: ...

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Async variant of `list`."""
        for each in await self._alisted(config, filter=filter, before=before, limit=limit):
            yield each

    _alisted = threaded(list)  # noqa: A003 (the method)
    aget_tuple = threaded(BaseCheckpointSaver[str].get_tuple)
    aput = threaded(put)
    aput_writes = threaded(BaseCheckpointSaver[str].put_writes)
    adelete_thread = threaded(BaseCheckpointSaver[str].delete_thread)
    adelete_for_runs = threaded(delete_for_runs)
    acopy_thread = threaded(copy_thread)
    aprune = threaded(BaseCheckpointSaver[str].prune)
    aget_delta_channel_history = threaded(BaseCheckpointSaver[str].get_delta_channel_history)


derive_for(CompleteSaver)


@lru_cache(maxsize=1)
def warn_of_no_scope() -> None:
    """Warn of a plain ``thread_id``, once a process: a program may mean it."""
    _log.warning(
        "a graph is run with a thread_id that names no scope: its checkpoints stay when a scope "
        "is erased, and whoever gives the same id reads them; give checkpointer(memory, "
        "scope=...), or the id that thread_id_of(scope, thread) returns"
    )


def checked_prune(thread_ids: Sequence[str], strategy: str) -> list[str]:
    """
    Return the threads to prune as texts.

    Raises:
        UsageError: *thread_ids* is one text, or *strategy* is unknown.
    """
    if strategy not in STRATEGIES:
        raise UsageError(f"Unknown prune strategy: {strategy!r}; use one of {STRATEGIES}")
    return _texts(thread_ids, "thread id")


def _with_run(metadata: CheckpointMetadata, config: RunnableConfig) -> CheckpointMetadata:
    """Return *metadata* with the id of the run, which LangGraph adds only in some cases."""
    configurable = config.get("configurable", {})
    if any("run_id" in each for each in (metadata, config.get("metadata", {}), configurable)):
        return metadata
    run = config.get("run_id")
    if run is None:  # a subgraph has no run of its own: use that of the node that called it
        task = getattr(configurable.get(RUNTIME), "execution_info", None)
        run = getattr(task, "run_id", None)
    return metadata if run is None else {**metadata, "run_id": str(run)}


def _texts(given: Sequence[str], what: str) -> list[str]:
    if isinstance(given, str | bytes | UUID):
        msg = f"{given!r} is not a list: give each {what} as an element, as in [{str(given)!r}]"
        raise UsageError(msg)
    return [*dict.fromkeys(str(each) for each in given)]


def check_copy(source: str, target: str, found: Collection[str]) -> None:
    """
    Check that *source* can be copied to *target*; *found* are those that have checkpoints.

    Raises:
        NotFoundError: The source has no checkpoints.
        ConflictError: The target has checkpoints already.
    """
    if source not in found:
        raise NotFoundError(f"the thread {source!r} has no checkpoints to copy")
    if target in found:
        raise ConflictError(f"the thread {target!r} has checkpoints already: copy to a new thread")


def delta_refused(threads: Sequence[str]) -> NotImplementedError:
    """Return the error for threads whose states are read from the checkpoints to delete."""
    return NotImplementedError(
        f"the threads {', '.join(sorted(threads))} use a DeltaChannel, which is read from older "
        "checkpoints, so that these cannot go: delete the thread, or keep them"
    )
