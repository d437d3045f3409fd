"""A talk with the chat of rules, formed after each message."""

from collections.abc import Sequence

import recollect
from recollect.chat import Chatbot
from recollect.formation.rule_model import RuleModel


async def answer_after(talk: Sequence[str], asked: str) -> str:
    """Return what the chat of rules answers to *asked* after a *talk*."""
    model = RuleModel()
    async with recollect.open("memory:", embedder="none", model=model) as memory:
        bot = Chatbot(memory, model, "ana")
        for text in talk:
            await bot.reply(text)
            await memory.form("ana")
        return await bot.reply(asked)
