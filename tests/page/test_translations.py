"""What the service says to the page has words in each of the page's languages, by its code."""

from __future__ import annotations

import ast
import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Final

import pytest

from recollect.formation.types import load_types
from recollect.formation.types.schema import violations
from recollect.formation.types.violations import _REASONS
from recollect.lifecycle.record_import import BLANKED, UNFOUNDED
from recollect.records import Json
from recollect.server.http.application import create_app
from recollect.server.http.openapi import operations
from recollect.server.http.problems import STATUS
from recollect.server.settings import Settings

ROOT: Final = Path(__file__).parents[2]
WORDS: Final = ROOT / "web" / "src" / "words"
PACKAGE: Final = ROOT / "src" / "recollect"
SERVER: Final = PACKAGE / "server"
CHINESE: Final = ("zh", "zh_hant")
HAN: Final = re.compile("[\u4e00-\u9fff]")


def texts_in(name: str) -> dict[str, str]:
    """Return the texts of a file of the page's words, by their names."""
    source = (WORDS / f"{name}.ts").read_text("utf-8")
    return dict(re.findall(r'^ +"?([\w.]+)"?: "((?:[^"\\]|\\.)*)",$', source, re.MULTILINE))


def summaries() -> dict[str, str]:
    """Return the summary of each route of the service, by its operation."""
    document = create_app(Settings(), lambda: None).openapi()  # type: ignore[arg-type, return-value]
    return {each["operationId"]: each["summary"] for _, _, each in operations(document)}


@pytest.mark.parametrize("language", CHINESE)
def test_each_route_says_in_chinese_what_it_is_for(language: str) -> None:
    """And none has words that the service does not have any more."""
    routes = texts_in(f"routes_{language}")
    named = {name for name in summaries() if HAN.search(routes.get(name, ""))}

    assert summaries().keys() == named
    groups = {"service", "health", "langgraph"}
    document = create_app(Settings(), lambda: None).openapi()  # type: ignore[arg-type, return-value]
    groups |= {tag for _, _, each in operations(document) for tag in each.get("tags", ())}
    assert named | groups == routes.keys()


def meanings() -> set[str]:
    """Return what the service says of the parameters, bodies and answers of its routes."""
    document = create_app(Settings(), lambda: None).openapi()  # type: ignore[arg-type, return-value]

    def followed(told: Any) -> Any:
        while isinstance(told, dict) and "$ref" in told:
            told = reduce(getitem, told["$ref"].split("/")[1:], document)
        return told

    found = set()
    for _, _, each in operations(document):
        shown = [followed(one) for one in each.get("parameters", ())]
        found |= {one.get("description", "") for one in shown if one["name"] != "idempotency-key"}
        found |= {followed(one)["description"] for one in each["responses"].values()}
        for media in list(each.get("requestBody", {}).get("content", {}).values())[:1]:
            fields = followed(media["schema"]).get("properties", {}).values()
            found |= {
                field.get("description") or followed(field).get("description", "")
                for field in fields
            }
    return found - {""}


@pytest.mark.parametrize("language", CHINESE)
def test_each_parameter_and_answer_is_explained_in_chinese(language: str) -> None:
    """And none is that the service does not have any more."""
    said = sentences_in(f"parameters_{language}")

    assert len(said) > 60
    assert meanings() == {each.replace('\\"', '"') for each in said}
    assert [] == [each for each in said.values() if not HAN.search(each)]


def error_codes() -> set[str]:
    """Return the codes of all problems of the service: those of errors, and its own."""
    own = re.compile(r'\bcode(?:: Final)?="([a-z_]+)"')
    texts = [each.read_text("utf-8") for each in SERVER.rglob("*.py")]
    return {*STATUS, *(code for text in texts for code in own.findall(text))}


def reason_codes() -> dict[str, set[str]]:
    """Return the names of the values of each code that a text of the package carries."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "with_code":
                code, *_ = call.args
                assert isinstance(code, ast.Constant), f"{path.name}: a code is written out"
                found.setdefault(str(code.value), set()).update(
                    each.arg for each in call.keywords if each.arg
                )
    return found


@pytest.mark.parametrize("language", ["en", *CHINESE])
def test_each_code_of_an_error_has_words(language: str) -> None:
    """In the words of the first screens, or in those that come with the first rare problem."""
    words = texts_in(language) | texts_in(f"{language}_late")
    said = {name.removeprefix("error.") for name in words if name.startswith("error.")}

    assert set() == error_codes() - said
    if language != "en":
        assert [] == [code for code in error_codes() if not HAN.search(words[f"error.{code}"])]


@pytest.mark.parametrize("language", ["en", *CHINESE])
def test_each_reason_has_words_with_its_values(language: str) -> None:
    """The words name no value that the service does not send with the code."""
    words = texts_in(f"{language}_late")
    page = {"example"}
    reasons = reason_codes()

    assert len(reasons) > 60
    for code, values in reasons.items():
        said = words.get(f"refusal.{code}", "")
        assert said, f"{code} has no words in {language}"
        assert set(re.findall(r"\{(\w+)\}", said)) <= values | page, code
        assert language == "en" or HAN.search(said), code


def test_the_page_knows_each_reason() -> None:
    """And none that the service does not give; errors with facts are told by these."""
    words = [each for each in texts_in("en_late") if each.startswith("refusal.")]
    facts = {
        "limit",
        "version_conflict",
        "version_conflict_of",
        "quota",
        "update_mode",
        "missing_extra",
    }

    assert set(reason_codes()) | facts == {each.removeprefix("refusal.") for each in words}


def differences_of_imports() -> set[str]:
    """Return the sentences in which an import says what it kept otherwise than a file has it."""
    found = {str(BLANKED), str(UNFOUNDED)}
    for path in (PACKAGE / "importers").glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Difference":
                [sentence] = call.args
                assert isinstance(sentence, ast.Constant), f"{path.name}: a sentence is written out"
                found.add(str(sentence.value))
    return found


def sentences_in(name: str) -> dict[str, str]:
    """Return the sentences of a file of the page's words, each with its translation."""
    source = (WORDS / f"{name}.ts").read_text("utf-8")
    text = r'"((?:[^"\\]|\\.)*)"'
    return dict(re.findall(rf"^ +\[{text}, {text}\],$", source, re.MULTILINE))


@pytest.mark.parametrize("language", CHINESE)
def test_each_difference_of_an_import_is_said_in_chinese(language: str) -> None:
    """A report names it by the sentence of the service; none is left that this has no more."""
    said = sentences_in(f"differences_{language}")

    assert len(said) > 20
    assert differences_of_imports() == said.keys()
    assert [] == [each for each in said.values() if not HAN.search(each)]


TYPES: Final = PACKAGE / "formation" / "types"
PLACE: Final = re.compile(r"^\{\}(\.\w+|\.\{\}|\[\{\}\])*: ")
"""The place before what is wrong with it, which the page shows apart."""
UNSHOWN: Final = re.compile(
    r"file|TOML|docstring|has no JSON Schema|the table is called|cannot be read|memory types stand|"
    r"list of memory types|a text is read as JSON|^the document: |^[; ]*and \{\} more|steps, more|"
    r"nested too deeply to be read"
)
"""Of files, classes and models, and parts of sentences: the page has none of these."""


def complaint_templates() -> set[str]:
    """Return the sentences in which a type or a value is refused, with {} for each value."""
    found = set()
    for name in ("loader", "schema", "references", "violations", "memory_type"):
        for node in ast.walk(ast.parse((TYPES / f"{name}.py").read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    str(each.value) if isinstance(each, ast.Constant) else "{}"
                    for each in node.values
                ]
                found.add(PLACE.sub("", "".join(parts)))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_refusal":
                found |= {
                    str(each.value) for each in node.args[1:] if isinstance(each, ast.Constant)
                }
    sentences = {each for each in found if len(re.findall(r"[a-z]{2,}", each)) > 1}
    return {each for each in sentences if not UNSHOWN.search(each)}


@pytest.mark.parametrize("language", CHINESE)
def test_each_complaint_about_a_type_is_said_in_chinese(language: str) -> None:
    """A sentence with its values in braces; what is put together of parts is met below."""
    said = sentences_in(f"complaints_{language}")
    known = {re.sub(r"\{\w+\}", "{}", each).replace('\\"', '"') for each in said}
    together = {
        '{}.type: must be "object", {}: a memory is a JSON object',
        'must be "object", {}: a memory is a JSON object',
        "{} is not one of {}{}",
        "fits none of the alternatives: {}{}",
        "it has {} {}, {} {}",
        "{} {}; {} is needed",
        "{}, or names like {}",
        "{} (2020-12)",
        "characters of {}.{}",
        "{}; this is no JSON Schema",
    }

    assert len(known) > 60
    assert set() == complaint_templates() - known - together
    for english, chinese in said.items():
        assert set(re.findall(r"\{\w+\}", chinese)) <= set(re.findall(r"\{\w+\}", english))
        assert HAN.search(chinese) or english in {"null", "true", "false"}


BAD_VALUES: Final[tuple[tuple[Json, Json], ...]] = (
    ({"const": 1}, 2),
    ({"contains": {"type": "number"}}, ["a"]),
    ({"enum": ["a", "b"]}, "c"),
    ({"exclusiveMaximum": 3}, 3),
    ({"exclusiveMinimum": 3}, 3),
    (False, 1),
    ({"format": "date"}, "soon"),
    ({"maxItems": 1}, [1, 2]),
    ({"maxLength": 1}, "ab"),
    ({"maxProperties": 0}, {"a": 1}),
    ({"maximum": 3}, 4),
    ({"minItems": 1}, []),
    ({"minLength": 2}, "a"),
    ({"minProperties": 1}, {}),
    ({"minimum": 3}, 2),
    ({"multipleOf": 2}, 3),
    ({"not": {"type": "number"}}, 3),
    ({"pattern": "^a"}, "b"),
    ({"type": "object", "required": ["a"]}, {}),
    ({"type": ["number", "object"]}, "a"),
    ({"type": "string"}, [1]),
    ({"type": "string"}, True),
    ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2]),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}),
    ({"uniqueItems": True}, [1, 1]),
    ({"additionalProperties": False, "properties": {"a": {}}}, {"b": 1}),
    ({"propertyNames": {"pattern": "^a"}}, {"b": 1}),
    ({"anyOf": [{"type": "number"}, {"type": "object"}]}, "a"),
    ({"oneOf": [{"type": "string"}, {"minLength": 1}]}, "a"),
)


@pytest.mark.parametrize("language", CHINESE)
def test_each_fault_of_a_value_is_said_in_chinese(language: str) -> None:
    """One of each keyword of the standard, as the form of a memory shows it."""
    said = sentences_in(f"complaints_{language}")
    patterns = [
        re.compile(re.sub(r"\\\{\w+\\\}", ".+?", re.escape(each.replace('\\"', '"'))), re.DOTALL)
        for each in said
    ]
    for schema, value in BAD_VALUES:
        properties = {"type": "object", "properties": {"it": schema}}
        made = {"name": "T", "description": "t", "update_mode": "patch", "parameters": properties}
        [type_] = load_types([made])
        told = [line.partition(": ")[2] for line in violations(type_, {"it": value})]
        assert told, schema
        for line in told:
            assert any(each.fullmatch(line) for each in patterns), line
    assert {"propertyNames", "additionalProperties"}.isdisjoint(_REASONS)
    keywords = {key for schema, _ in BAD_VALUES if isinstance(schema, dict) for key in schema}
    assert set(_REASONS) - {"falseSchema"} <= keywords
