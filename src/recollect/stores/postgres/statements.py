"""The SQL of the store, by name: constant texts from files; values are only ever bound."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final, LiteralString, cast

_NAME: Final = re.compile(r"^-- :name (\w+)\n", re.MULTILINE)


def read_text(name: str) -> LiteralString:
    """Return the text of the file *name* in the folder ``sql``: as constant as the code."""
    return files(__package__).joinpath("sql", name).read_text("utf-8")


def file_names() -> Iterator[str]:
    """Yield the names of the files in the folder ``sql``."""
    return (entry.name for entry in files(__package__).joinpath("sql").iterdir())


def named_statements(text: str) -> Mapping[str, LiteralString]:
    r"""
    Return the statements of a file by the names that stand above them.

    >>> dict(named_statements("-- note\n\n-- :name one\nSELECT 1;\n\n-- :name two\nSELECT 2;\n"))
    {'one': 'SELECT 1', 'two': 'SELECT 2'}
    """
    _, *parts = _NAME.split(text)
    named = zip(parts[::2], parts[1::2], strict=True)
    return MappingProxyType(
        {name: cast("LiteralString", body.strip().removesuffix(";")) for name, body in named}
    )


SESSION: Final = named_statements(read_text("session.sql"))
QUERIES: Final = named_statements(read_text("queries.sql"))
WRITES: Final = named_statements(read_text("writes.sql"))
