"""Importing a conversation from a file, and asking it something."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import asyncio
from importlib.resources import as_file, files

import recollect
from recollect.importers import import_file, open_source

MIRA = ("demo", "mira")


async def main() -> None:
    """Import the example conversation and recall from it."""
    example = files("recollect.demo") / "conversation.jsonl"
    async with recollect.open("memory:", embedder="none") as memory:
        with as_file(example) as path, open_source(str(path)) as source:
            imported = await import_file(memory, MIRA, source)
        print(f"{imported.taken} messages in {imported.threads} threads")

        found = await memory.recall(MIRA, "Which plant did you suggest for the balcony?", limit=2)
        for entry in found.entries:
            print(f"{entry.time:%d %B}, {entry.source}: {entry.text}")


asyncio.run(main())
