"""Anthropic's memory tool: the SDK's own runner with our files, and beside its files on a disk."""

import asyncio
import re
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.tools import ToolError
from anthropic.resources.beta.messages import Messages
from anthropic.tools import BetaLocalFilesystemMemoryTool

import recollect
from recollect import EraseMemory, UsageError
from recollect.integrations.anthropic_memory import (
    RecollectMemoryTool,
    SyncRecollectMemoryTool,
    file_tree,
    memory_tool,
)
from recollect.integrations.anthropic_memory.file_tree import FILE_CHARACTERS_MAX, FILES_MAX
from recollect.integrations.openai_agents import RecollectSession
from recollect.side_records import PutSideRecord
from tests.harness import redis_server
from tests.harness.installed_servers import require_empty_database
from tests.harness.model_provider import Provider, answers, message, provider_on_loopback

pytestmark = pytest.mark.anyio

ADA = ("ada",)
CAT = "/memories/cat.md"
RUN = signature(Messages.tool_runner).parameters
ALONE: dict[str, Any] = {"thread": False} if "thread" in RUN else {}
"""Keeps a run from being a part of a thread of the SDK's, which older ones do not have."""


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_on_loopback() as server:
        yield server


def view(path: str = "/memories", **more: Any) -> dict[str, Any]:
    return {"command": "view", "path": path, **more}


def create(path: str, text: str = "Tom\n") -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str) -> dict[str, Any]:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> dict[str, Any]:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": old, "new_path": new}


SCRIPT = [
    view(),
    create(CAT, "My cat is called Tom.\nHe is grey.\n\nHe likes fish.\nAnd me.\n"),
    create(CAT),
    create("/memories/notes/deep/er/one.md", "a\nb\na\n"),
    create("/memories/notes/two.md", "no newline"),
    create("/memories/.hidden", "x"),
    create("/memories/empty.md", ""),
    create("/memories/notes"),
    view(),
    view("/memories/notes"),
    view(CAT),
    view(CAT, view_range=[2, 4]),
    view(CAT, view_range=[4, -1]),
    view(CAT, view_range=[-3, 99]),
    view(CAT, view_range=[3, 2]),
    view("/memories/empty.md"),
    view("/memories/nothing.md"),
    replace(CAT, "grey", "black\nand old"),
    replace(CAT, "dog", "cat"),
    replace("/memories/notes/deep/er/one.md", "a", "c"),
    replace("/memories/notes", "a", "c"),
    replace("/memories/nothing.md", "a", "c"),
    insert(CAT, 0, "About Tom:\n"),
    insert("/memories/notes/two.md", 1, "and another\n\n"),
    insert("/memories/notes/two.md", 99, "never"),
    insert("/memories/notes/two.md", -1, "never"),
    insert("/memories/nothing.md", 0, "never"),
    insert("/memories/notes", 0, "never"),
    view(CAT),
    view("/memories/notes/two.md"),
    rename("/memories/notes", "/memories/old notes"),
    rename("/memories/notes", "/memories/other"),
    rename(CAT, "/memories/empty.md"),
    rename("/memories", "/memories/all"),
    rename(CAT, "/memories/pets/tom.md"),
    view("/memories/old notes/two.md"),
    view(),
    delete("/memories/nothing.md"),
    delete("/memories"),
    delete("/memories/old notes"),
    view("/memories/pets"),
    view(),
    create(CAT, "Another.\r\nLine\u2028still.\n"),
    insert(CAT, 1, "x"),
    view(CAT),
]


def outcome(call: Callable[[object], Any], command: object) -> str:
    """Return what a tool says; the sizes of directories are the file system's own."""
    try:
        said = str(call(command))
    except ToolError as error:
        said = f"error: {error}"
    except OSError:  # the SDK's files before 2.0 are not asked whether a move can be
        said = "error: Cannot rename the /memories directory itself"
    return re.sub(r"^[\d.]+[BK]\t(.*(/|/memories|notes|pets))$", r"-\t\1", said, flags=re.MULTILINE)


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give an empty store that several processes may open."""
    if request.param == "sqlite":
        yield str(tmp_path / "store.db")
    elif request.param == "redis":
        with redis_server.open_server() as server:
            yield server.url()
    else:
        yield require_empty_database("memory_files")


def test_every_command_says_what_the_sdks_own_files_say(tmp_path: Path, address: str) -> None:
    """A model that knows the tool reads the same words, of files and of mistakes."""
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    with recollect.open_sync(address, embedder="none") as memory:
        ours = SyncRecollectMemoryTool(memory, ADA)
        # The last ones have odd ends of lines, which older files of the SDK's count otherwise.
        for command in SCRIPT if ALONE else SCRIPT[:-3]:
            assert outcome(theirs.call, command) == outcome(ours.call, command), command
        assert theirs.to_dict() == ours.to_dict()
        assert theirs.clear_all_memory() == ours.clear_all_memory()
        assert outcome(theirs.call, view()) == outcome(ours.call, view())


def uses(command: dict[str, Any]) -> Any:
    block: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "memory", "input": command}
    return answers(message(block, stop="tool_use"))


def said(text: str) -> Any:
    return answers(message({"type": "text", "text": text}))


def results(provider: Provider) -> list[Any]:
    """Return the result of a tool that each request ended with, if it did."""
    last = [body["messages"][-1]["content"] for _, _, body in provider.seen]
    blocks = [block for content in last if isinstance(content, list) for block in content]
    return [block for block in blocks if block["type"] == "tool_result"]


async def test_a_model_keeps_a_file_that_another_run_reads(
    provider: Provider, tmp_path: Path
) -> None:
    """Over a restart; and recall finds it for every other way to the memory."""
    store = str(tmp_path / "store.db")
    client = AsyncAnthropic(base_url=provider.url, api_key="none", max_retries=0)
    provider.acts = [uses(create(CAT, "My cat is called Tom.")), said("Kept."), uses(view(CAT))]
    provider.acts += [uses(view("/memories/dog.md")), said("Tom.")]

    for question in ("My cat is called Tom.", "What is my cat called?"):
        async with recollect.open(store, embedder="none") as memory:
            runner = client.beta.messages.tool_runner(
                model="tiny",
                max_tokens=100,
                messages=[{"role": "user", "content": question}],
                tools=[RecollectMemoryTool(memory, ADA)],
                **ALONE,
            )
            answer = await runner.until_done()
    async with recollect.open(store, embedder="none") as memory:
        told = str(await memory.context(ADA, "What is my cat called?"))
        (file,) = (await memory.memories(ADA)).rows

    assert "Tom." == answer.content[0].text
    kept, seen, missing = results(provider)
    assert [{"type": "memory_20250818", "name": "memory"}] == provider.seen[0][2]["tools"]
    assert f"File created successfully at: {CAT}" in str(kept)
    assert "My cat is called Tom." in str(seen)
    assert missing["is_error"]
    assert "does not exist" in str(missing)
    assert "My cat is called Tom." in told
    assert ("File", "memories/cat.md", "agent") == (file.type, file.key, file.trust)


def test_a_users_file_that_the_model_edits_is_a_finding() -> None:
    """From then on, however often it is edited; it goes with its source, and before with words."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        (said,) = memory.append(ADA, "chat", "My cat is called Tom.")
        cited = recollect.Evidence(thread="chat", message=said.id)
        value = {"path": CAT, "content": "Tom\n"}
        put = recollect.PutMemory(type="File", key="cat", value=value, evidence={"": [cited]})
        memory.apply(ADA, [put])
        tool = SyncRecollectMemoryTool(memory, ADA)
        for line in ("grey", "old"):
            tool.call(insert(CAT, 1, line))
        tool.call(rename(CAT, "/memories/tom.md"))
        file = memory.get(ADA, "File", "cat")
        versions = memory.history(ADA, "File", "cat")
        memory.erase(ADA, recollect.EraseSource(source="anthropic_memory"))
        left = memory.get(ADA, "File", "cat")

    assert file is not None
    assert ["user", "agent", "agent", "agent"] == [each.trust for each in versions]
    assert [("message", 1), ("agent", 1)] == [(each.kind, each.group) for each in file.evidence[""]]
    assert left is None


def test_a_client_without_await_keeps_files_too(provider: Provider) -> None:
    client = Anthropic(base_url=provider.url, api_key="none", max_retries=0)
    provider.acts = [uses(create(CAT)), said("Kept.")]

    with recollect.open_sync("memory:", embedder="none") as memory:
        client.beta.messages.tool_runner(
            model="tiny",
            max_tokens=100,
            messages=[{"role": "user", "content": "My cat is called Tom."}],
            tools=[SyncRecollectMemoryTool(memory, ADA)],
            **ALONE,
        ).until_done()
        (file,) = memory.memories(ADA, type_="File").rows

    assert {"path": CAT, "content": "Tom\n"} == file.value


async def test_two_frameworks_share_one_users_memory() -> None:
    """A file of one is told to the other's agent, and what that heard is found beside it."""
    async with recollect.open("memory:", embedder="none") as memory:
        await RecollectMemoryTool(memory, ADA).call(create(CAT, "My cat is called Tom."))
        session = RecollectSession(memory, ADA, "one")
        await session.add_items([{"role": "user", "content": "The cat Tom likes fish."}])
        found = await memory.recall(ADA, "the cat Tom")
        other = await memory.recall(("eve",), "the cat Tom")

    assert 2 == len(found.entries)
    assert [] == list(other.entries)


async def test_a_renamed_file_keeps_its_history() -> None:
    """Its versions stay one memory, and its old path is free for another."""
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        await tool.call(create("/memories/a/cat.md", "Tom"))
        await tool.call(replace("/memories/a/cat.md", "Tom", "Tim"))
        await tool.call(rename("/memories/a", "/memories/b"))
        await tool.call(create("/memories/a/cat.md", "Another"))
        history = await memory.history(ADA, "File", "memories/a/cat.md")
        listed = await tool.call(view())
        await tool.call(delete("/memories/b/cat.md"))
        (left,) = (await memory.memories(ADA)).rows

    assert [("Tom", "put"), ("Tim", "edit"), ("Tim", "rename")] == [
        (each.value["content"], each.cause) for each in history
    ]
    assert ["/memories/a/cat.md"] * 2 + ["/memories/b/cat.md"] == [
        each.value["path"] for each in history
    ]
    assert "/memories/a/cat.md" in listed
    assert "/memories/b/cat.md" in listed
    assert ("memories/a/cat.md~2", "Another") == (left.key, left.value["content"])


async def test_a_person_corrects_and_erases_a_file() -> None:
    """The model sees what a person made of it; and may make a file there again."""
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        for path in (CAT, "/memories/dog.md"):
            await tool.call(create(path))
        await memory.put(ADA, "File", "memories/cat.md", {"path": CAT, "content": "Tim"})
        corrected = await tool.call(view(CAT))
        await memory.erase(ADA, EraseMemory(type="File", key="memories/cat.md"))
        await memory.put(ADA, "File", "memories/dog.md", {"content": "no path"})
        listed = await tool.call(view())
        made = await tool.call(create(CAT))
        again = await tool.call(create("/memories/dog.md"))

    assert str(corrected).endswith("1\tTim")
    assert "cat.md" not in str(listed)
    assert "dog.md" not in str(listed)
    assert "successfully" in str(made)
    assert "successfully" in str(again)


HOSTILE = [
    "/memories/../secret",
    "/memories/a/../../secret",
    "/memories/a/..",
    "/memoriesX/a",
    "/etc/passwd",
    "memories/a",
    "",
    "/memories/%2e%2e/secret",
    "/memories/%252e%252e/secret",
    "/memories/..%2fsecret",
    "/memories/a%2fb",
    "/memories/a\\..\\b",
    "/memories/a%5cb",
    "/memories/a\0b",
    "/memories/a%00b",
    "/memories/a\nb",
    "/memories/a\ud800b",
]


@pytest.mark.parametrize("path", HOSTILE)
async def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    """In every command, with one error, and nothing is written."""
    commands = [view(path), create(path), replace(path, "a", "b"), insert(path, 0, "a")]
    commands += [delete(path), rename(path, "/memories/x"), rename(CAT, path)]
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        await tool.call(create(CAT))
        for command in commands:
            with pytest.raises(ToolError, match="is not accepted: it must be /memories or start"):
                await tool.call(command)
        (file,) = (await memory.memories(ADA)).rows

    assert 1 == file.version


@pytest.mark.parametrize("path", ["/memories/100%.md", "/memories/a..b", "/memories/…/你好.md"])
async def test_a_path_that_only_looks_odd_is_accepted(path: str) -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        await tool.call(create(path))

        assert "Tom" in str(await tool.call(view(path)))


def test_paths_are_read_as_often_as_they_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that decodes nothing, or a part of it, lets hostile paths pass."""
    monkeypatch.setattr(file_tree, "unquote", lambda path: path)
    passed = []
    for path in HOSTILE:
        try:
            passed.append(file_tree.checked_path(path))
        except ValueError:
            continue

    assert 6 == len(passed)


WRONG: list[tuple[object, str]] = [
    ("view", "command is one of view, create"),
    (None, "command is one of view, create"),
    ({"path": CAT}, "not None"),
    ({"command": "format"}, "not 'format'"),
    ({"command": ["view"]}, r"not \['view'\]"),
    ({"command": "create", "path": CAT}, "create needs `file_text`"),
    ({"command": "create", "path": CAT, "file_text": {"a": 1}}, "create has a wrong `file_text`"),
    (view(7), "view has a wrong `path`"),  # type: ignore[arg-type]
    (insert(CAT, "first", "a"), "insert has a wrong `insert_line`"),  # type: ignore[arg-type]
    (create(CAT, "a\0b"), "NUL"),
    (create(CAT, "a\ud800b"), "surrogate"),
    (create(CAT, "a" * (FILE_CHARACTERS_MAX + 1)), "at most 50000 are"),
    (create("/memories/" + "a" * 201), "201 characters of a memory"),
    (create("/memories/kept.md/below"), "is a file, not a directory"),
    (replace("/memories/kept.md", "", "a"), "old_str is empty"),
    (replace("/memories/kept.md", "Tom", "\0"), "NUL"),
    (
        replace("/memories/kept.md", "Tom", "a" * (FILE_CHARACTERS_MAX + 1)),
        "at most 50000 are",
    ),
    (rename("/memories/kept.md", "/memories/kept.md/a"), "into itself"),
    (rename("/memories/kept.md", "/memories/" + "a" * 201), "201 characters of a memory"),
]


@pytest.mark.parametrize(("command", "why"), WRONG)
async def test_a_command_that_is_wrong_says_how_and_changes_nothing(
    command: object, why: str
) -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        await tool.call(create("/memories/kept.md"))
        with pytest.raises(ToolError, match=why):
            await tool.call(command)
        (file,) = (await memory.memories(ADA)).rows

    assert (1, "Tom\n") == (file.version, file.value["content"])


async def test_there_are_so_many_files_and_no_more() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        files = [{"path": f"/memories/{each}", "content": "a"} for each in range(FILES_MAX)]
        puts = [
            recollect.PutMemory(type="File", key=f"memories/{place}", value=value)
            for place, value in enumerate(files)
        ]
        await memory.apply(ADA, puts)
        with pytest.raises(ToolError, match="501 memory files; at most 500"):
            await tool.call(create(CAT))
        await tool.call(rename("/memories/7", CAT))
        await tool.clear_all_memory()

        assert () == (await memory.memories(ADA)).rows


async def test_many_commands_at_once_all_count() -> None:
    """Those of one answer of a model, and those of two processes."""
    async with recollect.open("memory:", embedder="none") as memory:
        tool = RecollectMemoryTool(memory, ADA)
        await asyncio.gather(*(tool.call(create(f"/memories/{each}")) for each in range(20)))

        assert 20 == len((await memory.memories(ADA)).rows)


async def race(store: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the files after a file was made where another process had just moved one."""
    async with (
        recollect.open(store, embedder="none") as memory,
        recollect.open(store, embedder="none") as other,
    ):
        tool = RecollectMemoryTool(memory, ADA)
        await tool.call(create("/memories/old.md"))
        read, moves = memory_tool._read, [rename("/memories/old.md", CAT)]

        async def read_and_wait(*args: Any) -> Any:
            tree = await read(*args)
            if moves:
                await RecollectMemoryTool(other, ADA).call(moves.pop())
            return tree

        monkeypatch.setattr(memory_tool, "_read", read_and_wait)
        with pytest.raises(ToolError, match="already exists"):
            await tool.call(create(CAT))
        return list((await memory.memories(ADA)).rows)


async def test_two_processes_give_one_path_to_one_file(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = await race(address, monkeypatch)

    assert CAT == file.value["path"]


async def test_files_that_were_not_counted_would_share_a_path(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race is real: without the version that each change expects, it is lost."""

    def unguarded(**fields: Any) -> PutSideRecord:
        return PutSideRecord(**{**fields, "expected": None})

    monkeypatch.setattr(memory_tool, "PutSideRecord", unguarded)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        await race(address, monkeypatch)


def test_an_asynchronous_memory_has_a_tool_of_its_own() -> None:
    memory: Any = recollect.open("memory:")
    with pytest.raises(UsageError, match=r"open_sync, or use RecollectMemoryTool"):
        SyncRecollectMemoryTool(memory, ADA)
