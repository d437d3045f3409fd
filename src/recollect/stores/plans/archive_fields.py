"""Validated access to the fields of an archive record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from recollect.errors import UsageError
from recollect.records import FormationStatus, Json, JsonObject, MemoryState, Role, Trust
from recollect.stores.plans.evidence import decode_evidence, encode_evidence, trust_with
from recollect.stores.plans.prepared_writes import check_validity
from recollect.stores.validation import (
    check_id,
    check_moment,
    check_object,
    check_position,
    check_text,
)

ChoiceT = TypeVar("ChoiceT", bound=str)


@dataclass(frozen=True, slots=True)
class RecordFields:
    """
    The fields of a record; each accessor validates its field.

    All raise `UsageError` for an invalid value, and most `KeyError` for a missing field.
    """

    record: JsonObject

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.record[name]
        if not isinstance(value, str):
            raise UsageError(f"the field {name!r} must be text, not {value!r}")
        return check_text(value, f"the field {name!r}")

    def optional_id(self, name: str) -> str | None:
        """Return a name, ``None`` if it is absent."""
        value = self.record.get(name)
        return None if value is None else check_id(value, f"the field {name!r}")

    def count(self, name: str, least: int = 0) -> int:
        """Return an integer of at least *least*."""
        value = check_position(self.record[name], f"the field {name!r}")
        if value < least:
            raise UsageError(f"the field {name!r} must be at least {least}, not {value}")
        return value

    def positions(self, name: str, last: int) -> tuple[int, ...]:
        """Return positions from 1 to *last*; none if the field is absent."""
        value = self.record.get(name, ())
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise UsageError(f"the field {name!r} must be a list of positions, not {value!r}")
        found = [check_position(each, f"the field {name!r}") for each in value]
        if any(not 1 <= each <= last for each in found):
            msg = f"the field {name!r} must have positions from 1 to {last}, not {value!r}"
            raise UsageError(msg)
        return tuple(found)

    def by_thread(self, name: str) -> JsonObject:
        """Return an object keyed by thread ids."""
        value = self.record[name]
        if not isinstance(value, Mapping):
            raise UsageError(f"the field {name!r} must be an object by thread, not {value!r}")
        return {check_id(thread, "a thread id"): each for thread, each in value.items()}

    def moment(self, name: str) -> int:
        """Return a time, in µs since 1970."""
        value = self.record[name]
        if not isinstance(value, int) or isinstance(value, bool):
            msg = f"the field {name!r} must be a whole number of microseconds, not {value!r}"
            raise UsageError(msg)
        return check_moment(value, f"the field {name!r}")

    def optional_moment(self, name: str) -> int | None:
        """Return a time, ``None`` if it is absent."""
        return None if self.record.get(name) is None else self.moment(name)

    def one_of(self, name: str, allowed: Sequence[ChoiceT]) -> ChoiceT:
        """Return one of the texts *allowed*."""
        value = self.text(name)
        for each in allowed:
            if each == value:
                return each
        raise UsageError(f"the field {name!r} must be one of {', '.join(allowed)}, not {value!r}")

    def role(self) -> Role:
        """Return a message role."""
        return self.one_of("role", get_args(Role))

    def status(self) -> FormationStatus:
        """Return a formation status."""
        return self.one_of("status", get_args(FormationStatus))

    def evidence(self) -> str:
        """Return the evidence as JSON text."""
        text = check_object(self.record["evidence"], "a memory's evidence")
        return encode_evidence(decode_evidence(text))  # encoding checks each name in it

    def version(self) -> dict[str, Any]:
        """Return the fields common to all versions of a memory."""
        valid_from, valid_until = (
            self.optional_moment("valid_from"),
            self.optional_moment("valid_until"),
        )
        check_validity(valid_from, valid_until, "a memory")
        evidence = self.evidence()
        trust: Trust = self.one_of("trust", get_args(Trust))
        return {
            "version": self.count("version", 1),
            "value": check_object(self.record["value"], "a memory's value"),
            "text": self.text("text"),
            "valid_from": valid_from,
            "valid_until": valid_until,
            "evidence": evidence,
            # As for any write: an import cannot turn an agent's finding into a user's words.
            "trust": trust_with(evidence, trust),
            "state": self.one_of("state", get_args(MemoryState)),
            "cause": self.text("cause"),
        }


def fields_of(row: object, names: Sequence[str]) -> dict[str, Json]:
    """Return the columns *names* of a row."""
    return {name: getattr(row, name) for name in names}
