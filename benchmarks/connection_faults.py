"""Inject faults on the way to a PostgreSQL server: lost commits, cancels, mixed tenants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import count
from random import Random
from typing import Final

from benchmarks.fault_counts import FaultOutcome
from recollect.errors import RecollectError
from recollect.records import NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from tests.harness.faulty_proxy import Cut, FaultyProxy
from tests.harness.postgres_faults import (
    HastyStore,
    WatchedStore,
    dropped_predicates,
    guessing,
    lasting_settings,
    not_idle,
    sessions_of,
)
from tests.harness.postgres_server import PostgresServer, empty_store

DATABASE: Final = "recollect"
GUESSED: Final = "run again without a key"
HASTY: Final = "given back while at work"
LASTING: Final = "settings of the session"
CONNECTIONS: Final = 3
DELAY_S: Final = 0.0005

_CUTS: Final[tuple[Cut, ...]] = ("before", "after")
_PEOPLE: Final[tuple[Scope, ...]] = (("users", "ada"), ("users", "bob"), ("users", "cem"))
_TENANTS: Final[tuple[Scope, ...]] = (("ab",), ("z",))
_AT_ONCE: Final = 30
_ANSWER_S: Final = 0.2
"""Timeout of the control for an answer that another request may have got."""


def url_through(proxy: FaultyProxy) -> str:
    """Return the address of the store behind *proxy*."""
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/{DATABASE}?connect_timeout=2"


def directly(proxy: FaultyProxy) -> AbstractContextManager[str]:
    """Return the address of the store behind *proxy*, with nothing in between."""
    return nullcontext(url_through(proxy))


async def cut(
    server: PostgresServer,
    number: int,
    control: str = "",
    *,
    way: Callable[[FaultyProxy], AbstractContextManager[str]] = directly,
) -> FaultOutcome:
    """
    Cut the connection *number* times at COMMIT, alternately before and after the server gets it.

    Each time one memory is rewritten, with a new key: its final version tells how often it was
    written. The control has no key, and guesses. *way* leads to the proxy, as through a pooler.
    """
    empty_store(server.url(DATABASE))
    outcome, scope = FaultOutcome(tried=number), _PEOPLE[0]
    with FaultyProxy(server.socket) as proxy, ExitStack() as mutant:
        if control:
            mutant.enter_context(guessing())
        url = mutant.enter_context(way(proxy))
        async with WatchedStore(url) as store:
            for each in range(number):
                proxy.cuts.append(_CUTS[each % 2])
                write = PutMemory(type="Fact", key="k", value={"n": each})
                key = None if control else f"request {each}"
                try:
                    await store.apply(scope, [write], idempotency_key=key)
                except RecollectError:
                    continue
                outcome.acknowledged += 1
            found = await store.get(scope, "Fact", "k")
    written = found.version if found else 0
    outcome.add("lost", map(str, range(written, outcome.acknowledged)))
    outcome.add("doubled", map(str, range(number, written)))
    outcome.failures.update(store.errors)
    return outcome


async def cancel(server: PostgresServer, number: int, control: str = "") -> FaultOutcome:
    """
    Cancel at least *number* requests of three users on three connections, and let others end.

    Each answer must be to its own question, and at the end no more connections be open than
    there may be, none of them in a transaction. The control is a store whose cancelled
    callers give their connections back at once.
    """
    empty_store(server.url(DATABASE))
    outcome = FaultOutcome()
    with FaultyProxy(server.socket) as proxy:
        proxy.delay_s = DELAY_S
        opened = HastyStore if control else WatchedStore
        limits = {"answer_s": _ANSWER_S} if control else {}
        async with opened(url_through(proxy), connections_max=CONNECTIONS, **limits) as store:
            await _ask_many(store, number, outcome)
            # One more call, queued behind the unfinished work of cancelled callers.
            calls = (store.messages(scope, "talk") for scope in _PEOPLE)
            await asyncio.gather(*calls, return_exceptions=bool(control))
            outcome.add("in a transaction", map(str, range(not_idle(store))))
            open_now = max(proxy.connections, sessions_of(server.url(DATABASE)) - 1)
            outcome.add("leaked", map(str, range(CONNECTIONS, open_now)))
    return outcome


async def _ask_many(store: Store, number: int, outcome: FaultOutcome) -> None:
    """Read each tenant's words concurrently, and cancel every second read."""
    random = Random(3)  # noqa: S311 - repeatable on purpose
    for scope in _PEOPLE:
        await store.append(scope, "talk", [NewMessage(role="user", text=str(scope))])

    async def ask(request: int) -> None:
        scope = _PEOPLE[request % len(_PEOPLE)]
        if request % 5 == 0:
            said = [NewMessage(role="user", text=str(scope), id=f"m{request}")]
            found = list(await store.append(scope, "talk", said))
        else:
            found = list((await store.messages(scope, "talk", limit=2)).rows)
        if found and all(each.text == str(scope) for each in found):
            outcome.acknowledged += 1
        else:
            outcome.failures["wrong reply"] += 1

    for start in count(0, _AT_ONCE):
        if outcome.tried >= number:
            return
        asked = [asyncio.ensure_future(ask(start + each)) for each in range(_AT_ONCE)]
        for task in random.sample(asked, len(asked) // 2):
            await asyncio.sleep(DELAY_S)
            outcome.tried += task.cancel()
        for each in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(each, Exception):
                outcome.failures[type(each).__name__] += 1


async def interleave(
    server: PostgresServer, number: int, control: str = "", *, url: str = ""
) -> FaultOutcome:
    """
    Interleave *number* requests of two tenants on two connections, and cancel a quarter.

    The statements do not name their scope: the server's wall alone keeps tenants apart. The
    control makes the wall of settings that outlive their transaction. *url* is where the
    store is reached, if not at the server itself.
    """
    empty_store(server.url(DATABASE))
    random, outcome = Random(7), FaultOutcome()  # noqa: S311 - repeatable on purpose
    with dropped_predicates(), ExitStack() as mutant:
        if control:
            mutant.enter_context(lasting_settings())
        async with WatchedStore(url or server.url(DATABASE), connections_max=2) as store:
            for scope in _TENANTS:
                said = [NewMessage(role="user", text=f"of {scope}") for _ in range(3)]
                await store.append(scope, "talk", said)

            async def read(scope: Scope) -> None:
                page = await store.messages(scope, "talk")
                outcome.acknowledged += 1
                foreign = sum(each.text != f"of {scope}" for each in page.rows)
                if foreign:
                    outcome.failures["foreign row"] += foreign

            for _ in range(0, number, 20):
                asked = [asyncio.ensure_future(read(random.choice(_TENANTS))) for _ in range(20)]
                outcome.tried += len(asked)
                await asyncio.sleep(0)
                for task in random.sample(asked, 5):
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
            outcome.failures.update(store.errors)
    return outcome
