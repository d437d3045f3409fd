"""Pydantic AI: a capability that remembers runs, and tells each one what bears on it."""

from recollect.integrations.pydantic_ai.capability import RecollectCapability

__all__ = ("RecollectCapability",)
