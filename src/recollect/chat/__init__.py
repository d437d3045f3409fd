"""The chatbot: a talk that is kept, answered with what is remembered, and corrected."""

from recollect.chat.chatbot import ChatAnswer, Chatbot
from recollect.chat.corrections import correction_of

__all__ = ("ChatAnswer", "Chatbot", "correction_of")
