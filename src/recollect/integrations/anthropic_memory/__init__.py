"""Anthropic's memory tool: a model's memory files, kept in a scope of a memory."""

from recollect.integrations.anthropic_memory.memory_tool import (
    RecollectMemoryTool,
    SyncRecollectMemoryTool,
)

__all__ = ("RecollectMemoryTool", "SyncRecollectMemoryTool")
