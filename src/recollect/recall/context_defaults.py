"""Defaults of a context, in a module of their own, since every door names them."""

from typing import Final

CONTEXT_TOKENS: Final = 2_000
"""So many tokens a context may cost, unless it is said."""
RECENT_MESSAGES: Final = 20
"""So many of a thread's newest messages a prompt is taken to show already."""
