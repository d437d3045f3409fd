"""Request bodies of erasure: the target, and the confirmation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recollect.errors import UsageError
from recollect.server.schemas.elements import with_examples
from recollect.server.schemas.requests import Id, RequestModel
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)


class PlaceInput(RequestModel, title="MessageAddress"):
    """A message in its thread."""

    thread: Id
    id: Id


class PlacesInput(RequestModel, title="MessageAddresses"):
    """Messages of one thread."""

    thread: Id
    ids: list[Id] = Field(min_length=1, max_length=500)


class AddressInput(RequestModel, title="MemoryAddress"):
    """A memory's address."""

    type: Id
    key: Id


class TargetInput(RequestModel, title="EraseTarget"):
    """The erase target: one of these."""

    scope: Literal[True] | None = None
    below: bool = False
    thread: Id | None = None
    message: PlaceInput | None = None
    messages: PlacesInput | None = None
    memory: AddressInput | None = None
    source: Id | None = None

    def target(self) -> EraseTarget:
        """
        Return the library's erase target.

        Raises:
            UsageError: No target is given, or several are.
        """
        found: list[EraseTarget] = []
        if self.scope:
            found.append(EraseScope(below=self.below))
        if self.thread is not None:
            found.append(EraseThread(thread=self.thread))
        if self.message is not None:
            named = self.message
            found.append(EraseMessages(thread=named.thread, messages=(named.id,)))
        if self.messages is not None:
            ids = tuple(self.messages.ids)
            found.append(EraseMessages(thread=self.messages.thread, messages=ids))
        if self.memory is not None:
            found.append(EraseMemory(type=self.memory.type, key=self.memory.key))
        if self.source is not None:
            found.append(EraseSource(source=self.source))
        if len(found) != 1 or (self.below and not self.scope):
            raise UsageError(
                "a target is one of {scope: true}, {thread}, {message: {thread, id}}, "
                "{messages: {thread, ids}}, {memory: {type, key}} and {source}; below goes with "
                "scope"
            )
        return found[0]


class EraseRequest(RequestModel, title="PreviewEraseRequest"):
    """The data to erase."""

    model_config = with_examples({"target": {"thread": "holidays"}})

    target: TargetInput


class ConfirmationRequest(RequestModel, title="EraseRequest"):
    """The token of a preview."""

    confirm: str = Field(min_length=1, max_length=8_000)
