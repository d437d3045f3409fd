"""
Answers of the rule model that need no memory.

They are to small talk, to an order to forget, and to a question for the words just said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.formation.rule_quotes import quote_of_talk, quoted, sentence_of_reply
from recollect.formation.rule_statements import READ_CHARACTERS_MAX
from recollect.text.cantonese import written_chinese
from recollect.text.rule_replies import Language
from recollect.text.small_talk import is_small_talk

_FORGETS: Final = re.compile(
    r"^\W*(?:(?:please|pls|now|ok(?:ay)?|and|can you|could you|you can),? )*"
    r"(?:forget|delete|erase|wipe|remove) (?!it\b\W*$|about it\b\W*$)"
    r"|^\W*(?:请|麻烦|帮我|你?能不能|把)?[^，。！？]{0,16}(?:忘掉|忘了吧|忘记它|删除|删掉|抹掉|抹除|清除)"
    r"|^\W*忘记(?:关于)?我[^，。！？了说过]{1,8}\W*$"
    r"|^\W*(?:请|麻烦|拜托|你?能不能|你?可不可以|你?可以)[^，。！？别不莫没有]{0,4}忘记",
    re.IGNORECASE,
)
"""An order to forget, which only a person can carry out."""
_SMALL_TALK: Final = (
    ("goodbye", re.compile(r"(?i:\b(?:good ?)?(?:bye|night)\b|\bsee you\b)|再见|拜|掰|晚安")),
    ("welcome", re.compile(r"(?i:\b(?:thanks?|thank ?you|thx|cheers)\b)|谢")),
)
"""Replies to small talk, by what it holds; thanks often come before a goodbye."""
_ASKS_LAST: Final = re.compile(
    r"\W*(?:sorry,? )?(?:and )?what (?:did i just (?:say|tell you|write|type)"
    r"|(?:was|were) (?:my last (?:words?|message)|the last thing i said)|have i just said)\W*"
    r"|\W*(?:你(?:还|都)?(?:知道|记得))?我(?:刚刚?|刚才|上一句|最后)(?:跟你|和你|对你)?[说讲]了?(?:的是)?"
    r"(?:什么|啥|些什么)(?:话|来着)?[吗呢呀啊]?\W*",
    re.IGNORECASE,
)
"""A question for the words just said, which no memory answers."""


def answer_without_memory(said: str, talk: Sequence[str], language: Language) -> str:
    """Return the answer to what asks for no memory; empty for other messages."""
    if is_small_talk(said):
        return sentence_of_reply(_kind_of_small_talk(said), language)
    if orders_to_forget(said):
        return sentence_of_reply("forget", language)
    last = _last_asked(said, talk)
    return quote_of_talk(quoted(last, language), language) if last else ""


def orders_to_forget(said: str) -> bool:
    """Return True for an order to forget something."""
    return _FORGETS.search(written_chinese(said)) is not None


def _kind_of_small_talk(said: str) -> str:
    plain = written_chinese(said)
    return next((name for name, rule in _SMALL_TALK if rule.search(plain)), "small_talk")


def _last_asked(said: str, talk: Sequence[str]) -> str:
    """Return the user's last words in this *talk*, if *said* asks for them; empty otherwise."""
    if not talk or _ASKS_LAST.fullmatch(written_chinese(said)) is None:
        return ""
    return " ".join(talk[-1][:READ_CHARACTERS_MAX].split())
