"""`ScopedSaver`: binds every ``thread_id`` of a saver to a scope."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)

from recollect.errors import UsageError
from recollect.integrations.langgraph.caller import GraphCaller, Whose, caller_in, scope_of
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.records import Scope
from recollect.stores.checkpoint_threads import thread_id_of, thread_of
from recollect.text.scope_paths import written_scope


class ScopedSaver(CompleteSaver):
    """
    A saver whose threads are those of a scope: a plain ``thread_id`` names a thread of it.

    *inner* gets the id that `thread_id_of` returns, so that an erase of the scope deletes the
    checkpoints, and equal ids in two scopes are two threads. Configs are returned with the id that
    was given. An id that names another scope is refused.
    """

    def __init__(self, inner: CompleteSaver, scope: Whose) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner
        self._whose = scope

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint of the scope; ``None`` if there is none."""
        bound, given = self._bound(config)
        found = self.inner.get_tuple(bound)
        return found and _renamed(found, given)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 (LangGraph's name)
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """
        Return checkpoints, newest first; without *config* those of all threads of the scope.

        Raises:
            UsageError: *config* is missing, and the scope is a function of it.
        """
        if config is not None:
            bound, given = self._bound(config)
            found = self.inner.list(bound, filter=filter, before=before, limit=limit)
            return iter([_renamed(each, given) for each in found])
        scope = self._fixed_scope("list(None)")
        ours = [
            each
            for each in self.inner.list(None, filter=filter, before=before)
            if (place := thread_of(_id_in(each.config))) and place[0] == scope
        ]
        return iter(ours[:limit])

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint in the scope."""
        bound, given = self._bound(config)
        return _with_id(self.inner.put(bound, checkpoint, metadata, new_versions), given)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save the writes of a task in the scope."""
        self.inner.put_writes(self._bound(config)[0], writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints and writes of a thread of the scope."""
        self.inner.delete_thread(self._named(thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Prune threads of the scope."""
        if not isinstance(thread_ids, str):  # of one text the inner saver says what is wrong
            thread_ids = [self._named(each) for each in thread_ids]
        self.inner.prune(thread_ids, strategy=strategy)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the writes of channels along the parents of a checkpoint."""
        bound, _ = self._bound(config)
        return self.inner.get_delta_channel_history(config=bound, channels=channels)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the version of a channel that follows *current*."""
        return self.inner.get_next_version(current, channel)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> ScopedSaver:
        """Return a clone that also reads the types in *extra_allowlist*."""
        clone = copy.copy(self)
        clone.inner = cast("CompleteSaver", self.inner.with_allowlist(extra_allowlist))
        clone.serde = clone.inner.serde
        return clone

    def _copy_thread(self, source: str, target: str) -> None:
        self.inner.copy_thread(self._named(source), self._named(target))

    def _delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self.inner.delete_for_runs(run_ids)

    def _bound(self, config: RunnableConfig) -> tuple[RunnableConfig, str]:
        """Return *config* with the thread's id in the scope, and the id that was given."""
        given = _id_in(config)
        scope = partial(scope_of, self._whose, caller_in(config))
        return _with_id(config, _id_of(given, scope)), given

    def _named(self, thread_id: object) -> str:
        return _id_of(
            str(thread_id), lambda: self._fixed_scope(f"the thread_id {str(thread_id)!r} alone")
        )

    def _fixed_scope(self, what: str) -> Scope:
        if callable(self._whose):
            raise UsageError(
                f"{what} does not say whose thread it is, since scope={self._whose!r} is a "
                "function of a run: open another checkpointer(memory, scope=…) with the scope"
            )
        return scope_of(self._whose, GraphCaller())


def _id_of(given: str, find_scope: Callable[[], Scope]) -> str:
    """
    Return the id of a thread within a scope.

    Raises:
        UsageError: *given* names a thread of another scope.
    """
    scope, place = find_scope(), thread_of(given)
    if place is None:
        return thread_id_of(scope, given)
    if place[0] != scope:
        raise UsageError(
            f"the thread_id {given!r} names a thread of the scope {written_scope(place[0])}, and "
            f"this checkpointer is that of {written_scope(scope)}: give a thread of its own, as a "
            "plain text"
        )
    return given


def _id_in(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _with_id(config: RunnableConfig, thread_id: str) -> RunnableConfig:
    configurable = {**config["configurable"], "thread_id": thread_id}
    return {**config, "configurable": configurable}


def _renamed(found: CheckpointTuple, given: str) -> CheckpointTuple:
    parent = found.parent_config
    return found._replace(
        config=_with_id(found.config, given), parent_config=parent and _with_id(parent, given)
    )
