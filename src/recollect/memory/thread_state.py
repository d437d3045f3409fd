"""The JSON state and the attachments of a thread."""

from __future__ import annotations

import base64
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.records import Attachment, Json, JsonObject, Scope, ScopeLike
from recollect.side_records import (
    ATTACHMENT,
    ATTACHMENT_PART,
    STATE,
    DeleteSideRecord,
    PutSideRecord,
    SideAddress,
    SideRecord,
    SideWrite,
)
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.validation import (
    ATTACHMENT_BYTES_MAX,
    ATTACHMENT_PART_BYTES,
    check_id,
    check_list,
    check_mapping,
    check_scope,
)

_PAGE: Final = 1_000
_PARTS_MAX: Final = -(-ATTACHMENT_BYTES_MAX // ATTACHMENT_PART_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentInfo:
    """
    An attachment's metadata, without its content.

    >>> import recollect
    >>> file = recollect.Attachment(name="plan.txt", data=b"a red door")
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "Here is the plan.", attachments=[file])
    ...     (info,) = memory.attachments("ada", "chat")
    >>> info.name, info.bytes
    ('plan.txt', 10)
    """

    name: str
    media_type: str
    bytes: int
    kept_at: datetime


def state_writes(thread: str, state: Mapping[str, Json]) -> list[SideWrite]:
    """Return the writes that set each name of *state*; a value of ``None`` removes its name."""
    return [
        DeleteSideRecord(kind=STATE, key=_named(name), thread=thread)
        if value is None
        else PutSideRecord(kind=STATE, key=_named(name), thread=thread, value={"value": value})
        for name, value in check_mapping(state, "a thread's state, by name,").items()
    ]


def attachment_writes(thread: str, attachment: Attachment, old_parts: int) -> list[SideWrite]:
    """
    Return the writes that store an attachment and drop surplus parts of an older one.

    *old_parts* is the number of parts of the attachment it replaces, 0 if there is none.

    Raises:
        LimitError: The attachment is larger than ``ATTACHMENT_BYTES_MAX``.
    """
    size, name = len(attachment.data), attachment.name
    if size > ATTACHMENT_BYTES_MAX:
        what = f"bytes of the attachment {name!r}"
        raise LimitError(what, size, ATTACHMENT_BYTES_MAX, "ATTACHMENT_BYTES_MAX")
    starts = range(0, size, ATTACHMENT_PART_BYTES)
    about: JsonObject = {
        "media_type": attachment.media_type,
        "bytes": size,
        "parts": len(starts),
    }
    # The old file goes first. The new one may have fewer parts, and writes apply in order.
    writes = detaching_writes(thread, name, old_parts)
    writes.append(PutSideRecord(kind=ATTACHMENT, key=_named(name), thread=thread, value=about))
    for number, start in enumerate(starts):
        data = base64.b64encode(attachment.data[start : start + ATTACHMENT_PART_BYTES]).decode()
        key = _part_key(name, number)
        part = PutSideRecord(kind=ATTACHMENT_PART, key=key, thread=thread, value={"data": data})
        writes.append(part)
    return writes


def detaching_writes(thread: str, name: str, parts: int) -> list[SideWrite]:
    """Return the writes that remove an attachment of *parts* parts."""
    keys = [_part_key(name, number) for number in range(parts)]
    return [
        DeleteSideRecord(kind=ATTACHMENT, key=_named(name), thread=thread),
        *(DeleteSideRecord(kind=ATTACHMENT_PART, key=key, thread=thread) for key in keys),
    ]


def _named(name: str) -> str:
    return check_id(name, "the name of a thread's state value or attachment")


def _part_key(name: str, part: int) -> str:
    return f"{_named(name)}/{part:04d}"  # padded, so that keys sort in the order of the parts


class ThreadStateMethods(ABC):
    """The part of `Recollect` that stores thread state and attachments."""

    store: Store

    async def state(self, scope: ScopeLike, thread: str) -> dict[str, Json]:
        """Return the state of a thread by name; empty if it has none."""
        found = await self._side_records(check_scope(scope), STATE, thread)
        return {each.key: each.value["value"] for each in found}

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
            _info_of(each)
            for each in await self._side_records(check_scope(scope), ATTACHMENT, thread)
        )

    async def attachment(self, scope: ScopeLike, thread: str, name: str) -> Attachment | None:
        """
        Return an attachment with its content, ``None`` if the name is unknown.

        Raises:
            NotFoundError: Some of its content is missing: an import of it was cut short.
        """
        scope = check_scope(scope)
        first = await self._metadata(scope, thread, name)
        while first is not None:
            keys = [_part_key(name, number) for number in range(_parts_of(first))]
            addresses = [SideAddress(ATTACHMENT_PART, key, thread) for key in keys]
            # With the metadata, in one read: a file that replaces it meanwhile has other parts.
            addresses.insert(0, SideAddress(ATTACHMENT, _named(name), thread))
            again, *parts = await self.store.side_records_at(scope, addresses)
            if again == first:
                return _whole_attachment(thread, _info_of(first), parts)
            first = again
        return None

    async def detach(self, scope: ScopeLike, thread: str, name: str) -> bool:
        """Remove an attachment; return False if there was none."""
        scope = check_scope(scope)
        first = await self._metadata(scope, thread, name)
        if first is None:
            return False
        # All parts that there can be: somebody may have attached a larger file meanwhile.
        await self.store.apply(scope, detaching_writes(thread, name, _PARTS_MAX))
        return True

    async def _attaching(
        self, scope: Scope, thread: str, attachments: Sequence[Attachment]
    ) -> list[SideWrite]:
        writes: list[SideWrite] = []
        for each in check_list(attachments, "Attachment"):
            if not isinstance(each, Attachment):
                raise UsageError(f"an attachment is an Attachment, not {each!r}")
            old = await self._metadata(scope, thread, each.name)
            writes += attachment_writes(thread, each, _parts_of(old) if old else 0)
        return writes

    async def _metadata(self, scope: Scope, thread: str, name: str) -> SideRecord | None:
        """Return the side record that describes an attachment, ``None`` if there is none."""
        return await self.store.side_record(scope, ATTACHMENT, _named(name), thread=thread)

    async def _side_records(self, scope: Scope, kind: str, thread: str) -> list[SideRecord]:
        found = each_row(
            lambda cursor: self.store.side_records(
                scope, kind, thread=thread, cursor=cursor, limit=_PAGE
            )
        )
        return [each async for each in found]


def _parts_of(first: SideRecord) -> int:
    parts = first.value["parts"]
    return parts if isinstance(parts, int) else 0


def _info_of(first: SideRecord) -> AttachmentInfo:
    size = first.value["bytes"]
    return AttachmentInfo(
        name=first.key,
        media_type=str(first.value["media_type"]),
        bytes=size if isinstance(size, int) else 0,
        kept_at=first.updated_at,
    )


def _whole_attachment(
    thread: str, about: AttachmentInfo, parts: Sequence[SideRecord | None]
) -> Attachment:
    """Join the *parts* of an attachment; raise `NotFoundError` if some are missing."""
    data = b"".join(base64.b64decode(str(each.value["data"])) for each in parts if each)
    # An import keeps what came before a cut, and may have refused a part.
    if len(data) != about.bytes:
        raise NotFoundError(
            f"of the attachment {about.name!r} of the thread {thread!r} {len(data)} of "
            f"{about.bytes} bytes are there: import the rest of it, or attach the file anew"
        )
    return Attachment(name=about.name, media_type=about.media_type, data=data)
