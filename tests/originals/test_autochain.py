"""AutoChain's memories beside ours: what each step gives; theirs have a process of their own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.conversation import BufferMemory, ChatMessageHistory, MessageType, RedisMemory

FOLDER = Path(sys.prefix, "originals")
PEER = Path(__file__).with_name("autochain_original.py")
EXAMPLES = 60

TEXTS = st.text(st.sampled_from("ab ,\n{}。你😀"), max_size=8)
KEYS = st.sampled_from(["order", "a b", "火车", "*", "x:y"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
KINDS = ["UserMessage", "AIMessage", "SystemMessage"]
NAMED = {"name": "look_up", "conversational_message": "I looked."}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(KINDS), TEXTS, st.just({})),
        st.tuples(st.just("say"), st.just("FunctionMessage"), TEXTS, st.just(NAMED)),
        st.tuples(st.just("save_memory"), KEYS, VALUES),
        st.tuples(st.just("load_memory"), KEYS),
        st.tuples(st.just("load_memory"), KEYS, VALUES),
        st.just(("talk",)),
        st.just(("clear",)),
    ),
    max_size=10,
).map(lambda steps: [*steps, ("talk",)])


class Original:
    """AutoChain in its process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def played(self, steps: list[Any], address: str | None) -> list[Any]:
        """Return what each step gave."""
        asked, told = self._pipes()
        asked.write(json.dumps({"redis": address, "steps": steps}) + "\n")
        asked.flush()
        line = told.readline()
        assert line, "AutoChain's process ended"
        found: list[Any] = json.loads(line)
        return found

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdin
        assert self._process.stdout
        return self._process.stdin, self._process.stdout


@pytest.fixture(scope="module")
def original() -> Iterator[Original]:
    assert FOLDER.exists(), "make setup installs AutoChain"
    command = [sys.executable, str(PEER), str(FOLDER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield Original(process)
        assert process.stdin
        with suppress(BrokenPipeError):
            process.stdin.close()


def played(memory: Any, steps: list[Any]) -> list[Any]:
    """Return what each step gives with ours, in the original's words."""
    given_: list[Any] = []
    for name, *arguments in steps:
        if name == "say":
            kind, text, fields = arguments
            given_.append(memory.save_conversation(text, MessageType[kind], **fields))
        elif name == "talk":
            given_.append(shown(memory.load_conversation()))
        else:
            given_.append(getattr(memory, name)(*arguments))
    return given_


def shown(history: ChatMessageHistory) -> list[Any]:
    types = {"human": "user"}
    said = [
        [types.get(each.type, each.type), each.content, named(each)] for each in history.messages
    ]
    # The original shows no function messages to the model; docs/differences.md says why ours does.
    spoken = [each for each in history.messages if named(each) is None]
    text = ChatMessageHistory(spoken).format_message() or "\n" * bool(said)
    return [said, text, history.get_latest_user_message().content]


def named(message: Any) -> str | None:
    return message.name if message.type in {"function", "tool"} else None


def test_the_original_shows_no_function_messages(original: Original) -> None:
    """The one thing in which what the steps give differs."""
    said = [("say", "FunctionMessage", "{}", NAMED), ("talk",)]

    _, (messages, shown_there, _) = original.played(said, None)

    assert ([["function", "{}", "look_up"]], "\n") == (messages, shown_there)


@settings(max_examples=EXAMPLES)
@given(steps=STEPS)
def test_the_buffer_memory_gives_what_autochains_does(steps: list[Any], original: Original) -> None:
    assert original.played(steps, None) == played(BufferMemory(), steps)


@settings(max_examples=EXAMPLES)
@given(steps=STEPS)
def test_the_redis_memory_gives_what_autochains_does(
    steps: list[Any], original: Original, redis_socket: str
) -> None:
    expected = original.played(steps, redis_socket)
    with redis.Redis(unix_socket_path=redis_socket) as client:
        client.flushall()

        assert expected == played(RedisMemory(redis_key_prefix="ada", redis_client=client), steps)
