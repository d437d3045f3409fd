"""CrewAI: a storage backend for its memory."""

from recollect.deferred_imports import needs_extra

with needs_extra("crewai", "crewai"):
    from recollect.integrations.crewai.storage_backend import RecollectStorage, crew_embedder

__all__ = ("RecollectStorage", "crew_embedder")
