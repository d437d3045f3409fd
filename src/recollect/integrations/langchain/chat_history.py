"""Our thread as LangChain's chat message history, e.g. for `RunnableWithMessageHistory`."""

from __future__ import annotations

from langchain_core.chat_history import BaseChatMessageHistory

from recollect.conversation import ChatHistory


# Theirs promises its own messages, ours what has their shape: here they are the same.
class RecollectChatMessageHistory(ChatHistory, BaseChatMessageHistory):  # type: ignore[misc]
    """
    The messages of one thread of a memory.

    >>> history = RecollectChatMessageHistory()
    >>> history.add_user_message("Hello")
    >>> [message.content for message in history.messages]
    ['Hello']
    """
