"""The memory tools as frameworks take them: definitions, and calls that answer in text."""

from __future__ import annotations

import json
from typing import Protocol

from recollect.ports import Tool
from recollect.recall.rendering import visible
from recollect.records import JsonObject


class Offered(Protocol):
    """The object that tools call: `MemoryTools`, or one that finds them by the caller."""

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tools as a model is offered them."""
        ...

    def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """Carry out a call."""
        ...

    async def acall(self, name: str, arguments: JsonObject) -> JsonObject:
        """Async variant of `call`."""
        ...


def answer_text(answer: JsonObject) -> str:
    """Return *answer* as JSON in which nothing hides from people that a model would read."""
    return visible(json.dumps(answer, ensure_ascii=False))
