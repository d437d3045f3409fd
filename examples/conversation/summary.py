"""A summary of the whole conversation goes into the prompt."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import recollect
from recollect.conversation import ConversationSummaryMemory
from recollect.testing import ScriptedModel

PAT = ("club", "members", "pat")
TALK = [
    ("I want to run ten kilometres in June.", "Good. How far do you run now?"),
    ("Three, twice a week.", "Add one kilometre every second week."),
    ("My left knee hurts a little.", "Then rest this week, and see a doctor if it stays."),
    ("It is fine again.", "Go on with four kilometres."),
]
# In place of "openai/gpt-5-mini", of a LangChain model, or of a function of yours.
MODEL = ScriptedModel(
    [
        "Pat runs 3 km twice a week, wants to run 10 km in June, and adds 1 km every second week.",
        "Pat wants to run 10 km in June. The left knee hurt; it is fine again. Next: 4 km.",
    ]
)

with recollect.open_sync("memory:", embedder="none") as memory:
    # By default a call is made for each turn, as the original does; here for two together.
    talk = ConversationSummaryMemory(memory, PAT, "running", llm=MODEL, every_turns=2)
    for turn, (asked, answered) in enumerate(TALK, 1):
        talk.save_context({"input": asked}, {"output": answered})
        if turn == 3:
            # What is not in the summary yet stands after it: a load misses nothing.
            print(talk.load_memory_variables({})["history"])

    print(f"after 4 turns and {len(MODEL.requests)} calls: {talk.buffer}")
    print(f"it stands for {len(talk.expand())} messages; the first: {talk.expand()[0].content}")
