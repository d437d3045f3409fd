"""
Texts of the user's own in quotation marks: "Please correct my handover note: …".

Who has a letter put better before it is sent is its author. What somebody else is said to have
written is not the user's own, whatever is asked about it.
"""

import re
from typing import Final

_BEFORE: Final = 200
"""Characters before a quotation that may say whose it is."""
_BEHIND: Final = 120
_TEXT: Final = (
    r"(?:notes?|messages?|msg|drafts?|texts?|posts?|letters?|(?:e-?)?mails?|repl(?:y|ies)|answers?"
    r"|bio|profile|ad|advert|listing|speech|toast|essay|para(?:graph)?|blurb|caption|card|report"
    r"|review|application|cv|statement|notice|invitation|apology|complaint|request|sentences?"
    r"|wording|english|grammar|spelling|words?)"
)
_OWN: Final = re.compile(
    rf"\b(?:my|our) (?:[\w-]+ ){{0,3}}{_TEXT}\b"
    r"|\bi(?:'m|'ve|'d|'ll| am| have| had| want| would| can| could| need| plan)?"
    r"(?: \w+){0,3}? (?:sen[dt](?:ing)?|post(?:ing|ed)?|wr[io]te|written|writing|drafted|typed"
    r"|put(?:ting)? (?:up|in)|submit|read out|came up with|got so far)\b"
    r"|\b(?:nicer|politer|friendlier|kinder|softer|gentler|warmer|firmer|shorter)\b"
    r"|\b(?:less|more|not(?: too| so)?|without (?:being|sounding)|don't|sounds?|sounding)"
    r" (?:\w+ ){0,3}?(?:rude|harsh|angry|cross|polite|formal|professional|friendly|desperate"
    r"|pushy|needy|stiff|cold|blunt|grumpy|whiny|natural|english)\b"
    r"|我(?:自己)?(?:写|拟|起草|编)(?:的|了|好)|我的[\u3400-\u9fff]{0,6}"
    r"(?:信|邮件|文案|草稿|初稿|留言|朋友圈|短信|检讨|发言|稿子?|简介|帖子|作文|英文|英语|语法)"
    r"|我(?:想|要|打算|准备)[\u3400-\u9fff]{0,6}(?:发|寄|贴|交)|客气一?点|委婉|别太(?:凶|硬|冲)|语气",
    re.IGNORECASE,
)
_OF_OTHERS: Final = re.compile(
    r"\b(?:got|received|found|forwarded|pasted|copied|quoted?|saw|heard)\b"
    r"|\b(?:sent|wrote|written|texted|messaged|posted|told|emailed|asked|left)"
    r" (?:(?:it|this|that) )?(?:to )?(?:me|us|back)\b"
    r"|\b(?!i\b)\w+ (?:wrote|writes|sent|says?|said|answered|replied|posted|texted|emailed)\b"
    r"|\b(?:from|by|of) (?!me\b)|\b(?:he|she|they)(?:'s|'ve)? (?:\w+ )?(?:wrote|sent|put|posted)\b"
    r"|\b(?:repl(?:y|ying)|respond|answer) to\b|\b(?:his|her|their|your|\w+'s) "
    rf"(?:[\w-]+ ){{0,2}}{_TEXT}\b|\b(?:says|reads|goes):?\s*$"
    r"|发来|收到|寄来|转发|他写|她写|他们写|[他她](?:们)?说|写道|上写|里写|回复[他她这]|来信|通知",
    re.IGNORECASE,
)

ADDRESSED: Final = re.compile(
    r"[\s>\"\u201c\u300c\u300e]{0,8}(?:(?:Dear|Hi|Hello|Hey|Good (?:morning|afternoon|evening))"
    r"(?: (?:Mr|Mrs|Ms|Miss|Mx|Dr)\.?)?"
    r" (?!(?:all|every\w+|team|both|sir|madam|friends?|colleagues?|customers?|residents?|tenants?"
    r"|neighbou?rs?|valued|there|it|folks|guys)\b)[A-Za-z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,2}"
    r"|(?:亲爱的|尊敬的|致)?[\u3400-\u9fff]{2,4}(?:你|您)好)(?=[\s,，:：!！.\u2014-])",
)
"""The name at the head of a letter."""
_RECEIVED: Final = re.compile(
    r"\b(?:got|received|in my inbox|came (?:for|to) me|sent (?:it )?(?:to )?me|emailed me|wrote me"
    r"|wrote to me|texted me|messaged me|sent us|wrote to us|(?:reply|replying|respond|answer)"
    r" (?:to )?(?:this|that|it))\b|\b(?:he|she|they|\w+) (?:sent|wrote|emailed|mailed)\b"
    r"|发来|收到|寄来|寄给我|给我(?:发|写|寄)|回复",
    re.IGNORECASE,
)


def is_received(before: str, behind: str) -> bool:
    """
    Return True if who shows a letter says to have got it: it addresses them by their own name.

    >>> is_received("here's the email I got", ""), is_received("translate this letter", "")
    (True, False)
    """
    said = before[-_BEFORE:], behind[:_BEHIND]
    return any(_RECEIVED.search(each) is not None for each in said)


def is_own(text: str, start: int, end: int) -> bool:
    """
    Return True if what stands around the quotation from *start* to *end* calls it the user's own.

    >>> said = 'Please correct my note: "Pump leaks since Monday, do not run it alone."'
    >>> is_own(said, said.index('"'), len(said))
    True
    >>> said = 'My boss wrote, can you help with my reply: "You are late again."'
    >>> is_own(said, said.index('"'), len(said))
    False
    """
    before = text[max(start - _BEFORE, 0) : start]
    behind = text[end : end + _BEHIND]
    if _OF_OTHERS.search(before) or _OF_OTHERS.search(behind):
        return False
    return _OWN.search(before) is not None or _OWN.search(behind) is not None
