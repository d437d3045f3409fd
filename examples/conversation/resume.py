"""A thread begun in one process goes on in another: edited, trimmed, and summarised."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import asyncio
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import recollect
from recollect.conversation import ChatHistory
from recollect.messages import buffer_string, message_of, summarize_conversation, trim_messages
from recollect.testing import ScriptedModel

KAI = ("users", "kai")
THREAD = "garden"
TALK: list[tuple[recollect.Role, str]] = [
    ("user", "My tomatoes have brown leaves."),
    ("assistant", "How often do you water them?"),
    ("user", "Every day, over the leaves. My number is 555-0134."),
    ("assistant", "Water the soil only, in the morning."),
    ("user", "And the beans?"),
    ("assistant", "They may get water from above."),
]


async def begin(store: str) -> None:
    """Keep a talk."""
    async with recollect.open(store, embedder="none") as memory:
        said = [recollect.NewMessage(role=role, text=text) for role, text in TALK]
        await memory.append(KAI, THREAD, said)


async def go_on(store: str) -> None:
    """Go on with it: edit the thread, and make it fit into a prompt."""
    async with recollect.open(store, embedder="none") as memory:
        rows = (await memory.messages(KAI, THREAD)).rows
        print(f"another process finds {len(rows)} messages")

        # Edit: the thread holds the new words, and the old ones are gone.
        edited = recollect.NewMessage(
            role="user", text="Every day, over the leaves.", id=rows[2].id
        )
        await memory.replace(KAI, THREAD, edited)

        # Trim: what goes into the prompt; the thread stays as it is.
        messages = await ChatHistory(memory, KAI, THREAD).aget_messages()
        fitting = trim_messages(messages, max_tokens=4, token_counter=len, start_on="human")
        print(buffer_string(fitting))

        # Summarise: the thread keeps the last messages, and the summary stands beside them.
        rows = (await memory.messages(KAI, THREAD)).rows
        model = ScriptedModel(["Kai waters tomatoes over the leaves, and was told not to."])
        done = await summarize_conversation(
            [message_of(row, with_ids=True) for row in rows], model, keep=2
        )
        if done is not None:
            await memory.remove(KAI, THREAD, [str(each.id) for each in done.removals])
            await memory.set_state(KAI, THREAD, {"summary": done.summary})


async def end(store: str) -> None:
    """Show what the first process finds afterwards."""
    async with recollect.open(store, embedder="none") as memory:
        print((await memory.state(KAI, THREAD))["summary"])
        print(buffer_string(await ChatHistory(memory, KAI, THREAD).aget_messages()))


if len(sys.argv) == 2:
    asyncio.run(go_on(sys.argv[1]))
else:
    with TemporaryDirectory() as folder:
        store = str(Path(folder) / "talk.db")
        asyncio.run(begin(store))
        subprocess.run([sys.executable, __file__, store], check=True)  # noqa: S603 (this file)
        asyncio.run(end(store))
