"""A program for LangChain that changed only an import (it needs ``langchain-classic``)."""

# ruff: noqa: INP001, T201 (an example is a file, and prints)

import warnings

from langchain_classic.chains import ConversationChain
from langchain_core.language_models import FakeListChatModel

# It was: from langchain_classic.memory import ConversationBufferWindowMemory
from recollect.integrations.langchain.memory import ConversationBufferWindowMemory

warnings.simplefilter("ignore")  # LangChain announces the end of its chains

model = FakeListChatModel(responses=["Hello Iris.", "Tea it is.", "You are Iris."])
memory = ConversationBufferWindowMemory(k=2)
chain = ConversationChain(llm=model, memory=memory)
for said in ("I am Iris.", "I prefer tea.", "Who am I?"):
    print(f"{said} -> {chain.predict(input=said)}")
print(memory.load_memory_variables({})["history"])
