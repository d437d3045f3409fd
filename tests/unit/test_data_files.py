"""Tables in files are read as the modules that use them expect."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recollect.text.data_files import read_patterns, read_rows, read_sections, read_words

TABLES = """\
# A comment
rows = [
    [
        'clue',
        '''
%ALL%|one
|two ''',
    ],
    'alone',
]

[parts]
ANY = '\\w'
ALL = '%ANY%{0,3}'
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a package `tables_of_a_test`, to write files into."""
    folder = tmp_path / "tables_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return folder


def test_rows_are_the_words_of_lines(package: Path) -> None:
    """Comments and blank lines are no rows, and a form feed ends none."""
    (package / "rows.txt").write_text("# a b\n\n  \nc  d\x0ce\n北京 beijing\n", "utf-8")

    assert list(read_rows(package.name, "rows.txt")) == [("c", "d", "e"), ("北京", "beijing")]


def test_words_keep_their_order(package: Path) -> None:
    """A list has the words of all its lines."""
    (package / "words.toml").write_text('few = """\nb a\nc\n"""\n', "utf-8")

    assert read_words(package.name, "words.toml") == {"few": ("b", "a", "c")}


def test_sections_are_tables_of_texts(package: Path) -> None:
    """What stands in no table is no section."""
    (package / "texts.toml").write_text('lone = "x"\n[a]\nb = """\nc\n d"""\n', "utf-8")

    assert read_sections(package.name, "texts.toml") == {"a": {"b": "c\n d"}}


def test_patterns_are_joined_and_filled(package: Path) -> None:
    """Lines are joined as they stand, and parts stand for themselves in other parts too."""
    (package / "patterns.toml").write_text(TABLES, "utf-8")

    found = read_patterns(package.name, "patterns.toml")

    assert found == {"rows": (("clue", r"\w{0,3}|one|two "), ("alone",))}


def test_an_unknown_part_is_refused(package: Path) -> None:
    """A misspelt part does not become a pattern that never matches."""
    (package / "patterns.toml").write_text("rows = ['%ANI%']\n[parts]\nANY = 'x'\n", "utf-8")

    with pytest.raises(KeyError, match="ANI"):
        read_patterns(package.name, "patterns.toml")
