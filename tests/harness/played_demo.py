"""A store in which the demonstration was played, for the tests of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import recollect
from recollect.demo.story import StoryClock, play, read_chapters

if TYPE_CHECKING:
    from pathlib import Path


async def play_demo(folder: Path) -> None:
    """Leave the demonstration, before its erase, as the store ``page.db`` in *folder*."""
    clock = StoryClock()
    async with recollect.open(str(folder / "page.db"), embedder="none", clock=clock) as memory:
        await play(memory, clock, read_chapters())
