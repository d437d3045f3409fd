"""
LangGraph: a store, a checkpointer, and nodes.

`RecollectStore` is LangGraph's long-term memory over a Recollect memory; `FormedStore` shows formed
memories as well. `checkpointer` stores a graph's checkpoints beside the memory. Nodes trim, remove
and summarise the messages of a state, and apply and improve an agent's instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.deferred_imports import check_installed
from recollect.lazy_exports import lazy_exports
from recollect.stores.checkpoint_threads import thread_id_of, thread_of

if TYPE_CHECKING:
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

check_installed("langgraph", "langgraph")
# A store alone needs neither checkpoints nor conversation memories, which take a second to load.
__getattr__ = lazy_exports(
    __name__,
    {
        "recollect.integrations.langgraph.caller": "GraphCaller",
        "recollect.integrations.langgraph.checkpointer": "checkpointer",
        "recollect.integrations.langgraph.formed_store": "FormedStore",
        "recollect.integrations.langgraph.graph_store": "RecollectStore",
        "recollect.integrations.langgraph.message_mirror": "MessageMirror",
        "recollect.integrations.langgraph.nodes": "remove_node summarise_node trim_node",
        "recollect.integrations.langgraph.procedural_nodes": "call_model update_instructions",
    },
)
