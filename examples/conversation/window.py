"""The last turns go into the prompt; the thread keeps all of them."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationBufferWindowMemory

STEPS = [
    ("How do I start the bread?", "Mix flour, water and yeast."),
    ("And then?", "Let it rise for an hour."),
    ("It has risen.", "Fold it, and wait for half an hour more."),
    ("Done. What now?", "Bake it at 230 degrees."),
]

with recollect.open_sync("memory:", embedder="none") as memory:
    talk = ConversationBufferWindowMemory(memory, ("users", "leo"), "bread", k=2)
    for asked, answered in STEPS:
        talk.save_context({"input": asked}, {"output": answered})

    print(talk.load_memory_variables({})["history"])
    thread = memory.thread(("users", "leo"), "bread")
    print(f"shown: 4 messages; kept: {thread.count if thread else 0}")
