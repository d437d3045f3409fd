"""
Read words, texts and patterns from data files beside the modules that use them.

Modules read their files at import: a search or a formation must not open a file on an event loop.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final, TypeAlias

_PART: Final = re.compile(r"%([A-Z_]+)%")
Row: TypeAlias = tuple[str, ...]
_Value: TypeAlias = "str | list[_Value] | dict[str, _Value]"


def read_rows(package: str, name: str) -> Iterator[Row]:
    """Yield the words of each line; blank lines, and lines that begin with ``#``, are left out."""
    for line in files(package).joinpath(name).read_text("utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield tuple(line.split())


def read_texts(package: str, name: str) -> Mapping[str, str]:
    """Return the texts of a TOML file by their names."""
    return {key: str(text) for key, text in _read_toml(package, name).items()}


def read_words(package: str, name: str) -> Mapping[str, Row]:
    """Return the lists of words of a TOML file by their names; words are separated by spaces."""
    return {key: tuple(text.split()) for key, text in read_texts(package, name).items()}


def read_sections(package: str, name: str) -> Mapping[str, Mapping[str, str]]:
    """Return the tables of a TOML file by their names, each as texts by name."""
    return {
        key: {inner: str(text) for inner, text in table.items()}
        for key, table in _read_toml(package, name).items()
        if isinstance(table, dict)
    }


def read_patterns(package: str, name: str) -> Mapping[str, tuple[Row, ...]]:
    """
    Return the lists of patterns of a TOML file by their names.

    An entry of a list is a text or a row of texts; line breaks in a text are removed. ``%NAME%`` is
    replaced by the text of that name in the table ``parts``, where a part may use those above it.
    """
    content = _read_toml(package, name)
    parts: dict[str, str] = {}
    table = content.pop("parts", {})
    for key, text in table.items() if isinstance(table, dict) else ():
        parts[key] = _whole(text, parts)
    return {
        key: tuple(
            tuple(_whole(text, parts) for text in (row if isinstance(row, list) else [row]))
            for row in rows
        )
        for key, rows in content.items()
    }


def _read_toml(package: str, name: str) -> dict[str, _Value]:
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))


def _whole(text: object, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda found: parts[found[1]], str(text).replace("\n", ""))
