"""Call every read of the API, to compare its results with the truth after damage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from recollect.errors import RecollectError, StoreError
from recollect.memory.facade import Recollect
from recollect.recall.query import Where
from recollect.records import Memory, Scope, Thread
from recollect.stores.change_feed import Cursor
from recollect.stores.validation import to_datetime

Read: TypeAlias = Callable[[Recollect], Awaitable[object]]

REFUSED: Final = "refused"
"""The answer of a read that raised a `StoreError`: it found the damage."""
ESCAPED: Final = "escaped: "
"""The prefix of a read's answer if it raised any other error."""
_PAGE: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The contents of an intact store, for reads by name."""

    scopes: Sequence[Scope]
    threads: Sequence[Thread]
    memories: Sequence[Memory]
    formations: Sequence[tuple[Scope, str]]
    queries: Sequence[str]


async def known_in(memory: Recollect, queries: Sequence[str]) -> Known:
    """Return the contents of an intact memory."""
    scopes = [each async for each in _all_scopes(memory)]
    threads = [each for scope in scopes for each in (await memory.threads(scope, limit=1_000)).rows]
    memories = [
        each for scope in scopes for each in (await memory.memories(scope, limit=1_000)).rows
    ]
    formations = [
        (scope, each.id)
        for scope in scopes
        for each in (await memory.formations(scope, limit=1_000)).rows
    ]
    return Known(
        scopes=scopes, threads=threads, memories=memories, formations=formations, queries=queries
    )


async def answers(memory: Recollect, known: Known) -> dict[str, str]:
    """Return the result of each read, by name; reads are independent."""
    found: dict[str, str] = {}
    for name, read in _reads(known).items():
        try:
            found[name] = repr(await read(memory))
        except StoreError:
            found[name] = REFUSED
        except (RecollectError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            found[name] = f"{ESCAPED}{type(error).__name__}: {error}"
        except (AttributeError, AssertionError, RuntimeError, BaseExceptionGroup) as error:
            found[name] = f"{ESCAPED}{type(error).__name__}: {error}"
    return found


def wrong(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the reads whose result is neither correct nor a refusal."""
    return [
        f"{name}: {answer[:200]}"
        for name, answer in found.items()
        if answer not in (REFUSED, expected[name])
    ]


def _reads(known: Known) -> dict[str, Read]:
    found: dict[str, Read] = dict(_of_the_store(known))
    for scope in known.scopes:
        found |= {f"{scope!r} {name}": read for name, read in _of_a_scope(scope, known).items()}
    for thread in known.threads:
        found |= {
            f"{thread.scope!r} {thread.id} {name}": read
            for name, read in _of_a_thread(thread).items()
        }
    for each in known.memories:
        address = (each.scope, each.type, each.key)
        found[f"{address!r} get"] = lambda memory, at=address: memory.get(*at)  # type: ignore[misc]
        found[f"{address!r} history"] = lambda memory, at=address: memory.history(*at)  # type: ignore[misc]
    for scope, id_ in known.formations:
        found[f"{scope!r} formation {id_}"] = lambda memory, scope=scope, id_=id_: (  # type: ignore[misc]
            memory.formation(scope, id_)
        )
    return found


def _of_the_store(known: Known) -> dict[str, Read]:
    return {
        "scopes": lambda memory: _listed(_all_scopes(memory)),
        "scopes with an end": lambda memory: memory.scopes(suffix=known.scopes[0][-1:]),
        "pending": lambda memory: memory.pending(limit=1_000),
        "receipts": lambda memory: memory.receipts(),
        "ledger": lambda memory: memory.store.ledger(),
        "places": lambda memory: memory.store.places(known.scopes),
        "due": lambda memory: memory.store.due_count(),
        "unembedded": lambda memory: memory.store.unembedded_count("none/1"),
        **{
            f"recall {query!r} below": lambda memory, query=query: _recalled(  # type: ignore[misc]
                memory, known.scopes[0][:1], query, below=True
            )
            for query in known.queries
        },
    }


def _of_a_scope(scope: Scope, known: Known) -> dict[str, Read]:
    types = sorted({each.type for each in known.memories if each.scope == scope})
    return {
        "export": lambda memory: _listed(memory.export(scope)),
        "threads": lambda memory: _threads(memory, scope),
        "memories": lambda memory: _memories(memory, scope, None),
        **{
            f"memories of {type_}": lambda memory, type_=type_: _memories(memory, scope, type_)  # type: ignore[misc]
            for type_ in types
        },
        **{
            f"newest of {type_}": lambda memory, type_=type_: memory.store.newest(  # type: ignore[misc]
                scope, type_, limit=5
            )
            for type_ in types
        },
        "feed": lambda memory: memory.store.changes(Cursor(scope=scope), embedder="none/1"),
        "past": lambda memory: memory.store.past(scope, to_datetime(memory.store.now())),
        "formations": lambda memory: memory.formations(scope, limit=1_000),
        "dead formations": lambda memory: memory.formations(scope, status="dead"),
        "pending": lambda memory: memory.pending(scope, limit=1_000),
        "spent": lambda memory: memory.store.spent(scope, known.threads[0].created_at),
        "audit": lambda memory: memory.audit(scope, limit=1_000),
        "audit verified": lambda memory: memory.verify_audit(scope),
        "scope id": lambda memory: memory.store.scope_id(scope),
        **{
            f"recall {query!r}": lambda memory, query=query: _recalled(memory, scope, query)  # type: ignore[misc]
            for query in known.queries
        },
        "recall with a filter": lambda memory: _recalled(
            memory, scope, known.queries[0], where=Where(filter={"part": 0})
        ),
    }


def _of_a_thread(thread: Thread) -> dict[str, Read]:
    place = thread.scope, thread.id
    middle = max(1, thread.last // 2)
    return {
        "thread": lambda memory: memory.thread(*place),
        "messages": lambda memory: _messages(memory, thread),
        "messages at once": lambda memory: memory.messages(*place, limit=1_000),
        "messages after": lambda memory: memory.messages(*place, after=middle, limit=_PAGE),
        "last messages": lambda memory: memory.last_messages(*place, limit=_PAGE),
        "last messages before": lambda memory: memory.last_messages(
            *place, limit=_PAGE, before=middle
        ),
        "all last messages": lambda memory: memory.last_messages(*place, limit=1_000),
        "changes": lambda memory: memory.store.thread_changes(*place),
        "number": lambda memory: memory.store.thread_numbers(thread.scope, [thread.id]),
        "state": lambda memory: memory.state(*place),
    }


async def _recalled(
    memory: Recollect,
    scope: Scope,
    query: str,
    *,
    below: bool = False,
    where: Where | None = None,
) -> object:
    found = await memory.recall(scope, query, below=below, where=where, limit=20)
    return replace(found, tokens=0)


async def _listed(each: AsyncIterator[object]) -> list[object]:
    return [one async for one in each]


async def _all_scopes(memory: Recollect) -> AsyncIterator[Scope]:
    cursor: str | None = None
    while True:
        page = await memory.scopes(cursor=cursor, limit=_PAGE)
        for scope in page.rows:
            yield scope
        cursor = page.cursor
        if cursor is None:
            return


async def _threads(memory: Recollect, scope: Scope) -> list[Thread]:
    found: list[Thread] = []
    cursor: str | None = None
    while True:
        page = await memory.threads(scope, cursor=cursor, limit=_PAGE)
        found += page.rows
        cursor = page.cursor
        if cursor is None:
            return found


async def _memories(memory: Recollect, scope: Scope, type_: str | None) -> list[Memory]:
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = await memory.memories(scope, type_=type_, cursor=cursor, limit=_PAGE)
        found += page.rows
        cursor = page.cursor
        if cursor is None:
            return found


async def _messages(memory: Recollect, thread: Thread) -> list[object]:
    found: list[object] = []
    after = 0
    while page := (await memory.messages(thread.scope, thread.id, after=after, limit=_PAGE)).rows:
        found += page
        after = page[-1].position
    return found
