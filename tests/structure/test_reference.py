"""The pages of reference agree with the code: limits, defaults, errors, and every public name."""

import ast
import doctest
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import errors
from recollect.errors import MissingExtraError
from recollect.server.http.problems import STATUS
from recollect.server.settings import Settings
from tests.structure.test_docs import error_classes, python_blocks

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "recollect"
DOCS = ROOT / "docs"
# They name what is limited elsewhere, or a limit of ours that no input can reach.
NOT_OF_INPUT = frozenset({"TRIES_MAX"})
LIMIT_ROW = re.compile(r"^\| [^|]+ \| ([\d,]+) \| `([A-Z_]+)` \| `([\w.]+)` \|$", re.MULTILINE)


def page(name: str) -> str:
    """Return the text of a page below docs/."""
    return DOCS.joinpath(name).read_text("utf-8")


def told_limits(text: str) -> set[str]:
    """Return the limits that the messages of a module's errors name; docstrings count not."""
    if "_MAX" not in text:
        return set()
    nodes = [*ast.walk(ast.parse(text))]
    documented = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    exported = {
        id(part)
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
        for part in ast.walk(node)
    }
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented | exported
    ]
    return {name for each in texts for name in re.findall(r"\b[A-Z][A-Z_]+_MAX\b", each)}


def limits_of_the_source() -> Iterator[str]:
    """Yield every limit that an error of the package names, once for each module that does."""
    for path in sorted(SOURCE.rglob("*.py")):
        if "testing" not in path.relative_to(SOURCE).parts:
            yield from told_limits(path.read_text("utf-8")) - NOT_OF_INPUT


def wrong_limits(text: str) -> list[str]:
    """Return the rows of a page whose figure is not that of the constant they name."""
    return [
        f"{module}.{name} is {getattr(importlib.import_module(module), name, None)}, not {figure}"
        for figure, name, module in LIMIT_ROW.findall(text)
        if getattr(importlib.import_module(module), name, None) != int(figure.replace(",", ""))
    ]


def test_every_limit_that_an_error_names_is_in_the_page() -> None:
    """Whoever reads a limit in an error finds it in docs/limits.md."""
    listed = {name for _, name, _ in LIMIT_ROW.findall(page("limits.md"))}

    assert len(listed) > 50
    assert sorted(set(limits_of_the_source()) - listed) == []


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert wrong_limits(page("limits.md")) == []


def test_each_row_of_a_table_of_limits_is_read() -> None:
    """No row escapes the comparison by its form."""
    rows = [
        line
        for line in page("limits.md").splitlines()
        if line.startswith("| ") and not re.match(r"\| (What|Cut after) \|", line)
    ]

    assert len(rows) == len(LIMIT_ROW.findall(page("limits.md")))


def test_a_wrong_limit_and_an_unlisted_one_are_reported() -> None:
    """A figure that is too large; a name in an error, but none in a docstring."""
    row = "| segments | 17 | `SEGMENTS_MAX` | `recollect.stores.validation` |\n"
    module = '"""Up to ``QUIET_MAX``."""\nraise LimitError("a", 2, 1, "LOUD_MAX")\n'

    assert len(wrong_limits(row)) == 1
    assert told_limits(module) == {"LOUD_MAX"}


def error_rows(text: str) -> dict[str, tuple[str, int, int]]:
    """Return code, exit status and HTTP status of each class that a page has a row for."""
    found = re.findall(
        r"^\| `(\w+Error)` \| `(\w+)` \| (\d+) \| (\d+) \| .+ \| .+ \|$", text, re.MULTILINE
    )
    return {name: (code, int(status), int(http)) for name, code, status, http in found}


def test_every_error_is_in_the_page_with_what_to_do() -> None:
    """Each class has a row with its code, its exit status and its HTTP status."""
    expected = {
        each.__name__: (each.code, errors.EXIT_STATUS[each.code], STATUS[each.code])
        for each in error_classes()
    }

    assert error_rows(page("errors.md")) == expected


def test_an_error_without_advice_is_reported() -> None:
    """A row that ends after the occasion is none."""
    row = "| `UsageError` | `usage` | 2 | 422 | an argument breaks a rule |\n"

    assert error_rows(row) == {}


def defaults_in(text: str, heading: str) -> dict[str, str]:
    """Return name and default of each row below the table head that begins with *heading*."""
    (table,) = re.findall(rf"^\| {re.escape(heading)} \|.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    return dict(re.findall(r"^\| `(\w+)` \| (?:`([^|`]*)`|[^|]+) \|", table, re.MULTILINE))


def defaults_of(kind: Any) -> dict[str, Any]:
    """Return the defaults of a dataclass; ``None`` where one is made anew for each object."""
    return {each.name: None if each.default is MISSING else each.default for each in fields(kind)}


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Field", recollect.FormationSettings),
        ("Field of `recollect.Debounce`", recollect.Debounce),
        ("Field of `recollect.FormationLimits`", recollect.FormationLimits),
        ("Setting", Settings),
    ],
)
def test_the_settings_of_the_page_are_those_of_the_code(heading: str, kind: type) -> None:
    """Every field is there, with its default, and no other."""
    told = defaults_in(page("configuration.md"), heading)
    held = defaults_of(kind)

    assert list(told) == list(held)
    assert {name: told[name] for name in told if told[name]} == {
        name: repr(held[name]) for name in told if told[name]
    }


def test_the_arguments_of_the_page_are_those_of_open() -> None:
    """Every argument of `recollect.open`, with its default."""
    told = defaults_in(page("configuration.md"), "Argument of `recollect.open`")
    held = inspect.signature(recollect.open).parameters

    assert told.pop("notice") == held["notice"].default.__name__
    assert told.pop("count_tokens") == held["count_tokens"].default.__name__
    assert {name: value.replace('"', "'") for name, value in told.items()} == {
        name: repr(held[name].default) for name in told
    }
    assert told.keys() | {"notice", "count_tokens"} == held.keys()


def variables_of_the_source() -> set[str]:
    """Return the environment variables with our prefix that the source names."""
    source = "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    settings = {f"RECOLLECT_{each.name.upper()}" for each in fields(Settings)}
    return set(re.findall(r"RECOLLECT_[A-Z]+(?:_[A-Z]+)*", source)) - settings


def test_every_variable_of_the_environment_is_in_the_page() -> None:
    assert sorted(variables_of_the_source() - set(words(page("configuration.md")))) == []


def test_every_extra_is_in_the_page() -> None:
    """What `pip install` may name, but for the tools of who works on Recollect itself."""
    declared = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]
    section = page("configuration.md").partition("## Extras to install")[2].partition("\n## ")[0]
    told = {
        name for cell in re.findall(r"^\| (`.+?) \|", section, re.MULTILINE) for name in words(cell)
    }

    assert told == declared["optional-dependencies"].keys() - {"dev", "docs"}


def words(text: str) -> Iterable[str]:
    """Return what a text shows as code."""
    return re.findall(r"`([^`\n]+)`", text)


def referred() -> set[str]:
    """Return the objects and modules that pages of reference are made from."""
    return {
        name
        for path in DOCS.glob("reference*.md")
        for name in re.findall(r"^::: ([\w.]+)$", path.read_text("utf-8"), re.MULTILINE)
    }


def names_of(module: str) -> set[str]:
    """Return the full names of what a module offers."""
    offered: Iterable[str] = getattr(importlib.import_module(module), "__all__", ())
    return {f"{module}.{name}" for name in offered}


def test_every_public_name_is_in_the_reference() -> None:
    """What `recollect` exports is there once, by its name."""
    assert sorted(names_of("recollect") - referred()) == []
    assert sorted(referred() & {f"recollect.{name}" for name in dir(errors)}) != []


def test_the_reference_names_nothing_that_is_not_there() -> None:
    """Each is a module of ours, or what one offers."""
    lost = []
    for name in referred():
        module, _, last = name.rpartition(".")
        try:
            importlib.import_module(name)
        except MissingExtraError:
            continue  # it is there, and its framework has an environment of its own
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("recollect"):
                continue  # it is there, and needs a package that has an environment of its own
            if not hasattr(importlib.import_module(module), last):
                lost.append(name)

    assert lost == []


def imported_in_the_pages() -> Iterator[str]:
    """Yield the full name of each object of ours that a page's program imports."""
    for path in sorted(DOCS.glob("*.md")):
        for block in python_blocks(path.read_text("utf-8")):
            tree = ast.parse(block.body) if block.is_run else ast.Module([], [])
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recollect"):
                    yield from (f"{node.module}.{each.name}" for each in node.names)


def test_what_a_page_imports_is_in_the_reference() -> None:
    """Whoever copies an import finds what it brings."""
    found = referred()
    offered = found | {name for each in found for name in offered_by(each)}
    known = {name.rpartition(".")[2] for name in offered} | error_rows(page("errors.md")).keys()

    assert [each for each in imported_in_the_pages() if each.rpartition(".")[2] not in known] == []


def offered_by(name: str) -> set[str]:
    """Return what the module *name* offers; nothing if it is no module."""
    try:
        return names_of(name)
    except (ModuleNotFoundError, MissingExtraError):
        return set()


def shows_example(each: object) -> bool:
    """Return whether the docstring of a class or function shows its use."""
    return ">>>" in (each.__doc__ or "")


def root_objects() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the classes and functions that the root exports, and the aliases of types, by name."""
    offered = {name: getattr(recollect, name) for name in recollect.__all__}
    shown = {
        name: each
        for name, each in offered.items()
        if inspect.isclass(each) or inspect.isfunction(each)
    }
    return shown, {name: each for name, each in offered.items() if name not in shown}


def annotated_names(shown: Iterable[Any]) -> set[str]:
    """Return the names in the annotations of functions, of classes, and of their methods."""
    parts: list[Any] = []
    for each in shown:
        parts.append(each)
        parts += [member for _, member in inspect.getmembers(each, inspect.isfunction)]
        parts += [
            getter.fget for _, getter in inspect.getmembers(each, lambda x: isinstance(x, property))
        ]
    annotations = [text for each in parts for text in inspect.get_annotations(each).values()]
    return {word for text in annotations for word in re.findall(r"\w+", str(text))}


def test_a_public_class_or_function_shows_an_example() -> None:
    """In its docstring, where it is run as a doctest; a new name cannot do without."""
    shown, _ = root_objects()

    assert len(shown) > 80
    assert [name for name, each in shown.items() if not shows_example(each)] == []


def test_an_alias_of_a_type_is_used_by_what_shows_an_example() -> None:
    """It has no docstring of its own: the example of what takes or returns it is its own."""
    shown, aliases = root_objects()
    alone = aliases.keys() - annotated_names(shown.values())

    assert sorted(alone) == []


def test_a_missing_example_is_reported() -> None:
    """A docstring without a prompt; an alias that nothing names."""

    def silent(role: recollect.Role) -> str:
        """Return a text."""
        return role

    assert not shows_example(silent)
    assert annotated_names([silent]).isdisjoint({"Trust", "Durability"})


def test_the_example_of_open_sync_runs() -> None:
    """It is made by a decorator, under the name of another module, where nothing looks for it."""
    example = doctest.DocTestParser().get_doctest(
        recollect.open_sync.__doc__ or "", {"open_sync": recollect.open_sync}, "open_sync", None, 0
    )

    assert doctest.DocTestRunner().run(example).failed == 0
    assert example.examples
