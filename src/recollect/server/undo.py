"""Undo over HTTP: answer a change with a signed token that reverts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import Depends, Query

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import Json, Scope
from recollect.server.http.scope_access import Reach, Writing
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.plans.undo import Undo, UndoLog
from recollect.stores.rows import MICROSECONDS
from recollect.text.coded_text import with_code

UNDO_S: Final = 3_600
"""Lifetime of a token after its change."""
UNDO_BYTES_MAX: Final = 600_000
"""Maximum size of an undo record. A change of a memory with more history is rejected."""
TOKEN_CHARACTERS_MAX: Final = 1_000_000
_PURPOSE: Final = "undo"

WantsUndo = Annotated[
    bool,
    Query(
        alias="undo",
        description=(
            "Whether the response has a token with which POST /v1/undo reverts the change. "
            "The token may contain removed data, so this needs the permission `read` as well."
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class Undoable:
    """A change by a request, with an undo token if the request wants one."""

    reach: Reach
    is_wanted: bool
    _log: UndoLog = field(default_factory=lambda: UndoLog(bytes_max=UNDO_BYTES_MAX))

    @property
    def memory(self) -> Recollect:
        """
        The memory through which to make the change.

        Raises:
            ForbiddenError: The key may not read the data that the token would contain.
        """
        return self.noting(self.reach.memory)

    def noting(self, memory: Recollect) -> Recollect:
        """Return *memory*, recording how to undo its change; see `memory`."""
        if not self.is_wanted:
            return memory
        self.reach.may("read")
        return memory.noting(self._log)

    @property
    def token(self) -> str | None:
        """The token of the change, ``None`` if nothing changed or no token is wanted."""
        undo = self._log.last
        if undo is None:
            return None
        now = self.reach.service.memory.store.now()
        content: dict[str, Json] = {"at": now, "undo": undo.as_json()}
        return self.reach.service.signer.token(content, _PURPOSE, *_holder(self.reach))

    def with_token(self, answer: JsonAnswer) -> JsonAnswer:
        """Return *answer*, with the token if one is wanted."""
        return {**answer, "undo": self.token} if self.is_wanted else answer


async def _undoable(reach: Writing, *, undo: WantsUndo = False) -> Undoable:
    return Undoable(reach, undo)


Changing = Annotated[Undoable, Depends(_undoable)]
"""A change by a request that may write, with an undo token if the request wants one."""


def _holder(reach: Reach) -> tuple[str, Scope]:
    return reach.principal.key_id, reach.scope


def read_undo(reach: Reach, token: str) -> Undo:
    """
    Return the undo record in a token of this key and scope.

    Raises:
        UsageError: The token is forged, expired, or for another scope or key.
    """
    content: Any = reach.service.signer.value(
        token, _PURPOSE, *_holder(reach), characters_max=TOKEN_CHARACTERS_MAX
    )
    now = reach.service.memory.store.now()
    if now - int(content["at"]) > UNDO_S * MICROSECONDS:
        msg = with_code(
            "undo_too_old",
            f"the change was made more than {UNDO_S} s ago: it can no longer be undone",
            seconds=UNDO_S,
        )
        raise UsageError(msg)
    return Undo.of_json(content["undo"])
