"""
Heads of pasted mail: lines such as "Subject: …" and "From: …", behind which others speak.

One such line alone is often a note of the speaker's own ("Subject: maths is what I like"). Two in
a row are a head, in any order, and so is one that has the sender's address or answers a mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern

HEAD_LINES: Final = 12
"""Lines of a mail that are read for its head."""
_LINE_CHARACTERS: Final = 400
_SENDERS: Final = (
    r"from|sender|von|absender|de|expéditeur|remitente|da|mittente|remetente|van|afzender"
    r"|发件人|寄件[者人]|差出人|보낸 ?사람"
)
_SUBJECTS: Final = r"subject|betreff|objet|asunto|oggetto|assunto|onderwerp|主[题旨]|件名|제목"
_OTHERS: Final = (
    r"to|cc|bcc|reply-to|sent|date|an|gesendet|datum|kopie|à|envoyé|date d'envoi|para"
    r"|enviado(?: el)?|fecha|inviato|data|aan|verzonden|收件[者人]|抄送|密[送件]|副本"
    r"|(?:发送|寄件|传送)?日期|(?:发送|传送)时间"
    r"|宛先|(?:送信)?日時|받는 ?사람|날짜"
)
_HEADER: Final = lazy_pattern(
    rf"[ \t>*_]{{0,8}}(?P<name>(?P<sender>{_SENDERS})|(?P<subject>{_SUBJECTS})|{_OTHERS})"
    r"[*_]{0,2} {0,2}[:：][*_]{0,2}(?!//)(?P<value>[^\n]*)",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.\w")
_SENDER_INSIDE: Final = lazy_pattern(
    rf"(?<!\w)(?:{_SENDERS}) {{0,2}}[:：][^@\n]{{0,60}}[\w.+-]@[\w-]{{1,63}}\.\w", re.IGNORECASE
)
"""A sender with an address further on in a line, where a head was pasted without its line ends."""
_ANSWERS: Final = re.compile(
    r"\s*\[?(?:re|fwd?|aw|wg|tr|rv|sv|antw|回[复覆]|答复|转发)\]? ?[:：]", re.IGNORECASE
)


def is_mail_head(lines: Sequence[str]) -> bool:
    r"""
    Return True if a mail's head begins on the first of *lines*.

    Blank and folded lines may stand between two headers. The lines have simplified characters.

    >>> is_mail_head(["Subject: hello", "From: bank@example.com", "I live in Pisa."])
    True
    >>> is_mail_head(["Subject: maths is what I like", "and I live in Pisa."])
    False
    """
    first = _header_of(lines[0])
    if first is None:
        return False
    value = first["value"]
    if first["sender"] and _ADDRESS.search(value):
        return True
    if (first["subject"] and _ANSWERS.match(value)) or _SENDER_INSIDE.search(value):
        return True
    names = {each["name"].lower() for each in _headers_of(lines)}
    return len(names) > 1


def has_sender(lines: Sequence[str]) -> bool:
    """Return True if the head that begins *lines* says who sent the mail: a draft rarely does."""
    return any(each["sender"] or _SENDER_INSIDE.search(each[0]) for each in _headers_of(lines))


def _headers_of(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the headers at the beginning of *lines*."""
    for line in lines:
        header = _header_of(line)
        if header:
            yield header
        elif line.strip() and line[:1] not in " \t":
            return


def _header_of(line: str) -> re.Match[str] | None:
    return _HEADER.match(line[:_LINE_CHARACTERS])
