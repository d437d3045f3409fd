"""Open the store of a command, reject a missing one, and choose that of a service."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.cli.options import DEFAULT_STORE, Option, Target, store_option
from recollect.errors import NotFoundError

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

_IN_ADDRESS: Final = re.compile(r"^([a-z+]+://[^/@:]*:)[^@]*@")
_IN_OPTIONS: Final = re.compile(r"(?<![a-z])(password=)[^&\s]*")


def time_now(memory: Recollect) -> datetime:
    """Return the present time by the store's clock."""
    from recollect.stores.validation import to_datetime

    return to_datetime(memory.store.now())


def store_file(url: str) -> Path | None:
    """
    Return the file of the store at *url*, ``None`` if it is not in a file.

    >>> store_file("sqlite:///var/lib/memory.db"), store_file("memory:")
    (PosixPath('/var/lib/memory.db'), None)

    Raises:
        UsageError: The address names an unknown backend.
    """
    from recollect.stores.locator import file_of

    return file_of(url)


def without_password(address: str) -> str:
    """
    Return the address of a store with its password replaced.

    >>> without_password("postgresql://ada:secret@host/memory")
    'postgresql://ada:***@host/memory'
    >>> without_password("memory.db")
    'memory.db'
    """
    shown = _IN_ADDRESS.sub(r"\1***@", address)
    return _IN_OPTIONS.sub(r"\1***", shown)


def user_store() -> Path | None:
    """Return the path of the user's own store, ``None`` without the extra ``service``."""
    if find_spec("platformdirs") is None:
        return None
    import platformdirs

    return platformdirs.user_data_path("recollect", appauthor=False) / "recollect.db"


def check_exists(store: str, makers: str) -> None:
    """
    Check that the store exists, or is not in a file; *makers* are commands that create one.

    Raises:
        NotFoundError: It does not; the error names the user's own store if there is one.
    """
    file = store_file(store)
    if file is None or file.exists():
        return
    own = user_store()
    other = f"that of `recollect serve` is {str(own)!r}; " if own and own.exists() else ""
    raise NotFoundError(
        f"there is no store at {str(file)!r}: {makers} creates one; {other}"
        "--store or RECOLLECT_STORE names another"
    )


@asynccontextmanager
async def opened(target: Target, *, create: bool = False) -> AsyncIterator[Recollect]:
    """
    Open the memory of *target*; usage is counted if a service uses its store.

    Raises:
        NotFoundError: The store does not exist, and *create* is False.
    """
    import recollect
    from recollect.server.quotas import counting

    if not create:
        check_exists(target.store, "`recollect import FILE`")
    async with (
        recollect.open(
            target.store,
            embedder=target.embedder,
            rerank=target.rerank,
            index_files=target.index_files,
            replicas=target.replicas,
        ) as memory,
        counting(memory) as counted,
    ):
        yield counted


def default_store() -> str:
    """Return the default store of a service."""
    own = user_store()
    if own is None or Path(DEFAULT_STORE).exists():
        return DEFAULT_STORE
    return str(own)


def service_store_option() -> Option:
    """Return the option that names the store of a service."""
    return store_option(
        "A file, as a path or sqlite: URL, or a server's.",
        default=default_store,
        shown=f"{DEFAULT_STORE} if it exists, else a file in your data folder",
    )


def make_folder(store: str) -> None:
    """Create the user's data folder, readable only by the user, if *store* is in it."""
    own = user_store()
    if own is not None and store_file(store) == own:
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
