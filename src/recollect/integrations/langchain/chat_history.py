"""A thread as LangChain's chat message history, for example for `RunnableWithMessageHistory`."""

from __future__ import annotations

from langchain_core.chat_history import BaseChatMessageHistory

from recollect.conversation import ChatHistory


# The two bases declare different message types. With LangChain installed, `message_classes`
# returns LangChain's, so that both are right.
class RecollectChatMessageHistory(ChatHistory, BaseChatMessageHistory):  # type: ignore[misc]
    """
    The messages of one thread of a memory, as a LangChain chat message history.

    >>> history = RecollectChatMessageHistory()
    >>> history.add_user_message("Hello")
    >>> [message.content for message in history.messages]
    ['Hello']
    """
