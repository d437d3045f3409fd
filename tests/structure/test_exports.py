"""The root exports every type that the public signatures of a memory mention."""

import ast
import builtins
import collections.abc
import dataclasses
import datetime as dt
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Iterator

import pytest

import recollect
from recollect import errors

FACES = (recollect.Recollect, recollect.SyncRecollect)
# Names of the standard library: every program has them.
_STANDARD = {
    *dir(builtins),
    *dir(typing),
    *dir(collections.abc),
    *dir(dt),
    "asyncio",
}


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names that an annotation mentions; the values of a ``Literal`` are none."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
        return
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from names_in(ast.parse(node.value, mode="eval"))
    for child in ast.iter_child_nodes(node):
        yield from names_in(child)


def methods_of(kind: type) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the module and the annotations of each public method and property of a class."""
    for base in kind.__mro__:
        for name, found in vars(base).items():
            function = found.fget if isinstance(found, property) else found
            if inspect.isfunction(function) and (name == "__init__" or name[0] != "_"):
                yield function.__module__, function.__annotations__


def fields_of(kind: type) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the module and the annotations of each public field of a result."""
    for base in kind.__mro__:
        fields = vars(base).get("__annotations__", {})
        yield base.__module__, {name: each for name, each in fields.items() if name[0] != "_"}


def mentioned(
    faces: tuple[object, ...] = (*FACES, recollect.open, recollect.open_sync),
) -> set[str]:
    """Return the names of our types in signatures, and in the fields of what these name."""
    waiting = [each for face in faces if isinstance(face, type) for each in methods_of(face)]
    waiting += [
        (face.__module__, face.__annotations__) for face in faces if inspect.isfunction(face)
    ]
    found: set[str] = set()
    while waiting:
        module, annotations = waiting.pop()
        for text in annotations.values():
            for name in set(names_in(ast.parse(text, mode="eval"))) - _STANDARD - found:
                # What a module names for its annotations alone is looked up among the exports.
                meant = getattr(sys.modules[module], name, getattr(recollect, name, None))
                if isinstance(meant, typing.TypeVar):
                    continue
                found.add(name)
                if inspect.isclass(meant) and dataclasses.is_dataclass(meant):
                    waiting += fields_of(meant)
    return found


def test_the_root_exports_what_signatures_mention() -> None:
    """A program that annotates a variable imports its type from `recollect`."""
    names = mentioned()

    assert {"Memory", "FormationResult", "AuditVerdict", "Durability", "TaskHealth"} <= names
    assert sorted(names - set(recollect.__all__)) == []


def test_every_export_is_there() -> None:
    """Each name is found where the table says, and is listed once."""
    assert len(set(recollect.__all__)) == len(recollect.__all__)
    assert [name for name in recollect.__all__ if not hasattr(recollect, name)] == []


@pytest.mark.parametrize(
    "name",
    ["recollect", "recollect.integrations.langgraph", "recollect.server", "recollect.testing"],
)
def test_dir_lists_what_is_imported_when_it_is_used(name: str) -> None:
    """An interactive shell completes the names of a package from `dir`."""
    package = importlib.import_module(name)

    assert {*package.__all__, "__name__"} <= {*dir(package)}


def test_the_tree_of_errors_names_every_error() -> None:
    """An error that is not drawn in the module's docstring is not found by those who read it."""
    found = {
        name
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, errors.RecollectError)
    }

    assert found == {*re.findall(r"\w+Error\b", errors.__doc__ or "")} & found


def test_a_type_that_is_not_exported_is_found() -> None:
    """The gate sees a new result type, in a method and in a field of a result."""

    class Face:
        def act(self, word: "str") -> "list[Outcome]": ...  # type: ignore[empty-body]

    assert mentioned((Face,)) - set(recollect.__all__) == {"Outcome", "Detail"}


@dataclasses.dataclass
class Detail:
    """A field's type that nobody exports."""


@dataclasses.dataclass
class Outcome:
    """A result that nobody exports."""

    detail: "Detail"


@pytest.mark.parametrize(
    ("text", "names"),
    [("list[Memory] | None", {"list", "Memory"}), ('Literal["a"]', set()), ("'Page'", {"Page"})],
)
def test_names_are_read_from_annotations(text: str, names: set[str]) -> None:
    """Names in brackets and in quotes count; the values of a literal do not."""
    assert set(names_in(ast.parse(text, mode="eval"))) == names
