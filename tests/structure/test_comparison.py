"""docs/comparison.md: each statement about another project has a source, each figure a command."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT.joinpath("docs", "comparison.md").read_text("utf-8")
SOURCE = re.compile(r"\]\[([\w-]+)\]")
COMMAND = re.compile(r"python -m benchmarks ([\w-]+)")


def section(text: str, heading: str) -> str:
    """Return the text below a heading, to the next one."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def cells_of(text: str) -> list[list[str]]:
    """Return the cells of each row of the table in *text*, without its head."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"\|", row)[1:-1]] for row in rows[1:]]


def unsourced_cells(text: str) -> list[str]:
    """Return what the first table says about others without naming where it was read."""
    told = [cell for cells in cells_of(section(text, "In short")) for cell in cells[2:]]
    return [cell for cell in told if cell and not SOURCE.search(cell)]


def unsourced_points(text: str) -> list[str]:
    """Return the points in favour of others that have neither a source nor a command."""
    points = re.split(r"^- ", section(text, "Where they are better"), flags=re.MULTILINE)[1:]
    return [
        each
        for each in points
        if not (SOURCE.search(each) or COMMAND.search(each) or each.startswith("**All of them**"))
    ]


def test_what_is_said_of_others_has_a_source() -> None:
    assert unsourced_cells(PAGE) == []
    assert unsourced_points(PAGE) == []


def test_each_source_is_named_and_used() -> None:
    defined = re.findall(r"^\[([\w-]+)\]: https://\S+$", PAGE, re.MULTILINE)

    assert sorted(defined) == sorted(set(SOURCE.findall(PAGE)))


def test_each_claim_of_ours_has_a_command_that_is_there() -> None:
    """The last cell of a row is a benchmark that the pages of benchmarks tell of."""
    claims = cells_of(section(PAGE, "Where Recollect is better, and how to see it"))
    named = {found for cells in claims for found in COMMAND.findall(cells[-1])}
    pages = "".join(page.read_text("utf-8") for page in ROOT.glob("docs/benchmarks*.md"))

    assert len(claims) >= 6
    assert all(COMMAND.search(cells[-1]) for cells in claims)
    assert named <= set(COMMAND.findall(pages))


def test_a_statement_without_a_source_is_reported() -> None:
    """A cell, and a point, without a link."""
    table = "\n## In short\n| | ours | theirs |\n|---|---|---|\n| Time | yes | no |\n"
    head = "\n## Where they are better\n"

    assert unsourced_cells(table) == ["no"]
    assert unsourced_points(f"{head}- **A**: fast.\n- **B**: [fast][b].\n") == ["**A**: fast.\n"]
