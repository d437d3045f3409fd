"""From a clone to a memory of one's own on the page: one command, and minutes."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.harness.clean_clone import copy_clone

if TYPE_CHECKING:
    from tests.page.conftest import Walks

if sys.platform == "win32":
    pytest.skip("there is no pseudo-terminal", allow_module_level=True)
import pty

ROOT: Final = Path(__file__).parents[2]
MINUTES_MAX: Final = 3.0
MB_MAX: Final = 300.0
"""What `make demo` leaves in the clone and in the cache of the embedder, in millions of bytes."""
ADDRESS: Final = re.compile(rb"signed in until this ends: (http://[\d.:]+)/#key=(rk_[\w-]+)")


@dataclass(slots=True)
class Terminal:
    """A program at a pseudo-terminal, and what it has printed."""

    process: int
    terminal: int
    printed: bytes = b""

    def read_until(self, found: Callable[[bytes], object]) -> None:
        """Read until *found* is true of what was printed, or the program ends."""
        while not found(self.printed):
            try:
                piece = os.read(self.terminal, 65_536)
            except OSError:  # the program has ended
                return
            if not piece:
                return
            self.printed += piece


@contextmanager
def at_terminal(command: list[str], folder: Path, cache: Path) -> Iterator[Terminal]:
    """Run a program of a machine without a display; Ctrl-C ends it."""
    unset = re.compile(r"PYTHON|RECOLLECT_|VIRTUAL_ENV|MAKE|CI$|DISPLAY$|WAYLAND_DISPLAY$")
    environment = {name: value for name, value in os.environ.items() if not unset.match(name)}
    environment |= {"RECOLLECT_CACHE": str(cache), "TERM": "xterm"}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, environment)  # noqa: S606
    shown = Terminal(process, terminal)
    try:
        yield shown
    finally:
        os.write(terminal, b"\x03")
        shown.read_until(lambda _: False)
        os.waitpid(process, 0)
        os.close(terminal)


def megabytes(*folders: Path) -> float:
    """Return the size of all files below the folders."""
    files = (each for folder in folders for each in folder.rglob("*") if not each.is_symlink())
    return sum(each.stat().st_size for each in files if each.is_file()) / 1e6


@pytest.mark.timeout(600)
def test_a_clone_has_its_page_and_a_memory_of_ones_own_in_three_minutes(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """`make demo` alone: what Mira's home is, why, corrected and used, and then what one tells."""
    if shutil.which("make") is None or shutil.which("npm") is None:
        pytest.skip("make or npm is not installed")
    clone, cache = tmp_path / "clone", tmp_path / "cache"
    copy_clone(ROOT, clone)
    begun = time.monotonic()
    with at_terminal(["make", "demo"], clone, cache) as shown:
        shown.read_until(ADDRESS.search)
        address = ADDRESS.search(shown.printed)
        assert address, shown.printed[-2_000:].decode()
        shown_after_s = time.monotonic() - begun
        story = walks.walked(
            address[1].decode(),
            extent="first_minutes_en-GB",
            script="first_minutes.mjs",
            key=address[2].decode(),
        )
        minutes = (time.monotonic() - begun) / 60
    size = megabytes(clone / ".venv", clone / "src", cache)
    measured = {"page_s": shown_after_s, "minutes": minutes, "mb": size}
    record_testsuite_property("make demo in a clone", measured)
    sys.stdout.write(f"make demo in a clone: {measured}\n")

    assert {"well"} == set(story.chapters.values()), story.chapters
    assert "own" in story.chapters
    assert "Braga" in story.facts["answer"]
    assert "I live in Oslo" in story.facts["own"]
    assert b"The demo has ended" in shown.printed
    assert minutes <= MINUTES_MAX
    assert size <= MB_MAX
