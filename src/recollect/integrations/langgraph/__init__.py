"""LangGraph's memory over ours: one store for its items, and its threads' checkpoints beside it."""

from recollect.integrations.langgraph.checkpointer import checkpointer
from recollect.integrations.langgraph.mirror import MessageMirror
from recollect.integrations.langgraph.store import RecollectStore
from recollect.stores.checkpoints import thread_id_of, thread_of

__all__ = ["MessageMirror", "RecollectStore", "checkpointer", "thread_id_of", "thread_of"]
