"""Order-independent digests of records, and the last line of an export, which contains one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from recollect.records import JsonObject

END: Final = "end"
"""Kind of the last line of an export or archive, with count and digest of the records before."""
PROBLEM: Final = "problem"
"""Kind of the last line of an export that the service ended with an error."""
LINES: Final = "application/x-ndjson"
"""Media type of an export."""
_DIGEST_BYTES: Final = 32
_MODULUS: Final = 1 << (8 * _DIGEST_BYTES)
_encoded: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(slots=True)
class Digest:
    """An order-independent digest of *count* records."""

    sum: int = 0
    count: int = 0

    def add(self, records: Iterable[JsonObject]) -> None:
        """Add *records*."""
        self.take(digests_of(records))

    def take(self, digests: Counter[int]) -> None:
        """Add records by their digests."""
        for digest, count in digests.items():
            # A sum does not depend on the order, and unlike XOR counts a repeated record twice.
            self.sum = (self.sum + digest * count) % _MODULUS
            self.count += count

    def end_record(self) -> JsonObject:
        """Return the last line of an export of these records."""
        return {"kind": END, "count": self.count, "digest": str(self)}

    def __str__(self) -> str:
        return self.sum.to_bytes(_DIGEST_BYTES, "big").hex()


def record_digest(record: JsonObject) -> int:
    """Return the digest of one record, equal for records of equal content."""
    written = _encoded(record).encode()
    return int.from_bytes(blake2b(written, digest_size=_DIGEST_BYTES).digest(), "big")


def digests_of(records: Iterable[JsonObject]) -> Counter[int]:
    """Return the multiset of digests of *records*."""
    return Counter(map(record_digest, records))


async def ended(records: AsyncIterator[JsonObject]) -> AsyncIterator[JsonObject]:
    """Yield *records* and then a last line; a file without it is incomplete."""
    digest = Digest()
    async for record in records:
        digest.add([record])
        yield record
    yield digest.end_record()
