"""Microsoft Agent Framework: session history, recalled context, and the memory tools."""

from recollect.integrations.agent_framework.function_tools import memory_tools
from recollect.integrations.agent_framework.providers import (
    RecollectContextProvider,
    RecollectHistoryProvider,
)

__all__ = ("RecollectContextProvider", "RecollectHistoryProvider", "memory_tools")
