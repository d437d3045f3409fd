"""Read a TOML table strictly: every error names its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import TypeGuard, TypeVar

from recollect.errors import UsageError
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list, kind_of, listed, shown

ChoiceT = TypeVar("ChoiceT", bound=str)


class Table:
    """The fields of one table; *path* is its place, as in ``case[2].must[0]``."""

    def __init__(self, path: str, fields: object) -> None:
        if not isinstance(fields, Mapping):
            raise UsageError(f"{path}: must be a table, not {kind_of(fields)}")
        self.path = path
        self._fields: Mapping[str, object] = fields
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def wrong(self, name: str, reason: str) -> UsageError:
        """Return an error about the field *name*, or about the whole table for ``""``."""
        return UsageError(f"{self.path}.{name}: {reason}" if name else f"{self.path}: {reason}")

    def any(self, name: str) -> object:
        """Return the field's value unchecked, ``None`` if it is missing."""
        self._read.add(name)
        return self._fields.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not blank; the field is required unless there is a *default*."""
        found = self.any(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, str) or not found.strip():
            has = "is missing" if found is None else f"must be text, not {shown(found)}"
            raise self.wrong(name, has)
        return found

    def one_of(self, name: str, allowed: Sequence[ChoiceT], default: ChoiceT) -> ChoiceT:
        """Return one of the texts *allowed*, *default* if the field is missing."""
        found = self.text(name, default)
        for each in allowed:
            if each == found:
                return each
        raise self.wrong(name, f"must be one of {listed(allowed)}, not {found!r}")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; a single text counts as a list."""
        found = self.any(name)
        every = [found] if isinstance(found, str) else found or []
        if not is_list(every) or not all(isinstance(each, str) and each for each in every):
            raise self.wrong(name, f"must be a text or a list of texts, not {shown(found)}")
        return tuple(str(each) for each in every)

    def flag(self, name: str) -> bool:
        """Return a boolean; False if the field is missing."""
        found = self.any(name)
        if found is not None and not isinstance(found, bool):
            raise self.wrong(name, f"must be true or false, not {shown(found)}")
        return bool(found)

    def number(self, name: str) -> int | None:
        """Return a whole number of at least 0, ``None`` if the field is missing."""
        found = self.any(name)
        if found is None:
            return None
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise self.wrong(name, f"must be a whole number of at least 0, not {shown(found)}")
        return found

    def moment(self, name: str) -> datetime | None:
        """Return a time, in UTC if it has no zone; a date means its midnight."""
        found = self.any(name)
        if isinstance(found, str):
            try:
                found = datetime.fromisoformat(found)
            except ValueError:
                raise self.wrong(name, f"{found!r} is no date or time in ISO 8601") from None
        if isinstance(found, date) and not isinstance(found, datetime):
            found = datetime.combine(found, time())
        if found is None or isinstance(found, datetime):
            return found.replace(tzinfo=found.tzinfo or UTC) if found else None
        raise self.wrong(name, f"must be a date or a time, not {shown(found)}")

    def day(self, name: str) -> date | None:
        """Return a date."""
        found = self.moment(name)
        return found.date() if found else None

    def document(self, name: str, default: JsonObject | None = None) -> JsonObject:
        """Return a table as a JSON object; required unless there is a *default*."""
        found = self.json(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, Mapping):
            raise self.wrong(name, f"must be a table, not {kind_of(found)}")
        return found

    def json(self, name: str) -> Json:
        """Return a JSON value, ``None`` if the field is missing."""
        found = self.any(name)
        if not _is_json(found):
            raise self.wrong(name, "has a date or time, which JSON cannot hold: write it as text")
        return found

    def tables(self, name: str) -> Iterator[Table]:
        """Yield the tables of a list, each with its place."""
        found = self.any(name)
        if found is not None and not is_list(found):
            raise self.wrong(name, f"must be a list of tables: write [[{name}]]")
        for at, each in enumerate(found or ()):
            yield Table(f"{self.path}.{name}[{at}]" if self.path else f"{name}[{at}]", each)

    def end(self) -> None:
        """Raise for fields that were not read; call it last."""
        unknown = sorted(self._fields.keys() - self._read)
        if unknown:
            raise self.wrong(unknown[0], f"there is no such field; there are {listed(self._read)}")


def _is_json(value: object) -> TypeGuard[Json]:
    if isinstance(value, Mapping):
        return all(_is_json(each) for each in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(_is_json(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)
