"""Responses about threads and their messages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from recollect.records import Role
from recollect.server.schemas.elements import (
    Count,
    Cursor,
    Object,
    ResponseModel,
    Segments,
    Time,
    with_examples,
)


class LaneResponse(ResponseModel, title="Lane"):
    """Formation progress of a type with its own schedule."""

    formed: Count
    attempts: Count
    not_before: Time | None
    again: list[int]


class ThreadResponse(ResponseModel, title="Thread"):
    """A thread, with its formation progress."""

    model_config = with_examples(
        {
            "scope": ["users", "ada"],
            "id": "holidays",
            "created_at": "2026-05-01T10:00:00Z",
            "last": 2,
            "count": 2,
            "formed": 0,
            "due": "2026-05-01T10:01:00Z",
            "due_in_s": 42.5,
            "attempts": 0,
            "state": "active",
            "again": [],
            "settings": {},
            "lanes": {},
            "waiting": 2,
        }
    )

    scope: Segments
    id: str
    created_at: Time
    last: Count = Field(description="The newest position; 0 if it never had a message.")
    count: Count = Field(description="The number of messages that it holds now.")
    formed: Count = Field(description="Messages up to this position have been formed.")
    due: Time | None
    due_in_s: float | None
    attempts: Count
    state: Literal["active", "paused"]
    again: list[int] = Field(description="Positions to be formed once more.")
    settings: Object
    lanes: dict[str, LaneResponse]
    waiting: Count = Field(description="The number of messages with pending formation.")


class ThreadsResponse(ResponseModel, title="ThreadPage"):
    """A page of threads."""

    threads: list[ThreadResponse]
    cursor: Cursor


class MessageResponse(ResponseModel, title="Message"):
    """A stored message."""

    model_config = with_examples(
        {
            "thread": "holidays",
            "id": "m1",
            "position": 1,
            "role": "user",
            "name": "Ada",
            "text": "I moved to Oslo.",
            "time": "2026-05-01T10:00:00Z",
            "session": None,
            "source": None,
            "content": None,
            "metadata": {},
        }
    )

    thread: str
    id: str
    position: int = Field(ge=1)
    role: Role
    name: str | None
    text: str
    time: Time
    session: str | None
    source: str | None
    content: list[JsonValue] | None
    metadata: Object


class MessagesResponse(ResponseModel, title="MessagePage"):
    """A page of messages, oldest first."""

    messages: list[MessageResponse]
    cursor: Cursor


class KeptResponse(ResponseModel, title="AppendedMessages"):
    """The stored messages, in the order of the request."""

    messages: list[MessageResponse]
