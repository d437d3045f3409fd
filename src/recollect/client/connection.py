"""The connection of a client: open it, send requests, close it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final, Self
from uuid import uuid4

import anyio

from recollect.client.http_requests import (
    RETRIES,
    HttpSender,
    ServiceRequest,
    ServiceResponse,
    open_http,
    path_of,
)
from recollect.errors import NotFoundError, StoreClosedError, UsageError
from recollect.records import ScopeLike

TIMEOUT_S: Final = 60.0


class ServiceConnection:
    """The connection that all methods of a client share; enter it with ``async with``."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """
        Create a client, without connecting.

        Args:
            url: The address of the service, such as ``https://memory.example.org``.
            key: An API key, if the service requires one.
            timeout_s: The timeout for a connection, and for each part of a response, in seconds.
            retries: Maximum retries of a request.
            sleep: Function that waits between two attempts.
        """
        self._url = url.rstrip("/")
        self._key = key
        self._timeout_s = timeout_s
        self._retries = retries
        self._sleep = sleep
        self._sender: HttpSender | None = None
        self._process: int | None = None
        self._exit = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def open(self) -> Self:
        """
        Open the client without ``async with``; call `close` at the end.

        Raises:
            UsageError: It is open already.
        """
        if self._sender is not None:
            raise UsageError("this client is open already: close() it before it is opened again")
        web = open_http(self._url, self._key, self._timeout_s)
        self._process = os.getpid()
        await self._exit.enter_async_context(web)
        self._sender = HttpSender(web, retries=self._retries, sleep=self._sleep)
        return self

    async def close(self) -> None:
        """Close the connections; a no-op if the client is not open, or in a forked child."""
        self._sender = None
        if self._process == os.getpid():
            await self._exit.aclose()

    def _opened(self) -> HttpSender:
        if self._sender is None:
            msg = "this client is not open: use it inside 'async with Client(...)'"
            raise StoreClosedError(msg)
        # A child shares the sockets of its parent, and each could read the other's answers.
        if self._process != os.getpid():
            raise StoreClosedError(
                f"this client belongs to process {self._process}, which opened it: open one after "
                "the fork, in the process that uses it"
            )
        return self._sender

    async def _read(self, scope: ScopeLike, *parts: str, **query: object) -> ServiceResponse:
        request = ServiceRequest(
            method="GET", path=path_of(*parts), scope=scope, query=query, is_repeatable=True
        )
        return await self._opened().ask(request)

    async def _found(
        self, scope: ScopeLike, *parts: str, **query: object
    ) -> ServiceResponse | None:
        """Return the response; ``None`` for 404."""
        try:
            return await self._read(scope, *parts, **query)
        except NotFoundError:
            return None

    async def _write(
        self,
        method: str,
        scope: ScopeLike,
        *parts: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        is_repeatable: bool = False,
    ) -> ServiceResponse:
        request = ServiceRequest(
            method=method,
            path=path_of(*parts),
            scope=scope,
            json=body,
            headers=headers or {},
            is_repeatable=is_repeatable,
        )
        return await self._opened().ask(request)


def made_key() -> dict[str, str]:
    """Return a new idempotency key as a header, which all attempts of one call share."""
    return {"idempotency-key": uuid4().hex}


def expecting(expected: int | None) -> dict[str, str]:
    """Return the header with the expected version; 0 means that there is none yet."""
    if expected is None:
        return {}
    return {"if-match": f'"{expected}"'} if expected else {"if-none-match": "*"}
