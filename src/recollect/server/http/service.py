"""A running service: its memory, keys, limits and signing secret, and how it starts and stops."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import anyio
from fastapi import FastAPI

from recollect import __version__
from recollect.errors import RecollectError, VersionConflictError
from recollect.formation.config import Assistants
from recollect.memory.facade import Recollect
from recollect.memory.settings_cache import SettingsCache
from recollect.ports import Model
from recollect.records import JsonObject, Scope
from recollect.server.api_keys import Keys
from recollect.server.authorization import PERMISSIONS, RESERVED, Principal
from recollect.server.column_cache import ColumnCache
from recollect.server.first_key import (
    DEFAULT_SCOPE,
    PAGE_KEY,
    check_scope_is_bound,
    ensure_first_key,
    page_key,
    page_scope,
    read_common_scope,
)
from recollect.server.http.change_watch import Watch
from recollect.server.http.prometheus import Metrics
from recollect.server.http.recall_history import RecallLog
from recollect.server.http.request_log import LOG
from recollect.server.http.signed_tokens import Signer
from recollect.server.key_watch import KeyWatch
from recollect.server.quotas import Quotas, Rates, metered
from recollect.server.settings import Settings
from recollect.server.single_flight import SingleFlight
from recollect.server.usage import UsageBook, UsageLimits
from recollect.side_records import PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.validation import to_datetime

SERVICE_SCOPE: Final[Scope] = (RESERVED, "settings")
VIEWS_MAX: Final = 1_000
SECRET: Final = "ServiceSecret"  # noqa: S105 (the name of a kind)
STORE_ID_CHARACTERS: Final = 16

OpenMemory: TypeAlias = Callable[[], AbstractAsyncContextManager[Recollect]]
"""Opens the memory of the service; it is closed when the service ends."""
KeyCallback: TypeAlias = Callable[[str], None]


@dataclass(slots=True, kw_only=True)
class Service:
    """Everything that a route needs."""

    settings: Settings
    memory: Recollect
    """The memory; every change of a request is counted against the quotas."""
    keys: Keys
    assistants: Assistants
    model: Model | None
    signer: Signer
    store_id: str
    """An id of the store, by which a client tells it from others at the same address."""
    is_temporary: bool
    """Whether the store is removed when the service stops."""
    rates: Rates
    usage: UsageBook
    recalled: RecallLog
    columns: ColumnCache
    """For sorted listings of memories."""
    watch: Watch
    key_watch: KeyWatch
    metrics: Metrics
    stopping: anyio.Event
    scope_settings: SettingsCache[JsonObject]
    """Settings of scopes, by scope and depth."""
    everybody: Principal | None
    """The caller of every request when authentication is off."""
    streams: dict[str, int] = field(default_factory=dict)
    """Open streams by tenant."""
    answers: SingleFlight = field(default_factory=SingleFlight)
    """Serialises the chat answers to the same message."""
    first_listings: SingleFlight = field(default_factory=SingleFlight)
    """Serialises listings that read a whole scope, by scope and moment."""

    views: dict[str, tuple[int, Recollect]] = field(default_factory=dict)
    """The last view of the memory by actor, with its stamp; see `view_of`."""

    def view_of(self, actor: str, stamp: int) -> Recollect:
        """Return the memory as *actor* changes it under *stamp*; a view has no state of its own."""
        held = self.views.get(actor)
        if held is not None and held[0] == stamp:
            return held[1]
        view = self.memory.acting(actor, stamp=stamp)
        if len(self.views) >= VIEWS_MAX:
            self.views.clear()
        self.views[actor] = stamp, view
        return view

    def now(self) -> datetime:
        """Return the store's present moment."""
        return to_datetime(self.memory.store.now())

    async def check_quota(self, principal: Principal, *, messages: int, size: int) -> None:
        """
        Raise if *messages*, of *size* bytes together, would exceed the tenant's daily quota.

        It counts nothing: use it before costly work. The write itself is checked again.

        Raises:
            QuotaError: They would; the error has the seconds until the next day.
        """
        limits = limits_of(self.settings)
        await self.usage.check(principal.tenant, limits, messages=messages, bytes=size)


def limits_of(settings: Settings) -> UsageLimits:
    """Return a tenant's daily write limits."""
    return {
        "messages": settings.messages_a_day,
        "memories": settings.memories_a_day,
        "bytes": settings.bytes_a_day,
    }


def local_principal(settings: Settings) -> Principal:
    """Return the caller of every request when authentication is off."""
    return Principal(
        key_id="",
        name="local",
        scope=settings.scope or DEFAULT_SCOPE,
        permissions=frozenset(PERMISSIONS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCallbacks:
    """Functions that are called while a service starts."""

    tell_key: KeyCallback
    """Called with the first key of a store without keys."""
    tell_page_key: KeyCallback | None = None
    """Called with a key that ends with the service, or "" when authentication is off."""
    tell_ready: Callable[[], None] = lambda: None
    """Called before both, once nothing can refuse the start any more."""


@asynccontextmanager
async def opened_service(
    settings: Settings,
    open_memory: OpenMemory,
    *,
    assistants: Assistants,
    model: Model | None,
    metrics: Metrics,
    stopping: anyio.Event,
    start: StartCallbacks,
    is_temporary: bool = False,
) -> AsyncIterator[Service]:
    """
    Open the memory and the state beside it, and run the background tasks.

    Raises:
        UsageError: The settings choose a scope that no key of the store is bound to.
    """
    async with open_memory() as memory:
        kept = await _kept_secret(memory)
        keys, usage = Keys(memory.store), UsageBook(memory.store)
        quotas = Quotas(usage, limits_of(settings), metrics.messages.inc)
        async with _started(settings, memory.store, keys, start):
            service = Service(
                settings=settings,
                memory=metered(memory, quotas),
                keys=keys,
                assistants=assistants,
                model=model,
                signer=Signer((settings.secret or kept).encode()),
                # Not the configured secret, which several stores may share.
                store_id=Signer(kept.encode()).derived("store id").hex()[:STORE_ID_CHARACTERS],
                is_temporary=is_temporary,
                rates=Rates(rate=settings.requests_a_second, burst=settings.burst),
                usage=usage,
                recalled=RecallLog(),
                columns=ColumnCache(),
                watch=Watch(memory.store, stopping),
                key_watch=KeyWatch(keys, lambda: to_datetime(memory.store.now())),
                metrics=metrics,
                stopping=stopping,
                scope_settings=SettingsCache(memory.store),
                everybody=None if settings.auth else local_principal(settings),
            )
            async with _running(service):
                yield service


@asynccontextmanager
async def _started(
    settings: Settings, store: Store, keys: Keys, start: StartCallbacks
) -> AsyncIterator[None]:
    """
    Accept the settings and report the keys; a page key ends with the block.

    Raises:
        UsageError: The settings choose a scope that no key of the store is bound to.
    """
    if settings.auth:
        if settings.scope is not None and start.tell_page_key is None:
            await _check_scope_is_bound(settings.scope, keys)
        start.tell_ready()
        async with _reported_keys(settings, store, keys, start):
            yield
        return
    start.tell_ready()
    if start.tell_page_key is not None:
        start.tell_page_key("")
    yield


@asynccontextmanager
async def _running(service: Service) -> AsyncIterator[None]:
    """Run the background tasks; at the end, stop them and write the last counts of usage."""
    auth = service.settings.auth
    async with anyio.create_task_group() as group:
        group.start_soon(service.usage.keep)
        group.start_soon(service.watch.run)
        group.start_soon(service.key_watch.run)
        LOG.info("started", extra={"fields": {"version": __version__, "auth": auth}})
        try:
            yield
        finally:
            service.stopping.set()
            group.cancel_scope.cancel()
            # Shielded: the last counts are written even if the shutdown is cancelled.
            with anyio.CancelScope(shield=True):
                await service.usage.flush()
            LOG.info("stopped")


async def _check_scope_is_bound(scope: Scope, keys: Keys) -> None:
    """
    Check that the chosen scope is bound to a key that outlives this process, if there are any.

    Raises:
        UsageError: No such key is bound to it, so it would be ignored.
    """
    check_scope_is_bound(scope, [each for each in await keys.all() if each.name != PAGE_KEY])


@asynccontextmanager
async def _reported_keys(
    settings: Settings, store: Store, keys: Keys, start: StartCallbacks
) -> AsyncIterator[None]:
    """Report the first key of a store without keys, and a page key until the block ends."""
    common = await read_common_scope(store)
    if first := await ensure_first_key(keys, settings.scope, common):
        start.tell_key(first)
    if start.tell_page_key is None:
        yield
        return
    scope, now = page_scope(settings.scope, common), to_datetime(store.now())
    async with page_key(keys, scope, now, start.tell_page_key):
        yield


def begin_state(app: FastAPI, stopping: anyio.Event) -> None:
    """Set the state that *app* has before its service is open."""
    app.state.stopping, app.state.refusal = stopping, None
    app.state.connections = ()  # replaced by the connections of the server, once it runs


@asynccontextmanager
async def kept_refusal(app: FastAPI) -> AsyncIterator[None]:
    """Store the error on *app* if it cannot start, so that the command can print one sentence."""
    try:
        yield
    except RecollectError as error:
        if not hasattr(app.state, "service"):
            app.state.refusal = error
        raise


async def _kept_secret(memory: Recollect) -> str:
    """Return the signing secret stored in this store; the first call creates it."""
    while True:
        found = await memory.store.side_record(SERVICE_SCOPE, SECRET, SECRET)
        if found is not None:
            return str(found.value["secret"])
        value = {"secret": secrets.token_urlsafe(48)}
        put = PutSideRecord(kind=SECRET, key=SECRET, value=value, expected=0)
        try:
            await memory.store.apply(SERVICE_SCOPE, [put])
        except VersionConflictError:
            continue  # another process stored its secret first: read that one
