"""
The exceptions that this package raises.

    RecollectError
    ├── UsageError              an argument breaks a documented rule
    │   ├── LimitError          an input is larger than the named limit
    │   ├── MissingKeyError     a mapping lacks a required key
    │   ├── UpdateModeError     a type's memories were written in another mode
    │   └── ServiceVersionError the versions of client and service are incompatible
    ├── NotFoundError           the named object does not exist
    ├── ConflictError           the same id or key was used before for other content
    │   ├── RepeatedRequestError    the request was carried out before; nothing is done again
    │   └── StaleReadError          what a change was based on was changed or erased meanwhile
    ├── GoneError               the result of this request has been erased since
    ├── VersionConflictError    another writer came first; read again, then retry
    ├── LeaseLostError          the lease ended; its work must not be stored
    ├── ProposalRefusedError    a change of instructions breaks a rule; nothing was changed
    ├── AccessError             the caller is not allowed to do this
    │   ├── UnknownKeyError         the API key is missing, unknown or expired
    │   │   └── KeyRevokedError         the key was revoked during the request
    │   └── ForbiddenError          the key lacks the permission
    ├── QuotaError              the quota is used up for now; retry later
    ├── MissingExtraError       an optional package is not installed
    ├── EmbedderError           the embedder cannot be used, or failed
    ├── ModelError              the model failed, or its answer cannot be used
    │   ├── ModelUnavailableError   the provider is busy, throttling or unreachable; retry
    │   ├── ModelDeniedError        the key is invalid or lacks rights or credit
    │   └── ModelNotFoundError      the model does not exist or was withdrawn
    └── StoreError              the backend failed; its own error is __cause__
        ├── StoreUnavailableError   busy or unreachable; retry
        ├── StoreFullError          no space left; nothing was written
        ├── StoreReadOnlyError      the store is read-only
        ├── StoreCorruptError       damaged, or not a Recollect store
        ├── StoreVersionError       unsupported version of the store or its engine
        └── StoreClosedError        the store was closed
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from recollect.installation import install_command


class RecollectError(Exception):
    """
    Base class of all exceptions that this package raises on purpose.

    >>> try:
    ...     raise NotFoundError("there is no thread 'x'")
    ... except RecollectError as error:
    ...     (error.code, EXIT_STATUS[error.code])
    ('not_found', 3)
    """

    code: ClassVar[str] = "error"  # stable: HTTP, MCP and the command line report it

    about: str = ""
    """The failed object, without any user's text: logs show this, never the error's message."""


class UsageError(RecollectError, ValueError):
    """
    An argument is outside what the documentation allows.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     memory.recall("ada", "")
    Traceback (most recent call last):
    recollect.errors.UsageError: the query is empty: say what the next turn is about
    """

    code = "usage"


class LimitError(UsageError):
    """
    An input exceeds a documented limit; nothing of it was stored.

    >>> str(LimitError("segments of the scope", 17, 16, "SEGMENTS_MAX"))
    'segments of the scope: 17; the limit SEGMENTS_MAX is 16'
    """

    code = "limit"

    def __init__(self, what: str, actual: int, limit: int, limit_name: str) -> None:
        super().__init__(what, actual, limit, limit_name)
        self.what = what
        self.actual = actual
        self.limit = limit
        self.limit_name = limit_name

    def __str__(self) -> str:
        return f"{self.what}: {self.actual}; the limit {self.limit_name} is {self.limit}"


class MissingKeyError(UsageError, KeyError):
    """A mapping lacks a required key."""

    code = "missing_key"

    __str__ = Exception.__str__  # `KeyError.__str__` would show the repr of the message


class NotFoundError(RecollectError, LookupError):
    """
    The named object does not exist in this scope.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     try:
    ...         memory.reject("ada", "Note", "lost")
    ...     except NotFoundError as error:
    ...         error.code
    'not_found'
    """

    code = "not_found"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "not found"


class ConflictError(RecollectError):
    """
    The id or idempotency key was already used for different content.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "We moved.", idempotency_key="turn-1")
    ...     try:
    ...         memory.append("ada", "chat", "We stayed.", idempotency_key="turn-1")
    ...     except ConflictError as error:
    ...         error.code
    'conflict'
    """

    code = "conflict"


class GoneError(RecollectError):
    """
    The request already ran under its idempotency key, and its result has been erased since.

    Nothing is written. To repeat the request as a new one, use a new key.
    """

    code = "gone"


class RepeatedRequestError(ConflictError):
    """
    The request already ran under its idempotency key: nothing is done again.

    *memories* are the addresses (type, key) of the memories that it wrote and that still exist.
    *count* is the number of messages and memories that it wrote or removed. For a request that
    does neither it is the number that was returned: of paused threads, or of messages to retry.
    """

    code = "repeated_request"
    memories: tuple[tuple[str, str], ...] = ()
    count: int = 0


class StaleReadError(ConflictError):
    """The data that a change was based on was changed or erased meanwhile; nothing is written."""

    code = "stale_read"


class UpdateModeError(UsageError):
    """
    A memory type's `update_mode` differs from that of its stored memories.

    >>> UpdateModeError("User", old="patch", new="insert", documents=1).code
    'update_mode'
    """

    code = "update_mode"

    def __init__(self, type_: str, old: str, new: str, documents: int) -> None:
        super().__init__(type_, old, new, documents)
        self.type = type_
        self.old = old
        self.new = new
        self.documents = documents

    def __str__(self) -> str:
        count = f"{self.documents} memory" if self.documents == 1 else f"{self.documents} memories"
        return (
            f"the memory type {self.type!r} has the update_mode {self.new!r}, and {count} in force "
            f"of it in this scope were written as {self.old!r}: convert them with migrate_type("
            f"scope, {self.type!r}, {self.new!r}) (recollect formation migrate-type {self.type} "
            f"{self.new}), or give the new type another name; new messages wait until then"
        )


class VersionConflictError(RecollectError):
    """
    The memory is no longer at the version that the caller read.

    >>> error = VersionConflictError("Fact/home", expected=1, actual=3)
    >>> str(error)
    'Fact/home is at version 3, not 1: read it again, then retry'
    """

    code = "version_conflict"

    def __init__(self, address: str, expected: int, actual: int) -> None:
        super().__init__(address, expected, actual)
        self.address = address
        self.expected = expected
        self.actual = actual

    def __str__(self) -> str:
        return (
            f"{self.address} is at version {self.actual}, not {self.expected}: "
            "read it again, then retry"
        )


class LeaseLostError(RecollectError):
    """
    The lease expired or moved on, or its scope was erased: nothing was written.

    >>> import asyncio
    >>> import recollect
    >>> async def main():
    ...     async with recollect.open("memory:", embedder="none") as memory:
    ...         await memory.append("ada", "chat", "We moved.")
    ...         lease = await memory.store.claim("a worker", scope=("ada",), idle=True)
    ...         await memory.erase("ada", recollect.EraseScope())
    ...         try:
    ...             await memory.store.extend(lease)
    ...         except LeaseLostError as error:
    ...             return error.code
    >>> asyncio.run(main())
    'lease_lost'
    """

    code = "lease_lost"


class ProposalRefusedError(RecollectError):
    """
    A proposed change of instructions breaks a rule and was refused; nothing was changed.

    *proposal* is the id of the recorded proposal, ``""`` if none was recorded.
    """

    code = "proposal_refused"

    def __init__(self, reason: str, proposal: str = "") -> None:
        super().__init__(reason, proposal)
        self.reason = reason
        self.proposal = proposal

    def __str__(self) -> str:
        on_record = f" (proposal {self.proposal})" if self.proposal else ""
        return f"the change is refused{on_record}: {self.reason}"


class AccessError(RecollectError):
    """The caller is not allowed to do this; nothing was done."""

    code = "access"


class UnknownKeyError(AccessError):
    """The request has no API key, or one that is unknown, expired or revoked."""

    code = "unknown_key"


class KeyRevokedError(UnknownKeyError):
    """The API key was revoked, or its permissions were reduced, during the request."""

    code = "key_revoked"


class ForbiddenError(AccessError):
    """The API key lacks the permission that the request needs."""

    code = "forbidden"


class QuotaError(RecollectError):
    """A tenant exceeded its quota: retry after *retry_after_s*."""

    code = "quota"

    def __init__(self, what: str, limit_name: str, limit: float, retry_after_s: float) -> None:
        super().__init__(what, limit_name, limit, retry_after_s)
        self.what = what
        self.limit_name = limit_name
        self.limit = limit
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return (
            f"{self.what}: the limit {self.limit_name} is {self.limit:g}; "
            f"retry after {self.retry_after_s:.0f} s"
        )


class ServiceVersionError(UsageError):
    """
    The versions of the client and the service are incompatible for this call; nothing was written.

    >>> print(ServiceVersionError("the service has no POST /v1/undo", "0.1.0", "0.2.0"))
    the service has no POST /v1/undo: it is version 0.1.0, this client 0.2.0; upgrade the service, \
or install the client of version 0.1.0
    """

    code = "service_version"

    def __init__(self, what: str, service: str, client: str) -> None:
        super().__init__(what, service, client)
        self.what = what
        self.service = service
        self.client = client

    def __str__(self) -> str:
        text = f"{self.what}: it is version {self.service}, this client {self.client}"
        if _release(self.service) < _release(self.client):
            return f"{text}; upgrade the service, or install the client of version {self.service}"
        return f"{text}; upgrade the client"


def _release(version: str) -> tuple[int, ...]:
    """
    Return the numbers of a version, for comparison; ``()`` if it begins with no number.

    >>> _release("0.9.1") < _release("0.10"), _release("1.2.0rc1"), _release("odd")
    (True, (1, 2, 0), ())
    """
    release = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", version)
    return tuple(map(int, release[0].split("."))) if release else ()


class MissingExtraError(RecollectError, ImportError):
    """
    An optional package is not installed.

    >>> print(str(MissingExtraError("redis", "redis")).partition(" with: ")[0])
    redis is not installed: install the extra "recollect[redis]"
    """

    code = "missing_extra"

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(extra, package)
        self.extra = extra
        self.package = package

    def __str__(self) -> str:
        return (
            f'{self.package} is not installed: install the extra "recollect[{self.extra}]" '
            f"with: {install_command(self.extra)}"
        )


class EmbedderError(RecollectError):
    """
    The embedder cannot be used, or failed.

    >>> from recollect.embedders import open_embedder
    >>> try:
    ...     open_embedder(lambda texts: []).embed(["We moved."])
    ... except EmbedderError as error:
    ...     print(str(error)[-24:])
    gave 0 vectors, [], of 1
    """

    code = "embedder"


class ModelError(RecollectError):
    """
    The model failed, or its answer is unusable.

    A model of your own may raise it: the formation fails with its text, and is tried again later.

    >>> import recollect
    >>> async def broken(request):
    ...     raise ModelError("no answer from the model")
    >>> with recollect.open_sync("memory:", embedder="none", model=broken, worker=False) as memory:
    ...     kept = memory.append("ada", "chat", "We moved.")
    ...     (result,) = memory.form("ada")
    >>> result.end, result.reason
    ('failed', 'no answer from the model')
    """

    code = "model"


class ModelUnavailableError(ModelError):
    """
    The model is busy, throttling or unreachable.

    *retry_after_s* is the pause it asked for, in seconds, if it did.

    >>> str(ModelUnavailableError("openai/gpt-5-mini is throttling", 20))
    'openai/gpt-5-mini is throttling (retry after 20 s)'
    """

    code = "model_unavailable"

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s)
        self.message = message
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        after = "" if self.retry_after_s is None else f" (retry after {self.retry_after_s:g} s)"
        return f"{self.message}{after}"


class ModelDeniedError(ModelError):
    """The key is invalid, or lacks rights or credit: retrying alone does not help."""

    code = "model_denied"


class ModelNotFoundError(ModelError):
    """The provider does not know the model, or has withdrawn it."""

    code = "model_not_found"


class StoreError(RecollectError):
    """
    The backend failed for a reason that is not the caller's.

    >>> import recollect
    >>> try:
    ...     recollect.open_sync("no_such_folder/memory.db", embedder="none").open()
    ... except StoreError as error:
    ...     (error.code, EXIT_STATUS[error.code])
    ('store', 7)
    """

    code = "store"


class StoreUnavailableError(StoreError):
    """
    The backend is busy or unreachable. Retry with the same idempotency key.

    >>> import time
    >>> import recollect
    >>> def append_surely(memory, text, key):
    ...     for wait_s in (1, 2, 4):
    ...         try:
    ...             return memory.append("ada", "chat", text, idempotency_key=key)
    ...         except StoreUnavailableError:
    ...             time.sleep(wait_s)
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     len(append_surely(memory, "We moved.", "turn-1"))
    1
    """

    code = "unavailable"


class StoreFullError(StoreError):
    """
    The disk or server is full; nothing was written.

    >>> try:
    ...     raise StoreFullError("the disk is full: free some space")
    ... except StoreError as error:
    ...     (error.code, EXIT_STATUS[error.code])
    ('full', 9)
    """

    code = "full"


class StoreReadOnlyError(StoreError):
    """
    The file, folder or server is read-only.

    >>> try:
    ...     raise StoreReadOnlyError("memory.db is read-only")
    ... except StoreError as error:
    ...     (error.code, EXIT_STATUS[error.code])
    ('read_only', 10)
    """

    code = "read_only"


class StoreCorruptError(StoreError):
    """
    The file is damaged, or is not a Recollect store.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import recollect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.txt")
    ...     _ = path.write_text("Buy milk.")
    ...     try:
    ...         recollect.open_sync(str(path), embedder="none").open()
    ...     except StoreCorruptError as error:
    ...         print(str(error).partition(": ")[2])
    it was left as it is; name another file
    """

    code = "corrupt"


class StoreVersionError(StoreError):
    """
    The version of the store, or of its engine, is not supported.

    >>> try:
    ...     raise StoreVersionError("memory.db was written by a later release")
    ... except StoreError as error:
    ...     (error.code, EXIT_STATUS[error.code])
    ('version', 12)
    """

    code = "version"


class StoreClosedError(StoreError):
    """
    The store was closed, or it or its SQLite file was opened before a fork in the parent process.

    A client and a checkpointer raise it as well: a child must not share its parent's connections.

    >>> import recollect
    >>> memory = recollect.open_sync("memory:", embedder="none").open()
    >>> memory.close()
    >>> try:
    ...     memory.threads("ada")
    ... except RecollectError as error:
    ...     error.code in EXIT_STATUS
    True
    """

    code = "closed"


EXIT_STATUS: Final[dict[str, int]] = {
    "error": 1,
    "usage": 2,
    "limit": 2,
    "missing_key": 2,
    "update_mode": 2,
    "stale_read": 4,
    "not_found": 3,
    "conflict": 4,
    "gone": 4,
    "repeated_request": 4,
    "version_conflict": 4,
    "lease_lost": 4,
    "proposal_refused": 4,
    "access": 13,
    "service_version": 12,
    "unknown_key": 13,
    "key_revoked": 13,
    "forbidden": 13,
    "quota": 8,
    "missing_extra": 5,
    "embedder": 5,
    "model": 6,
    "model_unavailable": 6,
    "model_denied": 6,
    "model_not_found": 6,
    "store": 7,
    "unavailable": 8,
    "full": 9,
    "read_only": 10,
    "corrupt": 11,
    "version": 12,
    "closed": 7,
}
"""The exit status of the command line for each `RecollectError.code`."""
