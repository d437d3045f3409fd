"""Microsoft Agent Framework: session history, recalled context, and the memory tools."""

from recollect.deferred_imports import needs_extra

with needs_extra("agent-framework", "agent-framework-core"):
    from recollect.integrations.agent_framework.providers import (
        RecollectContextProvider,
        RecollectHistoryProvider,
        memory_tools,
    )

__all__ = ("RecollectContextProvider", "RecollectHistoryProvider", "memory_tools")
