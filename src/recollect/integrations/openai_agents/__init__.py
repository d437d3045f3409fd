"""OpenAI's Agents SDK: a session over a thread, and instructions with what is remembered."""

from recollect.integrations.openai_agents.session import RecollectSession

__all__ = ("RecollectSession",)
