"""CrewAI: a storage backend of its memory, over ours."""

from recollect.integrations.crewai.storage_backend import RecollectStorage, crew_embedder

__all__ = ("RecollectStorage", "crew_embedder")
