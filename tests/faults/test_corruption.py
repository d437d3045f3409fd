"""What a store says of a file in which bytes changed, or whose log is not the one it wrote."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.bench.proofs import DAMAGED, NAMES, chance
from recollect.errors import StoreError
from recollect.records import Scope
from recollect.stores.rows import Cursor
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.invariants import violations
from recollect.testing.powerloss import PowerLossDisk

SCOPES: tuple[Scope, ...] = tuple(("clients", name) for name in NAMES)


async def everything(path: Path) -> str:
    """Return everything that a store says, of all scopes."""
    with PowerLossDisk() as disk:
        async with disk.open(path, clock=FrozenClock(), ids=SeededIds(1)) as store:
            said = [
                (await store.archive(scope), repr(await store.changes(Cursor(scope=scope))))
                for scope in SCOPES
            ]
            listed = (await store.scopes()).rows
    return json.dumps([said, listed])


async def verdict(path: Path, expected: str) -> str:
    """Say how a store takes a damaged file."""
    try:
        said = await everything(path)
    except StoreError:
        return "refused"
    except DAMAGED as error:
        return f"escaped: {type(error).__name__}"
    if said == expected:
        return "right"
    with PowerLossDisk() as disk:
        return "found by a check" if violations(path, vfs=disk.vfs) else "never found"


def flipped(content: bytes, times: int, seed: int) -> Iterator[bytes]:
    """Yield *content* with one byte changed, *times*."""
    random = chance(seed)
    for _ in range(times):
        at, other = random.randrange(len(content)), random.randrange(1, 256)
        yield content[:at] + bytes([content[at] ^ other]) + content[at + 1 :]


async def flip(path: Path, times: int, seed: int = 1) -> Counter[str]:
    """Change one byte of a closed store's file, *times*; count what came of it."""
    content, found = path.read_bytes(), Counter[str]()
    expected = await everything(path)
    for damaged in flipped(content, times, seed):
        for each in path.parent.glob(f"{path.name}-*"):
            each.unlink()
        path.write_bytes(damaged)
        found[await verdict(path, expected)] += 1
    return found
