"""Defaults of a context, apart from it, so that every door can import them cheaply."""

from typing import Final

CONTEXT_TOKENS: Final = 2_000
"""The default budget of a context in tokens."""
