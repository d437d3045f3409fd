"""The earlier exchanges that bear on the new line go into the prompt."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import VectorStoreRetrieverMemory

READER = ("library", "readers", "ines")
YEAR = {
    "january": [
        ("I liked The Sea of Glass.", "Then try its sequel, The Salt Road."),
        ("When do you close?", "At eight in the evening."),
    ],
    "march": [
        ("My card has expired.", "I have renewed it for a year."),
        ("Have you got cookbooks?", "Yes, on the second floor."),
    ],
}

# With "auto" in place of "none", and the extra "minilm", it finds by meaning, too.
with recollect.open_sync("memory:", embedder="none") as memory:
    for thread, turns in YEAR.items():
        talk = VectorStoreRetrieverMemory(memory, READER, thread, k=1)
        for asked, answered in turns:
            talk.save_context({"input": asked}, {"output": answered})

    # It finds in all threads of the scope, whatever thread it writes to.
    today = VectorStoreRetrieverMemory(memory, READER, "june", k=1, return_docs=True)
    (found,) = today.load_memory_variables({"input": "Which sequel was it?"})["history"]
    print(found.page_content)
    print(f"said in {found.metadata['thread']}")
