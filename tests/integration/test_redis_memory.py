"""A chain's memory in a real Redis server, which this module starts and ends."""

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

from recollect import UsageError
from recollect.conversation import MessageType, RedisMemory, chain_inputs, keep_outputs
from recollect.errors import StoreCorruptError, StoreUnavailableError


@pytest.fixture(params=[False, True], ids=["bytes", "text"])
def client(redis_socket: str, request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    """Yield a client of an empty database, with answers as bytes and as text."""
    with redis.Redis(unix_socket_path=redis_socket, decode_responses=request.param) as client:
        client.flushall()
        yield client


def of(client: redis.Redis, prefix: str = "ada", expire_time: int | None = 3_600) -> RedisMemory:
    """Return the memory at a prefix."""
    return RedisMemory(redis_key_prefix=prefix, redis_client=client, expire_time=expire_time)


def test_values_come_back_and_are_listed(client: redis.Redis) -> None:
    """A key may have any characters; a missing one is missing, a kept null is there."""
    memory = of(client)
    memory.save_memory("city", {"name": "Oslo", "at": [59.9, 10.7]})
    memory.save_memory("ada:ключ *", None)

    assert {"city": {"name": "Oslo", "at": [59.9, 10.7]}, "ada:ключ *": None} == (
        memory.load_memory()
    )
    assert memory.load_memory("ada:ключ *", "default") is None
    assert memory.load_memory("town", "default") == "default"
    assert of(client, "bob").load_memory() == {}


def test_messages_of_every_type_come_back(client: redis.Redis) -> None:
    memory = of(client)
    memory.save_conversation("Where is my order?", MessageType.UserMessage)
    memory.save_conversation("", MessageType.AIMessage, function_call={"name": "track"})
    memory.save_conversation(
        "sent", MessageType.FunctionMessage, name="track", conversational_message="Looked it up"
    )
    memory.save_conversation("Be brief.", MessageType.SystemMessage)

    history = of(client).load_conversation()
    assert (
        "User: Where is my order?\nAssistant: \nAction: Looked it up\nSystem: Be brief.\n"
    ) == history.format_message()
    assert history.to_openai()[2] == {"role": "function", "name": "track", "content": "sent"}


def test_two_processes_write_one_conversation(redis_socket: str, client: redis.Redis) -> None:
    """None of the messages is lost, and each process's stay in their order."""
    program = (
        "import sys, redis\n"
        "from recollect.conversation import MessageType, RedisMemory\n"
        "client = redis.Redis(unix_socket_path=sys.argv[1])\n"
        "memory = RedisMemory(redis_key_prefix='ada', redis_client=client)\n"
        "for number in range(100):\n"
        "    text = f'{sys.argv[2]} {number}'\n"
        "    memory.save_conversation(text, MessageType.UserMessage)\n"
        "memory.save_memory(sys.argv[2], 'done')\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program, redis_socket, name], env={"PYTHONPATH": source}
        )
        for name in ("one", "two")
    ]
    assert [each.wait(timeout=300) for each in writers] == [0, 0]

    said = [str(each.content) for each in of(client).load_conversation().messages]
    for name in ("one", "two"):
        assert [f"{name} {n}" for n in range(100)] == [s for s in said if s.startswith(name)]
    assert len(said) == 200
    assert of(client).load_memory() == {"one": "done", "two": "done"}


def test_a_message_is_appended_not_rewritten(client: redis.Redis) -> None:
    """What is sent for the hundredth message is no more than for the first."""
    memory = of(client)

    def sent() -> int:
        before = int(client.info("stats")["total_net_input_bytes"])
        memory.save_conversation("x" * 1_000, MessageType.UserMessage)
        return int(client.info("stats")["total_net_input_bytes"]) - before

    first = sent()
    for _ in range(98):
        sent()
    assert sent() <= first + 100


def test_what_is_written_refreshes_the_expiry(client: redis.Redis) -> None:
    memory = of(client, expire_time=1_000)
    memory.save_memory("city", "Oslo")
    memory.save_conversation("Hello", MessageType.UserMessage)
    keys = sorted(client.keys("*"))
    for each in keys:
        client.expire(each, 10)

    memory.save_memory("city", "Bergen")
    memory.save_conversation("Hello again", MessageType.UserMessage)

    assert len(keys) == 3
    assert all(900 < client.ttl(each) <= 1_000 for each in keys)


def test_an_expired_value_is_not_there(client: redis.Redis) -> None:
    memory = of(client)
    memory.save_memory("city", "Oslo")
    memory.save_memory("language", "no")
    (key,) = [each for each in client.keys("*") if str(each).find("city") >= 0]
    client.pexpireat(key, 1)

    assert memory.load_memory("city") is None
    assert memory.load_memory() == {"language": "no"}


def test_a_short_lived_write_does_not_hide_a_long_lived_value(client: redis.Redis) -> None:
    """Without its name in the list a value would be neither listed nor cleared."""
    of(client, expire_time=None).save_memory("city", "Oslo")
    of(client, expire_time=10).save_memory("code", "1234")
    (names,) = [each for each in client.keys("*") if str(each).find("names") >= 0]

    assert client.ttl(names) == -1
    of(client).clear()
    assert client.keys("*") == []


@pytest.mark.parametrize("prefix", ["*", "a*", "[ab]da", "ad?", "ada:value", "ada}", "{ada"])
def test_clearing_takes_nobody_elses(client: redis.Redis, prefix: str) -> None:
    """Neither a pattern among the prefixes nor one that begins as another does."""
    client.set("*:key", "somebody's")
    for each in ("ada", prefix):
        of(client, each).save_memory("value:x", each)
        of(client, each).save_conversation(each, MessageType.UserMessage)

    of(client, prefix).clear()

    assert of(client, prefix).load_memory() == {}
    assert len(of(client, prefix).load_conversation()) == 0
    assert of(client).load_memory() == {"value:x": "ada"}
    assert len(of(client).load_conversation()) == 1
    assert client.get("*:key") in ("somebody's", b"somebody's")


def test_a_careless_clearing_would_be_noticed(client: redis.Redis) -> None:
    """The check above sees a clearing by a pattern, as AutoChain does it."""

    class Careless(RedisMemory):
        def clear(self) -> None:
            for each in self.redis_client.keys(f"recollect:{{{self.redis_key_prefix}*"):
                self.redis_client.delete(each)

    of(client, "ada").save_memory("city", "Oslo")
    Careless(redis_key_prefix="a*", redis_client=client).clear()

    assert of(client, "ada").load_memory() == {}


def test_messages_rewritten_as_a_whole_would_be_lost(client: redis.Redis) -> None:
    """What two writers do to a conversation that each reads, extends and writes back."""
    one, other = of(client), of(client)
    one.save_conversation("One", MessageType.UserMessage)
    (key,) = client.keys("*messages")
    read = [client.lrange(key, 0, -1), client.lrange(key, 0, -1)]
    for number, kept in enumerate(read):
        client.delete(key)
        client.rpush(key, *kept, f'{{"role": "user", "text": "{number}"}}')
    assert len(one.load_conversation()) == 2

    client.delete(key)
    for each in (one, other, one):
        each.save_conversation("More", MessageType.UserMessage)
    assert len(one.load_conversation()) == 3


def test_what_autochain_pickled_is_refused_unread(client: redis.Redis) -> None:
    """Reading it would run it; the error says what to do. What is written here goes before."""

    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return exec, ("raise SystemExit('a pickle was run')",)

    client.set("ada:city", pickle.dumps(Bomb()))
    client.set("ada:ChatMessageHistory", pickle.dumps([Bomb()]))
    memory = of(client)

    with pytest.raises(UsageError, match=r"holds a pickle.*recollect import"):
        memory.load_memory("city")
    with pytest.raises(UsageError, match="ada:ChatMessageHistory"):
        memory.load_conversation()
    memory.save_memory("city", "Oslo")
    assert memory.load_memory("city") == "Oslo"


def test_text_at_autochains_place_is_no_pickle(client: redis.Redis) -> None:
    client.set("ada:city", "Oslo")
    client.rpush("ada:ChatMessageHistory", "Oslo")

    assert of(client).load_memory("city", "default") == "default"
    assert len(of(client).load_conversation()) == 0


def test_what_is_damaged_is_told(client: redis.Redis) -> None:
    memory = of(client)
    memory.save_memory("city", "Oslo")
    memory.save_conversation("Hello", MessageType.UserMessage)
    (value,) = [each for each in client.keys("*") if str(each).find("city") >= 0]
    (messages,) = [each for each in client.keys("*") if str(each).find("messages") >= 0]
    client.set(value, '{"cut')
    client.rpush(messages, json.dumps({"text": "no role"}))

    with pytest.raises(StoreCorruptError, match="cut"):
        memory.load_memory("city")
    with pytest.raises(StoreCorruptError, match="no role"):
        memory.load_conversation()


def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    with redis.Redis(
        unix_socket_path=str(tmp_path / "none"), retry=Retry(NoBackoff(), 0)
    ) as client:
        memory = of(client)

        with pytest.raises(StoreUnavailableError, match="try again"):
            memory.load_memory("city")
        with pytest.raises(StoreUnavailableError):
            memory.save_conversation("Hello", MessageType.UserMessage)


def test_wrong_settings_are_refused(client: redis.Redis) -> None:
    awaited = redis.asyncio.Redis()

    with pytest.raises(UsageError, match=r"redis\.asyncio"):
        RedisMemory(redis_key_prefix="ada", redis_client=awaited)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expire_time"):
        of(client, expire_time=0)
    with pytest.raises(UsageError, match="at least one character"):
        of(client, "")


def test_a_chain_goes_on_in_another_process(client: redis.Redis) -> None:
    """What one memory object keeps of a turn, another has in its inputs."""
    chain_inputs(of(client), "Where is order 7?")
    step = {"tool": "track", "tool_input": {"order": 7}, "tool_output": "sent"}
    keep_outputs(of(client), {"message": "On its way.", "intermediate_steps": [step]})

    inputs = chain_inputs(of(client), "Sure?")
    assert inputs["intermediate_steps"] == [step]
    assert len(inputs["history"]) == 3


async def test_the_awaited_face_does_the_same(client: redis.Redis) -> None:
    memory = of(client)
    await memory.asave_memory("city", "Oslo")
    await memory.asave_conversation("Hello", MessageType.UserMessage)

    assert await memory.aload_memory("city") == "Oslo"
    assert (await memory.aload_conversation()).format_message() == "User: Hello\n"
    await memory.aclear()
    assert await memory.aload_memory() == {}
