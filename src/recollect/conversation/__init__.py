"""The classic conversation memories: policies over one thread that say what the prompt gets."""

from __future__ import annotations

from recollect.conversation.base import (
    BaseMemory,
    ChatMemory,
    PolicyMemory,
    TranscriptMemory,
    Values,
)
from recollect.conversation.buffer import ConversationBufferMemory
from recollect.conversation.history import ChatHistory
from recollect.conversation.token_buffer import ConversationTokenBufferMemory
from recollect.conversation.window import ConversationBufferWindowMemory

__all__ = [
    "BaseMemory",
    "ChatHistory",
    "ChatMemory",
    "ConversationBufferMemory",
    "ConversationBufferWindowMemory",
    "ConversationTokenBufferMemory",
    "PolicyMemory",
    "TranscriptMemory",
    "Values",
]
