"""Mirror the messages of a graph's state into a memory's thread, for formation and recall."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, CheckpointTuple

from recollect.conversation.thread_history import ThreadTalk
from recollect.errors import ConflictError, UsageError
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.integrations.langgraph.message_channel import (
    AnySaver,
    State,
    acompleted,
    completed,
    has_messages,
    state_of,
)
from recollect.integrations.langgraph.storable_messages import keepable, keepable_id
from recollect.memory.facade import Recollect
from recollect.messages import REMOVE_ALL_MESSAGES, AnyMessage, MessageLike, coerced_all
from recollect.records import Scope
from recollect.stores.checkpoint_threads import thread_of
from recollect.sync.method_pairs import PairCall, delegated_pair, prepared_pair
from recollect.sync.object_home import AnyRecollect

THREADS_FOLLOWED_MAX: Final = 1_000
"""Threads whose last mirrored state is cached; others' state is read from their checkpoints."""


@dataclass(frozen=True, slots=True)
class MirrorChange:
    """A change of the memory's thread: messages to store, and ids of messages to remove."""

    messages: Sequence[AnyMessage]
    removed: Sequence[str]


def change_between(before: State, after: State) -> MirrorChange:
    """Return the change between two states: new or changed messages, and removed ones."""
    return MirrorChange(
        [message for id_, message in after.items() if before.get(id_) != message],
        [id_ for id_ in before if id_ not in after],
    )


def net_change(checkpoints: Sequence[CheckpointTuple], channel: str) -> MirrorChange:
    """
    Return the combined change of all *checkpoints* of a thread, oldest first.

    It stores every message of any checkpoint, in order, except those that a later step removed. A
    message missing in another branch of the graph is not a removal; at the start of a branch, its
    messages are stored as they are there.
    """
    states: dict[str, State] = {}
    kept: dict[str, AnyMessage] = {}
    gone: dict[str, None] = {}
    last: str | None = None
    for each in checkpoints:
        parent = _parent_of(each)
        before = states.get(str(parent), {})
        values = each.checkpoint["channel_values"]
        after = state_of(values[channel]) if channel in values else before
        states[each.checkpoint["id"]] = after
        step = change_between(before, after)
        for id_ in step.removed:
            kept.pop(id_, None)
            gone[id_] = None
        # At the start of a branch, undo what another branch has changed or removed.
        is_next, last = parent == last, each.checkpoint["id"]
        for message in step.messages if is_next else after.values():
            kept[str(message.id)] = message
            gone.pop(str(message.id), None)
    return MirrorChange(list(kept.values()), list(gone))


class MessageMirror:
    """
    Mirrors the messages of graphs into the memory's threads that their ``thread_id`` names.

    Messages are identified by id: mirroring one again changes nothing, changed content replaces it,
    and one removed by a step is removed. Other messages in the thread are left alone. Use
    `thread_id_of` for the graph's ``thread_id``.
    """

    def __init__(self, memory: AnyRecollect, *, channel: str = "messages") -> None:
        """Mirror the messages in *channel* of the graph's state."""
        self.channel = channel
        self.home = HomeLoop(memory)
        self._turn = Lock()
        self._last: OrderedDict[str, tuple[str, State]] = OrderedDict()

    def _mirror(
        self, thread_id: str, messages: Sequence[MessageLike]
    ) -> Callable[[Recollect], Awaitable[None]]:
        """
        Mirror *messages*, for example those of the state in a node.

        A `RemoveMessage` removes one; other messages of the thread stay.

        Raises:
            UsageError: `thread_id_of` did not make the thread id, a value is not a message, or one
                of them removes all messages.
        """
        return partial(_apply_change, place=_place(thread_id), change=_requested_change(messages))

    mirror, amirror = prepared_pair(_mirror)

    async def _replay(self, call: PairCall, saver: AnySaver, thread_id: str) -> None:
        """
        Mirror all checkpoints of a thread, as if it had been mirrored from the start.

        Raises:
            UsageError: `thread_id_of` did not make the thread id.
        """
        place = _place(thread_id)
        listed = await call(_listed, _alisted, saver, thread_id)
        found = [await call(completed, acompleted, saver, each, self.channel) for each in listed]
        change = partial(_apply_change, place=place, change=net_change(found[::-1], self.channel))
        await call(self.home.call, self.home.visit, change)

    replay, areplay = delegated_pair(_replay)

    def saved(
        self,
        saver: AnySaver,
        kept: CheckpointTuple,
        new_versions: ChannelVersions,
    ) -> None:
        """
        Mirror the change of a checkpoint that was just saved, unless it is a subgraph's.

        If the cached state of the thread is not the checkpoint's parent, all messages are mirrored,
        which also makes up for checkpoints that were saved but not mirrored.
        """
        asked = kept.config["configurable"]
        if asked.get("checkpoint_ns") or not has_messages(kept, self.channel):
            return
        thread_id, parent = str(asked["thread_id"]), _parent_of(kept)
        place = _place(thread_id)
        with self._turn:
            known, before = self._last.get(thread_id, ("", {}))
        if known != parent:
            before = self._state_at(saver, thread_id, parent)
        elif self.channel not in new_versions:
            self._remember(thread_id, kept.checkpoint["id"], before)
            return
        after = self._state_in(saver, kept)
        step = change_between(before, after)
        if known != parent or not known:
            step = MirrorChange(list(after.values()), step.removed)
        if step.messages or step.removed:
            self.home.call(partial(_apply_change, place=place, change=step))
        self._remember(thread_id, kept.checkpoint["id"], after)

    def _state_at(self, saver: AnySaver, thread_id: str, checkpoint_id: str | None) -> State:
        if checkpoint_id is None:
            return {}
        found = saver.get_tuple(_config(thread_id, checkpoint_id=checkpoint_id))
        return self._state_in(saver, found) if found else {}

    def _state_in(self, saver: AnySaver, found: CheckpointTuple) -> State:
        values = completed(saver, found, self.channel).checkpoint["channel_values"]
        return state_of(values[self.channel]) if self.channel in values else {}

    def _remember(self, thread_id: str, checkpoint_id: str, state: State) -> None:
        with self._turn:
            self._last[thread_id] = checkpoint_id, state
            self._last.move_to_end(thread_id)
            while len(self._last) > THREADS_FOLLOWED_MAX:
                self._last.popitem(last=False)


def _listed(saver: AnySaver, thread_id: str) -> list[CheckpointTuple]:
    return list(saver.list(_config(thread_id)))


async def _alisted(saver: AnySaver, thread_id: str) -> list[CheckpointTuple]:
    return [each async for each in saver.alist(_config(thread_id))]


def _parent_of(found: CheckpointTuple) -> str | None:
    parent: Mapping[str, Any] = {**(found.parent_config or {})}
    id_: str | None = parent.get("configurable", {}).get("checkpoint_id")
    return id_


def _config(thread_id: str, **more: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **more}}


def _place(thread_id: str) -> tuple[Scope, str]:
    place = thread_of(thread_id)
    if place is None:
        raise UsageError(
            f"the graph's thread_id {thread_id!r} names no thread of a scope: run the graph with "
            "the thread_id that thread_id_of(scope, thread) returns"
        )
    return place


def _requested_change(messages: Sequence[MessageLike]) -> MirrorChange:
    """
    Return the change that a list of messages and removals requests.

    Raises:
        UsageError: It removes all messages, and which of the thread's are the graph's is unknown.
    """
    given = coerced_all(messages)
    if any(each.id == REMOVE_ALL_MESSAGES for each in given):
        msg = "a node cannot mirror the removal of all messages: name each, or use mirror=True"
        raise UsageError(msg)
    removed = [str(each.id) for each in given if each.type == "remove"]
    return MirrorChange(
        list(state_of([each for each in given if each.type != "remove"]).values()), removed
    )


async def _apply_change(
    memory: Recollect, *, place: tuple[Scope, str], change: MirrorChange
) -> None:
    scope, thread = place
    messages = [keepable(each) for each in change.messages]
    talk = ThreadTalk(scope, thread)
    if change.removed and await memory.thread(scope, thread):
        await memory.remove(scope, thread, [keepable_id(each) for each in change.removed])
    try:
        if messages:
            await talk.add(memory, messages)
    except ConflictError:  # a message is stored already with another content
        await talk.update(memory, messages)
