"""Read the messages in a checkpoint's channel, stored whole or as changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, DeltaChannelHistory
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from recollect.messages import REMOVE_ALL_MESSAGES, AnyMessage, changed, coerced_all
from recollect.sync.method_pairs import PairCall, delegated_pair

AnySaver: TypeAlias = BaseCheckpointSaver[Any]


_CHANGES: Final = "counters_since_delta_snapshot"
"""The key of a checkpoint's metadata that lists the channels stored as changes only."""

State: TypeAlias = Mapping[str, AnyMessage]
"""The messages of one checkpoint, by id, in order."""


def state_of(values: object) -> State:
    """
    Return the messages of a channel by id; a message without one gets a digest as its id.

    Raises:
        UsageError: A value in it is not a message.
    """
    whole = values.value if isinstance(values, _DeltaSnapshot) else values
    given: Any = whole if isinstance(whole, list | tuple) else [whole]
    found: dict[str, AnyMessage] = {}
    for place, message in enumerate(coerced_all(given)):
        _place(found, place, message)
    return found


def has_messages(found: CheckpointTuple, channel: str) -> bool:
    """Return True if a checkpoint has messages in *channel*, whole or as changes."""
    return channel in found.checkpoint["channel_values"] or _has_changes(found, channel)


async def _completed(
    saver: AnySaver, call: PairCall, found: CheckpointTuple, channel: str
) -> CheckpointTuple:
    """Return a checkpoint with the whole messages of *channel*, rebuilt from changes if needed."""
    if not _has_changes(found, channel):
        return found
    read, aread = saver.get_delta_channel_history, saver.aget_delta_channel_history
    history = await call(read, aread, config=found.config, channels=[channel])
    return _with(found, channel, history[channel])


completed, acompleted = delegated_pair(_completed)


def _has_changes(found: CheckpointTuple, channel: str) -> bool:
    metadata: Mapping[str, Any] = {**found.metadata}
    is_whole = channel in found.checkpoint["channel_values"]
    return not is_whole and channel in (metadata.get(_CHANGES) or {})


def _with(found: CheckpointTuple, channel: str, history: DeltaChannelHistory) -> CheckpointTuple:
    from langgraph.channels.delta import DeltaChannel

    kept: DeltaChannel[Any] = DeltaChannel(_folded, list).from_checkpoint(history.get("seed", []))
    kept.replay_writes(history["writes"])
    values = {**found.checkpoint["channel_values"], channel: kept.get()}
    return found._replace(checkpoint={**found.checkpoint, "channel_values": values})


def _folded(before: object, writes: Sequence[Any]) -> list[AnyMessage]:
    """Return the messages after applying *writes* to those *before*, by id."""
    found = dict(state_of(before))
    for write in writes:
        for message in coerced_all(write if isinstance(write, list) else [write]):
            if message.type != "remove":
                _place(found, len(found), message)
            elif message.id == REMOVE_ALL_MESSAGES:
                found.clear()
            else:
                found.pop(str(message.id), None)
    return list(found.values())


def _place(found: dict[str, AnyMessage], place: int, message: AnyMessage) -> None:
    # Derived from place and content, so that reading the checkpoint again gives the same id.
    id_ = message.id or blake2b(f"{place} {message!r}".encode(), digest_size=16).hexdigest()
    found[str(id_)] = message if message.id else changed(message, id=id_)
