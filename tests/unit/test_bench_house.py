"""The figures of the source: what is a duplicate, a line of code, a function's length."""

from pathlib import Path

import pytest

from benchmarks.duplicated_code import count_duplicated_lines, find_duplicates
from benchmarks.house import packed_folders, read_tree, source_figures
from benchmarks.source_figures import measure_source

SIX = [f"line_{number}()" for number in range(6)]


def numbered(*texts: str) -> list[tuple[int, str]]:
    return list(enumerate(texts, 1))


def test_six_equal_lines_in_two_files_are_one_stretch() -> None:
    found = find_duplicates({"a.py": numbered("x", *SIX), "b.py": numbered(*SIX, "y")})

    assert [(e.first, e.first_line, e.second, e.second_line, e.lines) for e in found] == [
        ("a.py", 2, "b.py", 1, 6)
    ]


def test_five_equal_lines_are_none() -> None:
    found = find_duplicates({"a.py": numbered(*SIX[:5]), "b.py": numbered(*SIX[:5])})

    assert found == []


def test_a_longer_stretch_is_one_and_not_several() -> None:
    lines = [*SIX, "seventh()", "eighth()"]

    found = find_duplicates({"a.py": numbered(*lines, "x"), "b.py": numbered("y", *lines)})

    assert [each.lines for each in found] == [8]


def test_three_places_make_three_pairs_and_two_copies_too_many() -> None:
    found = find_duplicates({name: numbered(*SIX) for name in ("a.py", "b.py", "c.py")})

    assert len(found) == 3
    assert count_duplicated_lines(found) == 12


def test_stretches_of_one_file_do_not_overlap() -> None:
    alike = find_duplicates({"a.py": numbered(*["same()"] * 11)})
    repeated = find_duplicates({"a.py": numbered(*SIX, *SIX)})

    assert alike == []
    assert [(each.first_line, each.second_line, each.lines) for each in repeated] == [(1, 7, 6)]


def test_imports_docstrings_comments_and_brackets_are_not_compared() -> None:
    text = (
        '"""Doc."""\n\nimport os\nfrom a import (\n    b,\n)\n\nx = f(  # why\n    1\n)\n# said\n'
    )

    assert measure_source(text).compared == [(8, "x = f("), (9, "1")]


def test_a_function_counts_its_signature_and_body_without_its_docstring() -> None:
    text = (
        'def f(\n    a,\n):\n    """Say.\n\n    More.\n    """\n\n'
        "    # why\n    return (\n        a\n    )\n"
    )

    assert measure_source(text).function_lengths == [6]


def test_the_lines_of_a_signature_are_known() -> None:
    text = "class C:\n    async def f(\n        self,\n    ) -> None:\n        return None\n"

    assert measure_source(text).signature_lines == {2, 3, 4}


def test_escapes_from_the_types_are_counted_where_they_are_used() -> None:
    text = (
        "from typing import Any, cast\nimport typing\n"
        "x: Any = cast(int, y)\n"
        "z: dict[str, typing.Any] = typing.cast('int', 1)  # type: ignore[x]\n"
    )

    figures = measure_source(text)

    assert (figures.any_count, figures.cast_count, figures.ignore_count) == (2, 2, 1)


def test_a_tree_is_measured_by_what_its_wheel_packs(tmp_path: Path) -> None:
    tmp_path.joinpath("pyproject.toml").write_text(
        "[tool.hatch.build.targets.wheel]\npackages = ['src/it']\n"
    )
    for name in ("src/it", "src/other", "benchmarks", "tests"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        folder.joinpath("module.py").write_text("def f():\n    return 1\n")

    figures = source_figures(read_tree(tmp_path))

    assert packed_folders(tmp_path) == ["src/it"]
    assert figures["lines in the wheel"] == 2
    assert figures["lines with benchmarks"] == 4
    assert figures["lines of tests"] == 2
    assert figures["code lines of a function, median"] == 2


@pytest.mark.parametrize("text", ["x = 1\n", "def f(): pass\n", "class C:\n    '''Doc.'''\n"])
def test_any_source_has_figures(text: str) -> None:
    assert measure_source(text).lines == text.count("\n")
