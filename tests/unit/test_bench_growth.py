"""The benchmark of growth: what it fills and measures is there, and its pictures show it."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from benchmarks.growth.filled_stores import GrowthShape
from benchmarks.growth.picture import PICTURES, GrowthPicture, drawn
from benchmarks.growth.report import GrowthFigures, GrowthReport, GrowthRow, measure

FIGURES = GrowthFigures(
    start=300.0,
    recall=2.0,
    below=4.0,
    below_after=6.0,
    append=3.0,
    formation=70.0,
    memory=40.0,
    disk=1.5,
)
SVG = "{http://www.w3.org/2000/svg}"


def report() -> GrowthReport:
    """Return a report of two sizes each, whose figures grow with them."""

    def row(scopes: int, messages: int, times: float) -> GrowthRow:
        shape = GrowthShape(scopes=scopes, messages=messages)
        grown = replace(FIGURES, recall=2.0 * times, disk=1.5 * times)
        return GrowthRow(shape=shape, ours=grown, bare=replace(grown, recall=0.1 * times))

    return GrowthReport(
        entries=[row(1, 1_000, 1.0), row(1, 100_000, 10.0)],
        scopes=[row(1, 10, 1.0), row(100, 10, 10.0)],
    )


@pytest.mark.parametrize("picture", PICTURES, ids=lambda each: each.name)
def test_a_picture_shows_every_figure(picture: GrowthPicture) -> None:
    """A point for each size and curve, all inside the picture."""
    found = ET.fromstring(drawn(picture, report()))  # noqa: S314 (ours)
    width, height = map(float, found.attrib["viewBox"].split()[2:])
    points = found.findall(f"{SVG}circle")

    assert len(points) == (10 if picture.has_below else 8)
    for point in points:
        assert 0 < float(point.attrib["cx"]) < width
        assert 0 < float(point.attrib["cy"]) < height


def test_what_grows_tenfold_is_a_decade_higher() -> None:
    """The axes are logarithmic."""
    (disk,) = (each for each in PICTURES if each.name == "disk")
    found = ET.fromstring(drawn(disk, report()))  # noqa: S314 (ours)
    heights = [float(each.attrib["cy"]) for each in found.findall(f"{SVG}circle")]
    lines = [each.attrib["d"].partition(" ")[2] for each in found.findall(f"{SVG}path")]
    decade = float(lines[0].split("h")[0]) - float(lines[1].split("h")[0])

    assert heights[0] - heights[1] == pytest.approx(decade, abs=0.2)


@pytest.mark.slow
def test_small_stores_are_measured() -> None:
    """Each figure of a store of a hundred messages is there, beside its control's."""
    found = measure([100], [3], 1)

    (row,) = found.entries
    assert row.ours.recall > row.bare.recall > 0
    assert row.ours.disk > row.bare.disk > 0
    assert found.scopes[0].shape == GrowthShape(scopes=3, messages=10)
