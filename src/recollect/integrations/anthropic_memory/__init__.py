"""Anthropic's memory tool: a model's memory files, stored in a scope."""

from recollect.deferred_imports import needs_extra

with needs_extra("anthropic", "anthropic"):
    from recollect.integrations.anthropic_memory.memory_tool import (
        RecollectMemoryTool,
        SyncRecollectMemoryTool,
    )

__all__ = ("RecollectMemoryTool", "SyncRecollectMemoryTool")
