"""A client that appends word after word over HTTP, and retries unanswered requests."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from benchmarks.fault_counts import FaultOutcome
from benchmarks.http_load import LoadRequest, Order
from recollect.records import Scope
from recollect.stores.contract.base import Store

_CREATED: Final = b"HTTP/1.1 201"
_RETRIED: Final = (b"HTTP/1.1 502", b"HTTP/1.1 503", b"HTTP/1.1 504")
"""A proxy's answers when a node is gone: the write may have happened."""
_PAGE: Final = 1_000


class Reachable(Protocol):
    """An address that takes requests."""

    @property
    def host(self) -> str:
        """The host."""
        ...

    @property
    def port(self) -> int:
        """The port."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of each request."""
        ...


@dataclass(slots=True)
class RetryingWriter:
    """
    A client that appends word after word to its own thread, retrying until answered.

    It sets no message ids, which would prevent duplicates as well. A careful one sends each word
    under an idempotency key.
    """

    name: str
    is_careful: bool
    query: str = ""
    number: int = 0
    acknowledged: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """The next word, or the one to retry."""
        return f"{self.name} says {self.number}"

    def request(self, service: Reachable) -> bytes:
        """Return the request for that word."""
        headers = dict(service.headers)
        if self.is_careful:
            headers["idempotency-key"] = self.word
        said = LoadRequest(
            method="POST",
            path=f"/v1/threads/{self.name}/messages{self.query}",
            body=json.dumps({"messages": [{"role": "user", "text": self.word}]}),
        )
        (found,) = Order(
            host=service.host, port=service.port, headers=headers, requests=[said]
        ).encoded()
        return found

    async def talk(
        self,
        service: Reachable,
        answered: asyncio.Event,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Write until the connection breaks or the run ends."""
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(service.host, service.port)
            try:
                while not is_over():
                    writer.write(self.request(service))
                    head = await reader.readuntil(b"\r\n\r\n")
                    if head.startswith(_RETRIED):
                        return
                    if not head.startswith(_CREATED):
                        msg = f"the service answered {head[:40]!r} to a client"
                        raise RuntimeError(msg)
                    # Once the head of the answer arrives, the write counts as acknowledged.
                    self.acknowledged.append(self.word)
                    self.number += 1
                    answered.set()
                    length = head.lower().partition(b"content-length:")[2].split()[0]
                    await reader.readexactly(int(length))
            finally:
                writer.close()


async def kept_texts(store: Store, scope: Scope, thread: str) -> Counter[str]:
    """Return how often each text is in a thread."""
    kept: Counter[str] = Counter()
    after = 0
    while True:
        page = await store.messages(scope, thread, after=after, limit=_PAGE)
        kept.update(message.text for message in page.rows)
        if page.cursor is None:
            return kept
        after = page.rows[-1].position


def count_words(promised: Iterable[str], kept: Counter[str], outcome: FaultOutcome) -> None:
    """Count in *outcome* the acknowledged words that are missing, and the duplicated ones."""
    outcome.add("lost", [word for word in promised if word not in kept])
    outcome.add("doubled", [f"{word} twice" for word, times in kept.items() if times > 1])
