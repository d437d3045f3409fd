"""The newest messages that fit into a number of tokens go into the prompt."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationTokenBufferMemory

TALK = [
    ("I have 3 days in Lisbon.", "Then see Belem, Alfama and Sintra. " * 6),
    ("Which first?", "Belem."),
    ("By tram?", "Yes, line 15."),
]


def words(text: str) -> int:
    """Count words; your model's tokenizer stands here."""
    return len(text.split())


with recollect.open_sync("memory:", embedder="none") as memory:
    for name, count in (("estimated", None), ("counted in words", words)):
        talk = ConversationTokenBufferMemory(
            memory, ("users", "ana"), f"trip, {name}", max_token_limit=14, count_tokens=count
        )
        for asked, answered in TALK:
            talk.save_context({"input": asked}, {"output": answered})
        print(f"{name}:")
        print(talk.load_memory_variables({})["history"])
