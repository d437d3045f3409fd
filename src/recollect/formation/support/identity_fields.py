"""Identity fields: a name or a home must be stated as the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.judgement import TracedLeaf
from recollect.text.chinese_scripts import simplified

_NAME: Final = re.compile(
    r"\b(?:i am|i'm|im|my name|name's|names|call me|called|known as|this is|it's|its|name|nickname"
    r"|ich bin|heisse|heiße|mein name|nenn|soy|me llamo|llamame|mi nombre|je suis|je m'appelle|sou"
    r"|me chamo|meu nome|sono|mi chiamo|regards|cheers|best|yours|signed|love"
    r"|dear)\b|-- ?\w|^\W*\w+\W*$|(?:^|[.!?,\n]\s*)"
    r"(?!(?:come|look|over|right|not|still|back|down|up|out|sit|stay|wait|stop)\b)"
    r"(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)? here(?=\s*(?:[.,!;:]|$))"
    r"|我不就?[叫是][^，。！？ ]{1,6}[嘛吗么]"
    r"|我叫|我是|叫我|名字|本人|称呼|喊我|亲爱|[你您]好|我姓|咱叫|我的名|です|といいます|呼んで|이름|입니다",
    re.IGNORECASE | re.MULTILINE,
)
_HOME: Final = re.compile(
    r"\b(?:live[sd]?|living|move[ds]?|moving|home|house|flat|apartment|here in|based|settle\w*|from"
    r"|we(?:'?re| are) (?:unit|flat|apt|block|villa|number|no\.?) ?\d+\w?"
    r"|(?:i'?m|i am|we'?re|we are) (?:in |at )?\d{1,2}/\d{1,2}"
    r"|reside\w*|stay\w*|rent\w*|born|neighbou?rhood|city|town|our place|my place|in|near|outside"
    r"|wohn\w*|zieh\w*|umgezogen|gezogen|daheim|viv[oei]\w*|mud\w*|casa|habit\w*|demenag\w*"
    r"|mor[oa]\w*)\b"
    r"|住|搬|家|老家|定居|租|在|来自|待在|引っ越|暮らし|살|이사",
    re.IGNORECASE,
)
_CUES: Final = (
    (re.compile(r"(?:^|_)(?:user_?name|first_?name|last_?name|full_?name|name|nickname)$"), _NAME),
    (re.compile(r"(?:^|_)(?:home|city|town|residence|address|lives_in|location)$"), _HOME),
)


def is_name_field(pointer: str) -> bool:
    """
    Return True for a field, or the pointer of one, that holds the user's name.

    >>> is_name_field("user_name"), is_name_field("/nickname"), is_name_field("partner")
    (True, True, False)
    """
    return _CUES[0][0].search(pointer.rpartition("/")[2].lower()) is not None


def borrowed_name_reasons(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield each name of a user that is another speaker's, and not of who is cited for it."""
    speakers = {line.message.name for line in heard.window.lines} - {None}
    for each in leaves:
        cited = {passage.line.message.name for passage in each.leaf.sources.cited} - {None}
        if (
            is_name_field(each.leaf.pointer)
            and cited
            and each.leaf.text.strip() in speakers - cited
        ):
            yield f"{each.leaf.pointer}: {each.leaf.text!r} is the name of another speaker"


def identity_reasons(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield the names and homes that were said of someone or something else."""
    for each in leaves:
        field = each.leaf.pointer.rpartition("/")[2].lower()
        cues = next((cues for names, cues in _CUES if names.search(field)), None)
        if cues is None or each.leaf.text == each.leaf.before:
            continue
        if each.leaf.text.strip() and any(
            _is_left(passage.text, each.leaf.text.strip()) for passage in each.leaf.sources.cited
        ):
            yield f"{each.leaf.pointer}: the cited words say that the user has left it"
        if is_name_field(field) and any(
            _is_declined(passage.text, each.leaf.text.strip())
            for passage in each.leaf.sources.cited
        ):
            yield f"{each.leaf.pointer}: the cited words say that this is not the user's name"
        said = [passage for passage in each.leaf.sources.cited if passage.trust == "user"]
        is_fuller = not _words_in(each.leaf.before).isdisjoint(_words_in(each.leaf.text))
        is_speaker = each.leaf.text.strip() in {passage.line.message.name for passage in said}
        if is_fuller or is_speaker:
            continue
        if is_name_field(field) and any(_is_addressed(e, each.leaf.text, heard) for e in said):
            continue
        if said and not any(_is_said(passage, cues) for passage in said):
            yield f"{each.leaf.pointer}: the cited words do not say that this is the user's"


def _words_in(name: str) -> set[str]:
    """Return the words of a name that are longer than a letter: a fuller one has some of them."""
    return {each for each in re.findall(r"\w+", name.casefold()) if len(each) > 1}


def _is_said(passage: Passage, cues: re.Pattern[str]) -> bool:
    return bool(passage.question) or cues.search(passage.text) is not None


def _is_addressed(passage: Passage, name: str, heard: HeardWindow) -> bool:
    """
    Return True if a user begins a sentence with a name, and is addressed by it in reply.

    "Ann Lee, sluice fitter at the canal" may tell of anybody, until "Understood, Ann." follows; so
    may "ann here".
    """
    whole = re.escape(name.strip()[:80])
    first, _, last = name.strip()[:80].partition(" ")
    reply = heard.window.line(passage.line.number + 1)
    if reply is None or reply.message.role != "assistant":
        return False
    here = rf"(?i:{whole}) here\b" + (rf"|{whole},\s" if last else "")
    opened = re.search(rf"(?:^|[.,!?\n]\s*)(?:{here})", passage.line.text)
    called = re.compile(rf"^\W*(?:[A-Za-z']+ ?){{0,3}},? ?{re.escape(first)}\s*[.,!:]")
    return opened is not None and called.search(reply.text) is not None


def _is_declined(text: str, name: str) -> bool:
    """Return True for 我不叫国富; 我不叫国富嘛 asks who would not know it."""
    declined = rf"我不[叫是]{re.escape(name[:80])}(?![嘛吗么])"
    return bool(name) and re.search(declined, simplified(text)) is not None


def _is_left(text: str, place: str) -> bool:
    """Return True if *text* tells of a move away from *place*: "from Paris to Rome"."""
    away = re.compile(
        rf"(?:\b(?:from|left|leaving|out of|de|von|aus)\s+|[从離离]开?){re.escape(place[:80])}"
        r"[^.!?\n。！？]{0,60}(?:\b(?:to|for|a|nach|para|vers)\b|搬|到|去|来)",
        re.IGNORECASE,
    )
    return away.search(text) is not None
