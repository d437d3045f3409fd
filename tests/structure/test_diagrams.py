"""The diagrams of the documentation: drawn by tools/make_diagrams, shown with words beside them."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LETTERS_MIN = 30
"""Of the text that stands for a picture, for who does not see it."""


def tool(name: str) -> ModuleType:
    """Load a program of tools/, which has no suffix."""
    loader = SourceFileLoader(name, str(ROOT / "tools" / name))
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


DRAWING = tool("make_diagrams")


def pictures_of(text: str) -> dict[str, str]:
    """Return the text that stands for each picture of a page, by the picture's file."""
    return {file: words for words, file in re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", text)}


def too_long(diagram: object) -> list[str]:
    """Return the texts of a diagram that do not fit their boxes."""
    texts = [text for box in diagram.boxes for text in (box.name, box.about)]  # type: ignore[attr-defined]
    return [text for text in texts if len(text) > DRAWING.LETTERS_MAX]


@pytest.mark.parametrize("name", DRAWING.DIAGRAMS)
def test_a_diagram_is_as_its_program_draws_it(name: str) -> None:
    """Run tools/make_diagrams after a change of it."""
    diagram = DRAWING.DIAGRAMS[name]

    assert DOCS.joinpath("pictures", f"{name}.svg").read_text("utf-8") == DRAWING.drawn(diagram)
    assert too_long(diagram) == []


@pytest.mark.parametrize("name", DRAWING.DIAGRAMS)
def test_a_diagram_is_light_on_any_page(name: str) -> None:
    """It brings its own background, so that its lines are seen in dark colours, too."""
    assert '<rect width="' in DRAWING.drawn(DRAWING.DIAGRAMS[name])
    assert 'fill="#ffffff"/>' in DRAWING.drawn(DRAWING.DIAGRAMS[name])


def test_every_diagram_is_on_a_page_and_told_in_words() -> None:
    """Whoever does not see a picture reads what it shows."""
    shown: dict[str, str] = {}
    for page in DOCS.glob("*.md"):
        shown |= pictures_of(page.read_text("utf-8"))

    assert {f"{name}.svg" for name in DRAWING.DIAGRAMS} <= shown.keys()
    assert [file for file, words in shown.items() if len(words) < LETTERS_MIN] == []


def test_no_page_needs_a_script_to_draw_its_diagrams() -> None:
    """The theme would fetch Mermaid from elsewhere, and without it shows the source."""
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]

    assert [page.name for page in pages if "```mermaid" in page.read_text("utf-8")] == []


def test_a_text_that_does_not_fit_is_reported() -> None:
    box = DRAWING.Box((0, 0), "a name", "a line that is much longer than the box below it")
    diagram = DRAWING.Diagram(about="", boxes=(box,), arrows=())

    assert too_long(diagram) == [box.about]
    assert pictures_of("![short](pictures/way.svg)") == {"way.svg": "short"}
