"""The chatbot: a talk that is kept, answered with what is remembered, and corrected."""

from recollect.chat.chatbot import Answer, Chatbot
from recollect.chat.correcting import correction_of
from recollect.chat.prompting import Known

__all__ = ("Answer", "Chatbot", "Known", "correction_of")
