"""The types that any checkpoint may contain: of LangGraph, LangChain, and this package."""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import Enum
from types import ModuleType
from typing import Final

import recollect.messages.message_types
import recollect.recall.results
import recollect.recall.signals
import recollect.records

_OTHERS: Final = {
    "langchain_core.agents": ("AgentAction", "AgentActionMessageLog", "AgentFinish", "AgentStep"),
    "langchain_core.chat_history": ("InMemoryChatMessageHistory",),
    "langchain_core.documents.base": ("BaseMedia", "Blob"),
    "langchain_core.outputs.chat_generation": ("ChatGeneration", "ChatGenerationChunk"),
    "langchain_core.outputs.chat_result": ("ChatResult",),
    "langchain_core.outputs.generation": ("Generation", "GenerationChunk"),
    "langchain_core.outputs.llm_result": ("LLMResult",),
    "langchain_core.outputs.run_info": ("RunInfo",),
    "langchain_core.prompt_values": (
        "ChatPromptValue",
        "ChatPromptValueConcrete",
        "ImagePromptValue",
        "StringPromptValue",
    ),
    "langchain_community.graphs.graph_document": ("GraphDocument", "Node", "Relationship"),
    "langgraph.store.base": (
        "ListNamespacesOp",
        "MatchCondition",
        "PutOp",
        "SearchItem",
        "SearchOp",
    ),
    "langgraph.types": ("StateUpdate",),
    "pydantic.types": ("SecretBytes", "SecretStr"),
}
_OURS: Final = (
    recollect.records,
    recollect.recall.results,
    recollect.recall.signals,
    recollect.messages.message_types,
)


def _data_types_of(module: ModuleType) -> set[tuple[str, str]]:
    return {
        (module.__name__, name)
        for name, each in vars(module).items()
        if isinstance(each, type)
        and each.__module__ == module.__name__
        and not name.startswith("_")
        and (is_dataclass(each) or issubclass(each, Enum | tuple))
    }


KNOWN_TYPES: Final = frozenset(
    {(module, name) for module, names in _OTHERS.items() for name in names}.union(
        *map(_data_types_of, _OURS)
    )
)
"""Pairs of module and name; all are data types, whose creation has no side effect."""
