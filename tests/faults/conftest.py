"""What the tests of faults share: children that run this tree, and a small store to start from."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

import recollect
from recollect.bench.proofs import NAMES
from recollect.records import Scope
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.invariants import Client
from recollect.testing.powerloss import PowerLossDisk

TURNS = 20


@pytest.fixture(autouse=True, scope="session")
def _this_tree() -> Iterator[None]:
    """Let the processes that tests start import the tree that is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(recollect.__file__).parents[1]))
        yield


@dataclass(frozen=True, slots=True)
class Filled:
    """A closed store that clients have worked in: its path, and the clients by scope."""

    path: Path
    clients: dict[Scope, Client]


@pytest.fixture(scope="session")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """Return a store that nobody may change."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    lock = asyncio.Lock()
    clients = [Client(name, forming=lock) for name in NAMES]

    async def fill() -> None:
        with PowerLossDisk() as disk:
            async with disk.open(path, clock=FrozenClock(), ids=SeededIds(1)) as store:
                for client in clients:
                    for turn in range(TURNS):
                        async for _ in client.take(store, turn):
                            pass
                        client.answered(turn)

    asyncio.run(fill())
    return Filled(path, {client.scope: client for client in clients})


@pytest.fixture
def filled(filled_once: Filled, tmp_path: Path) -> Filled:
    """Return a copy of a store that three clients have worked in."""
    folder = copytree(filled_once.path.parent, tmp_path / "copy")
    return Filled(folder / filled_once.path.name, filled_once.clients)
