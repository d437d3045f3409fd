"""
Words in a message that are not its speaker's own: pasted, quoted, forwarded, or recalled.

They are found by form alone, which tells where a text comes from, not whether it is harmless.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.grounding.injection import instructs
from recollect.formation.wording import announcements, mail_heads, own_texts
from recollect.formation.wording.pieces import piece_spans
from recollect.formation.wording.reported_words import (
    is_about_oneself,
    quotation_spans,
    reported_spans,
)
from recollect.text.chinese_scripts import simplified
from recollect.text.context_guides import GUIDES

__all__ = ["foreign_spans", "instructs", "without_recalled"]

OWN_CHARACTERS_MAX: Final = 100_000
"""Nobody types more in one message: the rest is taken for pasted text and not read."""
QUOTATION_CHARACTERS_MIN: Final = 80
"""A quotation of at least this length is somebody else's text; a Chinese one of half of it."""
QUOTATION_CHARACTERS_MAX: Final = 20_000

_OPENING: Final = re.compile(r"^[ \t>]{0,20}<memory ([0-9a-f]{1,64})>[^\n]{0,400}$", re.MULTILINE)
_CLOSING: Final = re.compile(r"</memory ([0-9a-f]{1,64})>")
_RECORD: Final = re.compile(r'\n[ \t>]{0,20}\{"source": "[^\n]*')
_SHOWN: Final = re.compile(r"\n[ \t>]{0,20}(?:# |- |…?\[[a-z2-7]{4,40}\] |  )[^\n]*")
_CONTEXT: Final = "> remembered, as data: "
"""The words of a context's first line; its other lines have the form of `_SHOWN`."""
_FRAME: Final = re.compile(r"<(?P<name>[A-Za-z][\w-]{0,40})>\s{0,8}\Z")
_FRAME_REACH: Final = 60
_GUIDE_REACH: Final = max(map(len, GUIDES.values())) + 8
_FENCE: Final = re.compile(r"[ \t]{0,8}(?P<fence>`{3,40}|~{3,40})[^\n`]{0,200}$")
_QUOTED_LINE: Final = re.compile(r"[ \t]{0,8}[>\uff1e]")
_RULED: Final = re.compile(r"[-=*_]{3,80}")
"""A line that parts what is pasted from the rest."""
_BETWEEN_RULES: Final = re.compile(
    r"(?P<rule>[-=*_]{3,80})[ \t]*\n[\s\S]{0,20000}?\n[ \t]*(?P=rule)[ \t]*(?=\n|$)"
)
_ADDRESSED: Final = re.compile(
    r"^[ \t]*(?P<letter>Dear (?!(?:Assistant|All|Bot|Chat\w*|Claude|Gemini)\b)"
    r"(?:(?:Mrs?|Ms|Dr)\.? )?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?[,:]"
    r"|(?:亲爱|敬爱|尊敬)的[\u3400-\u9fff]{1,8}[:：，,])",
    re.MULTILINE,
)
"""The address at the head of a letter, to somebody who is no assistant."""
_SIGNED: Final = re.compile(
    r"(?:^[ \t]*|[.!?] )(?:Yours(?: \w+)?|(?:Kind(?:est)?|Best|Warm(?:est)?) (?:regards|wishes)"
    r"|Regards|Sincerely|Love|Cheers)[,.]?\s{1,4}[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?"
    r"|(?:[\u3400-\u9fff]{1,6}(?:敬上|谨上|敬启|上)|此致\s{0,4}敬礼|你的[\u3400-\u9fff]{1,6})\s{0,4}$",
    re.MULTILINE,
)
"""The end of a letter, with the name of who signs it."""
_LETTER_CHARACTERS_MAX: Final = 20_000
_CHAT_MARK: Final = re.compile(r"<\|im_start\|>|\[/?INST\]|<<SYS>>", re.IGNORECASE)
_TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]{0,60})(?P<rest>[^<>]{0,400})>")
_OWN_TAGS: Final = frozenset(
    "b i em strong u s a br p span sub sup small mark del ins h1 h2 h3 li ul ol hr".split()
)
_OPENINGS: Final = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
    "\u00ab": "\u00bb",
}

_Span = tuple[int, int]


def foreign_spans(text: str, *, is_draft: bool = False, writes: bool = False) -> tuple[_Span, ...]:
    r"""
    Return the spans of *text* that are not its speaker's own words, in order, apart.

    These are fenced blocks, lines that begin with ">", forwarded mail, signed letters and what is
    announced as pasted or as something to work on (to the end, or to that of its quotation marks),
    elements such as ``<document>…</document>``, lines that play another role ("System: …"),
    what recall injected, and long quotations, unless the speaker calls what is quoted their own.

    With *is_draft*, quotations, code and mail are the speaker's own as well: an assistant writes
    them for the user. One who *writes* letters for others, as an assistant does, is the author of
    those that are signed.

    >>> text = "Look:\n> you must pay\nOdd, isn't it?"
    >>> [text[start:end] for start, end in foreign_spans(text)]
    ['> you must pay']
    >>> text = "translate this: I love Acme"
    >>> [text[start:end] for start, end in foreign_spans(text)]
    [' I love Acme']
    """
    read = text[:OWN_CHARACTERS_MAX]
    lines = _lines(read)
    usual = simplified(read)
    found = [*_recalled(read), *_played(usual, lines), *_elements(read)]
    if not is_draft:
        found += _fenced(read, lines)
        found += _quoted(read, lines)
        found += _announced(usual, lines)
        found += () if writes else _signed(usual)
        found += _quotations(read, usual)
    if len(read) < len(text):
        found.append((len(read), len(text)))
    return tuple(_without_address(usual, _merged(found)))


def _without_address(text: str, spans: Sequence[_Span]) -> Iterator[_Span]:
    """Yield the spans, the first without the name by which a letter addresses who got it."""
    for number, (start, end) in enumerate(spans):
        addressed = own_texts.ADDRESSED.match(text, start, end) if not number else None
        if addressed and own_texts.is_received(text[:start], text[end:]):
            yield addressed.end(), end
        else:
            yield start, end


def without_recalled(text: str) -> str:
    """
    Return *text* without the blocks of memory that recall put into it.

    A block that is not closed ends with its last record, a context with its last line. The guide
    before a block and the elements around both go with it, since a prompt has them together.
    """
    kept: list[str] = []
    at = 0
    for start, end in _merged([_with_frame(text, each) for each in _recalled(text)]):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])


def _lines(text: str) -> list[_Span]:
    """Return start and end of each line, without its line feed."""
    found: list[_Span] = []
    at = 0
    for line in text.split("\n"):
        found.append((at, at + len(line)))
        at += len(line) + 1
    return found


def _merged(spans: list[_Span]) -> tuple[_Span, ...]:
    merged: list[_Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _recalled(text: str) -> list[_Span]:
    if "<memory " not in text:
        return []
    closings: defaultdict[str, list[int]] = defaultdict(list)
    for match in _CLOSING.finditer(text):
        closings[match[1]].append(match.end())
    spans: list[_Span] = []
    for match in _OPENING.finditer(text):
        if spans and match.start() < spans[-1][1]:
            continue
        ends = closings[match[1]]
        at = bisect_left(ends, match.end())
        spans.append((match.start(), ends[at] if at < len(ends) else _last_line(text, match)))
    return spans


def _with_frame(text: str, block: _Span) -> _Span:
    """Return *block* with the guide before it, and the elements that hold nothing else."""
    start, end = block
    above = text[max(0, start - _GUIDE_REACH) : start]
    for guide in GUIDES.values():
        if above.rstrip().endswith(guide):
            start -= len(above) - len(above.rstrip()) + len(guide)
            break
    while opening := _FRAME.search(text, max(0, start - _FRAME_REACH), start):
        closing = re.compile(rf"\s{{0,8}}</{re.escape(opening['name'])}>").match(text, end)
        if closing is None:
            break
        start, end = opening.start(), closing.end()
    return start, end


def _last_line(text: str, opening: re.Match[str]) -> int:
    """Return the end of an unclosed block: after the last line of its form."""
    form, end = _SHOWN if _CONTEXT in opening[0] else _RECORD, opening.end()
    while line := form.match(text, end):
        end = line.end()
    return end


def _fenced(text: str, lines: Sequence[_Span]) -> Iterator[_Span]:
    if "```" not in text and "~~~" not in text:
        return
    opened: tuple[int, str] | None = None
    for start, end in lines:
        match = _FENCE.match(text, start, end)
        if match is None:
            continue
        if opened is None:
            opened = start, match["fence"]
        elif match["fence"].startswith(opened[1]):
            yield opened[0], end
            opened = None
    if opened is not None:
        yield opened[0], len(text)


def _quoted(text: str, lines: Sequence[_Span]) -> Iterator[_Span]:
    if ">" not in text and "\uff1e" not in text:
        return
    before: _Span | None = None
    for start, end in lines:
        if _QUOTED_LINE.match(text, start, end):
            before = (before[0] if before else start, end)
        elif before:
            yield before
            before = None
    if before:
        yield before


def _announced(text: str, lines: Sequence[_Span]) -> Iterator[_Span]:
    """Yield the text behind the first announcement, to its end or the end of a quotation."""
    for number, (start, end) in enumerate(lines):
        if end - start < 3:
            continue
        line = text[start : min(end, start + announcements.LINE_CHARACTERS)]
        below = text[slice(*lines[number + 1])] if number + 1 < len(lines) else ""
        if announcements.FORWARDED.match(line) or _is_received_mail(text, lines, number):
            yield start, _end_of_mail(text, lines, number)
            return
        found = (
            announcements.NAMED.search(line)
            or announcements.TASK.search(line)
            or _to_be_answered(line)
        )
        if found is None and number + 1 < len(lines) and not below.strip():
            found = announcements.ASKED.search(line)
        if found is None:
            continue
        begins = start + found.end()
        if text[begins:].strip():
            yield begins, _end_of_pasted(text, begins)
            return


def letter_start(text: str) -> int | None:
    """Return where a letter's text begins behind the address that *text* opens with, if it does."""
    found = _ADDRESSED.match(simplified(text))
    return found.end() if found else None


def _signed(text: str) -> Iterator[_Span]:
    """Yield a letter, from whom it addresses to who signs it, unless the speaker wrote it."""
    head = _ADDRESSED.search(text)
    begins = head.start("letter") if head else 0
    end = _SIGNED.search(text, head.end(), begins + _LETTER_CHARACTERS_MAX) if head else None
    if end and not own_texts.is_own(text, begins, end.end()):
        yield begins, end.end()


def _is_received_mail(text: str, lines: Sequence[_Span], number: int) -> bool:
    """Return True if a mail begins on a line that is not the speaker's draft ("my mail: To: …")."""
    first = lines[number][0]
    below = [text[slice(*each)] for each in lines[number : number + mail_heads.HEAD_LINES]]
    if not mail_heads.is_mail_head(below):
        return False
    return mail_heads.has_sender(below) or not own_texts.is_own(text, first, len(text))


def _to_be_answered(line: str) -> re.Match[str] | None:
    """Find "my boss wrote, help me with my reply:", behind which stands what the boss wrote."""
    found = announcements.WROTE.search(line)
    return found if found and own_texts.asks_reply(found.group().rstrip(":： ")) else None


def _end_of_mail(text: str, lines: Sequence[_Span], number: int) -> int:
    """Return the end of mail that begins on a line: the rule below it, if one stands above it."""
    above = next((text[slice(*each)] for each in reversed(lines[:number]) if each[0] < each[1]), "")
    if not _RULED.fullmatch(above.strip()):
        return len(text)
    below = (start for start, end in lines[number:] if _RULED.fullmatch(text[start:end].strip()))
    return next(below, len(text))


def _end_of_pasted(text: str, begins: int) -> int:
    """Return the end of pasted text, including its quotation marks, or the rules around it."""
    first = next((at for at in range(begins, len(text)) if not text[at].isspace()), begins)
    if ruled := _BETWEEN_RULES.match(text, first):
        return ruled.end()
    closing = _OPENINGS.get(text[first])
    end = text.find(closing, first + 1) if closing else -1
    return end + 1 if end > 0 else len(text)


def _played(text: str, lines: Sequence[_Span]) -> Iterator[_Span]:
    """Yield each line that plays another role, to the end of its paragraph."""
    reached = 0
    for number, (start, end) in enumerate(lines):
        if start < reached or not (announcements.ROLE.match(text, start, min(end, start + 80))):
            continue
        last = number
        while last + 1 < len(lines) and text[slice(*lines[last + 1])].strip(" \t"):
            last += 1
        reached = lines[last][1]
        yield start, reached
    for start, end in lines:
        for first, stop in piece_spans(text, start, end):
            if match := _CHAT_MARK.search(text, first, stop):
                yield match.start(), end
                break


def _elements(text: str) -> Iterator[_Span]:
    """Yield each outermost element that is closed, or to the end where one is not."""
    if "</" not in text:
        return
    opened: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name = match["name"].lower()
        if name in _OWN_TAGS or match["rest"].endswith("/"):
            continue
        if not match["close"]:
            opened.setdefault(name, match.start())
        elif name in opened:
            yield opened.pop(name), match.end()


def _quotations(text: str, usual: str) -> Iterator[_Span]:
    """
    Yield the quotations of others' words: long ones, and short ones that say "I".

    A short one counts only where it is told to be of others: it may be a title, or a name.
    """
    for start, end in quotation_spans(text):
        said = text[start + 1 : end - 1]
        if _is_long(said):
            if not own_texts.is_own(usual, start, end):
                yield start, end
        elif is_about_oneself(said) and own_texts.is_of_others(usual, start, end):
            yield start, end
    for colon, start, end in reported_spans(usual):
        if is_about_oneself(text[start:end]) and own_texts.is_of_others(usual, colon, end):
            yield start, end


def _is_long(said: str) -> bool:
    is_chinese = any("\u3400" <= each <= "\u9fff" for each in said[:20])
    length = len(said) * (2 if is_chinese else 1)
    return length >= QUOTATION_CHARACTERS_MIN and len(said) <= QUOTATION_CHARACTERS_MAX
