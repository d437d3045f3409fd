"""
Every error this package raises on purpose.

    RecollectError
    ├── UsageError              the caller broke a documented rule
    │   ├── LimitError          an input is larger than the named limit
    │   └── MissingKeyError     a mapping lacks a key that its use needs
    ├── NotFoundError           what was named does not exist
    ├── ConflictError           the same id or key was used before for other content
    ├── GoneError               what was done under this key was erased since
    ├── VersionConflictError    somebody else wrote first; read again, then retry
    ├── LeaseLostError          the claim ended; its work must not be stored
    ├── ProposalRefusedError    a change of instructions breaks a rule; nothing was changed
    ├── AccessError             who asks may not do it
    │   ├── UnknownKeyError         there is no key, or none that is good any more
    │   │   └── KeyRevokedError         it was good when the request began
    │   └── ForbiddenError          the key lacks the permission
    ├── QuotaError              more was asked for than is allowed now; retry later
    ├── MissingExtraError       an optional package is not installed
    ├── EmbedderError           the embedder cannot be used, or failed
    ├── ModelError              the model failed, or its answer cannot be used
    │   ├── ModelUnavailableError   it is busy, limited or away; retry
    │   ├── ModelDeniedError        the key, its rights or its credit do not suffice
    │   └── ModelNotFoundError      there is no such model, or not any more
    └── StoreError              the backend failed; its own error is __cause__
        ├── StoreUnavailableError   it is busy or away; retry
        ├── StoreFullError          there is no room; nothing was written
        ├── StoreReadOnlyError      it may not be written
        ├── StoreCorruptError       it is damaged, or not ours
        ├── StoreVersionError       it, or its engine, is of a version we refuse
        └── StoreClosedError        it was closed
"""

from __future__ import annotations

from typing import ClassVar, Final


class RecollectError(Exception):
    """Base of all our errors: catch this to catch everything we raise."""

    code: ClassVar[str] = "error"  # stable: HTTP, MCP and the command line report it

    about: str = ""
    """What it concerns, without words of users: for logs, which never show the error's text."""


class UsageError(RecollectError, ValueError):
    """An argument is outside what the documentation allows."""

    code = "usage"


class LimitError(UsageError):
    """An input is larger than a stated limit; nothing of it was stored."""

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
    """A mapping lacks a key that its use needs."""

    code = "missing_key"

    __str__ = Exception.__str__  # a KeyError shows its argument as code


class NotFoundError(RecollectError, LookupError):
    """What was named does not exist in this scope."""

    code = "not_found"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "not found"


class ConflictError(RecollectError):
    """The id or idempotency key was used before, for other content."""

    code = "conflict"


class GoneError(RecollectError):
    """
    The request was carried out before under its idempotency key, and what it wrote was erased.

    Nothing is written. Whoever means it as a new request gives a new key.
    """

    code = "gone"


class RepeatedRequestError(ConflictError):
    """
    The request was carried out before under its idempotency key: nothing is done again.

    *memories* are the addresses (type, key) of what it wrote that is still there, *count* is how
    many messages and memories it wrote or removed, or if it did neither, the number that it
    answered: of threads that it paused, of messages that it lets wait again.
    """

    code = "repeated_request"
    memories: tuple[tuple[str, str], ...] = ()
    count: int = 0


class StaleReadError(ConflictError):
    """A change rested on what has changed, or was erased, since it was read; nothing is written."""

    code = "stale_read"


class UpdateModeError(UsageError):
    """A memory type has another `update_mode` than its memories were written under."""

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
            f"of it in this scope were written as {self.old!r}: migrate_type(scope, {self.type!r}, "
            f"{self.new!r}) (recollect formation migrate-type {self.type} {self.new}) turns them, "
            "or give the new type another name; what was said waits until then"
        )


class VersionConflictError(RecollectError):
    """The memory is no longer at the version that the caller read."""

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
    """The lease ended, passed to another worker, or its scope was erased: nothing was written."""

    code = "lease_lost"


class ProposalRefusedError(RecollectError):
    """
    A proposed change of instructions breaks a rule, so that it was refused; nothing was changed.

    *proposal* is the id under which it is on record, ``""`` if it is on none.
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
    """Who asks may not do what was asked for; nothing was done."""

    code = "access"


class UnknownKeyError(AccessError):
    """There is no API key in the request, or it is not, or no longer, a good one."""

    code = "unknown_key"


class KeyRevokedError(UnknownKeyError):
    """The API key was good when the request began, and is not, or may do less, by now."""

    code = "key_revoked"


class ForbiddenError(AccessError):
    """The API key lacks the permission that the request needs."""

    code = "forbidden"


class QuotaError(RecollectError):
    """A tenant asked for more than it may now: retry after *retry_after_s*."""

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


class MissingExtraError(RecollectError, ImportError):
    """An optional package is not installed."""

    code = "missing_extra"

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(extra, package)
        self.extra = extra
        self.package = package

    def __str__(self) -> str:
        return f'{self.package} is not installed: pip install "recollect[{self.extra}]"'


class EmbedderError(RecollectError):
    """The embedder cannot be used, or failed."""

    code = "embedder"


class ModelError(RecollectError):
    """The model failed, or answered with something that cannot be used."""

    code = "model"


class ModelUnavailableError(ModelError):
    """The model is busy, limited or away: retry, after *retry_after_s* if it said so."""

    code = "model_unavailable"

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s)
        self.message = message
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        after = "" if self.retry_after_s is None else f" (retry after {self.retry_after_s:g} s)"
        return f"{self.message}{after}"


class ModelDeniedError(ModelError):
    """The provider refuses the key, its rights or its credit: retrying alone does not help."""

    code = "model_denied"


class ModelNotFoundError(ModelError):
    """The provider knows no such model, or has withdrawn it."""

    code = "model_not_found"


class StoreError(RecollectError):
    """The backend failed for a reason that is not the caller's."""

    code = "store"


class StoreUnavailableError(StoreError):
    """The backend is busy or away; nothing is known to be lost, retry with the same key."""

    code = "unavailable"


class StoreFullError(StoreError):
    """There is no room left; nothing was written."""

    code = "full"


class StoreReadOnlyError(StoreError):
    """The file, folder or server may not be written."""

    code = "read_only"


class StoreCorruptError(StoreError):
    """The file is damaged, or is not one of ours."""

    code = "corrupt"


class StoreVersionError(StoreError):
    """The store, or the engine under it, is of a version that we refuse."""

    code = "version"


class StoreClosedError(StoreError):
    """The store was closed, or belongs to another process since a fork."""

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
