"""
Memory tools for agents: save, search, update and erase, as functions with JSON Schemas.

A tool names what to remember, never whose memory it is: scope and thread are the program's.
"""

from recollect.agents.tools.memory_tools import MemoryTools

__all__ = ["MemoryTools"]
