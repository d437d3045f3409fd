"""The interface of memory tools that the frameworks' adapters wrap, and their answers as text."""

from __future__ import annotations

import json
from typing import Protocol

from recollect.errors import UsageError
from recollect.ports import Tool
from recollect.recall.rendering import visible
from recollect.records import JsonObject


class Offered(Protocol):
    """The memory tools that an adapter offers: `MemoryTools`, or `CallersMemoryTools`."""

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tool definitions for a model."""
        ...

    def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """Run a tool call."""
        ...

    async def acall(self, name: str, arguments: JsonObject) -> JsonObject:
        """Async variant of `call`."""
        ...


def schemas_of(tools: Offered) -> tuple[Tool, ...]:
    """
    Return the tool definitions of *tools*.

    Raises:
        UsageError: *tools* are no memory tools, but for example the memory itself.
    """
    schemas = getattr(tools, "schemas", None)
    if schemas is None:
        raise UsageError(
            f"{tools!r} has no memory tools: give MemoryTools(memory, scope, thread), of "
            "recollect.agents.tools"
        )
    return tools.schemas


def answer_text(answer: JsonObject) -> str:
    """Return *answer* as JSON, with invisible characters escaped, which a model would read."""
    return visible(json.dumps(answer, ensure_ascii=False))
