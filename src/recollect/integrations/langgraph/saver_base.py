"""What LangGraph's own savers lack: await on any loop, whole lists, a mirror of the messages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
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

from recollect.errors import UsageError
from recollect.integrations.langgraph.message_mirror import MessageMirror
from recollect.integrations.langgraph.schema_types import derive_for
from recollect.sync.method_pairs import threaded

_RUNTIME: Final = "__pregel_runtime"
"""Where LangGraph keeps what it tells the nodes of a run, beside what a program configures."""
STRATEGIES = ("keep_latest", "delete")


class CompleteSaver(BaseCheckpointSaver[str]):
    """
    Stands before one of LangGraph's synchronous savers, and completes it.

    Every awaited method does what the one without ``a`` does, on a thread; both may be used
    from any thread and any event loop.
    """

    mirror: MessageMirror | None = None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """
        Yield checkpoints, newest first, as they were when it was called.

        LangGraph's savers hold their lock until the last one: a loop that writes would wait
        for itself.
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
        Save a checkpoint; if messages are mirrored, those that it changes are in our thread.

        Its metadata has the ``run_id`` of its run, for `delete_for_runs`.
        """
        noted = _with_run(metadata, config)
        saved = super().put(config, checkpoint, noted, new_versions)
        if self.mirror:
            kept = CheckpointTuple(saved, checkpoint, noted, parent_config=config)
            self.mirror.saved(self, kept, new_versions)
        return saved

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """
        Copy all checkpoints and writes of a thread, of all its namespaces, to a new one.

        Raises:
            NotFoundError: The source has no checkpoint.
            ConflictError: The target has some already; nothing is copied.
        """
        self._copy_thread(str(source_thread_id), str(target_thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """
        Delete the checkpoints of runs, by the ``run_id`` of their metadata, with their writes.

        That is the one of a run's ``configurable`` or ``metadata`` if it has one there, else its
        own, ``config={"run_id": …}``. LangGraph tells its own to the graph and to the subgraphs
        in its nodes, but not to theirs: what these keep is found only by the first two.

        A checkpoint that stays and followed one of them has no parent any more.

        Raises:
            NotImplementedError: It has a `DeltaChannel`, which needs what comes before it to
                be read; nothing is deleted.
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
        """Yield the same as `list`."""
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


def checked_prune(thread_ids: Sequence[str], strategy: str) -> list[str]:
    """
    Return the threads to prune as texts.

    Raises:
        UsageError: They are one text, or the strategy is none.
    """
    if strategy not in STRATEGIES:
        msg = f"Unknown prune strategy: {strategy!r}; use one of {STRATEGIES}"
        raise UsageError(msg)
    return _texts(thread_ids, "thread id")


def _with_run(metadata: CheckpointMetadata, config: RunnableConfig) -> CheckpointMetadata:
    """Return *metadata* with the id of the run; LangGraph adds only what stands in two parts."""
    configurable = config.get("configurable", {})
    if any("run_id" in each for each in (metadata, config.get("metadata", {}), configurable)):
        return metadata
    run = config.get("run_id")
    if run is None:  # a subgraph has no run of its own: its node tells the one that it is in
        task = getattr(configurable.get(_RUNTIME), "execution_info", None)
        run = getattr(task, "run_id", None)
    return metadata if run is None else {**metadata, "run_id": str(run)}


def _texts(given: Sequence[str], what: str) -> list[str]:
    if isinstance(given, str | bytes | UUID):
        msg = f"{given!r} is not a list: give each {what} as an element, as in [{str(given)!r}]"
        raise UsageError(msg)
    return [*dict.fromkeys(str(each) for each in given)]


def delta_refused(threads: Sequence[str]) -> NotImplementedError:
    """Return the error for threads whose states need the checkpoints that were to go."""
    return NotImplementedError(
        f"the threads {', '.join(sorted(threads))} use a DeltaChannel, which is read from older "
        "checkpoints, so that these cannot go: delete the thread, or keep them"
    )
