"""A chatbot over a memory: it stores a conversation, answers from memory, and takes corrections."""

from recollect.chat.chatbot import ChatAnswer, Chatbot
from recollect.chat.corrections import correction_of

__all__ = ("ChatAnswer", "Chatbot", "correction_of")
