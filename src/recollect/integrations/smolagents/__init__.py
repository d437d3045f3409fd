"""smolagents: runs of an agent in a thread that remembers, and the memory tools."""

from recollect.integrations.smolagents.agent_tools import memory_tools
from recollect.integrations.smolagents.conversation import RecollectConversation

__all__ = ("RecollectConversation", "memory_tools")
