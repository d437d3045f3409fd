"""LangGraph's store in `langgraph dev`: items, and beside them the memories that were formed."""

from __future__ import annotations

from memory_service.kept import ROOT, opened
from recollect.integrations.langgraph import FormedStore


def store() -> FormedStore:
    """Return the store over the memory; LangGraph's server calls it once, when it starts."""
    return FormedStore(opened(), ROOT)
