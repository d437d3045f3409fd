"""docs/results.md says nothing that docs/benchmarks*.md do not; its picture shows its table."""

import re
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FIGURE = re.compile(r"(?<![\w.,])(?:\d[\d,]*)?\.?\d+(?![\w]|,\d)")


def figures_in(text: str) -> set[str]:
    """Return the figures of the rows of a page's tables, commands left out."""
    rows = re.findall(r"^\|(?! Tokens).*$", re.sub(r"`[^`]*`", "", text), re.MULTILINE)
    return {plain(found) for row in rows for found in FIGURE.findall(row)}


def plain(figure: str) -> str:
    """Return a figure without separators, and without a zero before its point."""
    return re.sub(r"^0(?=\.)", "", figure.replace(",", ""))


def unsupported(page: str, source: str) -> list[str]:
    """Return the figures of *page* that *source* has neither as they are nor in percent."""
    known = {plain(each) for each in FIGURE.findall(source)}
    percents = {f"{float(each) * 100:.1f}": each for each in figures_in(page) if "." in each}
    told = known | {each for percent, each in percents.items() if percent in known}
    return sorted(figures_in(page) - told)


def test_every_figure_of_the_results_is_in_the_benchmarks() -> None:
    """Who changes a figure there sees here that it stands on another page, too."""
    page = DOCS.joinpath("results.md").read_text("utf-8")
    sources = [path.read_text("utf-8") for path in sorted(DOCS.glob("benchmarks*.md"))]

    assert len(sources) > 1
    assert len(figures_in(page)) > 30
    assert unsupported(page, "\n".join(sources)) == []


def rows_without_command(text: str) -> list[str]:
    """Return the rows of figures of a page's tables that no command stands beside."""
    found = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        if "`python -m benchmarks" not in part and not re.search(r"\]\(benchmarks\w*\.md", part):
            found += re.findall(r"^\|.*\d.*$", part, re.MULTILINE)
    return found


def test_every_table_of_the_results_names_its_command() -> None:
    """Beside the rows, or above the table; a page of benchmarks that has it is as good."""
    assert rows_without_command(DOCS.joinpath("results.md").read_text("utf-8")) == []


def test_a_table_without_a_command_is_reported() -> None:
    page = "## Found\n\n| a | .8 |\n\n## Speed\n\n`python -m benchmarks speed`\n\n| b | 1 |\n"

    assert rows_without_command(page) == ["| a | .8 |"]


def test_a_figure_that_nothing_printed_is_reported() -> None:
    """One of two; a share counts as its percentage, and a command's numbers are no figures."""
    page = "| found | .829 | .999 | `--count 7` |\n"

    assert unsupported(page, "recollect  73.8  82.9  89.1") == [".999"]


def chart_tool() -> ModuleType:
    path = DOCS.parent / "tools" / "make_chart"
    spec = spec_from_loader("make_chart", SourceFileLoader("make_chart", str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks for what it is made of
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("place", "rows"), [(0, 4), (1, 4), (2, 3), (3, 3)], ids=["found", "prompt", "speed", "cost"]
)
def test_a_picture_shows_its_table(place: int, rows: int) -> None:
    """Run tools/make_chart after a change of a table."""
    tool = chart_tool()
    chart = tool.CHARTS[place]
    page = DOCS.joinpath("results.md").read_text("utf-8")
    found = tool.rows_of(page, chart)

    assert len(found) == rows
    assert tool.drawn(chart, found) == chart.path.read_text("utf-8")
    assert f"(pictures/{chart.path.name})" in page
