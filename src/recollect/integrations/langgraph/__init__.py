"""
LangGraph's memory over ours.

`RecollectStore` is its long-term memory, `FormedStore` one that shows what was formed as well;
`checkpointer` keeps its threads beside ours, and nodes trim, remove and summarise the messages of
a state, and work by instructions that improve by feedback.
"""

from recollect.integrations.langgraph.caller import GraphCaller
from recollect.integrations.langgraph.checkpointer import checkpointer
from recollect.integrations.langgraph.formed_store import FormedStore
from recollect.integrations.langgraph.graph_store import RecollectStore
from recollect.integrations.langgraph.message_mirror import MessageMirror
from recollect.integrations.langgraph.nodes import remove_node, summarise_node, trim_node
from recollect.integrations.langgraph.procedural_nodes import call_model, update_instructions
from recollect.stores.checkpoint_threads import thread_id_of, thread_of

__all__ = [
    "FormedStore",
    "GraphCaller",
    "MessageMirror",
    "RecollectStore",
    "call_model",
    "checkpointer",
    "remove_node",
    "summarise_node",
    "thread_id_of",
    "thread_of",
    "trim_node",
    "update_instructions",
]
