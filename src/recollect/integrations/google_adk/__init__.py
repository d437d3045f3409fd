"""Google ADK: a plugin and a memory service."""

from recollect.deferred_imports import needs_extra

with needs_extra("google-adk", "google-adk"):
    from recollect.integrations.google_adk.memory_service import RecollectMemoryService
    from recollect.integrations.google_adk.plugin import RecollectPlugin

__all__ = ("RecollectMemoryService", "RecollectPlugin")
