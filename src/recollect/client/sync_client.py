"""`SyncClient`: the same client without ``await``, each method taken from `Client` as it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal

from recollect.client.client import TIMEOUT_S, Client
from recollect.client.http_requests import RETRIES
from recollect.errors import StoreClosedError
from recollect.sync.portal import PortalThread

P = ParamSpec("P")
T = TypeVar("T")


class _Waiting(Generic[P, T]):
    """A method of `Client`, called without ``await``: it waits for the answer."""

    def __init__(self, method: Callable[Concatenate[Client, P], Coroutine[Any, Any, T]]) -> None:
        self.method = method

    def __get__(self, face: SyncClient | None, owner: type) -> Callable[P, T]:
        @wraps(self.method)
        def waiting(*arguments: P.args, **named: P.kwargs) -> T:
            portal, client = opened(face)
            call: Callable[[], Coroutine[Any, Any, T]] = partial(
                self.method, client, *arguments, **named
            )
            answer: T = portal.call(call)
            return answer

        return waiting


class _Iterating(Generic[P, T]):
    """A method of `Client` that yields: each step waits for the next."""

    def __init__(self, method: Callable[Concatenate[Client, P], AsyncIterator[T]]) -> None:
        self.method = method

    def __get__(self, face: SyncClient | None, owner: type) -> Callable[P, Iterator[T]]:
        @wraps(self.method)
        def iterating(*arguments: P.args, **named: P.kwargs) -> Iterator[T]:
            portal, client = opened(face)
            found = self.method(client, *arguments, **named)

            async def following() -> list[T]:
                async for each in found:
                    return [each]
                return []

            try:
                while each := portal.call(following):
                    yield each[0]
            finally:
                if isinstance(found, AsyncGenerator):
                    portal.call(found.aclose)

        return iterating


class SyncClient:
    """
    Blocking variant of `Client`, with the same methods.

    It runs on its own thread, so that it works in notebooks and inside a running event loop (which
    it blocks). Enter it with ``with``.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
    ) -> None:
        self._client = Client(url, key, timeout_s=timeout_s, retries=retries)
        self._portal: BlockingPortal | None = None
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as exit_:
            portal = exit_.enter_context(PortalThread())
            opened: AbstractContextManager[Client] = portal.wrap_async_context_manager(self._client)
            exit_.enter_context(opened)
            self._portal = portal
            self._exit = exit_.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._portal = None
        self._exit.close()

    me = _Waiting(Client.me)
    append = _Waiting(Client.append)
    threads = _Waiting(Client.threads)
    thread = _Waiting(Client.thread)
    messages = _Waiting(Client.messages)
    last_messages = _Waiting(Client.last_messages)
    remove = _Waiting(Client.remove)
    replace = _Waiting(Client.replace)
    put = _Waiting(Client.put)
    get = _Waiting(Client.get)
    memories = _Waiting(Client.memories)
    history = _Waiting(Client.history)
    forget = _Waiting(Client.forget)
    scopes = _Waiting(Client.scopes)
    recall = _Waiting(Client.recall)
    form = _Waiting(Client.form)
    pending = _Waiting(Client.pending)
    formations = _Waiting(Client.formations)
    formation = _Waiting(Client.formation)
    pause = _Waiting(Client.pause)
    resume = _Waiting(Client.resume)
    retry = _Waiting(Client.retry)
    reject = _Waiting(Client.reject)
    approve = _Waiting(Client.approve)
    preview_erase = _Waiting(Client.preview_erase)
    confirm_erase = _Waiting(Client.confirm_erase)
    erase = _Waiting(Client.erase)
    receipts = _Waiting(Client.receipts)
    export = _Iterating(Client.export)
    restore = _Waiting(Client.restore)
    health = _Waiting(Client.health)
    audit = _Waiting(Client.audit)
    audit_verified = _Waiting(Client.audit_verified)


def opened(face: SyncClient | None) -> tuple[BlockingPortal, Client]:
    """
    Return the portal of an open client, and the client.

    Raises:
        StoreClosedError: The client is not open.
    """
    portal = face._portal if face else None  # noqa: SLF001 (it is the other half of the face)
    if face is None or portal is None:
        msg = "this client is not open: use it inside 'with SyncClient(...)'"
        raise StoreClosedError(msg)
    return portal, face._client  # noqa: SLF001
