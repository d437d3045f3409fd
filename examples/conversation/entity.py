"""What is known of the names in the new line goes into the prompt."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationEntityMemory
from recollect.testing import ScriptedModel

OFFICE = ("office", "team 4")
# A load asks for the names in the new line, a save for what is known of each of them.
MODEL = ScriptedModel(
    [
        "Ravi, Harbour",
        "Ravi leads the project Harbour.",
        "Harbour is a project; it ends in October.",
        "Ravi",
    ]
)

with recollect.open_sync("memory:", embedder="none") as memory:
    monday = ConversationEntityMemory(memory, OFFICE, "monday", llm=MODEL)
    asked = {"input": "Ravi leads Harbour, which ends in October."}
    print(monday.load_memory_variables(asked)["entities"])
    monday.save_context(asked, {"output": "Noted."})

    # Another thread of the same scope knows the names, too.
    friday = ConversationEntityMemory(memory, OFFICE, "friday", llm=MODEL)
    print(friday.load_memory_variables({"input": "What does Ravi do?"})["entities"])
    print(f"calls: {len(MODEL.requests)}")

    # What is known is a memory, with the message that it rests on: erasing that takes it.
    memory.erase(OFFICE, recollect.EraseThread(thread="monday"))
    print(f"after the erase: {monday.entity_store.keys()}")
