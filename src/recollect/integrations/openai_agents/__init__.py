"""OpenAI Agents SDK: a session over a thread, instructions with recalled context, and tools."""

from recollect.deferred_imports import needs_extra

with needs_extra("openai-agents", "openai-agents"):
    from recollect.integrations.openai_agents.session import RecollectSession, memory_tools

__all__ = ("RecollectSession", "memory_tools")
