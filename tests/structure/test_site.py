"""The site of docs/: every page has its place, links that leave docs/ work, and it builds."""

import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
BUILD_S_MAX = 300
"""On a machine that does nothing else it takes 20; the others of this run share it."""
PROCESSOR_S_MAX = 60
"""Of processor time, which others that share the machine hardly change."""
SEARCH_S_MAX = 200


def tool(name: str) -> ModuleType:
    """Load a module of tools/, which are files and no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOK = tool("site_hook")


def pages_of_nav(text: str) -> list[str]:
    """Return the pages that the navigation of mkdocs.yml lists, in its order."""
    nav = text.partition("\nnav:\n")[2]
    return re.findall(r"^ +- (?:[^\n]*: )?([\w/.-]+\.md)$", nav, re.MULTILINE)


def test_every_page_has_a_place_in_the_navigation() -> None:
    """A page that is nowhere in `nav` of mkdocs.yml is found by nobody; none is there twice."""
    listed = pages_of_nav(ROOT.joinpath("mkdocs.yml").read_text("utf-8"))

    assert sorted(listed) == sorted({*(path.name for path in DOCS.glob("*.md")), HOOK.DECISIONS})


def test_a_page_without_a_place_would_be_seen() -> None:
    assert pages_of_nav("a: b.md\nnav:\n  - Start: index.md\n  - Part:\n      - cli.md\n") == [
        "index.md",
        "cli.md",
    ]


@pytest.mark.parametrize(
    ("text", "page", "expected"),
    [
        ("[a](../README.md#figures)", "langgraph.md", "[a](project/README.md#figures)"),
        ("[a](../examples/forget.py)", "context.md", "[a](project/examples/forget.py.md)"),
        ("[a](docs/cli.md#exit-statuses)", "project/README.md", "[a](../cli.md#exit-statuses)"),
        ("![a](docs/pictures/way.svg)", "project/README.md", "![a](../pictures/way.svg)"),
        ("[a](docs/decisions)", "project/README.md", "[a](../decisions/index.md)"),
        ("[a](cli.md) [b](#here) [c](https://example.org)", "page.md", None),
        ("```python\nkept[a](b)\n```", "page.md", None),
        ("```python no-run: a reason\nx\n```", "page.md", "```python\nx\n```"),
    ],
)
def test_links_are_as_they_must_be_on_the_site(text: str, page: str, expected: str | None) -> None:
    """What leaves docs/ leads to a copy; what stays is left alone, and so is code."""
    assert HOOK.site_text(text, page) == (text if expected is None else expected)


def test_files_that_pages_link_to_are_copied() -> None:
    """Also those that a copied page links to in turn."""
    copied = HOOK.copied_files()

    assert {"README.md", "SECURITY.md", "examples/README.md", "examples/forget.py"} <= copied.keys()
    assert not [name for name in copied if name.startswith("docs/")]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("erasing.md", {"boost": 2}),
        ("reference_records.md", {"boost": 0.5}),
        ("project/SECURITY.md", {"boost": 0.5}),
        ("project/examples/forget.py.md", {"exclude": True}),
    ],
)
def test_pages_that_explain_are_found_before_lists(page: str, expected: dict[str, object]) -> None:
    """A search for "erase" leads to how it is done before it leads to fifty mentions of it."""
    assert HOOK.search_settings(page) == expected


def test_the_examples_of_the_hook_run() -> None:
    assert doctest.testmod(HOOK).failed == 0


def test_every_decision_is_listed() -> None:
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", HOOK.decisions_page())

    assert listed == sorted(path.name for path in DOCS.glob("decisions/*.md"))


def test_the_routes_of_the_service_are_listed() -> None:
    """A route with its summary stands below the heading of its tag."""
    document = {
        "paths": {
            "/v1/recall": {"post": {"tags": ["recall"], "summary": "Recall | rank"}},
            "/health": {"get": {"operationId": "live"}},
        }
    }

    table = HOOK.routes_table(document)

    assert "## Recall\n\n| Route | What it does |\n|---|---|\n" in table
    assert "| `POST /v1/recall` | Recall   rank |" in table
    assert "## Others" in table
    assert HOOK.ROUTES in DOCS.joinpath("http_api.md").read_text("utf-8")


def test_examples_of_docstrings_are_fenced() -> None:
    """An example begins at its first prompt and ends at a blank line, wherever it is indented."""
    if importlib.util.find_spec("griffe") is None:
        pytest.skip("what builds the site is not installed: `make site`")

    text = "Add.\n\n  >>> 1 + 1\n  2\n\n>>> 3\n3"

    assert tool("site_docstrings").with_fences(text) == (
        "Add.\n\n  ```pycon\n  >>> 1 + 1\n  2\n  ```\n\n```pycon\n>>> 3\n3\n```"
    )


def processor_s() -> float:
    """Return the processor time of all programs that this one has started and that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, strictly; return its folder."""
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("what builds the site is not installed: `make site`")

    site = tmp_path_factory.mktemp("built") / "site"
    before = processor_s()
    finished = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=BUILD_S_MAX,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert processor_s() - before <= PROCESSOR_S_MAX
    assert "WARNING" not in finished.stderr
    return site


@pytest.mark.slow
def test_the_site_builds_without_a_warning(built: Path) -> None:
    """Strictly: each link and anchor leads somewhere, and nothing is fetched from elsewhere."""
    assert "recollect.Recollect.recall" in (built / "reference" / "index.html").read_text("utf-8")
    assert "/v1/recall" in (built / "http_api" / "index.html").read_text("utf-8")
    assert fetched(built) == []


QUESTIONS = tomllib.loads(HERE.joinpath("search_questions.toml").read_text("utf-8"))
FIRST = 5
"""So many pages of an answer a reader looks at."""


def address(page: str) -> str:
    """Return where the site has a page of docs/."""
    return f"{page.removesuffix('.md')}/"


def pages_found(site: Path, queries: Sequence[str]) -> list[list[str]]:
    """Return the pages that the search of a built site finds for each query, best first."""
    finished = subprocess.run(
        [shutil.which("node") or "node", str(HERE / "site_search.mjs"), str(site)],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SEARCH_S_MAX,
        check=True,
    )
    found: list[list[str]] = json.loads(finished.stdout)
    return found


def unanswered(asked: Mapping[str, Sequence[str]], found: Sequence[Sequence[str]]) -> list[str]:
    """Return the questions of which no page that answers is among the first that were found."""
    return [
        f"{question} {pages[:FIRST]}"
        for (question, answers), pages in zip(asked.items(), found, strict=True)
        if not {address(each) for each in answers} & set(pages[:FIRST])
    ]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_stranger_finds_the_answer_by_one_search(built: Path, language: str) -> None:
    """The question as it is, typed into the site's search: the page is among the first five."""
    if shutil.which("node") is None:
        pytest.skip("the site's search is asked by Node, which is not installed")
    asked = QUESTIONS[language]

    assert unanswered(asked, pages_found(built, list(asked))) == []


def test_the_questions_of_strangers_name_pages() -> None:
    """At least twenty in English and twelve in Chinese, each answered by pages that are there."""
    assert len(QUESTIONS["en"]) >= 20
    assert len(QUESTIONS["zh"]) >= 12
    named = [each for asked in QUESTIONS.values() for pages in asked.values() for each in pages]
    assert [each for each in named if not DOCS.joinpath(each).is_file()] == []


def test_a_question_without_its_page_is_reported() -> None:
    """Found too late is not found."""
    asked = {"How?": ["cli.md"], "Why?": ["recall.md"]}

    found = [["cli/"], ["a/", "b/", "c/", "d/", "e/", "recall/"]]

    assert unanswered(asked, found) == ["Why? ['a/', 'b/', 'c/', 'd/', 'e/']"]


def fetched(site: Path) -> list[str]:
    """Return what the pages of a site would load from elsewhere: scripts, styles, pictures."""
    pattern = re.compile(r"""<(?:script|img|link)\b[^>]*?\b(?:src|href)="?(https?://[^"' >]+)""")
    return [
        found for path in site.rglob("*.html") for found in pattern.findall(path.read_text("utf-8"))
    ]


def test_what_a_page_would_fetch_is_reported(tmp_path: Path) -> None:
    """A font or script of elsewhere; a link that a reader may follow is none."""
    page = (
        '<link rel=stylesheet href="https://fonts.example.org/a"><a href="https://b.example.org">'
    )
    tmp_path.joinpath("index.html").write_text(page, "utf-8")

    assert fetched(tmp_path) == ["https://fonts.example.org/a"]
