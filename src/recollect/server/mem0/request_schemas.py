"""Request bodies of mem0's API; fields without meaning for a memory are ignored."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated, Final

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from recollect.errors import UsageError
from recollect.messages.new_message import new_message
from recollect.recall.query import QUERY_CHARACTERS_MAX
from recollect.records import Json, JsonObject, NewMessage
from recollect.server.langgraph.request_schemas import Passed
from recollect.server.mem0.owners import OWNER_FIELDS, owner_text
from recollect.server.schemas.requests import Id, Object
from recollect.text.time_zones import with_zone

TOP_K: Final = 10
TOP_K_MAX: Final = 1_000
PAGE_SIZE: Final = 100
PAGE_SIZE_MAX: Final = 1_000
BATCH_MAX: Final = 500
_MESSAGE_FIELDS: Final = ("role", "content", "name", "tool_calls", "tool_call_id")

WholeText = Annotated[str, Field(min_length=1)]


def _not_empty(given: object) -> object:
    """
    Return *given*; it comes before the union, whose error names each of its forms.

    Raises:
        ValueError: It is an empty list.
    """
    if given == []:
        raise ValueError("the list of messages is empty: give at least one message")
    return given


OwnerId = Annotated[Id, BeforeValidator(owner_text)]


class OwnedBody(Passed):
    """A body that may name owners beside its filters."""

    user_id: OwnerId | None = None
    agent_id: OwnerId | None = None
    app_id: OwnerId | None = None
    run_id: OwnerId | None = None

    def owners(self) -> dict[str, str]:
        """Return the given owners by field."""
        named = {name: getattr(self, name) for name in OWNER_FIELDS}
        return {name: owner for name, owner in named.items() if owner is not None}


class AddMemoriesRequest(OwnedBody):
    """Messages to remember."""

    messages: Annotated[
        str | Object | Annotated[list[Object], Field(max_length=1_000)], BeforeValidator(_not_empty)
    ]
    metadata: Object | None = None
    infer: bool = True
    timestamp: Annotated[float, Field(ge=0, le=1e11)] | None = None
    expiration_date: str | None = None

    def new_messages(self) -> list[NewMessage]:
        """
        Return the messages to store, each with the metadata of the request.

        Raises:
            UsageError: An element is not a message.
        """
        given = self.messages if isinstance(self.messages, list) else [self.messages]
        said = [
            new_message(each if isinstance(each, str) else _known_fields(each)) for each in given
        ]
        time = None if self.timestamp is None else datetime.fromtimestamp(self.timestamp, UTC)
        about = self.metadata or {}
        return [
            replace(
                each, time=time, metadata={**each.metadata, **about} if about else each.metadata
            )
            for each in said
        ]


def _known_fields(message: Object) -> dict[str, JsonValue]:
    """Return the fields of a chat's message; a picture, which mem0 takes bare, becomes a list."""
    known = {name: message[name] for name in _MESSAGE_FIELDS if message.get(name) is not None}
    content = known.get("content")
    return {**known, "content": [content]} if isinstance(content, dict) else known


class FilteredBody(OwnedBody):
    """A body with filters."""

    filters: Object = Field(default_factory=dict)
    metadata: Object | None = None

    def conditions(self) -> JsonObject:
        """Return the filters, combined with the owners and metadata beside them."""
        beside: list[Json] = [{name: owner} for name, owner in self.owners().items()]
        if self.metadata:
            beside.append({"metadata": self.metadata})
        return {"AND": [*beside, self.filters]} if beside else self.filters


class SearchMemoriesRequest(FilteredBody):
    """A search of memories."""

    query: str = Field(min_length=1, max_length=QUERY_CHARACTERS_MAX)
    top_k: int = Field(
        default=TOP_K, ge=1, le=TOP_K_MAX, validation_alias=AliasChoices("top_k", "limit")
    )
    threshold: float | None = Field(default=None, ge=0, le=1)
    categories: list[str] | None = Field(default=None, max_length=100)

    def conditions(self) -> JsonObject:
        """Return the filters, combined with the owners, metadata and categories beside them."""
        found = super().conditions()
        if self.categories is None:
            return found
        return {"AND": [found, {"categories": {"in": self.categories}}]}


class UpdateMemoryRequest(Passed):
    """A memory's new text, metadata or expiry; absent fields stay unchanged."""

    text: WholeText | None = None
    metadata: Object | None = None
    expiration_date: str | None = None

    def check(self) -> None:
        """
        Check that the request changes something.

        Raises:
            UsageError: It has none of the fields.
        """
        if not self.model_fields_set & {"text", "metadata", "expiration_date"}:
            raise UsageError("there is nothing to change: give text, metadata or expiration_date")


class BatchUpdate(UpdateMemoryRequest):
    """One memory of a batch, and its change."""

    memory_id: str = Field(max_length=10_000)


class BatchUpdateRequest(Passed):
    """Memories to update together."""

    memories: list[BatchUpdate] = Field(min_length=1, max_length=BATCH_MAX)


class BatchDeletion(Passed):
    """One memory of a batch to delete."""

    memory_id: str = Field(max_length=10_000)


class BatchDeletionRequest(Passed):
    """Memories to delete together."""

    memories: list[BatchDeletion] = Field(min_length=1, max_length=BATCH_MAX)


_DATE: Final = re.compile(r"\d{4}-?(?:\d\d-?\d\d|W\d\d-?\d|(?P<week>W\d\d))")


def end_of_day(written: str | None) -> datetime | None:
    """
    Return the end of a day or week in UTC, or the moment if *written* has a time.

    Raises:
        UsageError: It is neither a date nor a time.

    >>> [end_of_day(each).isoformat() for each in ("2026-05-01", "20260501")]
    ['2026-05-02T00:00:00+00:00', '2026-05-02T00:00:00+00:00']
    """
    if not written:
        return None
    try:
        if whole := _DATE.fullmatch(written):
            day = date.fromisoformat(written).toordinal()
            days = 7 if whole["week"] else 1
            return datetime.fromordinal(day + days).replace(tzinfo=UTC)
        moment = datetime.fromisoformat(written)
    except (ValueError, OverflowError):
        msg = f"expiration_date is a day such as '2026-05-01', not {written[:80]!r}"
        raise UsageError(msg) from None
    return with_zone(moment)
