"""Names and docstrings: no module is a participle, each public class is there once."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "recollect"
FOLDERS = (PACKAGE, ROOT / "benchmarks", ROOT / "tests" / "harness")
ROOT_MODULES_MAX = 10
# Names of features, and nouns that only end as a participle does.
FEATURES = frozenset({"grounding", "packing", "ranking", "rendering", "testing"})
NOUNS = frozenset({"feed", "speed"})
# It re-creates the classes of another package, under the names that programs import.
DROP_IN = PACKAGE / "integrations" / "langchain" / "memory.py"
_PARTICIPLE = re.compile(r"[a-z]+(ing|ed)")
_RIDDLE = re.compile(r"(?:What|Whatever|Whose|Says?)\b")


def modules() -> Iterator[Path]:
    """Yield every module of ours that is not itself a test."""
    for folder in FOLDERS:
        yield from sorted(folder.rglob("*.py"))


def is_participle(name: str) -> bool:
    """Return True if the last word of a module's name says what is done there, not what it is."""
    last = name.rpartition("_")[2]
    return bool(_PARTICIPLE.fullmatch(last)) and last not in FEATURES | NOUNS


def classes_in(text: str) -> list[str]:
    """Return the public classes that a module defines."""
    body = ast.parse(text).body
    return [node.name for node in body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def riddles_in(text: str) -> list[str]:
    """Return the first lines of docstrings that ask, instead of naming a thing or an act."""
    strings = (
        node.value.value.strip()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    return [each.splitlines()[0] for each in strings if _RIDDLE.match(each)]


def test_the_root_of_the_package_is_short() -> None:
    """What lies there is what everybody shares."""
    names = sorted(path.stem for path in PACKAGE.glob("*.py"))

    assert len(names) <= ROOT_MODULES_MAX, names


def test_no_module_is_named_by_a_participle() -> None:
    """A reader who looks for a thing finds it by its noun."""
    assert [str(path) for path in modules() if is_participle(path.stem)] == []


def test_a_public_class_has_a_name_of_its_own() -> None:
    """A name in a traceback, or in a search, means one class."""
    places = defaultdict(list)
    for path in modules():
        if path != DROP_IN:
            for name in classes_in(path.read_text("utf-8")):
                places[name].append(str(path.relative_to(ROOT)))

    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("reading", True),
        ("copied", True),
        ("contract_pending", True),
        ("ranking", False),
        ("context_rendering", False),
        ("library_speed", False),
        ("file_state", False),
    ],
)
def test_a_participle_is_told_from_a_feature(name: str, *, is_one: bool) -> None:
    """The gate sees both kinds of participle."""
    assert is_participle(name) == is_one


def test_the_public_classes_of_a_module_are_found() -> None:
    """Also those with a decorator; neither private ones nor those inside."""
    text = "class A:\n    class B: ...\n@dataclass\nclass C: ...\nclass _D: ...\n"

    assert classes_in(text) == ["A", "C"]


def test_a_docstring_names_a_thing_or_says_what_is_done() -> None:
    """It opens with a noun or a verb, and with no clause that the reader must solve."""
    found = {
        str(path.relative_to(ROOT)): riddles
        for path in modules()
        if (riddles := riddles_in(path.read_text("utf-8")))
    }

    assert found == {}


def test_docstrings_that_ask_are_found() -> None:
    """Of modules, functions and constants, on the first line or below the quotes."""
    text = '''"""What is kept."""
SIZE = 1
"""The size."""
def f():
    """
    Say whether it is.
    """
    return "What a day."
'''

    assert riddles_in(text) == ["What is kept.", "Say whether it is."]
