"""
Words in a message that are not its speaker's own: pasted, quoted, forwarded, or recalled.

Found by their form alone: it tells where a text comes from, never whether it is harmless.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from recollect.formation.wording.instructing import instructs

__all__ = ["foreign_spans", "instructs", "without_recalled"]

QUOTATION_CHARACTERS_MIN: Final = 80
"""A quotation from this length on is somebody else's text; a Chinese one from half of it."""
QUOTATION_CHARACTERS_MAX: Final = 20_000

_OPENING: Final = re.compile(r"^[ \t>]{0,20}<memory ([0-9a-f]{1,64})>[^\n]{0,400}$", re.MULTILINE)
_CLOSING: Final = re.compile(r"</memory ([0-9a-f]{1,64})>")
_RECORD: Final = re.compile(r'\n[ \t>]{0,20}\{"source": "[^\n]*')
_FENCE: Final = re.compile(r"^[ \t]{0,8}(?P<fence>`{3,40}|~{3,40})[^\n`]{0,200}$", re.MULTILINE)
_QUOTED_LINES: Final = re.compile(
    r"^[ \t]{0,8}[>\uff1e][^\n]*(?:\n[ \t]{0,8}[>\uff1e][^\n]*)*", re.MULTILINE
)
_FORWARDED: Final = re.compile(
    r"^[ \t>*]{0,8}(?:"
    r"-{2,40} ?(?:forwarded message|original message|转发(?:的)?邮件|原始邮件)"
    r"|begin forwarded message:"
    r"|on [^\n]{4,120} wrote:[ \t]{0,4}$"
    r"|(?:from|发件人) ?[:：][^\n]{0,300}\n(?:[ \t>*]{0,8}(?:sent|date|to|cc|reply-to|subject"
    r"|发送时间|收件人|抄送|主题|日期) ?[:：])"
    r"|(?:the following|以下)(?: \w{1,20}){0,4}(?:转发|是转发)[^\n]{0,80}$"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
_PASTED: Final = re.compile(
    r"^[^\n]{0,200}(?:\b(?:summari[sz]e|translate|proofread|review|explain|read|look at|check"
    r"|see|here(?:'s| is)"
    r"|this is|following|got|received|found|copied|pasted?)\b[^\n]{0,80}?(?<!my )"
    r"\b(?:article|(?:e-?)?mail|document|page|website|transcript|log|logs|output|letter|readme"
    r"|issue|ticket"
    r"|text|message|post|snippet|review|report|file|search results?|tool (?:output"
    r"|result)s?)\b[^\n]{0,60}"
    r"|(?:总结|翻译|看看|看一下|润色|解释|分析|帮我[看读改]|以下是?|下面是?|收到)[^\n]{0,40}"
    r"(?:文章|邮件|文档|网页|内容|日志|输出|文字|短信|消息|报告|帖子|结果"
    r"|公告)[^\n]{0,20})[:：][ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_ROLE: Final = re.compile(
    r"^[ \t]{0,8}(?:#{1,6} ?)?(?:\[?(?:system|assistant|developer|tool|human"
    r"|ai)\]?(?: (?:message|prompt|note|override))?"
    r"|系统(?:提示|消息|指令)?|助手) ?[:：](?:[^\n]|\n(?![ \t]*\n))*|<\|im_start\|>.*"
    r"|\[/?INST\].*|<<SYS>>.*",
    re.IGNORECASE | re.MULTILINE,
)
_TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]{0,60})(?P<rest>[^<>]{0,400})>")
_OWN_TAGS: Final = frozenset(
    "b i em strong u s a br p span sub sup small mark del ins h1 h2 h3 li ul ol hr".split()
)
_QUOTATIONS: Final = tuple(
    re.compile(rf"{before}(?P<said>[^{marks}]{{10,{QUOTATION_CHARACTERS_MAX}}}){marks[-1]}")
    for before, marks in (
        ("\u201c", "\u201c\u201d"),
        ("\u300c", "\u300c\u300d"),
        ("\u300e", "\u300e\u300f"),
        ("\u00ab", "\u00ab\u00bb"),
        ('(?<![^\\W_])"(?=\\S)', '"'),
    )
)  # fmt: skip


def foreign_spans(text: str) -> tuple[tuple[int, int], ...]:
    r"""
    Return the spans of *text* that are not its speaker's own words, in order, apart.

    These are fenced blocks, lines that begin with ">", forwarded mail and what is announced
    as pasted (to the end), elements such as ``<document>…</document>``, lines that play
    another role ("System: …"), what recall injected, and long quotations.

    >>> text = "Look:\n> you must pay\nOdd, isn't it?"
    >>> [text[start:end] for start, end in foreign_spans(text)]
    ['> you must pay']
    """
    found = [
        *_recalled(text),
        *_fenced(text),
        *(match.span() for match in _QUOTED_LINES.finditer(text)),
        *_to_the_end(text),
        *(match.span() for match in _ROLE.finditer(text)),
        *_elements(text),
        *_quotations(text),
    ]
    return _merged(found)


def without_recalled(text: str) -> str:
    """
    Return *text* without the blocks of memory that recall put into it.

    A block that is not closed ends with its last record.
    """
    kept: list[str] = []
    at = 0
    for start, end in _merged(_recalled(text)):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _recalled(text: str) -> list[tuple[int, int]]:
    closings: defaultdict[str, list[int]] = defaultdict(list)
    for match in _CLOSING.finditer(text):
        closings[match[1]].append(match.end())
    spans: list[tuple[int, int]] = []
    for match in _OPENING.finditer(text):
        if spans and match.start() < spans[-1][1]:
            continue
        ends = closings[match[1]]
        at = bisect_left(ends, match.end())
        spans.append(
            (match.start(), ends[at] if at < len(ends) else _last_record(text, match.end()))
        )
    return spans


def _last_record(text: str, end: int) -> int:
    while record := _RECORD.match(text, end):
        end = record.end()
    return end


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match["fence"].startswith(opened["fence"]):
            yield opened.start(), match.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _to_the_end(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_FORWARDED, _PASTED):
        match = pattern.search(text)
        if match is not None and pattern is _FORWARDED:
            yield match.start(), len(text)
        elif match is not None and text[match.end() :].strip():
            yield match.end(), len(text)


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """Yield each outermost element that is closed, or to the end where one is not."""
    opened: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name = match["name"].lower()
        if name in _OWN_TAGS or match["rest"].endswith("/"):
            continue
        if not match["close"]:
            opened.setdefault(name, match.start())
        elif name in opened:
            yield opened.pop(name), match.end()


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _QUOTATIONS:
        for match in pattern.finditer(text):
            said = match["said"]
            is_chinese = any("\u3400" <= each <= "\u9fff" for each in said[:20])
            if len(said) * (2 if is_chinese else 1) >= QUOTATION_CHARACTERS_MIN:
                yield match.span()
