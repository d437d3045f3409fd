"""What the service says to the page has words in each of the page's languages, by its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from recollect.server.http.application import create_app
from recollect.server.http.openapi import operations
from recollect.server.settings import Settings

WORDS: Final = Path(__file__).parents[2] / "web" / "src" / "words"
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
