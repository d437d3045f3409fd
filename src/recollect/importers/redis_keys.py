"""A database of a Redis server: the chat histories of LangChain, and what AutoChain keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from anyio import to_thread

from recollect.conversation.redis_memory import redis_errors
from recollect.errors import MissingExtraError, UsageError
from recollect.importers import autochain
from recollect.importers import langchain_messages as langchain
from recollect.importers.import_entries import Changed, ImportOptions, Refused, Row, shown
from recollect.importers.import_run import (
    FileReport,
    ImportCounts,
    ImportProgress,
    OnRefused,
    OnStopped,
    keep_batch,
    keep_waiting,
    nothing,
    telling,
)
from recollect.importers.input_files import LINE_BYTES_MAX
from recollect.importers.pickle_reader import is_pickle
from recollect.memory.facade import Recollect
from recollect.memory.restoration import open_intake
from recollect.records import Scope

if TYPE_CHECKING:
    from redis import Redis

PREFIX: Final = "message_store:"
"""With which LangChain's histories begin their keys, unless they are told otherwise."""
OTHER_KEYS: Final = "keys that hold something of another program"
EXPIRING: Final = "keys that would have expired: what was read of them stays"
JSON_TYPE: Final = "ReJSON-RL"
"""Redis's type name of a JSON document, in which langchain-redis keeps a message."""
_PAGE: Final = 500
_OURS: Final = (b"{recollect}:", b"recollect:{")
_CONVERSATION: Final = f":{autochain.CONVERSATION}"

_Keys: TypeAlias = dict[str, list[bytes]]
"""The keys of a database by the type of what they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSelection:
    """
    Which keys of a database to import, and where to.

    *match* is a Redis key pattern. *prefixes* are non-default key prefixes: LangChain's
    ``key_prefix``, AutoChain's ``redis_key_prefix``. Each session, or AutoChain prefix, becomes a
    thread with its name; with *as_scopes*, a scope with its name below the target scope, with the
    thread *thread*.
    """

    match: str = "*"
    prefixes: tuple[str, ...] = ()
    as_scopes: bool = False
    thread: str = "history"

    def reading(self, key: str, session: str) -> ImportOptions:
        """Return the options for reading the *key* of a session."""
        if self.as_scopes:
            return ImportOptions(name=key, thread=self.thread, below=(session,))
        return ImportOptions(name=key, thread=session)


ALL: Final = RedisSelection()


async def import_redis(
    memory: Recollect,
    scope: Scope,
    url: str,
    selection: RedisSelection = ALL,
    *,
    restore_erased: bool = False,
    on_refused: OnRefused = nothing,
    on_stopped: OnStopped = nothing,
    progress: ImportProgress = nothing,
) -> FileReport:
    """
    Import LangChain's and AutoChain's memories from a Redis database into *scope*.

    The database is only read, key by key in SCAN order; concurrent writes may be missed until the
    next import. Importing again changes nothing: a message's id is its own, or made from its key,
    its position counted from the oldest, and its content.

    Raises:
        UsageError: The address is not that of a Redis database.
        MissingExtraError: redis-py is not installed.
        StoreUnavailableError: The server cannot be reached.
        StoreError: The server refused, or the store of *memory* failed; earlier batches are stored.
    """
    tally = ImportCounts(on_refused, open_intake(memory, restore_erased=restore_erased))
    with connected(url) as client:
        source = _Database(client, selection)
        await to_thread.run_sync(source.scan)
        rows = source.rows()
        with telling(tally, name_of(url), on_stopped):
            while await keep_batch(memory, scope, rows, tally):
                progress(tally.rows, source.fraction)
            await keep_waiting(tally)
    return tally.imported(name_of(url))


def name_of(url: str) -> str:
    """
    Return the address without a user, a password and options.

    >>> name_of("redis://ada:secret@localhost:6379/0?ssl_ca_certs=a")
    'redis://localhost:6379/0'
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@contextmanager
def connected(url: str) -> Iterator[Redis]:
    """Yield a client of the server at *url*; its errors become ours."""
    try:
        import redis  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("redis", "redis") from error
    try:
        client = redis.Redis.from_url(_driver_address(url))
    except (ValueError, TypeError) as error:
        msg = f"{name_of(url)} names no database of a Redis server: {error}"
        raise UsageError(msg) from error
    with redis_errors(), client:
        yield client


def _driver_address(url: str) -> str:
    """Return an address of ours as redis-py takes it, which knows no durability."""
    parts = urlsplit(url)
    options = urlencode([pair for pair in parse_qsl(parts.query) if pair[0] != "durability"])
    scheme = parts.scheme.lower().removeprefix("redis+")
    return f"{scheme}://{parts.netloc}{parts.path}{'?' if options else ''}{options}"


@dataclass(slots=True)
class _Database:
    """Reads one database: the keys first, then their contents."""

    client: Redis
    selection: RedisSelection
    keys: _Keys = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    done: int = 0

    @property
    def fraction(self) -> float | None:
        """Return the fraction of the keys that were read."""
        count = sum(map(len, self.keys.values()))
        return self.done / count if count else None

    def scan(self) -> None:
        """List the keys that match, by what they hold."""
        client: Any = self.client
        found = set(client.scan_iter(match=self.selection.match, count=_PAGE))
        names = sorted(name for name in found if not name.startswith(_OURS))
        for start in range(0, len(names), _PAGE):
            part = names[start : start + _PAGE]
            with client.pipeline(transaction=False) as pipeline:
                for name in part:
                    pipeline.type(name)
                for name, kind in zip(part, pipeline.execute(), strict=True):
                    self.keys.setdefault(kind.decode(), []).append(name)

    def rows(self) -> Iterator[Row]:
        """Yield what the keys hold."""
        prefixes = self._autochain_prefixes()
        for kind, names in self.keys.items():
            if kind == JSON_TYPE:
                yield refused_documents(names)
            for name in names:
                self.done += 1
                yield from self._key(kind, name, prefixes)
        for what, count in (+self.others).items():
            yield Changed(place="the database", what=what, count=count)

    def _autochain_prefixes(self) -> tuple[str, ...]:
        """Return the prefixes that are named, or that a conversation shows, longest first."""
        ends = _CONVERSATION.encode()
        shown_by = (name for name in self.keys.get("string", ()) if name.endswith(ends))
        found = {name[: -len(ends)].decode(errors="replace") for name in shown_by}
        return tuple(sorted({*found, *self.selection.prefixes} - {""}, key=len, reverse=True))

    def _key(self, kind: str, name: bytes, prefixes: tuple[str, ...]) -> Iterator[Row]:
        if kind not in {"list", "string"}:
            self.others[OTHER_KEYS] += kind != JSON_TYPE
            return
        try:
            key = name.decode()
        except UnicodeDecodeError:
            self.others[OTHER_KEYS] += 1
            return
        place = f"key {shown(key)}"
        yield from self._list(key, place) if kind == "list" else self._string(key, place, prefixes)

    def _list(self, key: str, place: str) -> Iterator[Row]:
        prefixes = (PREFIX, *self.selection.prefixes)
        oldest: Any = self.client.lindex(key, -1)
        if not key.startswith(prefixes) and not is_message(oldest):
            self.others[OTHER_KEYS] += 1
            return
        self._note_expiry(key)
        reading = self.selection.reading(key, session_of(key, prefixes))
        yield from langchain.read_history(self._elements(key), place, reading)

    def _elements(self, key: str) -> Iterator[bytes]:
        """Yield the elements from the last: the newest is first, and more come before it."""
        client: Any = self.client
        end = -1
        while found := client.lrange(key, end - _PAGE + 1, end):
            yield from reversed(found)
            end -= len(found)

    def _string(self, key: str, place: str, prefixes: tuple[str, ...]) -> Iterator[Row]:
        client: Any = self.client
        if not is_pickle(client.getrange(key, 0, 0)):
            self.others[OTHER_KEYS] += 1
            return
        if (size := client.strlen(key)) > LINE_BYTES_MAX:
            reason = f"it has {size} bytes; the limit is {LINE_BYTES_MAX}, LINE_BYTES_MAX"
            yield Refused(place=place, reason=reason)
            return
        prefix = next((each for each in prefixes if key.startswith(f"{each}:")), None)
        if prefix is None:
            reason = "it is a pickle below no known prefix: name its prefix with --key-prefix"
            yield Refused(place=place, reason=reason)
            return
        self._note_expiry(key)
        content = client.get(key) or b""
        reading = self.selection.reading(key, prefix)
        named = key[len(prefix) + 1 :]
        if named == autochain.CONVERSATION:
            yield from autochain.read_conversation(content, place, reading)
        else:
            yield from autochain.read_value(content, named, place, reading)

    def _note_expiry(self, key: str) -> None:
        left: Any = self.client.pttl(key)
        self.others[EXPIRING] += left >= 0


def session_of(key: str, prefixes: tuple[str, ...]) -> str:
    """
    Return the session of a list at *key*: what follows the longest prefix, else the whole key.

    >>> session_of("message_store:ada", ("message_store:",)), session_of("talk", ())
    ('ada', 'talk')
    """
    fitting = [each for each in prefixes if key.startswith(each)]
    return key[len(max(fitting, key=len)) :] if fitting else key


def is_message(element: bytes | None) -> bool:
    """Return True if an element of a list is one of LangChain's messages."""
    try:
        value = langchain.element_value(element or b"")
    except UsageError:
        return False
    return isinstance(value, Mapping) and langchain.is_message(value)


def refused_documents(names: list[bytes]) -> Refused:
    """Return the refusal of JSON documents, which a plain Redis server cannot read."""
    reason = (
        f"it and {len(names) - 1} more hold JSON documents, as langchain-redis writes them, which "
        "are not read: write messages_to_dict(history.messages) to a file as JSON, and import that"
    )
    return Refused(place=f"key {shown(names[0].decode(errors='replace'))}", reason=reason)
