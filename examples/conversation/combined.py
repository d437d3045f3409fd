"""Several memories together within one budget; constants; and a memory that a tool only reads."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import (
    CombinedMemory,
    ConversationBufferWindowMemory,
    ReadOnlySharedMemory,
    SimpleMemory,
    VectorStoreRetrieverMemory,
)

PATIENT = ("practice", "patients", "otto")
EARLIER = [
    ("Penicillin gives me a rash.", "I have written down the allergy to penicillin."),
    ("I moved to Mill Lane 4.", "The address is changed."),
]
TODAY = [("I have a sore throat.", "Since when?"), ("Since Sunday.", "Is there a fever?")]

with recollect.open_sync("memory:", embedder="none") as memory:
    last_year = VectorStoreRetrieverMemory(memory, PATIENT, "2025", input_key="input")
    for asked, answered in EARLIER:
        last_year.save_context({"input": asked}, {"output": answered})

    recent = ConversationBufferWindowMemory(
        memory, PATIENT, "today", k=1, memory_key="recent", input_key="input"
    )
    earlier = VectorStoreRetrieverMemory(
        memory, PATIENT, "2025", k=1, memory_key="earlier", input_key="input"
    )
    both = CombinedMemory(
        [
            SimpleMemory({"tone": "Be brief and kind."}),
            recent,
            # It looks things up and writes nothing: each turn is kept once, by `recent`.
            ReadOnlySharedMemory(earlier),
        ],
        max_token_limit=60,
    )
    for asked, answered in TODAY:
        both.save_context({"input": asked}, {"output": answered})

    loaded = both.load_memory_variables({"input": "Can I take penicillin?"})
    print(loaded["tone"])
    print(loaded["recent"])
    print(loaded["earlier"])

    # A tool of an agent gets the memory to read; what it saves is dropped.
    shared = ReadOnlySharedMemory(recent)
    shared.save_context({"input": "tool"}, {"output": "result"})
    print(f"the tool reads {shared.memory_variables}; kept are {len(recent.chat_memory.messages)}")
