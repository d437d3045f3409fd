"""Modules and functions stay small enough to read in one go."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE_LINES_MAX = 600
TEST_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
# A name that says nothing about its subject collects what has none.
NAMES_OF_NOTHING = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "shared"})


def oversized(text: str, name: str, lines_max: int) -> list[str]:
    """Say which limits the module *name* with this *text* exceeds."""
    found = []
    lines = len(text.splitlines())
    if lines > lines_max:
        found.append(f"{name}: {lines} lines; the limit is {lines_max}: split it by subject")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                found.append(
                    f"{name}:{node.lineno} {node.name}: {length} lines; "
                    f"the limit is {FUNCTION_LINES_MAX}"
                )
    return found


def says_nothing(path: Path) -> bool:
    """Return True if a file or one of its folders has a name without a subject."""
    return not NAMES_OF_NOTHING.isdisjoint(part.strip("_") for part in path.with_suffix("").parts)


def python_files(folder: str) -> list[Path]:
    """Return the Python files below *folder*, relative to the project."""
    return sorted(path.relative_to(ROOT) for path in ROOT.joinpath(folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("folder", "lines_max"), [("src", SOURCE_LINES_MAX), ("tests", TEST_LINES_MAX)]
)
def test_modules_and_functions_are_small(folder: str, lines_max: int) -> None:
    """No module and no function is over its limit; there is no list of exceptions."""
    found = [
        complaint
        for path in python_files(folder)
        for complaint in oversized(ROOT.joinpath(path).read_text("utf-8"), str(path), lines_max)
    ]

    assert found == []


def test_modules_are_named_after_a_subject() -> None:
    """No module is called utils, helpers, common or the like."""
    found = [
        path for folder in ("src", "tests") for path in python_files(folder) if says_nothing(path)
    ]

    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "pass\n" * (SOURCE_LINES_MAX + 1),
        "def f():\n" + "    pass\n" * FUNCTION_LINES_MAX,
        "class C:\n    async def f(self):\n" + "        pass\n" * FUNCTION_LINES_MAX,
    ],
)
def test_an_oversized_module_is_reported(text: str) -> None:
    """One line over a limit is one complaint."""
    found = oversized(text, "made_up.py", SOURCE_LINES_MAX)

    assert len(found) == 1


def test_what_just_fits_is_not_reported() -> None:
    """A function and a module at their limits pass."""
    function = "def f():\n" + "    pass\n" * (FUNCTION_LINES_MAX - 1)
    text = function + "pass\n" * (SOURCE_LINES_MAX - FUNCTION_LINES_MAX)

    found = oversized(text, "made_up.py", SOURCE_LINES_MAX)

    assert found == []


@pytest.mark.parametrize("name", ["src/utils.py", "src/_helpers.py", "src/common/rank.py"])
def test_a_name_of_nothing_is_reported(name: str) -> None:
    """A file is reported for its own name and for its folder's."""
    assert says_nothing(Path(name))
