"""
Memory for LangChain's agents, as middleware of ``create_agent``.

Put `CompactionMiddleware` first, so that recall sees the messages that the model gets. All of them
work with ``invoke`` and with ``ainvoke``.
"""

from __future__ import annotations

from recollect.integrations.langchain.middleware.caller_tools import CallersMemoryTools
from recollect.integrations.langchain.middleware.compaction_middleware import CompactionMiddleware
from recollect.integrations.langchain.middleware.formation_middleware import FormationMiddleware
from recollect.integrations.langchain.middleware.procedural_middleware import (
    ExamplesMiddleware,
    InstructionsMiddleware,
)
from recollect.integrations.langchain.middleware.recall_middleware import RecallMiddleware
from recollect.integrations.langgraph.caller import GraphCaller

__all__ = [
    "CallersMemoryTools",
    "CompactionMiddleware",
    "ExamplesMiddleware",
    "FormationMiddleware",
    "GraphCaller",
    "InstructionsMiddleware",
    "RecallMiddleware",
]
