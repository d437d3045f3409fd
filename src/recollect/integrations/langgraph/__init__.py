"""
LangGraph over ours: `RecollectStore`, its long-term memory, and nodes for graphs.

The nodes trim, remove and summarise the messages of a state, and work by instructions that
improve by feedback.
"""

from recollect.integrations.langgraph.caller import Caller
from recollect.integrations.langgraph.nodes import remove_node, summarise_node, trim_node
from recollect.integrations.langgraph.procedural import call_model, update_instructions
from recollect.integrations.langgraph.store import RecollectStore

__all__ = [
    "Caller",
    "RecollectStore",
    "call_model",
    "remove_node",
    "summarise_node",
    "trim_node",
    "update_instructions",
]
