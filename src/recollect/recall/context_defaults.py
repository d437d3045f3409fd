"""What a context is asked for where nobody says: a module of its own, since every door names it."""

from typing import Final

CONTEXT_TOKENS: Final = 2_000
"""So many tokens a context may cost, unless it is said."""
RECENT_MESSAGES: Final = 20
"""So many of a thread's newest messages a prompt is taken to show already."""
