"""What the service says to the page has words in each of the page's languages, by its code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from recollect.lifecycle.record_import import BLANKED, UNFOUNDED
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
    source = (WORDS.parent / "lib" / "refusals.ts").read_text("utf-8")
    listed = source.split("export const REASONS = [")[1].split("]")[0]
    facts = {"limit", "version_conflict", "quota", "update_mode", "missing_extra"}

    assert set(reason_codes()) | facts == set(re.findall(r'"(\w+)"', listed))


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
