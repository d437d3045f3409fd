"""CrewAI: its memory over ours, and the storage backend beneath it."""

from recollect.deferred_imports import needs_extra

with needs_extra("crewai", "crewai"):
    from recollect.integrations.crewai.crew_memory import RecollectCrewMemory
    from recollect.integrations.crewai.storage_backend import RecollectStorage

__all__ = ("RecollectCrewMemory", "RecollectStorage")
