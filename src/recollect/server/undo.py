"""Undo over HTTP: a change that is to be taken back is answered with a token for that."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from fastapi import Query

from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import Json, Scope
from recollect.server.http.scope_access import Reach
from recollect.server.schemas.elements import JsonAnswer
from recollect.stores.plans.undo import Undo, UndoLog
from recollect.stores.rows import MICROSECONDS

UNDO_S: Final = 3_600
"""So long after a change its token is good."""
UNDO_BYTES_MAX: Final = 600_000
"""A change is refused if what would undo it is larger: a memory with that much history."""
TOKEN_CHARACTERS_MAX: Final = 1_000_000
_PURPOSE: Final = "undo"

WantsUndo = Annotated[
    bool,
    Query(
        alias="undo",
        description=(
            "Whether the answer has a token with which POST /v1/undo takes the change back. "
            "It may hold what the change removed, and so needs the permission `read` as well."
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class Undoable:
    """A change that a request makes, and that it may want to take back."""

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
        """Do as `memory`, for a view of the memory."""
        if not self.is_wanted:
            return memory
        self.reach.may("read")
        return memory.noting(self._log)

    @property
    def token(self) -> str | None:
        """Return the token of the change, ``None`` if nothing was changed, or none is wanted."""
        undo = self._log.last
        if undo is None:
            return None
        told: dict[str, Json] = {"at": self._now(), "undo": undo.as_json()}
        return self.reach.service.signer.token(told, _PURPOSE, *_holder(self.reach))

    def told(self, answer: JsonAnswer) -> JsonAnswer:
        """Return *answer*, with the token if one is wanted."""
        return {**answer, "undo": self.token} if self.is_wanted else answer

    def _now(self) -> int:
        return self.reach.service.memory.store.now()


def _holder(reach: Reach) -> tuple[str, Scope]:
    """Return the key and scope for which a token is valid."""
    return reach.principal.key_id, reach.scope


def read_undo(reach: Reach, token: str) -> Undo:
    """
    Return the undo record in a token of this key and scope.

    Raises:
        UsageError: The token is forged, expired, or for another scope or key.
    """
    told: Any = reach.service.signer.value(
        token, _PURPOSE, *_holder(reach), characters_max=TOKEN_CHARACTERS_MAX
    )
    now = reach.service.memory.store.now()
    if now - int(told["at"]) > UNDO_S * MICROSECONDS:
        msg = f"the change was made more than {UNDO_S} s ago: it is not taken back any more"
        raise UsageError(msg)
    return Undo.of_json(json.loads(json.dumps(told["undo"])))
