"""The result of a formation run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.errors import ModelError

if TYPE_CHECKING:
    from recollect.formation.operation_outcomes import OperationOutcome
    from recollect.formation.operations import RefusedCall

FormationEnding: TypeAlias = Literal["formed", "failed", "postponed", "dead", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormationResult:
    """
    The result of a formation: its status and the reason.

    *outcomes* are those of the calls that were read, *refused* the calls of the model that were not
    carried out, such as one whose quote nobody said: as many as its receipt has. If all were,
    nothing is remembered.
    *outage* is the model's error if it is unavailable. *error* is the exception that ended it; an
    unusable answer of the model is none. Pending messages are retried in *retry_s* seconds.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
    ...     kept = memory.append("ada", "chat", "I live in Oslo.")
    ...     (result,) = memory.form("ada")
    >>> result.end, [(each.action, each.type) for each in result.outcomes]
    ('formed', [('stored', 'User')])
    """

    end: FormationEnding
    reason: str = ""
    outcomes: tuple[OperationOutcome, ...] = ()
    refused: tuple[RefusedCall, ...] = ()
    outage: ModelError | None = None
    error: Exception | None = field(default=None, compare=False)
    retry_s: float | None = field(default=None, compare=False)
