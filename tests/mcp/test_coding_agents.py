"""The files of docs/coding_agents.md: read as its agents do, started and asked as they stand."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import recollect
from recollect.cli import main

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

PAGE = Path(__file__).parents[2] / "docs" / "coding_agents.md"
BLOCK = re.compile(
    r"^(?P<before>[^\n]*)\n\n```(?P<form>json|toml)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"`(\.[\w./]+\.(?:json|toml))`")
HOOKS = (".claude/settings.json", ".codex/hooks.json")
SERVERS = ("mcpServers", "servers", "mcp_servers")
TOLD = "Indent with tabs, never with spaces."


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def files_of(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the files that a page shows, by the name that is last said before each."""
    for found in BLOCK.finditer(text):
        (*_, name) = NAMED.findall(found["before"])
        read = json.loads if found["form"] == "json" else tomllib.loads
        yield name, read(found["body"])


FILES = list(files_of(PAGE.read_text("utf-8")))
CONFIGURED = [
    (f"{name} {number}", server)
    for number, (name, document) in enumerate(FILES)
    for key in SERVERS
    for server in document.get(key, {}).values()
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a project in which `recollect` is what is tested."""
    programs = tmp_path / "programs"
    programs.mkdir()
    command = programs / "recollect"
    source = Path(recollect.__file__).parents[1]
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m recollect "$@"\n', "utf-8")
    command.chmod(0o755)
    return {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(source),
        "HOME": str(tmp_path / "home"),
        "RECOLLECT_EMBEDDER": "none",
    }


def test_every_agent_has_its_file() -> None:
    """Under the names under which they look for it, and nothing but what each knows."""
    names = {name for name, _ in FILES}

    assert names == {
        ".mcp.json",
        ".claude/settings.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        ".gemini/settings.json",
    }
    for name, document in FILES:
        key = {".vscode/mcp.json": "servers", ".codex/config.toml": "mcp_servers"}.get(
            name, "hooks" if name in HOOKS else "mcpServers"
        )
        assert [key] == list(document)
    for _, server in CONFIGURED:
        assert {"command", "args"} <= server.keys() <= {"command", "args", "type"}


@pytest.mark.parametrize(("name", "server"), CONFIGURED, ids=[name for name, _ in CONFIGURED])
async def test_each_server_starts_and_answers(
    tmp_path: Path, environment: dict[str, str], name: str, server: dict[str, Any]
) -> None:
    """By exactly that command, in the project's folder; the memory lies there afterwards."""
    project = tmp_path / "boat"
    project.mkdir()
    arguments = [each.replace("${workspaceFolder}", str(project)) for each in server["args"]]
    parameters = StdioServerParameters(
        command=server["command"], args=arguments, env=environment, cwd=project
    )
    async with Client(parameters) as client:
        tools = {each.name for each in (await client.list_tools()).tools}
        if "save_memory" in tools:
            note = {"type": "Note", "value": {"context": "code", "content": TOLD}}
            kept = await client.call_tool("save_memory", {"memory": note, "quotes": [TOLD]})
            found = await client.call_tool("context", {"query": "How do we indent?"})
        else:
            rows = [{"name": "boat", "entityType": "program", "observations": [TOLD]}]
            kept = await client.call_tool("create_entities", {"entities": rows})
            found = await client.call_tool("read_graph", {})

    assert not kept.is_error, name
    assert "tabs" in found.content[0].text  # type: ignore[union-attr]
    assert project.joinpath("recollect.db").is_file()


def hook(event: str, file: str = ".claude/settings.json") -> str:
    """Return the command of a hook of the page."""
    hooks = dict(FILES)[file]["hooks"]
    ((entry,), (only,)) = (hooks[event], hooks[event][0]["hooks"])
    assert entry["hooks"] == [only]
    assert "command" == only["type"]
    # By default Claude Code ends a hook at the end of a session after 1.5 seconds.
    assert "SessionEnd" != event or only["timeout"] >= 30
    return str(only["command"])


def test_a_session_is_kept_and_told_to_the_next(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """By the hooks, in a shell as Claude Code runs them; the first start finds nothing yet."""
    project = tmp_path / "boat"
    project.mkdir()
    sessions = tmp_path / "home" / ".claude" / "projects" / re.sub(r"\W|_", "-", str(project))
    sessions.mkdir(parents=True)
    said = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2026-05-01T12:00:00Z",
        "message": {"role": "user", "content": "We work on this project with tabs only."},
    }
    sessions.joinpath("s1.jsonl").write_text(json.dumps(said) + "\n", "utf-8")

    def run(event: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["sh", "-c", hook(event)],
            cwd=project,
            env=environment,
            input=json.dumps({"session_id": "s1", "hook_event_name": event}),
            capture_output=True,
            text=True,
            check=False,
        )

    assert hook("SessionStart") == hook("SessionStart", ".codex/hooks.json")
    first, kept, again, next_ = [
        run(each) for each in ("SessionStart", "SessionEnd", "SessionEnd", "SessionStart")
    ]

    assert (0, "") == (first.returncode, first.stdout)
    assert (0, 0) == (kept.returncode, again.returncode), kept.stderr
    assert 0 == next_.returncode
    assert "tabs only" in next_.stdout


def test_the_commands_of_the_page_are_ours() -> None:
    """Each option that it names is one of its command."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    ours = [each.split() for each in lines if each.startswith("recollect ")]

    assert ours
    for _, name, *words in ours:
        command = main.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        known = {flag for each in command.params for flag in (*each.opts, *each.secondary_opts)}
        assert {each for each in words if each.startswith("--")} <= known


def test_a_file_that_is_wrong_is_seen() -> None:
    """The page's files are really read: one that is no JSON fails."""
    with pytest.raises(json.JSONDecodeError):
        list(files_of("`.mcp.json`\n\n```json\n{,}\n```\n"))
