"""Shared parts of the fault tests: child processes of this tree, and a small store."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

import recollect
from benchmarks.durability import NAMES
from recollect.testing import FrozenClock, SeededIds
from tests.harness.invariants import FaultClient
from tests.harness.power_loss import PowerLossDisk

TURNS = 20
ROOT = Path(__file__).parents[2]
SOURCE = Path(recollect.__file__).parents[1]


@pytest.fixture(autouse=True, scope="session")
def _this_tree() -> Iterator[None]:
    """Make child processes import the tree under test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(str(each) for each in (SOURCE, ROOT)))
        yield


@pytest.fixture(scope="session")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a store that tests must not change."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    lock = asyncio.Lock()

    async def fill() -> None:
        with PowerLossDisk() as disk:
            async with disk.open(path, clock=FrozenClock(), ids=SeededIds(1)) as store:
                for name in NAMES:
                    client = FaultClient(name, forming=lock)
                    for turn in range(TURNS):
                        async for _ in client.take(store, turn):
                            pass

    asyncio.run(fill())
    return path


@pytest.fixture
def filled(filled_once: Path, tmp_path: Path) -> Path:
    """Return the path of a closed store in which three clients took twenty turns each."""
    folder = copytree(filled_once.parent, tmp_path / "copy")
    return folder / filled_once.name
