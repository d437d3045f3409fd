"""The JSON state and the attachments of a thread."""

from __future__ import annotations

import base64
import json
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote

from recollect.errors import LimitError, UsageError
from recollect.records import (
    ATTACHMENT,
    ATTACHMENT_PART,
    STATE,
    Attachment,
    DeleteMemory,
    Evidence,
    Json,
    JsonObject,
    Memory,
    PutMemory,
    Scope,
    ScopeLike,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_id, check_list, check_mapping, check_scope

ATTACHMENT_BYTES_MAX: Final = 16_000_000
PART_BYTES: Final = 600_000
"""A file is kept in parts of so many bytes, each a memory of its own."""
# No message has such an id that anybody chose: it makes the thread's erasure take them along.
_OF_THREAD: Final = "@beside"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentInfo:
    """What is known of an attachment without its content."""

    name: str
    media_type: str
    bytes: int
    kept_at: datetime


def state_writes(thread: str, state: Mapping[str, Json]) -> list[Write]:
    """Return the writes that set each name of *state*; a value of ``None`` removes its name."""
    return [
        DeleteMemory(type=STATE, key=_key(thread, name))
        if value is None
        else _put(STATE, _key(thread, name), thread, {"name": name, "value": value})
        for name, value in check_mapping(state, "a thread's state, by name,").items()
    ]


def attachment_writes(thread: str, attachment: Attachment, old_parts: int) -> list[Write]:
    """
    Return the writes that store an attachment and drop surplus parts of an older one.

    *old_parts* is the number of parts of the attachment it replaces, 0 if there is none.

    Raises:
        LimitError: The attachment is larger than ``ATTACHMENT_BYTES_MAX``.
    """
    size = len(attachment.data)
    if size > ATTACHMENT_BYTES_MAX:
        what = f"bytes of the attachment {attachment.name!r}"
        raise LimitError(what, size, ATTACHMENT_BYTES_MAX, "ATTACHMENT_BYTES_MAX")
    starts = range(0, size, PART_BYTES)
    about: JsonObject = {
        "name": attachment.name,
        "media_type": attachment.media_type,
        "bytes": size,
        "parts": len(starts),
    }
    # What it replaces goes first: no old version of a file is kept.
    writes = detaching_writes(thread, attachment.name, old_parts)
    writes.append(_put(ATTACHMENT, _key(thread, attachment.name), thread, about))
    for number, start in enumerate(starts):
        data = base64.b64encode(attachment.data[start : start + PART_BYTES]).decode()
        key = _part_key(thread, attachment.name, number)
        writes.append(_put(ATTACHMENT_PART, key, thread, {"data": data}))
    return writes


def detaching_writes(thread: str, name: str, parts: int) -> list[Write]:
    """Return the writes that remove an attachment of *parts* parts."""
    return [
        DeleteMemory(type=ATTACHMENT, key=_key(thread, name)),
        *(
            DeleteMemory(type=ATTACHMENT_PART, key=_part_key(thread, name, number))
            for number in range(parts)
        ),
    ]


def _put(type_: str, key: str, thread: str, value: JsonObject) -> PutMemory:
    evidence = {"": [Evidence(thread=thread, message=_OF_THREAD)]}
    return PutMemory(type=type_, key=key, value=value, text="", evidence=evidence)


def _key(thread: str, name: str) -> str:
    check_id(name, "the name of what stands beside a thread")
    return f"{_prefix(thread)}{quote(name, safe='')}"


def _prefix(thread: str) -> str:
    return f"{quote(thread, safe='')}/"


def _part_key(thread: str, name: str, part: int) -> str:
    return f"{_key(thread, name)}/{part:04d}"


class ThreadStateMethods(ABC):
    """The part of `Recollect` that stores thread state and attachments."""

    store: Store

    async def state(self, scope: ScopeLike, thread: str) -> dict[str, Json]:
        """Return the state of a thread by name; empty if it has none."""
        found = await self._beside(check_scope(scope), STATE, thread)
        return {str(each.value["name"]): each.value["value"] for each in found}

    async def set_state(self, scope: ScopeLike, thread: str, state: Mapping[str, Json]) -> None:
        """
        Set each name of *state*, all or none; a value of ``None`` removes its name.

        Other names are unchanged. The thread is created if it does not exist.
        """
        scope = check_scope(scope)
        await self.store.append(scope, thread, [], writes=state_writes(thread, state))

    async def attach(
        self, scope: ScopeLike, thread: str, attachments: Sequence[Attachment]
    ) -> None:
        """
        Attach files to a thread, all or none; a file of the same name is replaced.

        Raises:
            LimitError: A file is larger than ``ATTACHMENT_BYTES_MAX``.
        """
        scope = check_scope(scope)
        writes = await self._attaching(scope, thread, attachments)
        await self.store.append(scope, thread, [], writes=writes)

    async def attachments(self, scope: ScopeLike, thread: str) -> tuple[AttachmentInfo, ...]:
        """Return the metadata of a thread's attachments, by name."""
        return tuple(
            _attached(each) for each in await self._beside(check_scope(scope), ATTACHMENT, thread)
        )

    async def attachment(self, scope: ScopeLike, thread: str, name: str) -> Attachment | None:
        """Return an attachment with its content, ``None`` if the name is unknown."""
        scope = check_scope(scope)
        first = await self.store.get(scope, ATTACHMENT, _key(thread, name))
        if first is None:
            return None
        about = _attached(first)
        addresses = [
            (ATTACHMENT_PART, _part_key(thread, name, number)) for number in range(_parts_of(first))
        ]
        parts = await self.store.get_many(scope, addresses) if addresses else ()
        data = b"".join(base64.b64decode(str(each.value["data"])) for each in parts if each)
        return Attachment(name=about.name, media_type=about.media_type, data=data)

    async def detach(self, scope: ScopeLike, thread: str, name: str) -> bool:
        """Remove an attachment; return False if there was none."""
        scope = check_scope(scope)
        first = await self.store.get(scope, ATTACHMENT, _key(thread, name))
        if first is None:
            return False
        await self.store.apply(scope, detaching_writes(thread, name, _parts_of(first)))
        return True

    async def _attaching(
        self, scope: Scope, thread: str, attachments: Sequence[Attachment]
    ) -> list[Write]:
        writes: list[Write] = []
        for each in check_list(attachments, "Attachment"):
            if not isinstance(each, Attachment):
                msg = f"an attachment is an Attachment, not {each!r}"
                raise UsageError(msg)
            old = await self._old_parts(scope, thread, each.name)
            writes += attachment_writes(thread, each, old)
        return writes

    async def _old_parts(self, scope: Scope, thread: str, name: str) -> int:
        first = await self.store.get(scope, ATTACHMENT, _key(thread, name))
        return _parts_of(first) if first else 0

    async def _beside(self, scope: Scope, type_: str, thread: str) -> list[Memory]:
        """Return a thread's memories of an internal type, by key."""
        found: list[Memory] = []
        prefix = _prefix(thread)
        cursor: str | None = json.dumps([type_, prefix])
        while cursor is not None:
            page = await self.store.memories(scope, type_=type_, cursor=cursor)
            here = [each for each in page.rows if each.key.startswith(prefix)]
            found += here
            cursor = page.cursor if len(here) == len(page.rows) else None
        return found


def _parts_of(first: Memory) -> int:
    parts = first.value["parts"]
    return parts if isinstance(parts, int) else 0


def _attached(first: Memory) -> AttachmentInfo:
    size = first.value["bytes"]
    return AttachmentInfo(
        name=str(first.value["name"]),
        media_type=str(first.value["media_type"]),
        bytes=size if isinstance(size, int) else 0,
        kept_at=first.updated_at,
    )
