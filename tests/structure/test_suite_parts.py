"""The parts of the suite: none of their tests is skipped by not importing its module."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.harness.suite_parts import LONGEST, SLOW, TESTS, holds_no_part, order_modules

FAST_MARKS, SLOW_MARKS = "not prove and not slow", "slow and not prove"


@pytest.mark.parametrize("name", [*SLOW, *LONGEST])
def test_each_name_is_a_file_or_folder(name: str) -> None:
    """A name that outlived its file would make fast what is slow."""
    assert (TESTS / name).exists()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("unit/test_wire.py", {FAST_MARKS}),
        ("integration/test_postgres_page.py", {FAST_MARKS, SLOW_MARKS}),
        ("surface/test_cli_program.py", {SLOW_MARKS}),
        ("surface", {SLOW_MARKS}),
        ("contract", {FAST_MARKS, SLOW_MARKS}),
        ("conftest.py", {FAST_MARKS, SLOW_MARKS}),
    ],
)
def test_each_part_imports_what_holds_its_tests(name: str, parts: set[str]) -> None:
    found = {marks for marks in (FAST_MARKS, SLOW_MARKS) if not holds_no_part(TESTS / name, marks)}

    assert parts == found


@pytest.mark.parametrize("marks", ["", "not prove", "prove", "slow or prove", "not (slow)"])
@pytest.mark.parametrize("name", ["unit/test_wire.py", "surface/test_cli_program.py"])
def test_other_marks_import_everything(name: str, marks: str) -> None:
    """Only a plain conjunction says for certain that nothing of a module is selected."""
    assert not holds_no_part(TESTS / name, marks)


def test_only_test_modules_have_slow_tests() -> None:
    """A mark in a helper would make slow the tests of modules that do not name it."""
    root = TESTS.parent
    marked = {
        path
        for folder in ("tests", "src", "benchmarks")
        for path in (root / folder).rglob("*.py")
        if b"mark.slow" in path.read_bytes()
    }

    outside = {path for path in marked if not path.is_relative_to(TESTS)}
    helpers = {path for path in marked if not path.name.startswith("test_")}
    assert set() == outside
    assert {TESTS / "conftest.py", TESTS / "harness" / "suite_parts.py"} == helpers


def test_the_longest_module_comes_first() -> None:
    """Then come those with most tests; the order within a module stays."""
    first, second = (TESTS / name for name in LONGEST[:2])
    small, large = Path("small.py"), Path("large.py")
    items: list[Any] = [
        SimpleNamespace(path=path, name=name)
        for path, name in [
            *((small, "a"), (large, "b"), (second, "c"), (large, "d"), (first, "e"), (large, "f")),
        ]
    ]

    order_modules(items)

    assert "ecbdfa" == "".join(item.name for item in items)
