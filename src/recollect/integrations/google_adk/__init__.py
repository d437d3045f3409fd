"""Google ADK: a plugin and a memory service."""

from recollect.integrations.google_adk.memory_service import RecollectMemoryService
from recollect.integrations.google_adk.plugin import RecollectPlugin

__all__ = ("RecollectMemoryService", "RecollectPlugin")
