"""The TypeScript client's types are those of the service, and what it repeats may be repeated."""

import copy
import functools
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "make_client_schema"
# What only reads, may be done again (records brought, recalls forgotten), or (form) is not.
WITHOUT_KEY = {
    "recall",
    "forget_recalls",
    "context",
    "preview_erase",
    "check_types",
    "import_records",
    "import_file",
    "form",
}


def loaded() -> ModuleType:
    """Return the tool, which is a file and no module."""
    spec = spec_from_loader(TOOL.name, SourceFileLoader(TOOL.name, str(TOOL)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKER = loaded()


@functools.cache
def document() -> dict[str, Any]:
    """Return what the types are made from."""
    found: dict[str, Any] = MAKER.document()
    return found


def complaint(told: dict[str, Any], made: str) -> str:
    """Return what is wrong with the file that is made."""
    stamp, _, body = made.partition("\n")
    return "" if f"{stamp}\n" == MAKER.stamp_of(told, body) else "stale: run `make client-schema`"


def keyless(told: dict[str, Any]) -> set[str]:
    """Return the operations that write, and take no idempotency key."""
    return {
        operation["operationId"]
        for path in told["paths"].values()
        for method, operation in path.items()
        if method != "get"
        and "idempotency-key" not in {each["name"] for each in operation.get("parameters", ())}
    }


def test_the_types_are_made_from_the_document() -> None:
    assert complaint(document(), MAKER.MADE.read_text("utf-8")) == ""


@pytest.mark.parametrize("fault", ["a new field", "changed by hand"])
def test_types_that_are_stale_are_reported(fault: str) -> None:
    """The mutants: a field that the types lack, and types that the document lacks."""
    told, made = copy.deepcopy(document()), MAKER.MADE.read_text("utf-8")
    if fault == "a new field":
        told["components"]["schemas"]["Memory"]["properties"]["mood"] = {"type": "string"}
    else:
        made = made.replace("sentence: string", "sentence: number", 1)

    assert complaint(told, made) == "stale: run `make client-schema`"


def test_what_the_client_makes_again_is_known_to_the_service() -> None:
    """It repeats each request but one: a new route that writes needs an idempotency key."""
    assert keyless(document()) == WITHOUT_KEY


def test_a_route_without_a_key_is_reported() -> None:
    told = copy.deepcopy(document())
    operation = told["paths"]["/v1/undo"]["post"]
    operation["parameters"] = [each for each in operation["parameters"] if each["in"] == "query"]

    assert keyless(told) == WITHOUT_KEY | {"undo_change"}
