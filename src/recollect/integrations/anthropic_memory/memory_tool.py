"""Anthropic's memory tool over a memory, for the SDK's asynchronous and synchronous clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import methodcaller
from typing import Any, Final, TypeAlias

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaFunctionToolResultType,
    ToolError,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)
from pydantic import ValidationError

from recollect.errors import LimitError, RecollectError
from recollect.integrations.anthropic_memory.file_tree import TYPE, Change, FileTree
from recollect.memory.conflict_retries import retried
from recollect.memory.facade import Recollect
from recollect.memory.memory_edits import finding_of
from recollect.records import Scope, ScopeLike
from recollect.side_records import PutSideRecord
from recollect.stores.pages import each_row
from recollect.stores.validation import PAGE_ROWS_MAX, check_scope
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import AnyRecollect, Home

SOURCE: Final = "anthropic_memory"
"""The source of the model's findings, by which `EraseSource` erases them together."""
TREE: Final = "FileTree"
"""
Kind and key of an empty side record whose version counts the changes of a scope's files.

Every change expects the version that it read, so that two processes cannot create one path twice.
"""

Command: TypeAlias = BetaMemoryTool20250818Command
_COMMANDS: Final[Mapping[str, tuple[Any, Sequence[str]]]] = {
    "view": (BetaMemoryTool20250818ViewCommand, ("path", "view_range")),
    "create": (BetaMemoryTool20250818CreateCommand, ("path", "file_text")),
    "str_replace": (BetaMemoryTool20250818StrReplaceCommand, ("path", "old_str", "new_str")),
    "insert": (BetaMemoryTool20250818InsertCommand, ("path", "insert_line", "insert_text")),
    "delete": (BetaMemoryTool20250818DeleteCommand, ("path",)),
    "rename": (BetaMemoryTool20250818RenameCommand, ("old_path", "new_path")),
}
"""The SDK's model of each command, and its fields in the order of `FileTree`'s parameters."""


class RecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """
    The memory tool for ``client.beta.messages.tool_runner(…, tools=[tool])`` of an async client.

    Each file is a memory of the type ``File``: it is recalled, versioned, reviewed and erased like
    any other. The model's text is a finding of an agent, with the source ``anthropic_memory``.
    `clear_all_memory` removes all files.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Create a tool over the files of *scope*."""
        super().__init__(cache_control=cache_control)
        self._home = Home(memory)
        self._scope = check_scope(scope)

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 (theirs)
        """Run a command as the model wrote it; raise `ToolError` if it is invalid."""
        return await self.execute(_command_of(input))

    async def view(self, command: Command) -> str:
        """Run any of the six commands."""
        return await self._home.visit(lambda memory: _run(memory, self._scope, command))

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Remove all files of the scope, with their history."""
        return await self._home.visit(lambda memory: _change(memory, self._scope, FileTree.clear))


class SyncRecollectMemoryTool(BetaAbstractMemoryTool):
    """`RecollectMemoryTool` for a synchronous client, over `recollect.open_sync`."""

    def __init__(
        self,
        memory: SyncRecollect,
        scope: ScopeLike,
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """Create a tool over the files of *scope*."""
        super().__init__(cache_control=cache_control)
        self._home = Home.of_sync(memory, ", or use RecollectMemoryTool")
        self._scope = check_scope(scope)

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 (theirs)
        """Run a command as the model wrote it; raise `ToolError` if it is invalid."""
        return self.execute(_command_of(input))

    def view(self, command: Command) -> str:
        """Run any of the six commands."""
        return self._home.call(lambda memory: _run(memory, self._scope, command))

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        """Remove all files of the scope, with their history."""
        return self._home.call(lambda memory: _change(memory, self._scope, FileTree.clear))


def _command_of(written: object) -> Command:
    """Return the validated command; the SDK itself does not check a model's fields."""
    fields = dict(written) if isinstance(written, Mapping) else {}
    named = fields.get("command")
    if not isinstance(named, str) or named not in _COMMANDS:
        raise ToolError(f"command is one of {', '.join(_COMMANDS)}; not {named!r}")
    form, _ = _COMMANDS[named]
    try:
        command: Command = form.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        if first["type"] == "missing":
            raise ToolError(f"The command {named} needs `{field}`") from error
        raise ToolError(f"The command {named} has a wrong `{field}`: {first['msg']}") from error
    return command


def _tool_error(error: RecollectError) -> ToolError:
    """Return *error* for a model, without the names of our constants."""
    if isinstance(error, LimitError):
        return ToolError(
            f"Too large: {error.actual} {error.what}; at most {error.limit} are allowed"
        )
    return ToolError(str(error))


async def _run(memory: Recollect, scope: Scope, command: Command) -> str:
    _, names = _COMMANDS[command.command]
    act = methodcaller(command.command, *(getattr(command, name) for name in names))
    if command.command != "view":
        return await _change(memory, scope, act)
    try:
        text: str = act(await _read(memory, scope))
    except RecollectError as error:
        raise _tool_error(error) from error
    return text


async def _change(memory: Recollect, scope: Scope, plan: Callable[[FileTree], Change]) -> str:
    """Apply the writes that *plan* returns for the current files, atomically."""

    async def attempt() -> str:
        stamp = await memory.store.side_record(scope, TREE, TREE)
        writes, answer = plan(await _read(memory, scope))
        # Another process that changes a file meanwhile changes this record too.
        seen = PutSideRecord(kind=TREE, key=TREE, value={}, expected=stamp.version if stamp else 0)
        await memory.apply(scope, [*writes, seen])
        return answer

    try:
        async with memory.turns.of(scope):
            return await retried(attempt)
    except RecollectError as error:
        raise _tool_error(error) from error


async def _read(memory: Recollect, scope: Scope) -> FileTree:
    rows = each_row(
        lambda cursor: memory.store.memories(scope, type_=TYPE, cursor=cursor, limit=PAGE_ROWS_MAX)
    )
    return FileTree.of([each async for each in rows], finding_of(memory.store, SOURCE))
