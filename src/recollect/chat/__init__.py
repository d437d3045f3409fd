"""The chatbot: a talk that is kept, answered with what is remembered, and corrected."""

from recollect.chat.chat_prompt import Known
from recollect.chat.chatbot import Answer, Chatbot
from recollect.chat.corrections import correction_of

__all__ = ("Answer", "Chatbot", "Known", "correction_of")
