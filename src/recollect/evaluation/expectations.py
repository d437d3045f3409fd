"""Read the expectations of a case, and check each against the case's types and messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from recollect.errors import UsageError
from recollect.evaluation.cases import Because, CaseTalk, Expectation, Kind
from recollect.evaluation.toml_tables import Table
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.records import Json
from recollect.stores.json_pointers import is_list, listed, parse_pointer

_STATES: Final = ("absent", "ended", "count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The conversations and memory types that expectations refer to."""

    talks: Sequence[CaseTalk]
    types: Sequence[MemoryType]

    @property
    def texts(self) -> list[str]:
        """The texts of all messages; message number n is at index n - 1."""
        return [message.text for talk in self.talks for message in talk.messages]

    def type_of(self, table: Table) -> MemoryType:
        """Return the memory type that the field ``type`` names."""
        name = table.text("type")
        found = next((each for each in self.types if each.name == name), None)
        if found is None:
            known = listed(each.name for each in self.types)
            raise table.wrong("type", f"there is no type {name!r}; the case has {known}")
        return found


def read_expectations(table: Table, setting: Setting) -> tuple[Expectation, ...]:
    """Parse ``must``, ``may`` and ``must_not`` of a case's *table*."""
    return tuple(
        _expectation(each, kind, setting) for kind in get_args(Kind) for each in table.tables(kind)
    )


def _expectation(table: Table, kind: Kind, setting: Setting) -> Expectation:
    type_ = setting.type_of(table)
    expectation = Expectation(
        kind=kind,
        type=type_.name,
        after=_after(table, setting),
        path=_path(table, type_),
        where=table.document("where", {}),
        equals=_equals(table),
        contains=table.texts("contains"),
        absent=table.flag("absent"),
        ended=table.flag("ended"),
        count=table.number("count"),
        value=table.json("value"),
        because=tuple(_because(table, setting)),
        since=table.day("since"),
        until=table.day("until"),
        at=table.day("at"),
        tried=table.flag("tried"),
    )
    table.end()
    _check(table, expectation)
    _check_answer(table, expectation, type_)
    return expectation


def _after(table: Table, setting: Setting) -> int:
    formed = [at for at, talk in enumerate(setting.talks, 1) if talk.forming == "own"]
    after = table.number("after")
    if after is not None and after not in formed:
        numbers = ", ".join(str(each) for each in formed)
        raise table.wrong(
            "after", f"talk {after} is not formed by itself; those that are: {numbers}"
        )
    return formed[-1] if after is None else after


def _path(table: Table, type_: MemoryType) -> str:
    path = table.text("path", "") if "path" in table else ""
    if not path:
        return path
    try:
        field = parse_pointer(path)[0]
    except UsageError as error:
        raise table.wrong("path", str(error)) from None
    properties = type_.parameters.get("properties")
    is_closed = type_.parameters.get("additionalProperties") is False
    if is_closed and isinstance(properties, Mapping) and field not in properties:
        raise table.wrong("path", f"{type_.name} has no {field!r}; it has {listed(properties)}")
    return path


def _equals(table: Table) -> tuple[Json, ...]:
    found = table.json("equals")
    if found is None:
        return ()
    return tuple(found) if is_list(found) else (found,)


def _because(table: Table, setting: Setting) -> Iterator[Because]:
    if "because" in table:
        for each in table.tables("because"):
            yield _cited(each, setting)
            each.end()
    if "message" in table or "quote" in table:
        yield _cited(table, setting, has_path=False)


def _cited(table: Table, setting: Setting, *, has_path: bool = True) -> Because:
    number, texts = table.number("message"), setting.texts
    if number is None or not 1 <= number <= len(texts):
        raise table.wrong("message", f"must be the number of a message, from 1 to {len(texts)}")
    quote = table.text("quote")
    if find_quote(quote, texts[number - 1]) is None:
        raise table.wrong("quote", f"message {number} does not say {quote!r}")
    path = table.text("path", "") if has_path and "path" in table else ""
    return Because(message=number, quote=quote, path=path)


def _check(table: Table, expectation: Expectation) -> None:
    """Reject an expectation that cannot be checked, or combines two."""
    states = [name for name in _STATES if name in table]
    if len(states) > 1:
        raise table.wrong(states[1], f"does not go with {states[0]!r}: write two expectations")
    if expectation.count is not None and expectation.kind != "must":
        raise table.wrong("count", "goes with must alone")
    if expectation.tried and expectation.kind != "must_not":
        raise table.wrong("tried", "goes with must_not alone: it marks what formation must reject")
    if expectation.tried and not expectation.because:
        raise table.wrong("tried", "needs message and quote")
    if expectation.at and not expectation.ended:
        raise table.wrong("at", "goes with ended alone: it is the day of the end")
    if expectation.kind == "may" and expectation.because:
        raise table.wrong("message", "a may is not answered: leave it out, or write a must")


def _check_answer(table: Table, expectation: Expectation, type_: MemoryType) -> None:
    """Reject an expectation whose answer a correct model could not give."""
    if not expectation.because or not is_written(expectation):
        return
    value = answer_of(expectation)
    if value is None:
        raise table.wrong("value", "is missing: give what a correct answer writes")
    if is_whole(expectation, type_):
        wrong = violations(type_, value)
        if wrong:
            raise table.wrong("value", f"it does not fit {type_.name}: {'; '.join(wrong)}")
    elif not expectation.path:
        raise table.wrong("path", "is missing: give the field that the value is for")


def is_written(expectation: Expectation) -> bool:
    """Return True if a correct answer writes what *expectation* is about."""
    is_positive = expectation.kind == "must" and not (expectation.absent or expectation.ended)
    return expectation.tried or (is_positive and expectation.count is None)


def is_whole(expectation: Expectation, type_: MemoryType) -> bool:
    """Return True if a correct answer writes a whole new entry, not one of its fields."""
    return type_.update_mode == "insert" and isinstance(answer_of(expectation), Mapping)


def answer_of(expectation: Expectation) -> Json:
    """Return what a correct answer writes for *expectation*."""
    if expectation.value is None and expectation.equals and expectation.path:
        return expectation.equals[0]
    return expectation.value
