"""What the command line, and MCP over stdio, write beside a service is counted as well."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import recollect
from recollect import cli
from recollect.cli import main
from recollect.errors import EXIT_STATUS
from recollect.formation.config import Assistants
from recollect.records import JsonObject, Scope
from recollect.server.api_keys import Keys
from recollect.server.authorization import PERMISSIONS
from recollect.server.mcp.callers import local_caller
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.quotas import counting
from recollect.server.usage import UsageBook
from recollect.stores.locator import open_store

ADA: Scope = ("acme", "ada")
NOTE = {"context": "drinks", "content": "Likes green tea"}


async def counted_in(file: str) -> tuple[int, int]:
    """Return how many messages were counted in a file, and how many are kept."""
    async with open_store(file) as store:
        days = await UsageBook(store).days("acme")
        kept = sum(thread.count for thread in (await store.threads(ADA)).rows)
        return sum(each["messages"] for _, _, each in days), kept


COMMANDS: Sequence[tuple[str, ...]] = (
    ("import", "{folder}/talk.jsonl"),
    ("chat", "--thread", "c"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each[0])
@pytest.mark.parametrize("is_served", [True, False])
def test_the_command_line_is_counted_beside_a_service(
    tmp_path: Path, command: Sequence[str], *, is_served: bool
) -> None:
    """What it writes counts for the scope's tenant where a service serves the store."""
    file = str(tmp_path / "memory.db")
    said = [{"role": "user", "content": text} for text in ("We moved to Oslo.", "Grüezi")]
    (tmp_path / "talk.jsonl").write_text("\n".join(map(json.dumps, said)), "utf-8")

    async def begin() -> None:
        async with open_store(file) as store:
            if is_served:
                await Keys(store).create("first", ("acme",), PERMISSIONS)

    asyncio.run(begin())
    filled = [each.format(folder=tmp_path) for each in command]
    options = ["--store", file, "--scope", "acme/ada"]
    result = CliRunner().invoke(main, [*filled, *options], input="Grüezi\n")
    assert 0 == result.exit_code, result.output

    counted, kept = asyncio.run(counted_in(file))

    assert 0 < kept
    assert (kept if is_served else 0) == counted


OPENERS: Mapping[str, str] = {
    "store_choice.py": "counts",
    "memory_choice.py": "for `chat`, which counts; the service, which does; what only forms",
    "mcp.py": "counts over stdio; over HTTP the service does",
    "copy.py": "copies a whole store, with its counts",
    "switch_embedder.py": "writes vectors alone",
    "demo_story.py": "plays the example into a store of its own",
    "embedder.py": "reads the strength that is kept alone",
}
"""The modules of the command line that open a store, and how what they write is counted."""


def test_every_command_that_opens_a_store_is_known() -> None:
    """A new way to open one fails this test until it is said how it counts."""
    folder = Path(cli.__file__).parent
    opening_ones = {
        path.name
        for path in folder.rglob("*.py")
        if not path.name.startswith("bench")
        and re.search(r"\brecollect\.open\(|\bopen_store\(|\bopen_sync\(", path.read_text("utf-8"))
    }

    assert set(OPENERS) == opening_ones


@pytest.mark.parametrize("is_served", [True, False])
async def test_tools_over_stdio_are_counted_beside_a_service(*, is_served: bool) -> None:
    """What a client of this machine saves counts as what comes over HTTP does."""
    async with recollect.open("memory:", embedder="none", worker=False) as memory:
        if is_served:
            await Keys(memory.store).create("first", ("acme",), PERMISSIONS)
        async with counting(memory) as counted:
            caller = local_caller(counted, ADA, Assistants())
            saved: JsonObject = {"memory": {"type": "Note", "value": NOTE}, "quotes": ["tea"]}
            await RecollectTools(b"secret").call(caller, "save_memory", saved)
        days = await UsageBook(memory.store).days("acme")

    counts = [(each["messages"], each["memories"]) for _, _, each in days]
    assert ([(1, 1)] if is_served else []) == counts


def test_an_error_beside_a_service_stays_one_sentence(tmp_path: Path) -> None:
    """What the program refuses while writes are counted has its own exit status."""
    file = str(tmp_path / "memory.db")

    async def begin() -> None:
        async with open_store(file) as store:
            await Keys(store).create("first", ("acme",), PERMISSIONS)

    asyncio.run(begin())

    result = CliRunner().invoke(main, ["threads", "missing", "--store", file])

    assert EXIT_STATUS["not_found"] == result.exit_code
    assert "there is no thread 'missing'" in result.stderr
