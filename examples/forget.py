"""Erasing a message, and the memory that rests on it alone."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import asyncio

import recollect

ADA = ("acme", "users", "ada")
SAID = recollect.NewMessage(role="user", id="m1", text="The code of my safe is 4417.")


async def main() -> None:
    """Keep something, form a memory of it, and forget both."""
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "chat", [SAID])
        rests_on = recollect.Evidence(thread="chat", message="m1", quote="my safe is 4417")
        await memory.put(ADA, "Item", "safe", {"code": "4417"}, evidence={"/code": [rests_on]})

        receipt = await memory.erase(ADA, recollect.EraseMessages(thread="chat", messages=["m1"]))
        left = await memory.recall(ADA, "What is the code of my safe?")

        print(f"{receipt.messages} message and {receipt.memories} memory erased")
        print(f"bytes gone: {receipt.clean_at is not None}; answers left: {len(left.entries)}")


asyncio.run(main())
