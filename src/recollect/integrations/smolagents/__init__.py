"""smolagents: agent runs in a thread, with history and recalled context, and the memory tools."""

from recollect.deferred_imports import needs_extra

with needs_extra("smolagents", "smolagents"):
    from recollect.integrations.smolagents.conversation import RecollectConversation, memory_tools

__all__ = ("RecollectConversation", "memory_tools")
