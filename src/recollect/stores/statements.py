"""Load the SQL statements of a backend from files, by name; values are always bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final, LiteralString

_NAME: Final = re.compile(r"^-- :name (\w+)\n", re.MULTILINE)


def read_text(package: str, name: str) -> LiteralString:
    """Return the text of a file in the folder ``sql`` of a package."""
    return files(package).joinpath("sql", name).read_text("utf-8")


def file_names(package: str) -> Iterator[str]:
    """Yield the names of the files in the folder ``sql`` of a package."""
    return (entry.name for entry in files(package).joinpath("sql").iterdir())


def named_statements(text: str) -> Mapping[str, LiteralString]:
    r"""
    Return the statements of a file by the names in the comments above them.

    >>> dict(named_statements("-- note\n\n-- :name one\nSELECT 1;\n\n-- :name two\nSELECT 2;\n"))
    {'one': 'SELECT 1', 'two': 'SELECT 2'}
    """
    _, *parts = _NAME.split(text)
    named = zip(parts[::2], parts[1::2], strict=True)
    return MappingProxyType({name: body.strip().removesuffix(";") for name, body in named})
