"""What LangChain and AutoChain keep in Redis goes into a memory; the server is only read."""

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from langchain_community.chat_message_histories import RedisChatMessageHistory
from langchain_core.messages import AIMessage, FunctionMessage, HumanMessage, ToolMessage

import recollect
from recollect.conversation import ChatHistory, KeyValueMemory
from recollect.errors import StoreUnavailableError, UsageError
from recollect.importers import FileReport, RedisSelection, Refused, import_redis
from recollect.importers.autochain import CLASSES, OBJECTS
from recollect.importers.pickle_reader import VALUES_MAX, read_pickle
from recollect.importers.redis_keys import (
    EXPIRING,
    OTHER_KEYS,
    name_of,
    refused_documents,
)
from recollect.memory.facade import Recollect
from recollect.sync.facade import SyncRecollect

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ADA = ("users", "ada")
FOLDER = Path(sys.prefix, "originals")
PEER = Path(__file__).parents[1] / "originals" / "autochain_original.py"
SAID = (
    HumanMessage("How warm is it in Oslo?", name="ada"),
    AIMessage(
        content="",
        id="run-1",
        tool_calls=[{"name": "weather", "args": {"city": "Oslo"}, "id": "c1"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    ),
    ToolMessage("7 °C", tool_call_id="c1", status="success"),
    AIMessage(content=[{"type": "text", "text": "Seven degrees. 茶?"}]),
)


@pytest.fixture
def client(redis_socket: str) -> Iterator[redis.Redis]:
    """Yield a client of a server on which nothing is kept."""
    with redis.Redis(unix_socket_path=redis_socket) as client:
        client.flushall()
        yield client


@pytest.fixture
def url(client: redis.Redis, redis_socket: str) -> str:
    """Return the address of the same database."""
    assert 0 == client.dbsize()
    return f"redis+unix://{redis_socket}?db=0"


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    """Yield a memory without an embedder."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        yield memory


def imported(
    memory: SyncRecollect, url: str, selection: RedisSelection | None = None
) -> tuple[FileReport, list[Refused]]:
    """Import a database, and return the report with everything refused."""
    refused: list[Refused] = []

    async def run(memory: Recollect) -> FileReport:
        chosen = selection or RedisSelection()
        return await import_redis(memory, ADA, url, chosen, on_refused=refused.append)

    return memory.call(run), refused


def talk(session: str, redis_socket: str, **options: Any) -> RedisChatMessageHistory:
    """Return LangChain's own history of a session."""
    return RedisChatMessageHistory(session, url=f"unix://{redis_socket}?db=0", **options)


def autochain(redis_socket: str, *steps: list[Any]) -> None:
    """Have AutoChain itself, in its process, keep something under the prefix ``ada``."""
    assert FOLDER.exists(), "make setup installs AutoChain"
    asked = json.dumps({"redis": redis_socket, "steps": steps})
    command = [sys.executable, str(PEER), str(FOLDER)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    assert len(steps) == len(json.loads(done.stdout))


def test_langchains_history_is_the_same_in_ours(
    memory: SyncRecollect, redis_socket: str, url: str
) -> None:
    """Each session is a thread; every field of every message comes back, oldest first."""
    for session in ("ada", "bob:1"):
        talk(session, redis_socket).add_messages(SAID)

    done, refused = imported(memory, url)

    assert (8, 8, 2, []) == (done.rows, done.taken, done.threads, refused)
    for session in ("ada", "bob:1"):
        theirs = talk(session, redis_socket).messages
        assert theirs == ChatHistory(memory, ADA, session).messages


def test_importing_again_takes_only_what_is_new(
    memory: SyncRecollect, redis_socket: str, url: str
) -> None:
    """Equal messages of a talk are each kept; none is kept twice."""
    history = talk("ada", redis_socket)
    history.add_messages([HumanMessage("Hi"), AIMessage("Hi"), HumanMessage("Hi")])
    imported(memory, url)
    history.add_message(AIMessage("Hello again"))

    done, _ = imported(memory, url)

    assert (4, 1, 3) == (done.rows, done.taken, done.present)
    assert history.messages == ChatHistory(memory, ADA, "ada").messages


def test_a_long_history_keeps_its_order(
    memory: SyncRecollect, client: redis.Redis, url: str
) -> None:
    """It is read in parts, from the oldest."""
    said = [HumanMessage(f"number {n}") for n in range(1_203)]
    with client.pipeline() as pipeline:
        for each in said:
            data = {"type": "human", "data": each.model_dump()}
            pipeline.lpush("message_store:long", json.dumps(data))
        pipeline.execute()

    done, _ = imported(memory, url)

    assert 1_203 == done.taken
    assert said == ChatHistory(memory, ADA, "long").messages


def test_sessions_may_become_scopes(memory: SyncRecollect, redis_socket: str, url: str) -> None:
    """Where each session is another person's, none of them may recall another's talk."""
    talk("ada", redis_socket, key_prefix="chat/").add_messages(SAID)
    talk("bob", redis_socket, key_prefix="chat/").add_messages(SAID)

    done, _ = imported(memory, url, RedisSelection(prefixes=("chat/",), as_scopes=True))

    assert {(*ADA, "ada"), (*ADA, "bob")} == set(done.scopes)
    assert 4 == len(ChatHistory(memory, (*ADA, "bob"), "history").messages)


def test_only_keys_that_match_are_read(memory: SyncRecollect, redis_socket: str, url: str) -> None:
    """The pattern is Redis's own."""
    for session in ("ada", "bob"):
        talk(session, redis_socket).add_messages(SAID)

    done, _ = imported(memory, url, RedisSelection(match="message_store:a*"))

    assert 4 == done.rows
    assert [] == ChatHistory(memory, ADA, "bob").messages


def test_a_bad_message_is_refused_alone(
    memory: SyncRecollect, client: redis.Redis, redis_socket: str, url: str
) -> None:
    """It is named by its key and its place, counted from the oldest."""
    history = talk("ada", redis_socket)
    history.add_message(SAID[0])
    client.lpush("message_store:ada", b"\xff", '{"type": "robot", "data": {"content": ""}}', "[]")
    history.add_message(SAID[3])

    done, refused = imported(memory, url)

    assert (5, 2, 3) == (done.rows, done.taken, done.refused)
    assert [f"key 'message_store:ada', message {n}" for n in (2, 3, 4)] == [
        each.place for each in refused
    ]
    assert all("not" in each.reason for each in refused)


def test_what_is_of_another_program_is_counted(
    memory: SyncRecollect, client: redis.Redis, redis_socket: str, url: str
) -> None:
    """So is what would have expired."""
    talk("ada", redis_socket, ttl=60).add_message(SAID[0])
    client.set("counter", 1)
    client.hset("hash", "a", "b")
    client.rpush("queue", "job")
    client.set(b"\xff", b"\x80\x04N.")

    done, refused = imported(memory, url)

    assert {OTHER_KEYS: 4, EXPIRING: 1} == done.changed
    assert [] == refused


def test_documents_of_the_json_module_are_refused_with_a_way_out() -> None:
    """A plain server has no such type: one row says how many, and what to do."""
    refused = refused_documents([b"chat:ada:01", b"chat:ada:02"])

    assert "key 'chat:ada:01'" == refused.place
    assert "it and 1 more hold JSON documents" in refused.reason
    assert "messages_to_dict" in refused.reason


NAMED = {"name": "look_up", "conversational_message": "I looked."}
ACTION = {"tool": "look_up", "inputs": [1, 2.5, None, True], "你": {"a": "b"}}


def test_autochains_talk_and_values_are_found_in_ours(
    memory: SyncRecollect, redis_socket: str, url: str
) -> None:
    """The same names give the same values, the same talk the same prompt."""
    autochain(
        redis_socket,
        ["say", "UserMessage", "Is my order sent?", {}],
        ["say", "FunctionMessage", '{"sent": true}', NAMED],
        ["say", "AIMessage", "Yes.", {}],
        ["say", "SystemMessage", "Be short.", {}],
        ["save_memory", "intermediate steps", ACTION],
        ["save_memory", "a:b/*", [1, "x"]],
    )

    done, refused = imported(memory, url)

    ours = KeyValueMemory(memory, ADA, "ada")
    assert (6, 6, 2, []) == (done.rows, done.taken, done.memories, refused)
    assert {EXPIRING: 3} == done.changed
    assert {"intermediate steps": ACTION, "a:b/*": [1, "x"]} == ours.load_memory()
    said = ours.load_conversation().messages
    assert ["human", "function", "ai", "system"] == [each.type for each in said]
    assert FunctionMessage(content='{"sent": true}', name="look_up") == said[1]
    assert (6, 0) == (imported(memory, url)[0].present, imported(memory, url)[0].taken)


def test_a_value_without_a_talk_needs_its_prefix(
    memory: SyncRecollect, redis_socket: str, url: str
) -> None:
    """Where a prefix ends cannot be guessed: it and the key may have colons."""
    autochain(redis_socket, ["save_memory", "x:y", 1])

    _, (refused,) = imported(memory, url)
    done, _ = imported(memory, url, RedisSelection(prefixes=("ada",)))

    assert "name its prefix with --key-prefix" in refused.reason
    assert (1, 1) == (done.taken, KeyValueMemory(memory, ADA, "ada").load_memory("x:y"))


def test_an_agents_actions_become_objects_of_their_fields(
    memory: SyncRecollect, redis_socket: str, url: str
) -> None:
    """They are AutoChain's own objects, of which only the fields are read."""
    action = {"tool": "look_up", "tool_input": {"order": 7}, "tool_output": "sent"}
    autochain(redis_socket, ["act", "intermediate_steps", [action, action]])

    done, _ = imported(memory, url, RedisSelection(prefixes=("ada",)))

    found = KeyValueMemory(memory, ADA, "ada").load_memory("intermediate_steps")
    assert [{**action, "log": "", "model_response": ""}] * 2 == found
    assert 2 == done.changed[OBJECTS]


# What AutoChain 0.0.5 writes for [AgentAction(tool="t", tool_input={"a": 1})], as pickled by it.
ACTIONS = (
    b"\x80\x04\x95\xcc\x00\x00\x00\x00\x00\x00\x00]\x94\x8c\x17autochain.agent.structs\x94\x8c\x0b"
    b"AgentAction\x94\x93\x94)\x81\x94}\x94(\x8c\x08__dict__\x94}\x94(\x8c\x04tool\x94\x8c\x01t\x94"
    b"\x8c\ntool_input\x94}\x94\x8c\x01a\x94K\x01s\x8c\x0btool_output\x94\x8c\x00\x94\x8c\x03log"
    b"\x94h\x0e\x8c\x0emodel_response\x94h\x0eu\x8c\x0e__fields_set__\x94\x8f\x94(h\x08h\n\x90\x8c"
    b"\x1c__private_attribute_values__\x94}\x94uba."
)


class Calling:
    """An object that has *call* called with *arguments* by whoever loads its pickle."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[Any, Any]:
        return self.call, self.arguments


def hostile(mark: Path) -> dict[str, bytes]:
    """Return pickles that make the file *mark* when they are loaded, each in another way."""
    call = Calling(Path.touch, mark)
    deep = pickle.dumps({"a": [call]})
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    by_name = b"\x80\x04cbuiltins\nexec\n(\x8c" + bytes([len(code)]) + code.encode() + b"tR."
    made = b"\x80\x02(cbuiltins\nexec\n\x8c" + bytes([len(code)]) + code.encode() + b"o."
    return {
        "reduce": pickle.dumps(call),
        "within": deep,
        "older": pickle.dumps(call, protocol=2),
        "by name": by_name,
        "made": made,
    }


@pytest.mark.parametrize("how", ["reduce", "within", "older", "by name", "made"])
def test_a_hostile_pickle_runs_nothing(
    memory: SyncRecollect, client: redis.Redis, url: str, tmp_path: Path, how: str
) -> None:
    """The mutant, a reader that loads it, makes the file that says that it ran."""
    mark = tmp_path / "mark"
    content = hostile(mark)[how]
    client.set("ada:x", content)
    client.set("ada:ChatMessageHistory", content)

    done, refused = imported(memory, url, RedisSelection(prefixes=("ada",)))

    assert (2, 2, 0) == (done.rows, done.refused, done.taken)
    assert all("known" in each.reason or "calls" in each.reason for each in refused)
    assert not mark.exists()
    pickle.loads(content)  # noqa: S301 - the mutant
    assert mark.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x80\x04.", None),
        (ACTIONS[:-20], "damaged"),
        (b"\x80\x04]q\x00h\x00a.", "more than"),
        (b"\x80\x04" + b"]" * 200 + b"a" * 199 + b".", "deeper"),
        (b"\x80\x04h\x07.", "damaged"),
        (b"\x80\x04a.", "damaged"),
        (b"\x80\x04}K\x01K\x02s.", "not text"),
        (b"\x80\x04P1\n.", "calls"),
        (ACTIONS[:-1] + b"cos\nsystem\n(\x8c\x04truetR.", "names 'os.system'"),
        (ACTIONS[:-2] + b"\x8c\x01x\x85R.", "calls something"),
        (b"\x80\x04\x82\x01.", "calls"),
        (pickle.dumps(Path("a")), "none of the classes"),
    ],
)
def test_a_pickle_that_is_no_plain_value_is_refused(content: bytes, reason: str | None) -> None:
    """With a sentence that says which it is."""
    if reason is None:
        assert read_pickle(content, CLASSES) is None
        return
    with pytest.raises(UsageError, match=reason):
        read_pickle(content, CLASSES)


def test_a_few_bytes_that_say_many_values_are_refused() -> None:
    """Lists of the list before, doubled again and again, would take all memory as JSON."""
    doubled: list[Any] = []
    for _ in range(40):
        doubled = [doubled, doubled]
    content = pickle.dumps(doubled)

    assert len(content) < 1_000
    with pytest.raises(UsageError, match=f"more than {VALUES_MAX} values"):
        read_pickle(content, CLASSES)


def test_a_plain_value_is_read_as_pickle_reads_it() -> None:
    """In every protocol since 2."""
    value: dict[str, Any] = {
        "a": [1, -(2**40), 2.5, None, True, False, "é" * 300, b"x".hex()],
        "b": {},
        "c": [[]],
    }

    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert value == read_pickle(pickle.dumps(value, protocol=protocol), CLASSES)


def test_a_user_who_may_only_read_is_enough(
    memory: SyncRecollect, client: redis.Redis, redis_socket: str
) -> None:
    """The server itself refuses everything else, and nothing of it is asked."""
    talk("ada", redis_socket).add_messages(SAID)
    autochain_value = pickle.dumps([1])
    client.set("ada:x", autochain_value)
    client.acl_setuser(
        "reader", enabled=True, passwords=["+pw"], categories=["+@read", "+@connection"],
        keys=["*"], reset=True,
    )  # fmt: skip
    before = {key: client.dump(key) for key in client.scan_iter()}
    url = f"redis+unix://reader:pw@{redis_socket}?db=0"

    done, _ = imported(memory, url, RedisSelection(prefixes=("ada",)))

    assert 5 == done.taken
    assert before == {key: client.dump(key) for key in client.scan_iter()}
    client.acl_deluser("reader")


def test_a_server_that_is_not_there_is_told_without_the_password(
    memory: SyncRecollect, tmp_path: Path
) -> None:
    """Its error is the store's, as everywhere."""
    url = f"redis+unix://ada:secret@{tmp_path}/none?db=0"

    with pytest.raises(StoreUnavailableError) as caught:
        imported(memory, url)

    assert "secret" not in str(caught.value)
    assert "secret" not in name_of(url)
