"""Google ADK: a memory service over a memory."""

from recollect.integrations.google_adk.memory_service import RecollectMemoryService

__all__ = ("RecollectMemoryService",)
