"""Import from a Redis database: LangChain's chat histories and AutoChain's memories."""

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
from recollect.importers.awaited_import import awaited_import
from recollect.importers.import_entries import (
    Difference,
    ImportOptions,
    Refused,
    Row,
    changes,
    shown,
)
from recollect.importers.import_run import (
    FileReport,
    ImportCounts,
    ImportProgress,
    OnRefused,
    OnStopped,
    ignore_report,
    keep_batch,
    keep_waiting,
    reporting_stop,
)
from recollect.importers.input_files import LINE_BYTES_MAX
from recollect.importers.pickle_reader import is_pickle
from recollect.memory.facade import Recollect
from recollect.memory.record_imports import open_record_import
from recollect.records import Scope

if TYPE_CHECKING:
    from redis import Redis

PREFIX: Final = "message_store:"
"""The default ``key_prefix`` of LangChain's chat histories."""
OTHER_KEYS: Final = Difference("keys that hold something of another program")
EXPIRING: Final = Difference("keys that would have expired: what was read of them stays")
JSON_TYPE: Final = "ReJSON-RL"
"""Redis's type name of a JSON document, in which langchain-redis keeps a message."""
_PAGE: Final = 500
"""Keys, or elements of a list, read per call."""
_OURS: Final = (b"{recollect}:", b"recollect:{")
"""The prefixes of the keys of Recollect's own Redis store."""
_CONVERSATION: Final = f":{autochain.CONVERSATION}"

_Keys: TypeAlias = dict[str, list[bytes]]
"""The keys of a database by Redis's name of their type."""


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


@awaited_import
async def import_redis(
    memory: Recollect,
    scope: Scope,
    url: str,
    selection: RedisSelection = ALL,
    *,
    restore_erased: bool = False,
    on_refused: OnRefused = ignore_report,
    on_stopped: OnStopped = ignore_report,
    progress: ImportProgress = ignore_report,
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
    tally = ImportCounts(on_refused, open_record_import(memory, restore_erased=restore_erased))
    with connected(url) as client:
        source = _Database(client, selection)
        await to_thread.run_sync(source.scan)
        rows = source.rows()
        with reporting_stop(tally, name_of(url), on_stopped):
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
    """Yield a client of the Redis server at *url*; its errors become Recollect's errors."""
    try:
        import redis  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("redis", "redis") from error
    try:
        client = redis.Redis.from_url(_driver_address(url))
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name_of(url)} names no database of a Redis server: {error}") from error
    with redis_errors(), client:
        yield client


def _driver_address(url: str) -> str:
    """Return *url* for redis-py: without the options and the scheme that only Recollect knows."""
    parts = urlsplit(url)
    options = urlencode([pair for pair in parse_qsl(parts.query) if pair[0] != "durability"])
    scheme = parts.scheme.lower().removeprefix("redis+")
    return f"{scheme}://{parts.netloc}{parts.path}{'?' if options else ''}{options}"


@dataclass(slots=True)
class _Database:
    """Reads one database: all keys first, then their contents."""

    client: Any
    """A `redis.Redis`; its types are those of both the sync and the async client."""
    selection: RedisSelection
    keys: _Keys = field(default_factory=dict)
    others: Counter[Difference] = field(default_factory=Counter)
    done: int = 0

    @property
    def fraction(self) -> float | None:
        """Return the fraction of the keys that were read."""
        count = sum(map(len, self.keys.values()))
        return self.done / count if count else None

    def scan(self) -> None:
        """List the keys that match, by their type."""
        # SCAN may return a key more than once: hence the set.
        found = set(self.client.scan_iter(match=self.selection.match, count=_PAGE))
        names = sorted(name for name in found if not name.startswith(_OURS))
        for start in range(0, len(names), _PAGE):
            part = names[start : start + _PAGE]
            with self.client.pipeline(transaction=False) as pipeline:
                for name in part:
                    pipeline.type(name)
                for name, kind in zip(part, pipeline.execute(), strict=True):
                    self.keys.setdefault(kind.decode(), []).append(name)

    def rows(self) -> Iterator[Row]:
        """Yield the rows of all keys, then counts of what was left out."""
        prefixes = self._autochain_prefixes()
        for kind, names in self.keys.items():
            if kind == JSON_TYPE:
                yield refused_documents(names)
            for name in names:
                self.done += 1
                yield from self._read_key(kind, name, prefixes)
        yield from changes("the database", self.others)

    def _autochain_prefixes(self) -> tuple[str, ...]:
        """Return the given prefixes and those of conversations found, longest first."""
        ending = _CONVERSATION.encode()
        named = (name for name in self.keys.get("string", ()) if name.endswith(ending))
        found = {name[: -len(ending)].decode(errors="replace") for name in named}
        return tuple(sorted({*found, *self.selection.prefixes} - {""}, key=len, reverse=True))

    def _read_key(self, kind: str, name: bytes, prefixes: tuple[str, ...]) -> Iterator[Row]:
        if kind not in {"list", "string"}:
            self.others[OTHER_KEYS] += kind != JSON_TYPE
            return
        try:
            key = name.decode()
        except UnicodeDecodeError:
            self.others[OTHER_KEYS] += 1
            return
        place = f"key {shown(key)}"
        if kind == "list":
            yield from self._read_list(key, place)
        else:
            yield from self._read_string(key, place, prefixes)

    def _read_list(self, key: str, place: str) -> Iterator[Row]:
        prefixes = (PREFIX, *self.selection.prefixes)
        oldest = self.client.lindex(key, -1)
        if not key.startswith(prefixes) and not is_message(oldest):
            self.others[OTHER_KEYS] += 1
            return
        self._note_expiry(key)
        reading = self.selection.reading(key, session_of(key, prefixes))
        yield from langchain.read_history(self._elements(key), place, reading)

    def _elements(self, key: str) -> Iterator[bytes]:
        """Yield the elements of a list from its end, which is the oldest message."""
        # LangChain pushes new messages to the front: indexes from the end stay valid meanwhile.
        end = -1
        while found := self.client.lrange(key, end - _PAGE + 1, end):
            yield from reversed(found)
            end -= len(found)

    def _read_string(self, key: str, place: str, prefixes: tuple[str, ...]) -> Iterator[Row]:
        if not is_pickle(self.client.getrange(key, 0, 0)):
            self.others[OTHER_KEYS] += 1
            return
        if (size := self.client.strlen(key)) > LINE_BYTES_MAX:
            reason = f"it has {size} bytes; the limit is {LINE_BYTES_MAX}, LINE_BYTES_MAX"
            yield Refused(place=place, reason=reason)
            return
        prefix = next((each for each in prefixes if key.startswith(f"{each}:")), None)
        if prefix is None:
            reason = "it is a pickle below no known prefix: name its prefix with --key-prefix"
            yield Refused(place=place, reason=reason)
            return
        self._note_expiry(key)
        content = self.client.get(key) or b""
        reading = self.selection.reading(key, prefix)
        named = key[len(prefix) + 1 :]
        if named == autochain.CONVERSATION:
            yield from autochain.read_conversation(content, place, reading)
        else:
            yield from autochain.read_value(content, named, place, reading)

    def _note_expiry(self, key: str) -> None:
        # PTTL is negative for a key that never expires.
        self.others[EXPIRING] += self.client.pttl(key) >= 0


def session_of(key: str, prefixes: tuple[str, ...]) -> str:
    """
    Return the session of a list at *key*: the rest after the longest prefix, or the whole key.

    >>> session_of("message_store:ada", ("message_store:",)), session_of("talk", ())
    ('ada', 'talk')
    """
    fitting = [each for each in prefixes if key.startswith(each)]
    return key[len(max(fitting, key=len)) :] if fitting else key


def is_message(element: bytes | None) -> bool:
    """Return True if *element* of a list is one of LangChain's messages."""
    try:
        value = langchain.element_value(element or b"")
    except UsageError:
        return False
    return isinstance(value, Mapping) and langchain.is_message(value)


def refused_documents(names: list[bytes]) -> Refused:
    """Return one refusal for all JSON documents, which need a Redis module to be read."""
    reason = (
        f"it and {len(names) - 1} more hold JSON documents, as langchain-redis writes them, which "
        "are not read: write messages_to_dict(history.messages) to a file as JSON, and import that"
    )
    return Refused(place=f"key {shown(names[0].decode(errors='replace'))}", reason=reason)
