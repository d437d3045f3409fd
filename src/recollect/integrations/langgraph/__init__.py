"""LangGraph's long-term memory over ours: one store for its items and all that we remember."""

from recollect.integrations.langgraph.formed import FormedStore
from recollect.integrations.langgraph.store import RecollectStore

__all__ = ["FormedStore", "RecollectStore"]
