"""
LangGraph: a store, a checkpointer, and nodes.

`RecollectStore` is LangGraph's long-term memory over a Recollect memory; `FormedStore` shows formed
memories as well. `checkpointer` stores a graph's checkpoints beside the memory. Nodes trim, remove
and summarise the messages of a state, and apply and improve an agent's instructions.
"""

from recollect.deferred_imports import needs_extra
from recollect.stores.checkpoint_threads import thread_id_of, thread_of

with needs_extra("langgraph", "langgraph"):
    from recollect.integrations.langgraph.caller import GraphCaller
    from recollect.integrations.langgraph.checkpointer import checkpointer
    from recollect.integrations.langgraph.formed_store import FormedStore
    from recollect.integrations.langgraph.graph_store import RecollectStore
    from recollect.integrations.langgraph.message_mirror import MessageMirror
    from recollect.integrations.langgraph.nodes import remove_node, summarise_node, trim_node
    from recollect.integrations.langgraph.procedural_nodes import call_model, update_instructions

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
