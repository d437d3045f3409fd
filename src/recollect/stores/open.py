"""From an address to a store: the one place that knows which backends there are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from recollect.errors import UsageError
from recollect.ports import Clock, Ids
from recollect.stores.base import Store

Durability: TypeAlias = Literal["full", "relaxed"]

# A single letter before a colon is a drive, not a scheme.
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")


def open_store(
    url: str | os.PathLike[str],
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    durability: Durability = "full",
) -> Store:
    """
    Open the store at *url*; a file that does not exist is made.

    Args:
        url: ``memory:`` lives in this process alone. ``sqlite:///var/lib/memory.db``,
            ``sqlite:memory.db`` or a plain path is a file, taken literally.
        durability: ``"full"``: an acknowledged write survives power loss. ``"relaxed"``:
            it survives the death of the process, but a power loss or a crash of the machine loses the
            writes of the last moments. Means nothing to ``memory:``.

    Raises:
        UsageError: The address names no backend that there is.
        StoreError: The store cannot be opened; the class says why.
    """
    address = os.fspath(url)
    found = _SCHEME.match(address)
    if found is None:
        return _open_sqlite(address, clock, ids, durability)
    backend = _BACKENDS.get(found[1].lower())
    if backend is None:
        msg = f"unknown scheme {found[1]!r} in {address!r}: use one of {', '.join(map(repr, _BACKENDS))}, or a path"
        raise UsageError(msg)
    return backend(address[found.end() :], clock, ids, durability)


def _open_memory(rest: str, clock: Clock | None, ids: Ids | None, durability: Durability) -> Store:
    from recollect.stores.inprocess import InProcessStore

    if rest:
        msg = f"'memory:' stands alone, not before {rest!r}"
        raise UsageError(msg)
    return InProcessStore(clock=clock, ids=ids)


def _open_sqlite(rest: str, clock: Clock | None, ids: Ids | None, durability: Durability) -> Store:
    from recollect.stores.sqlite.store import SQLiteStore

    path = rest
    if rest.startswith("//"):
        if not rest.startswith("///"):
            msg = (
                f"'sqlite:{rest}' names a machine: write sqlite:///absolute/path or sqlite:relative"
            )
            raise UsageError(msg)
        path = rest[2:]
    if not path:
        msg = "a SQLite store needs a file: write sqlite:///absolute/path or sqlite:relative"
        raise UsageError(msg)
    return SQLiteStore(path, clock=clock, ids=ids, durability=durability)


_BACKENDS: Final[dict[str, Callable[[str, Clock | None, Ids | None, Durability], Store]]] = {
    "memory": _open_memory,
    "sqlite": _open_sqlite,
}
