"""
Memory tools for agents: save, search, update and erase, as functions with JSON Schemas.

The model chooses what to remember. The program chooses the scope and the thread.
"""

from recollect.agents.tools.memory_tools import MemoryTools

__all__ = ["MemoryTools"]
