"""
Recollect: the memory of LLM applications.

It stores conversations, forms memories from them in the background, recalls what is relevant to the
next turn, and erases on request. `open` returns a `Recollect`; `open_sync` returns the same API
without ``await``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from recollect.errors import (
        ConflictError,
        EmbedderError,
        LeaseLostError,
        LimitError,
        MissingExtraError,
        ModelError,
        NotFoundError,
        RecollectError,
        StoreClosedError,
        StoreCorruptError,
        StoreError,
        StoreFullError,
        StoreReadOnlyError,
        StoreUnavailableError,
        StoreVersionError,
        UpdateModeError,
        UsageError,
        VersionConflictError,
    )
    from recollect.memory.facade import Recollect, open  # noqa: A004 (users write recollect.open)
    from recollect.recall.query import Where
    from recollect.recall.results import Recall, Recalled
    from recollect.records import (
        Attachment,
        DeleteMemory,
        EndMemory,
        Evidence,
        EvidenceMap,
        Json,
        JsonObject,
        Memory,
        MemoryState,
        Message,
        NewMessage,
        Page,
        PutMemory,
        Revision,
        Role,
        Scope,
        Thread,
        Trust,
        Write,
    )
    from recollect.stores.plans.erasure import (
        EraseExpired,
        EraseMemory,
        EraseMessages,
        EraseReceipt,
        EraseScope,
        EraseSource,
        EraseTarget,
        EraseThread,
    )
    from recollect.stores.plans.formation import Debounce
    from recollect.stores.plans.undo import Undo, UndoLog
    from recollect.sync.facade import SyncRecollect, open_sync

__version__ = "0.1.0"

_ERRORS: Final = (
    "ConflictError EmbedderError LeaseLostError LimitError MissingExtraError ModelError"
    " NotFoundError RecollectError StoreClosedError StoreCorruptError StoreError StoreFullError"
    " StoreReadOnlyError StoreUnavailableError StoreVersionError UpdateModeError UsageError"
    " VersionConflictError"
)
_RECORDS: Final = (
    "Attachment DeleteMemory EndMemory Evidence EvidenceMap Json JsonObject Memory MemoryState"
    " Message NewMessage Page PutMemory Revision Role Scope Thread Trust Write"
)
_ERASING: Final = (
    "EraseExpired EraseMemory EraseMessages EraseReceipt EraseScope EraseSource EraseTarget"
    " EraseThread"
)
_HOMES: Final = {
    "recollect.memory.facade": "Recollect open",
    "recollect.recall.query": "Where",
    "recollect.errors": _ERRORS,
    "recollect.recall.results": "Recall Recalled",
    "recollect.records": _RECORDS,
    "recollect.stores.plans.erasure": _ERASING,
    "recollect.stores.plans.formation": "Debounce",
    "recollect.stores.plans.undo": "Undo UndoLog",
    "recollect.sync.facade": "SyncRecollect open_sync",
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Attachment",
    "ConflictError",
    "Debounce",
    "DeleteMemory",
    "EmbedderError",
    "EndMemory",
    "EraseExpired",
    "EraseMemory",
    "EraseMessages",
    "EraseReceipt",
    "EraseScope",
    "EraseSource",
    "EraseTarget",
    "EraseThread",
    "Evidence",
    "EvidenceMap",
    "Json",
    "JsonObject",
    "LeaseLostError",
    "LimitError",
    "Memory",
    "MemoryState",
    "Message",
    "MissingExtraError",
    "ModelError",
    "NewMessage",
    "NotFoundError",
    "Page",
    "PutMemory",
    "Recall",
    "Recalled",
    "Recollect",
    "RecollectError",
    "Revision",
    "Role",
    "Scope",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "StoreVersionError",
    "SyncRecollect",
    "Thread",
    "Trust",
    "Undo",
    "UndoLog",
    "UpdateModeError",
    "UsageError",
    "VersionConflictError",
    "Where",
    "Write",
    "open",
    "open_sync",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that importing the package stays cheap."""
    if name not in _HOME_OF:
        msg = f"module 'recollect' has no attribute {name!r}"
        raise AttributeError(msg)
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
