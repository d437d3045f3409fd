"""Memories beside LangChain's originals: how both begin, and what of theirs is compared."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage


def shown(variables: dict[str, Any]) -> dict[str, Any]:
    """Return variables with messages as values that show what differs."""
    return {
        key: [(type(m).__name__, m.content) for m in value] if isinstance(value, list) else value
        for key, value in variables.items()
    }


def begun(memory: Any, before: Sequence[str]) -> Any:
    """Return *memory* after a talk of the user and the assistant in turn."""
    kinds = (HumanMessage, AIMessage)
    memory.chat_memory.add_messages([kinds[n % 2](content=t) for n, t in enumerate(before)])
    return memory
