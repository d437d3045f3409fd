"""Opening the store that a command names, and refusing one that is not there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollect.cli.options import Target
from recollect.errors import NotFoundError

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

ResultT = TypeVar("ResultT")


def run(command: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Run an async command to its end."""
    import anyio

    return anyio.run(command)


def store_file(url: str) -> Path | None:
    """
    Return the file in which the store at *url* is; ``None`` if it is in no file.

    >>> store_file("sqlite:///var/lib/memory.db"), store_file("memory:")
    (PosixPath('/var/lib/memory.db'), None)

    Raises:
        UsageError: The address names no backend that there is.
    """
    from recollect.stores.locator import file_of

    return file_of(url)


@asynccontextmanager
async def opened(target: Target, *, create: bool = False) -> AsyncIterator[Recollect]:
    """
    Open the memory that *target* names; what is written is counted if a service serves it.

    Raises:
        NotFoundError: There is none, and it is not to be created.
    """
    import recollect
    from recollect.server.quotas import counting

    file = store_file(target.store)
    if not create and file is not None and not file.exists():
        msg = (
            f"there is no store at {str(file)!r}: `recollect import FILE` makes one; "
            "--store or RECOLLECT_STORE names another"
        )
        raise NotFoundError(msg)
    async with (
        recollect.open(target.store, embedder=target.embedder, rerank=target.rerank) as memory,
        counting(memory) as counted,
    ):
        yield counted
