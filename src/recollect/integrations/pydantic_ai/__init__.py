"""Pydantic AI: a capability with history and recalled context, and the memory tools."""

from recollect.deferred_imports import needs_extra

with needs_extra("pydantic-ai", "pydantic-ai-slim"):
    from recollect.integrations.pydantic_ai.capability import RecollectCapability, memory_toolset

__all__ = ("RecollectCapability", "memory_toolset")
