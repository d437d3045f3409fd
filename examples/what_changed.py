"""A fact that changed and one that was corrected: what was true, and what was believed."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import asyncio
from datetime import UTC, datetime

import recollect

ADA = ("acme", "users", "ada")
MOVED = datetime(2024, 5, 4, tzinfo=UTC)
BEFORE = datetime(2024, 3, 1, tzinfo=UTC)


async def live_in(memory: recollect.Recollect, city: str, since: datetime | None = None) -> None:
    """Note where Ada lives."""
    value = {"subject": "Ada", "predicate": "lives in", "object": city}
    await memory.put(ADA, "Fact", f"home/{city}", value, valid_from=since)


async def main() -> None:
    """Move Ada from Bergen to Oslo, and correct the spelling of her name."""
    async with recollect.open("memory:", embedder="none") as memory:
        await live_in(memory, "Bergen")
        ended = recollect.EndMemory(type="Fact", key="home/Bergen", at=MOVED, cause="moved")
        await memory.apply(ADA, [ended])
        await live_in(memory, "Oslo", since=MOVED)

        now = await memory.recall(ADA, "Where does Ada live?")
        where = recollect.Where(valid_at=BEFORE)
        then = await memory.recall(ADA, "Where does Ada live?", where=where)
        print("now: ", now.entries[0].text)
        print("then:", then.entries[0].text)

        await memory.put(ADA, "User", "User", {"user_name": "Aida"})
        await memory.put(ADA, "User", "User", {"user_name": "Ada"})
        for version in await memory.history(ADA, "User", "User"):
            print(f"version {version.version}:", version.value["user_name"])


asyncio.run(main())
