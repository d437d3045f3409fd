"""Texts that carry a stable code, so that a program can say them in another language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, TypeAlias

from recollect.records import Json

Value: TypeAlias = str | int | float


class CodedText(str):  # noqa: SLOT000 - the code and the values are what it is for
    """
    A text for people, with a stable *code* of what it says, and the *values* in it.

    An error is raised with one in place of a plain text; `reason_of` finds it again.
    """

    code: str
    values: Mapping[str, Value]

    def __new__(cls, text: str, code: str, values: Mapping[str, Value]) -> Self:
        """Return *text* with its code and values."""
        made = super().__new__(cls, text)
        made.code = code
        made.values = values
        return made

    def __getnewargs__(self) -> tuple[str, str, Mapping[str, Value]]:  # type: ignore[override]
        """Return what a copy is made from."""
        return str(self), self.code, self.values


def with_code(code: str, text: str, **values: Value) -> CodedText:
    """
    Return *text* with a code and the values that it names.

    >>> said = with_code("empty_file", "'a.json' is empty", name="a.json")
    >>> said, said.code, said.values
    ("'a.json' is empty", 'empty_file', {'name': 'a.json'})
    """
    return CodedText(text, code, values)


def reason_of(error: BaseException) -> str:
    """
    Return the text of *error*; with its code, if it was raised with one.

    >>> error = ValueError(with_code("empty_file", "'a.json' is empty", name="a.json"))
    >>> getattr(reason_of(error), "code", None), getattr(reason_of(ValueError("no")), "code", None)
    ('empty_file', None)
    """
    said = error.args[0] if error.args else ""
    return said if isinstance(said, CodedText) else str(error)


def coded_fields(text: str) -> dict[str, Json]:
    """
    Return the code and the values of *text* as the service reports them; nothing without a code.

    >>> coded_fields(with_code("nested", "it is nested too deeply")), coded_fields("plain")
    ({'reason_code': 'nested', 'values': {}}, {})
    """
    if not isinstance(text, CodedText):
        return {}
    return {"reason_code": text.code, "values": dict(text.values)}
