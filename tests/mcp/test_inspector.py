"""The MCP inspector, which is not ours, lists and calls what the server offers."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from recollect.server.mcp.recollect_tool_definitions import TOOL_HINTS
from recollect.server.mcp.streamable_http import PATH, mcp_door
from recollect.server.testing import Served, serving

HERE: Final = Path(__file__).parent / "inspector"
BUILD: Final = HERE / "node_modules" / "@modelcontextprotocol" / "inspector-cli" / "build"
SOURCE: Final = Path(__file__).parents[2] / "src"
CALL_S_MAX: Final = 120.0
WORDS: Final = "I like green tea"
TEA: Final = {"type": "Note", "value": {"context": "drinks", "content": "Likes green tea"}}

Inspect = Callable[..., dict[str, Any]]


def inspected(*target: str, method: str, **named: object) -> dict[str, Any]:
    """Return what the inspector is answered; an underscore in a name is a hyphen to it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: the inspector runs in it")
    if not BUILD.is_dir():
        pytest.skip("the inspector is not installed: run `make inspector`")
    command = [node, "cli.js", "--cli", *target, "--method", method]
    for name, each in named.items():
        pairs = each if isinstance(each, dict) else {None: each}
        for key, value in pairs.items():
            written = value if isinstance(value, str) else json.dumps(value)
            command += [f"--{name.replace('_', '-')}", f"{key}={written}" if key else written]
    finished = subprocess.run(
        command,
        cwd=BUILD,  # it looks there for what it is
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=CALL_S_MAX,
        check=False,
    )
    assert 0 == finished.returncode, finished.stdout + finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout[finished.stdout.index("{") :])
    return found


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Run the service with the door to MCP."""
    with serving(doors=lambda settings: [mcp_door(settings)]) as found:
        yield found


def over_http(served: Served, **parts: Any) -> dict[str, Any]:
    """Return what the inspector is answered at /mcp."""
    url = f"{served.url}{PATH}?scope=ada"
    header = f"x-api-key: {served.key}"
    return inspected(url, "--transport", "http", "--header", header, **parts)


def over_stdio(folder: Path, **parts: Any) -> dict[str, Any]:
    """Return what the inspector is answered by a server that it starts itself."""
    program = [sys.executable, "-m", "recollect", "mcp", "--embedder", "none"]
    where = ["--store", f"sqlite:///{folder}/memory.db", "--scope", "acme/ada"]
    return inspected(*program, *where, **parts)


def walk(ask: Inspect) -> None:
    """List, save, find, read and ask, each in a connection of its own."""
    tools = ask(method="tools/list")["tools"]
    assert list(TOOL_HINTS) == [each["name"] for each in tools]

    def called(name: str, **arguments: Any) -> dict[str, Any]:
        told = ask(method="tools/call", tool_name=name, tool_arg=arguments)
        assert told["isError"] is False, told
        found: dict[str, Any] = told["structuredContent"]
        return found

    kept = called("save_memory", memory=TEA, quotes=[WORDS])
    assert "stored" == kept["status"]
    (found,) = called("search_memory", query="tea")["memories"]
    assert kept["id"] == found["id"]
    assert ["profile", "mcp"] == [
        each["name"] for each in ask(method="resources/list")["resources"]
    ]
    (read,) = ask(method="resources/read", uri="recollect://threads/mcp")["contents"]
    assert [WORDS] == [each["text"] for each in json.loads(read["text"])["messages"]]
    templates = ask(method="resources/templates/list")["resourceTemplates"]
    assert {"thread", "memory"} == {each["name"] for each in templates}
    (name, _) = [each["name"] for each in ask(method="prompts/list")["prompts"]]
    asked = ask(method="prompts/get", prompt_name=name, prompt_args={"question": "Which tea?"})
    assert WORDS in asked["messages"][0]["content"]["text"]


def test_the_inspector_lists_the_tools(served: Served) -> None:
    """A client of others' making, over HTTP with a key."""
    tools = over_http(served, method="tools/list")["tools"]

    assert list(TOOL_HINTS) == [each["name"] for each in tools]


@pytest.mark.prove
def test_the_inspector_walks_over_http(served: Served) -> None:
    """Every kind of request over HTTP."""
    walk(lambda **parts: over_http(served, **parts))


@pytest.mark.prove
def test_the_inspector_walks_over_stdio(tmp_path: Path) -> None:
    """Every kind of request over stdio, each to a server that is started for it."""
    walk(lambda **parts: over_stdio(tmp_path, **parts))


def test_a_refusal_reaches_the_inspector(served: Served) -> None:
    """The check can fail: without a good key nothing is listed."""
    with pytest.raises(AssertionError, match="401"):
        inspected(f"{served.url}{PATH}", "--transport", "http", method="tools/list")
