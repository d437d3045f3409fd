"""The whole conversation goes into the prompt, as long as it is short enough."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationBufferMemory

SHOP = ("shop", "customers", "nora")

with recollect.open_sync("memory:", embedder="none") as memory:
    talk = ConversationBufferMemory(memory, SHOP, "order 1203")
    talk.save_context({"input": "My kettle leaks."}, {"output": "I am sorry. Since when?"})
    talk.save_context({"input": "Since Monday."}, {"output": "You get a new one."})
    print(talk.load_memory_variables({})["history"])

    # The conversation is kept in a thread: another object over it has it at once.
    again = ConversationBufferMemory(memory, SHOP, "order 1203", return_messages=True)
    print(f"{len(again.buffer)} messages, the first of them {again.buffer[0].type}")

    # Nothing is left out, so a long talk is refused instead of being too long for the model.
    short = ConversationBufferMemory(memory, SHOP, "order 1203", max_token_limit=10)
    try:
        short.load_memory_variables({})
    except recollect.LimitError as error:
        print(error)
