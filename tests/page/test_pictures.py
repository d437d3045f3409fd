"""Each screen looks as it did: small pictures of it are kept, and compared with a tolerance."""

from __future__ import annotations

import os
import struct
import zlib
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

import recollect
from recollect.demo.story import SCOPE, StoryClock, play, read_chapters
from recollect.records import PutMemory

if TYPE_CHECKING:
    from tests.page.conftest import Walks

KEPT: Final = Path(__file__).parent / "kept_pictures"
KEPT_BYTES_MAX: Final = 400_000
RENEW: Final = "RECOLLECT_RENEW_PICTURES"
CELL: Final = 6
"""Pictures are compared in squares of so many of their pixels: 48 of the screen."""
CELL_MAX: Final = 40.0
"""A square may differ by so many of 255 grey values, as where a letter stands elsewhere."""
WHOLE_MAX: Final = 2.5
"""The whole picture may differ by so many, on average."""
FAULTS: Final = 4
pytestmark = pytest.mark.timeout(600)
GREYS: Final = 32
WHY: Final = "told as a possibility"

Grey = NDArray[np.uint8]


class Compared(NamedTuple):
    """How far two pictures of a size are apart, in grey values."""

    cell: float
    whole: float

    @property
    def is_alike(self) -> bool:
        """Return True if one may stand for the other."""
        return self.cell <= CELL_MAX and self.whole <= WHOLE_MAX


def compared(one: Grey, other: Grey) -> Compared:
    """Return the difference of the squares that differ most, and that of the whole."""
    if one.shape != other.shape:
        return Compared(255.0, 255.0)
    differences = np.abs(_cells(one) - _cells(other))
    return Compared(float(differences.max()), float(differences.mean()))


def _cells(picture: Grey) -> NDArray[np.float64]:
    height, width = (size // CELL * CELL for size in picture.shape)
    squares = picture[:height, :width].reshape(height // CELL, CELL, width // CELL, CELL)
    means: NDArray[np.float64] = squares.mean(axis=(1, 3))
    return means


def written(path: Path, picture: Grey) -> None:
    """Keep a picture as a PNG of few greys."""
    height, width = picture.shape
    step = 256 // GREYS
    rows = (picture // step * step + step // 2).astype(np.uint8)
    raw = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in parts))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


def read(path: Path) -> Grey:
    """Return a picture that was kept."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    size = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + size]), np.uint8)
    return rows.reshape(height, width + 1)[:, 1:]


def place_of(name: str) -> Path:
    return KEPT / f"{name.replace(' ', '-')}.png"


async def filled(folder: Path) -> None:
    """Leave the store of the demonstration, with something that waits for a review."""
    clock = StoryClock()
    async with recollect.open(str(folder / "page.db"), embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
        value = {"context": "work", "content": "Mira may open a workshop."}
        doubt = PutMemory(type="Note", key="w1", value=value, state="quarantined", cause=WHY)
        await memory.apply(SCOPE, [doubt])


@pytest.fixture(scope="module")
def pictures(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Grey]:
    """Take all pictures once, and keep them where that was asked for."""
    folder = tmp_path_factory.mktemp("pictures")
    anyio.run(filled, folder)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(folder, *options, after_s=600) as (address, _):
        story = walks.walked(address, extent="screens", script="pictures.mjs")
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted"]
    if not story.facts["has_chinese"]:
        pytest.skip("no font has Chinese, which the pictures show: install fonts-wqy-zenhei")
    taken = {each["name"]: _grey(each) for each in story.pictures}
    if os.environ.get(RENEW):
        KEPT.mkdir(exist_ok=True)
        for stale in KEPT.glob("*.png"):
            stale.unlink()
        for name, picture in taken.items():
            if not name.startswith("fault "):
                written(place_of(name), picture)
    return taken


def _grey(told: dict[str, Any]) -> Grey:
    values = np.frombuffer(b64decode(told["grey"]), np.uint8)
    return values.reshape(told["height"], told["width"])


def test_each_screen_looks_as_it_did(pictures: dict[str, Grey]) -> None:
    """No square of a picture differs much from the one that was kept, and no picture is missing."""
    screens = {name: each for name, each in pictures.items() if not name.startswith("fault ")}
    assert {place_of(name) for name in screens} == set(KEPT.glob("*.png"))

    apart = {name: compared(each, read(place_of(name))) for name, each in screens.items()}

    others = {name: each for name, each in apart.items() if not each.is_alike}
    assert {} == others, f"renew them with `make page-pictures` if that was meant: {others}"


def test_a_broken_look_is_noticed(pictures: dict[str, Grey]) -> None:
    """A rule of the styles that is missing, and a panel that is, each make another picture."""
    faults = {name: each for name, each in pictures.items() if name.startswith("fault ")}
    assert FAULTS == len(faults)

    for name, picture in faults.items():
        screen = name.partition(" of ")[2]
        assert not compared(picture, read(place_of(screen))).is_alike, name


def test_the_kept_pictures_are_small() -> None:
    """All of them together are below the limit."""
    assert sum(each.stat().st_size for each in KEPT.glob("*.png")) <= KEPT_BYTES_MAX


def test_a_kept_picture_comes_back(tmp_path: Path) -> None:
    """What is written is read again, but for the greys that are left out."""
    picture = np.arange(40 * 30, dtype=np.uint16).reshape(30, 40).astype(np.uint8)
    written(tmp_path / "some.png", picture)

    back = read(tmp_path / "some.png")

    assert picture.shape == back.shape
    assert int(np.abs(picture.astype(int) - back.astype(int)).max()) <= 256 // GREYS
