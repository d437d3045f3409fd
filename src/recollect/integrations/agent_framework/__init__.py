"""Microsoft's Agent Framework: sessions kept as threads, and what is remembered as instructions."""

from recollect.integrations.agent_framework.providers import (
    RecollectContextProvider,
    RecollectHistoryProvider,
)

__all__ = ("RecollectContextProvider", "RecollectHistoryProvider")
