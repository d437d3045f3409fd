"""A chain's memory in Redis, shared by the processes of a service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, unquote

from recollect.conversation.chain_memory import ChainMemory
from recollect.conversation.json_form import json_of
from recollect.conversation.key_value import checked_key
from recollect.conversation.openai_messages import ChatMessageHistory, MessageType, message_for
from recollect.errors import (
    MissingExtraError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
    UsageError,
)
from recollect.messages import AnyMessage, message_classes, message_of, record_of
from recollect.records import Json, NewMessage
from recollect.stores.validation import encode_json

if TYPE_CHECKING:
    from redis import Redis

ResultT = TypeVar("ResultT")

ONE_HOUR_S: Final = 3_600
_FIELDS: Final = ("role", "text", "id", "name", "content", "metadata")

# The set of names must outlive every value, as a value whose name is gone can be neither listed
# nor cleared: extend the set's expiry, and never shorten it.
_SAVE: Final = """
local name, value, lasts = ARGV[1], ARGV[2], tonumber(ARGV[3])
local there, left = redis.call('EXISTS', KEYS[2]), redis.call('PTTL', KEYS[2])
redis.call('SADD', KEYS[2], name)
if lasts == 0 then
  redis.call('SET', KEYS[1], value)
  redis.call('PERSIST', KEYS[2])
else
  redis.call('SET', KEYS[1], value, 'PX', lasts)
  if there == 0 or (left >= 0 and left < lasts) then
    redis.call('PEXPIRE', KEYS[2], lasts)
  end
end
"""
# A pickle starts with byte 128 (its PROTO opcode), which no JSON or UTF-8 text can start with.
_IS_PICKLE: Final = """
if redis.call('TYPE', KEYS[1])['ok'] ~= 'string' then return 0 end
return redis.call('GETRANGE', KEYS[1], 0, 0) == string.char(128) and 1 or 0
"""
_CLEAR: Final = """
for _, name in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  redis.call('DEL', ARGV[1] .. name)
end
redis.call('DEL', KEYS[1], KEYS[2])
"""


class RedisMemory(ChainMemory):
    """
    Named values and one conversation in Redis under *redis_key_prefix*, shared by processes.

    Everything is stored as JSON, so reading never runs code. Messages are appended to a list, so
    that two processes can save at once. A value expires *expire_time* seconds after it was saved,
    the conversation that long after its last message; ``None`` keeps them. Synchronous methods
    block until the server answers; their ``a…`` variants run in a worker thread.
    """

    def __init__(
        self,
        *,
        redis_key_prefix: str,
        redis_client: Redis,
        expire_time: int | None = ONE_HOUR_S,
    ) -> None:
        """
        Use a client of redis-py.

        Raises:
            MissingExtraError: redis-py is not installed.
            UsageError: The prefix is empty, the client is asynchronous, or the time is not a
                positive integer.
        """
        if iscoroutinefunction(getattr(redis_client, "execute_command", None)):
            msg = "redis_client is one of redis.asyncio: give a redis.Redis, used in a thread"
            raise UsageError(msg)
        if expire_time is not None and expire_time < 1:
            msg = f"expire_time is {expire_time!r}: give at least 1 second, or None to keep values"
            raise UsageError(msg)
        self.redis_key_prefix = checked_key(redis_key_prefix)
        self.redis_client = redis_client
        self.expire_time = expire_time
        # Quoting removes colons from the prefix, so that no two memories share a key. The braces
        # are a hash tag: they keep a conversation's keys on one server of a cluster, as the
        # scripts need.
        base = f"recollect:{{{quote(redis_key_prefix, safe='')}}}"
        self._messages = f"{base}:messages"
        self._names = f"{base}:names"
        self._values = f"{base}:value:"

    def load_memory(self, key: str | None = None, default: object = None) -> Any:
        """
        Return the value at *key*, or *default*; without a key, all values by key.

        Raises:
            UsageError: There is none, but AutoChain has stored a pickle at the key.
            StoreUnavailableError: The server cannot be reached.
        """
        return self._run(partial(self._load, key=key, default=default))

    def save_memory(self, key: str, value: object) -> None:
        """
        Store *value* at *key*, and replace an earlier one.

        Raises:
            UsageError: The key is not a non-empty string, or JSON cannot express the value.
            StoreUnavailableError: The server cannot be reached; the value may have been stored.
        """
        text = encode_json(json_of(value, f"the value of {key!r}"), f"the value of {key!r}")
        name = quote(checked_key(key), safe="")
        lasts_ms = 0 if self.expire_time is None else self.expire_time * 1_000
        keys = [f"{self._values}{name}", self._names]
        self._run(lambda client: client.eval(_SAVE, 2, *keys, name, text, str(lasts_ms)))

    def load_conversation(self) -> ChatMessageHistory:
        """
        Return a copy of the conversation, oldest message first.

        Raises:
            UsageError: There is none, but AutoChain has stored a pickle of one.
            StoreCorruptError: A message is damaged, or this class did not write it.
        """
        kept = self._run(lambda client: client.lrange(self._messages, 0, -1))
        if not kept:
            self._run(partial(self._refuse_pickled, key=ChatMessageHistory.__name__))
        return ChatMessageHistory(_message_in(each) for each in kept)

    def save_conversation(self, /, message: str, message_type: MessageType, **fields: Json) -> None:
        """
        Append a message; a function message has ``name`` and ``conversational_message``.

        Raises:
            MissingKeyError: A function message has no name.
            StoreUnavailableError: The server cannot be reached; the message may be appended.
        """
        text = _text_of(message_for(message, message_type, fields))

        def append(client: Redis) -> None:
            with client.pipeline(transaction=True) as pipeline:
                pipeline.rpush(self._messages, text)
                if self.expire_time is None:
                    pipeline.persist(self._messages)
                else:
                    pipeline.expire(self._messages, self.expire_time)
                pipeline.execute()

        self._run(append)

    def clear(self) -> None:
        """Remove the values and the conversation of exactly this prefix, atomically."""
        self._run(lambda client: client.eval(_CLEAR, 2, self._names, self._messages, self._values))

    def _load(self, client: Redis, *, key: str | None, default: Any) -> Any:
        if key is None:
            return self._all(client)
        found: Any = client.get(f"{self._values}{quote(checked_key(key), safe='')}")
        if found is None:
            self._refuse_pickled(client, key=key)
            return default
        return _read(found)

    def _all(self, client: Redis) -> dict[str, Any]:
        members: Any = client.smembers(self._names)
        names = sorted(each.decode() if isinstance(each, bytes) else each for each in members)
        found: Any = client.mget([f"{self._values}{name}" for name in names]) if names else []
        return {
            unquote(name): _read(each)
            for name, each in zip(names, found, strict=True)
            if each is not None
        }

    def _refuse_pickled(self, client: Redis, *, key: str) -> None:
        """Raise if AutoChain has stored a pickle at *key*, as unpickling can run code."""
        prefix = self.redis_key_prefix
        place = key if key.startswith(prefix) else f"{prefix}:{key}"
        if client.eval(_IS_PICKLE, 1, place):
            raise UsageError(
                f"{place!r} holds a pickle written by AutoChain, which is not loaded, as it could "
                "run code: `recollect import redis://…` imports it as data"
            )

    def _run(self, work: Callable[[Redis], ResultT]) -> ResultT:
        with redis_errors():
            return work(self.redis_client)


@contextmanager
def redis_errors() -> Iterator[None]:
    """Raise errors of redis-py as `StoreUnavailableError` or `StoreError`."""
    try:
        from redis import exceptions
    except ImportError as error:
        raise MissingExtraError("redis", "redis") from error
    try:
        yield
    except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.BusyLoadingError) as e:
        msg = f"Redis cannot be reached: {e}; try again when it is back"
        raise StoreUnavailableError(msg) from e
    except exceptions.RedisError as e:
        raise StoreError(f"Redis refused the command: {e}") from e


def _text_of(message: AnyMessage) -> str:
    record = record_of(message)
    fields = {name: getattr(record, name) for name in _FIELDS}
    return encode_json({name: each for name, each in fields.items() if each}, "a message")


def _message_in(text: str | bytes) -> AnyMessage:
    kept = _read(text)
    try:
        record = NewMessage(**{"text": "", **kept})
        return message_of(record, classes=message_classes())
    except (TypeError, UsageError) as error:
        msg = f"a message in Redis is damaged, or RedisMemory did not write it: {text!r}"
        raise StoreCorruptError(msg) from error


def _read(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        msg = f"a value in Redis is damaged, or RedisMemory did not write it: {text!r}"
        raise StoreCorruptError(msg) from error
