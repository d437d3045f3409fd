"""
Texts of the user's own in quotation marks: "Please correct my handover note: …".

Who has a letter put better before it is sent is its author. Of what is said before a quotation
the nearest words count: "he was rude, so I wrote this: …".
"""

import re
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern

_BEFORE: Final = 200
"""Characters before a quotation that may say whose it is."""
_BEHIND: Final = 120
_TEXT: Final = (
    r"(?:notes?|messages?|msg|drafts?|texts?|posts?|letters?|(?:e-?)?mails?|repl(?:y|ies)|answers?"
    r"|bio|profile|ad|advert|listing|speech|toast|essay|para(?:graph)?|blurb|caption|card|report"
    r"|review|application|cv|statement|notice|invitation|apology|complaint|request|sentences?"
    r"|wording|english|grammar|spelling|words?)"
)
_PERSON: Final = (
    r"(?:landlord|landlady|boss|manager|mum|mom|dad|mother|father|sister|brother|wife|husband"
    r"|partner|boyfriend|girlfriend|ex|friend|mate|neighbou?r|teacher|tutor|doctor|gp|client"
    r"|customer|colleague|son|daughter|aunt|uncle|cousin|gran|nan|supervisor|agent|bank|council"
    r"|school|club|tenant|lawyer|solicitor|employer|company|supplier)"
)
_SENDS: Final = (
    r"(?:sen[dt](?:ing)?|post(?:ing|ed)?|wr[io]te|written|writing|draft(?:ed|ing)?|typ(?:ed|ing)"
    r"|say(?:ing)?|put(?:ting)?|submit(?:ting)?|read(?:ing)? out|came up with|text(?:ing)?"
    r"|email(?:ing)?|hand(?:ing)? (?:in|over)|print(?:ing)?|pin(?:ning)? up)"
)
_OWN: Final = lazy_pattern(
    rf"\b(?:my|our) (?!(?:\w+ )?{_PERSON}s? )(?:[\w-]+ ){{0,3}}{_TEXT}\b"
    rf"|\b(?:i|we)(?:'m|'ve|'d|'ll|'re| am| are| have| had| want| would| can| could| need| plan"
    rf"| will| should)?(?: (?!got\b|see\b|saw\b)\w+){{0,3}}? {_SENDS}\b"
    r"|\b(?:gonna|going to|about to|want to|wanna|need to|trying to|thinking of|planning to)"
    rf" {_SENDS}\b"
    r"|\brepl(?:y|ying) with\b|\bwhat i have\b|\bi (?:replied|responded|answered)\b"
    r"|\bwhat i(?:'d like| want| plan|'m going| am going) to (?:reply|say|answer|send|write)\b"
    r"|\bmine(?: so far)?\b|\b(?:in|under|with) my name\b|\bso far:"
    r"|\bbetter way\b|\b(?:nicer|politer|friendlier|kinder|softer|gentler|warmer|firmer|shorter)\b"
    r"|\b(?:less|more|too|not(?: too| so)?|without (?:being|sounding)|don't|sounds?|sounding|reads?"
    r"|comes? across(?: as)?) (?:\w+ ){0,3}?(?:rude|harsh|angry|cross|polite|formal|professional"
    r"|friendly|desperate|pushy|needy|stiff|cold|blunt|grumpy|whiny|natural|english|ok|okay|right"
    r"|alright|weird|mad|mean)\b"
    r"|我(?:自己)?(?:写|拟|起草|编)(?:的|了|好)|我的[\u3400-\u9fff]{0,6}"
    r"(?:信|邮件|文案|草稿|初稿|留言|朋友圈|短信|检讨|发言|稿子?|简介|帖子|作文|英文|英语|语法)"
    r"|我(?:想|要|打算|准备)[\u3400-\u9fff]{0,6}(?:发|寄|贴|交|回)|客气一?点|委婉|别太(?:凶|硬|冲)|语气",
    re.IGNORECASE,
)
_OF_OTHERS: Final = lazy_pattern(
    r"\b(?:got|received|found|forwarded|copied|quoting|saw|heard|read) (?:this|it|that|an?|the|from"
    r"|in|on|back)\b|\b(?:letter|e?-?mail|message|note|text) i (?:just )?(?:got|received)\b"
    r"|\b(?:sent|wrote|texted|messaged|posted|told|emailed|asked|left|gave)"
    r" (?:(?:it|this|that) )?(?:to )?(?:me|us|back)\b"
    r"|\b(?!(?:i|we|you|to|gonna|wanna|just|can|could|should|would|will|not|please|have|ever|and|ive|i've|it)\b)"
    r"[\w']+ (?:wrote|writes|sent|says|said|say|answered|replied|posted|texted|emailed|put|left)\b"
    rf"|\bfrom (?!(?:me|my (?:phone|heart|side))\b)(?:my |the |an? |our |his |her )?[\w']+"
    r"|\b(?:repl(?:y|ying|ies)|respond\w*|answer\w*)(?: to)? (?:this|that|it)\b"
    rf"|\b(?:his|her|their|\w+'s) (?:[\w-]+ ){{0,2}}{_TEXT}\b"
    rf"|\b(?:my|our|the) (?:\w+ )?{_PERSON}s? (?:[\w-]+ )?{_TEXT}\b|\b(?:says|reads|goes):?\s*$"
    r"|发来|收到|寄来|转发|[他她](?:们)?(?:写|说|发|回)|写道|上写|里写|回复[他她这]|来信"
    r"|(?:物业|学校|公司|老师|房东|老板|客户|领导|邻居)[^，。：]{0,4}(?:发|写|寄|贴|说|回)",
    re.IGNORECASE,
)
_REPLY: Final = r"(?:repl(?:y|ies)|answers?|response|(?:write|get|come) back)"
_ASKS_REPLY: Final = re.compile(
    r"\b(?:help|need|want|wanna|how|what|suggest|word|write|draft|give|stuck|struggling|think of"
    rf"|owe)\b[^.:!?\n\"\u201c]{{0,30}}\b{_REPLY}\b[^:\n\"\u201c]{{0,25}}[\W\s]*$"
    rf"|\b(?:my|a|any) {_REPLY} ?\?[\W\s]*$"
    r"|(?:怎么|如何|怎样|点样?)(?:回|覆|复)[^，。：]{0,6}[\W\s]*$"
    r"|[帮替](?:我|忙)?[\u3400-\u9fff]{0,4}(?:写|想|拟|起草)[^，。：]{0,6}[回覆复][^，。：]{0,4}[\W\s]*$",
    re.IGNORECASE,
)
_HAS_REPLY: Final = re.compile(
    r"\b(?:so far|here'?s|here is|this is my|mine|my draft|check|correct|proofread|fix|improve"
    r"|(?<!do )(?<!should )(?<!can )i(?:'ve| have)? (?:wrote|written|put|drafted|got|said))\b"
    r"|我(?:写|拟|起草)(?:的|了|好)|我的草稿|初稿",
    re.IGNORECASE,
)

ADDRESSED: Final = lazy_pattern(
    r"[\s>\"\u201c\u300c\u300e]{0,8}(?:(?:Dear|Hi|Hello|Hey|Good (?:morning|afternoon|evening))"
    r"(?: (?:Mr|Mrs|Ms|Miss|Mx|Dr)\.?)?"
    r" (?!(?:all|every\w+|team|both|sir|madam|friends?|colleagues?|customers?|residents?|tenants?"
    r"|neighbou?rs?|valued|there|it|folks|guys)\b)[A-Za-z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,2}"
    r"|(?:亲爱的|尊敬的|致)?[\u3400-\u9fff]{2,4}(?:你|您)好)(?=[\s,，:：!！.\u2014-])",
)
"""The name at the head of a letter."""
_RECEIVED: Final = lazy_pattern(
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
    >>> said = 'My boss sent this: "You are late again, see me on Monday." How do I reply?'
    >>> is_own(said, said.index('"'), said.rindex('"') + 1)
    False
    """
    said = text[max(start - _BEFORE, 0) : start]
    own_end, others_end = _last_ends(said)
    if others_end and asks_reply(said):
        return False
    if own_end or others_end:
        return own_end > others_end
    behind = text[end : end + _BEHIND]
    own, others = _OWN.search(behind), _OF_OTHERS.search(behind)
    return own is not None and (others is None or own.start() < others.start())


def is_of_others(text: str, start: int, end: int) -> bool:
    """
    Return True if what stands around the words from *start* to *end* says that others wrote them.

    >>> said = "My sister wrote 'I live in Oslo' last week."
    >>> is_of_others(said, 16, 32), is_of_others(said.replace("My sister", "I"), 8, 24)
    (True, False)
    """
    own_end, others_end = _last_ends(text[max(start - _BEFORE, 0) : start])
    if own_end or others_end:
        return others_end > own_end
    behind = text[end : end + _BEHIND]
    own, others = _OWN.search(behind), _OF_OTHERS.search(behind)
    return others is not None and (own is None or others.start() < own.start())


def asks_reply(before: str) -> bool:
    """
    Return True if a reply is asked for that is not yet written: what follows is not that reply.

    >>> asks_reply("My boss wrote, help me with my reply: ")
    True
    >>> asks_reply("My boss wrote, here's my reply so far: ")
    False
    """
    return _ASKS_REPLY.search(before) is not None and _HAS_REPLY.search(before) is None


def _last_ends(before: str) -> tuple[int, int]:
    """Return where the last words end that call what follows one's own, and somebody else's."""
    own = max((each.end() for each in _OWN.finditer(before)), default=0)
    others = max((each.end() for each in _OF_OTHERS.finditer(before)), default=0)
    return own, others
