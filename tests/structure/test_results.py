"""docs/results.md says nothing that docs/benchmarks.md does not; its picture shows its table."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
FIGURE = re.compile(r"(?<![\w.,])(?:\d[\d,]*)?\.?\d+(?![\w]|,\d)")


def figures_in(text: str) -> set[str]:
    """Return the figures of the rows of a page's tables, commands left out."""
    rows = re.findall(r"^\|(?! Tokens).*$", re.sub(r"`[^`]*`", "", text), re.MULTILINE)
    return {found.replace(",", "") for row in rows for found in FIGURE.findall(row)}


def unsupported(page: str, source: str) -> list[str]:
    """Return the figures of *page* that *source* has neither as they are nor in percent."""
    known = {each.replace(",", "") for each in FIGURE.findall(source)}
    percents = {f"{float(each) * 100:.1f}": each for each in figures_in(page) if "." in each}
    told = known | {each for percent, each in percents.items() if percent in known}
    return sorted(figures_in(page) - told)


def test_every_figure_of_the_results_is_in_the_benchmarks() -> None:
    """Who changes a figure there sees here that it stands on another page, too."""
    page, source = (DOCS.joinpath(name).read_text("utf-8") for name in NAMES)

    assert len(figures_in(page)) > 30
    assert unsupported(page, source) == []


NAMES = ("results.md", "benchmarks.md")


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
    spec.loader.exec_module(module)
    return module


def test_the_picture_shows_the_table() -> None:
    """Run tools/make_chart after a change of the table."""
    tool = chart_tool()
    rows = tool.rows_of(DOCS.joinpath("results.md").read_text("utf-8"))

    assert len(rows) == 4
    assert tool.chart(rows) == DOCS.joinpath("pictures", "results.svg").read_text("utf-8")
