"""Take the values of dataclass instances, and make frozen ones faster than ``__init__``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MadeT = TypeVar("MadeT", bound="DataclassInstance")


def maker_of(kind: type[MadeT]) -> Callable[[Sequence[Any]], MadeT]:
    """
    Return a function that makes a *kind* of its values, in the order of its fields.

    It fills the slots of a frozen dataclass directly. The generated ``__init__`` takes three times
    as long, which is a third of the cost of reading a row. Defaults are not applied.
    """
    setters = tuple(getattr(kind, each.name).__set__ for each in fields(kind))

    def made(values: Sequence[object]) -> MadeT:
        found = object.__new__(kind)
        for set_value, value in zip(setters, values, strict=True):
            set_value(found, value)
        return found

    return made


def changer_of(kind: type[MadeT]) -> Callable[..., MadeT]:
    """
    Return a function like `dataclasses.replace` for a *kind*, several times as fast.

    It fills slots directly; see `maker_of`.
    """
    names = [each.name for each in fields(kind)]
    places = {name: place for place, name in enumerate(names)}
    take, make = values_of(kind), maker_of(kind)

    def changed(old: MadeT, **changes: object) -> MadeT:
        values = list(take(old))
        for name, value in changes.items():
            values[places[name]] = value
        return make(values)

    return changed


def values_of(kind: type[Any], leave_out: Collection[str] = ()) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that takes the values of a *kind*, in the order of its fields."""
    return attrgetter(*(each.name for each in fields(kind) if each.name not in leave_out))
