"""
AutoChain's own memories, played to from outside: they need another pydantic than everything else.

Reads a line of JSON for each example, `{"redis": address or null, "steps": [[name, …], …]}`, and
answers with a line of what each step gave.
"""

import json
import sys
from typing import Any

sys.path.insert(0, sys.argv[1])

from autochain.agent.message import MessageType
from autochain.agent.structs import AgentAction
from autochain.memory.buffer_memory import BufferMemory
from autochain.memory.redis_memory import RedisMemory
from redis import Redis


def played(memory: Any, steps: list[list[Any]]) -> list[Any]:
    """Return what each step gave; an error by its kind."""
    given = []
    for name, *arguments in steps:
        try:
            given.append(step(memory, name, arguments))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            given.append({"error": type(error).__name__})
    return given


def step(memory: Any, name: str, arguments: list[Any]) -> Any:
    if name == "say":
        kind, text, fields = arguments
        return memory.save_conversation(text, MessageType[kind], **fields)
    if name == "act":
        key, actions = arguments
        return memory.save_memory(key, [AgentAction(**each) for each in actions])
    if name == "talk":
        history = memory.load_conversation()
        said = [[each.type, each.content, getattr(each, "name", None)] for each in history.messages]
        return [said, history.format_message(), history.get_latest_user_message().content]
    return getattr(memory, name)(*arguments)


for line in sys.stdin:
    example = json.loads(line)
    if example["redis"] is None:
        original: Any = BufferMemory()
    else:
        client = Redis(unix_socket_path=example["redis"])
        client.flushall()
        original = RedisMemory(redis_key_prefix="ada", redis_client=client)
    sys.stdout.write(json.dumps(played(original, example["steps"])) + "\n")
    sys.stdout.flush()
