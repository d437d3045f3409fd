"""A memory of one's own: lines that begin with "Remember" go into every prompt of a scope."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

from typing import Any

import recollect
from recollect.conversation import (
    CombinedMemory,
    ConversationBufferMemory,
    Home,
    PolicyMemory,
    Values,
)


class PinnedMemory(PolicyMemory):
    """Keeps what somebody asks to be remembered, and shows it in all threads of a scope."""

    def __init__(self, memory: recollect.SyncRecollect, scope: recollect.Scope) -> None:
        self._home = Home(memory)
        self.scope = scope

    @property
    def home(self) -> Home:
        """The bridge to the memory that stores it."""
        return self._home

    @property
    def memory_variables(self) -> list[str]:
        """The variable that it fills."""
        return ["pinned"]

    async def load(self, memory: recollect.Recollect, inputs: Values) -> dict[str, Any]:
        """Return what is pinned, a line each."""
        page = await memory.memories(self.scope, type_="Item", filter_={"pinned": True})
        return {"pinned": "\n".join(str(each.value["text"]) for each in page.rows)}

    async def save(self, memory: recollect.Recollect, inputs: Values, outputs: Values) -> None:
        """Pin the line, if it asks for that."""
        line = inputs["input"]
        if line.startswith("Remember"):
            await memory.put(self.scope, "Item", line, {"text": line, "pinned": True})

    async def remove(self, memory: recollect.Recollect) -> None:
        """Unpin everything."""
        page = await memory.memories(self.scope, type_="Item", filter_={"pinned": True})
        gone = [recollect.DeleteMemory(type=each.type, key=each.key) for each in page.rows]
        await memory.apply(self.scope, gone)


ZOE = ("users", "zoe")

with recollect.open_sync("memory:", embedder="none") as memory:
    pinned = PinnedMemory(memory, ZOE)
    monday = ConversationBufferMemory(memory, ZOE, "monday", input_key="input")
    both = CombinedMemory([pinned, monday])
    both.save_context({"input": "Remember that I do not eat fish."}, {"output": "I will."})
    both.save_context({"input": "It is raining."}, {"output": "Take an umbrella."})

    tuesday = ConversationBufferMemory(memory, ZOE, "tuesday", input_key="input")
    print(CombinedMemory([pinned, tuesday]).load_memory_variables({"input": "What is for lunch?"}))
    pinned.clear()
    print(pinned.load_memory_variables({}))
