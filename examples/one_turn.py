"""One turn of a chat: keep what was said, recall what bears on it, build the prompt."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import asyncio

import recollect

ADA = ("acme", "users", "ada")
EARLIER = [
    recollect.NewMessage(role="user", text="I am allergic to hazelnuts, remember that."),
    recollect.NewMessage(role="assistant", text="Noted: no hazelnuts."),
    recollect.NewMessage(role="user", text="My daughter Ines turns seven on 3 June."),
]


async def prompt_for(memory: recollect.Recollect, text: str) -> str:
    """Keep a user's message and return the prompt with which a model would answer it."""
    found = await memory.recall(ADA, text, budget_tokens=200)
    await memory.append(ADA, "today", [recollect.NewMessage(role="user", text=text)])
    return f"{found.render()}\n\nuser: {text}\nassistant:"


async def main() -> None:
    """Play one turn."""
    async with recollect.open("memory:", embedder="none") as memory:
        await memory.append(ADA, "last week", EARLIER)

        print(await prompt_for(memory, "Suggest a cake for Ines; and mind what I am allergic to."))


asyncio.run(main())
