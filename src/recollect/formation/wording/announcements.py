"""
Lines that announce words of others: "Summarise this email:", "Forwarded message".

Each pattern is tried on one line, cut to a bounded length. Languages without a pattern have
no announcements; what is pasted there is found by its form alone.
"""

import re
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern

LINE_CHARACTERS: Final = 400
"""Characters of a line that are read: an announcement is short."""

FORWARDED: Final = lazy_pattern(
    r"[ \t>*]{0,8}(?:"
    r"-{2,40} ?(?:forwarded message|original message|转发(?:的)?邮件|原始邮件)"
    r"|begin forwarded message:"
    r"|on [^\n]{4,120} wrote:[ \t]{0,4}$"
    r"|(?:the following|以下)(?: \w{1,20}){0,4}(?:转发|是转发)[^\n]{0,80}$"
    r")",
    re.IGNORECASE,
)
NAMED: Final = lazy_pattern(
    r"(?:\b(?:summari[sz]e|translate|proofread|review|explain|read|look at|check|see|here(?:'s| is)"
    r"|this is|following|got|received|found|copied|pasted?)\b[^\n]{0,80}?(?<!my )"
    r"\b(?:article|(?:e-?)?mail|document|page|website|transcript|log|logs|output|letter|readme"
    r"|issue|ticket|text|message|post|snippet|review|report|file|search results?"
    r"|tool (?:output|result)s?)\b[^\n]{0,60}"
    r"|(?:总结|翻译|看看|看一下|润色|解释|分析|帮我[看读改]|以下是?|下面是?|收到)[^\n]{0,40}"
    r"(?:文章|邮件|文档|网页|内容|日志|输出|文字|短信|消息|报告|帖子|结果|公告)[^\n]{0,20})"
    r"[:：][ \t]{0,4}$",
    re.IGNORECASE,
)
"""A line that names the pasted text, which begins on the next line."""
ASKED: Final = lazy_pattern(
    r"(?:\b(?:article|(?:e-?)?mail|document|page|letter|text|message|post|review|report|note"
    r"|offer|contract"
    r"|clause|comment|ad|advert)\b|文章|邮件|信|短信|消息|帖子|合同|通知|评论|メール|手紙"
    r"|記事)[^\n]{0,80}[?？][ \t]{0,4}$",
    re.IGNORECASE,
)
"""A question about a text pasted below it, after a blank line."""
_ENDS: Final = r"[^:：\n]{0,80}(?:[:：](?!//)|[?？.。!]?[ \t]{0,4}$)"
WROTE: Final = re.compile(
    r"\b(?!(?:i|we|you|to|i've|ive|have|just|and)\b)[\w']+ (?:just )?(?:wrote|writes|sent|emailed"
    rf"|texted|messaged|replied|posted|says|said)\b{_ENDS}"
    rf"|\b(?:message|e?-?mail|text|letter|note) from\b{_ENDS}"
    rf"|(?:发来|来信|写信|写道|寄来|留言|(?<!我)(?:发了|发消息|回了|写了)){_ENDS}",
    re.IGNORECASE,
)
"""A line that says that somebody else wrote, and may ask for a reply to it."""
_MINE: Final = (
    r"(?![^\n:：]{0,40}(?:\b(?:my|mein\w*|mis?|mon|ma|mes|minhas?|meus?)\b|我的|私の|僕の|自分の))"
)
_THIS: Final = (
    r"\b(?:this|that|these|the following|below|it|following|dies\w*|das|esto|este|esta|isto|isso"
    r"|ceci|cela|questo|dit)\b"
)
TASK: Final = lazy_pattern(
    r"(?:"
    rf"(?:^|[.!?,;] ?|\b(?:you|please|pls|to|me|just|and) )(?:translate|proofread|rewrite|rephrase"
    rf"|reword|paraphrase|summari[sz]e|polish|transcribe|shorten|spell-?check|tl;?dr)\b{_MINE}"
    r"[^\n:]{0,80}"
    rf"|(?:^|[.!?,;] ?|\b(?:you|please|pls|to|me|just|and|we) )"
    # "No, correct that: 90,000" is a correction of what was said before.
    r"(?!correct that: ?[\d$€£¥])(?:fix|correct|edit|improve|format"
    r"|tidy up|clean up|make sense of|reply to|respond to|answer|check|explain|review|read"
    rf"|analy[sz]e|look at|convert|reformat|debug|thoughts on|think of)\b{_MINE}[^\n:]{{0,60}}"
    rf"{_THIS}[^\n:]{{0,60}}"
    rf"|\bwhat (?:does|do|is|are|did) {_THIS}[^\n:]{{0,40}}"
    r"|\b(?:ubersetz|übersetz|korrigier|formulier|uberarbeit|überarbeit|verbesser|fasse?\b|traduc"
    r"|traduz|traduis|traduir|corrig|corrij|resum|reescr|résum|reformul|riassum|riscriv|vertaal"
    rf"|samenvat|verbeter)\w{{0,8}}\b{_MINE}[^\n:]{{0,80}}"
    r"|(?:翻译|译成|润色|润饰|校对|改写|总结|概括|缩写|批改|仿写|扩写|摘要)(?![^\n:：]{0,12}我)"
    r"[^\n:：。！？]{0,24}"
    r"|(?:下面|以下|底下|这)(?:这)?(?:[段句篇封条则]|些(?:文字|内容|话)|文字|内容|文章|邮件|信|话)"
    r"[^\n:：。！？]{0,24}"
    r"|帮我?[看查读][^\n:：。！？]{0,30}(?=[:：][ \t]{0,4}$)"
    r"|(?:翻訳|訳し|訳して|要約|添削|校正|書き直し|書き換え)[^\n:：。]{0,24}"
    r"|(?:번역|요약|교정)[^\n:：.]{0,24}"
    r")(?:[:：](?!//)|[?？.!。！]?[ \t]{0,4}$)",
    re.IGNORECASE,
)
"""A request to work on others' words, which follow behind the colon or on the next line."""
ROLE: Final = lazy_pattern(
    r"[ \t]{0,8}(?:#{1,6} ?)?(?:\[?(?:system|assistant|developer|tool|human|user|ai)\]?"
    r"(?: (?:message|prompt|note|override))?"
    r"|系统(?:提示|消息|指令|讯息)?|助手|助理|用户|使用者|アシスタント|ユーザー|システム) ?[:：]",
    re.IGNORECASE,
)
"""A line that speaks for another role in a conversation."""
