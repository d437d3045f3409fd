"""A memory that can be opened, abandoned, moved and reopened, on any kind of store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE, USER
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.hashed_embedder import HashedEmbedder
from recollect.testing.reproducible_ids import SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from tests.harness.carried_words import CarryingModel

LIFE: Final = replace(USER, name="Life", parameters={"type": "object"})
TYPES: Final = (LIFE, NOTE)
READ_TWICE_EVERY: Final = 2
"""In one of so many histories a second reader judges what is formed."""
DIMENSIONS: Final = (16, 24)
"""Dimensions of the two embedders between which a memory changes."""


class Places(Protocol):
    """Addresses for stores."""

    lasts: bool
    """Whether a store there outlives the object that opened it."""
    folder: Path

    def fresh(self) -> str:
        """Return the address of an empty store, different from the last one."""


@dataclass
class FilePlaces:
    """SQLite files in a folder, or in-process stores."""

    folder: Path
    lasts: bool = True
    number: int = 0

    def fresh(self) -> str:
        """Return a new file, or the address of an in-process store."""
        self.number += 1
        return str(self.folder / f"{self.number}.db") if self.lasts else "memory:"


@dataclass
class ServerPlaces:
    """Two databases of a server, used alternately."""

    folder: Path
    urls: tuple[str, str]
    empty: Callable[[str], None]
    lasts: bool = True
    number: int = 0

    def fresh(self) -> str:
        """Empty the database that is not in use, and return it."""
        self.number += 1
        url = self.urls[self.number % 2]
        self.empty(url)
        return url


class OpenWorld:
    """The memory under test; each opening makes a new object."""

    def __init__(self, places: Places, clock: FrozenClock, seed: int, model: CarryingModel) -> None:
        self.places = places
        self.clock = clock
        self.url = places.fresh()
        self.dimensions = DIMENSIONS[0]
        self.while_answering: Callable[[], Awaitable[None]] | None = None
        """Called once, while the model answers."""
        self._ids = SeededIds(seed)
        self.model = model
        # Not in all histories: what waits for a person is read by fewer operations.
        self.reads_twice = seed % READ_TWICE_EVERY == READ_TWICE_EVERY - 1
        self._abandoned: list[Store] = []
        self._ended = asyncio.Event()
        self._host: asyncio.Task[None] | None = None

    async def open(self, store: Store | None = None) -> None:
        """Open the memory, or one over *store*, in its own task."""
        ready: asyncio.Future[Recollect] = asyncio.get_running_loop().create_future()
        self._ended = asyncio.Event()
        self._host = asyncio.create_task(self._live(store or self.new_store(self.url), ready))
        self.memory = await ready

    def new_store(self, url: str) -> Store:
        """Return the store at an address."""
        return open_store(url, clock=self.clock, ids=self._ids, durability="relaxed")

    async def close(self) -> None:
        """Close the memory."""
        self._ended.set()
        if self._host is not None:
            await self._host

    async def crash(self) -> None:
        """Abandon the memory with its caches, without closing the store."""
        store, closing = self.memory.store, self.memory.store.aclose
        vars(store)["aclose"] = _nothing
        await self.close()
        vars(store)["aclose"] = closing
        self._abandoned.append(store)
        await self.open()

    async def move(self, url: str, store: Store | None = None) -> None:
        """Continue with the store at another address, as after a restore or copy."""
        await self.close()
        await self.close_abandoned()
        self.url = url
        await self.open(store)

    async def close_abandoned(self) -> None:
        """Release the resources of abandoned stores."""
        for each in self._abandoned:
            await each.aclose()
        self._abandoned.clear()

    async def end(self) -> None:
        """Close everything."""
        with suppress(AttributeError):  # it was never open
            await self.close()
        await self.close_abandoned()

    async def _live(self, store: Store, ready: asyncio.Future[Recollect]) -> None:
        formation = FormationSettings(types=TYPES, second_reading=self.reads_twice)
        formation = replace(formation, limits=replace(formation.limits, context_messages=2))
        memory = Recollect(
            store,
            embedder=HashedEmbedder(self.dimensions),
            model=ScriptedModel(self._answer),
            formation=formation,
            worker=False,
        )
        try:
            async with memory:
                ready.set_result(memory)
                await self._ended.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
                return
            raise

    async def _answer(self, request: ModelRequest) -> ScriptedAnswer:
        meanwhile, self.while_answering = self.while_answering, None
        answer = self.model(request)
        if meanwhile is not None:
            await meanwhile()
        return answer


async def _nothing() -> None:
    """Close nothing."""
