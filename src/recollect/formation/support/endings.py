"""Endings: whether cited words are about the memory or field that they end or remove."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.content_words import WordIndex, tokens_in
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.label_names import labelled_clauses
from recollect.formation.support.leaves import contents_of
from recollect.formation.support.origins import Sources, trace
from recollect.formation.support.stances import BAD, Clause, clauses_in
from recollect.formation.support.vocabulary import groups_said, is_neutral, neutral_length
from recollect.text.chinese_scripts import simplified
from recollect.text.days import MONTH_CUE, month_number
from recollect.text.numerals import plain
from recollect.text.numerals_chinese import whole_number

_CUE: Final = re.compile(
    r"\b(?:no|not|never|n't|don't|dont|doesn't|didn't|isn't|won't|can't"
    r"|cant|wont|doesnt|didnt|isnt|arent|wasnt|havent|hasnt|any ?more|no longer|stop\w*"
    r"|quit\w*|g[ai]ve up|giving up|cancel\w*|scrap\w*|drop\w*|bin(?:ned)?|ditch\w*"
    r"|f[ae]lls? (?:away|through)"
    r"|end(?:ed|s)?|over|done|finish\w*"
    r"|complet\w*|wrap(?:s|ped|ping)? up"
    r"|gone|left|leav(?:e|es|ing)|lost|sold|sell\w*|broke|broken|split|divorc\w*|died"
    r"|dead"
    r"|passed|moved|mov(?:e|es|ing)|chang\w*|switch\w*|swap\w*|replac\w*|instead|now|new|forget"
    r"|ignore"
    r"|remov\w*|delet\w*|scratch|wrong|mistake|correct\w*|actually|was|were|used to|former\w*|ex"
    r"|recover\w*|healed|better|again|retir\w*|resign\w*|fired|laid off|postpon\w*|reschedul\w*|off"
    r"|last (?:box|load|one|piece|item|parcel|page|chapter|dose|pill|payment|instal?ment|session"
    r"|lesson|class|exam|shift|trip|visit|day)s?"
    r"|clear(?:s|ed)?|repa(?:y|id)|paid|settled|sorted|returned|arrived|bought|married|joined|joining|started|hired|promoted|got|went|happened|became|turned|back|expired|out|grew|outgr\w*|already|since"
    r"|nicht|kein\w*|mehr|vorbei|gekundigt|aufgehort|jetzt|verkauft|fertig|statt"
    r"|ya|nunca|deje|dejo|cancel\w*|vendi\w*|ahora|termin\w*|cambi\w*"
    r"|ne|pas|plus|fini\w*|arret\w*|vendu\w*|maintenant|nao|mais|acab\w*|agora)\b"
    r"|不|没|無|无|别|停|戒|取消|退|换|改|结束|完|分手|离|卖|搬|辞|丢|死|去世|过世|了|咗|已|现在|新"
    r"|算了|作废|最后一[箱车批件页章次笔期节课场门天趟]"
    r"|忘|删|错|好了|康复|もう|ない|やめ|終|辞め|売っ|안|그만|끝",
    re.IGNORECASE,
)
OTHER_WORDS_MIN: Final = 2
"""Words cited for an end are about another memory if they share so many with it."""
_NOT_ABOUT: Final = "the cited words are not about it: cite those that end it"
_AGAIN: Final = re.compile(
    r"\b(?:again|can (?:now|finally)|now|already|any ?more|no longer|finally|recovered|fine with"
    r"|ok with"
    r"|okay with|back (?:on|to)|allowed|grew out|outgr[eo]w\w*|forget|ignore|drop|cancel|remove"
    r"|delete"
    r"|changed my mind|wieder|inzwischen|jetzt|ya puedo|otra vez|de nuevo|de nouveau|maintenant"
    r"|agora"
    r"|novamente|di nuovo)\b|可以|能吃|能喝|又|好了|不再|恢复|解禁|取消|删|作废|也行|没关系|また"
    r"|もう|다시",
    re.IGNORECASE,
)


_NEWS: Final = re.compile(
    r"\b(?:now|new|finally|since|began|begun|start(?:ed|s|ing)?|join(?:ed|s|ing)?|moved|moving"
    r"|pass(?:ed|es)?|married|mrs|got|gotten|arriv(?:ed|es)|came|come|home|born|open(?:ed|s)"
    r"|bought|signed|received|took over|promoted|retired|graduated|settled|paid|landed|hired"
    r"|accepted|won|finished|delivered|back)\b"
    r"|[到完成好]了|到家了|了$|入职|就职|录[取用]|报到|找到工作|上岗|拿到|开始|搬|住进|收到|[上下]船|结婚|婚礼|办的|生了|毕业|考[过上]"
    r"|通过|开业|签了|升[职了为]|转正|出院|回[来家国]|回[^\s，。,.]{1,4}了|现在|新",
    re.IGNORECASE,
)
"""Words of what has come about, from which an end may follow: "I joined the new ship on 3 May"."""
_SALE: Final = re.compile(r"\b(?:sold|let to)\b|卖[给了掉出咗]|租[给出]", re.IGNORECASE)
_ON_OFFER: Final = re.compile(
    r"\b(?:offer\w*|asks? \d|asking|price\w*|bid\w*|buy\w*|for sale|to rent|viewing\w*|deposit)\b"
    r"|[出报要还]价|[要开]\d|看中|想[买租]|定金|押金|首付",
    re.IGNORECASE,
)
"""Words of what may be sold to somebody else: "sold to another" ends no other memory."""
_BY_MONTH: Final = re.compile(
    rf"\bthe (?P<month>{MONTH_CUE})[a-z]*"
    r" (?:one|test|exam|appointment|date|slot|booking|trip|visit)\b"
    r"|(?<!\d)(?P<number>1?\d|十?[一二三四五六七八九]|十)月份?[那的这][个次场趟]",
    re.IGNORECASE,
)
"""A plan called by its month alone: "you can bin the feb one"."""
_ISO_MONTH: Final = re.compile(r"\b\d{4}-(\d\d)\b")


def ending_reasons(
    text: str, cited: Sequence[Passage], heard: HeardWindow, where: str
) -> Iterator[str]:
    """Yield why the words *cited* for the end of *text* may not end it."""
    own = [each for each in cited if each.trust == "user"]
    if not own:
        return  # words of others are doubted for what they are
    is_news = any(_is_news(simplified(each.text), text) for each in own)
    if not heard.is_strict_on(text) or (is_news and not heard.others_speak_of(text)):
        # An end is seldom told in the words of its memory: "last payment went out this morning".
        # Words that fit another memory, and not this one, were meant for that; but who has started
        # a job says by it that the former one's hours are over as well.
        is_other = not _shared(text, own, heard) and _are_about_another(own, heard, where)
        is_told = is_news or _follows_for_past(text, own, heard, where)
        if is_other and not is_told and not _ends_label(own, heard, where):
            yield f"{where}: {_NOT_ABOUT}"
        return
    about = [each for each in own if _shared(text, [each], heard)]
    if not about:
        yield f"{where}: {_NOT_ABOUT}"
    elif not any(_ends(text, each, is_field=where.startswith("/")) for each in about):
        yield f"{where}: the cited words do not say that it is over"


def has_ending_cue(said: str) -> bool:
    """
    Return True if a sentence has a word that may tell an end.

    >>> has_ending_cue("So officially my cat now"), has_ending_cue("My cat is called Moss")
    (True, False)
    """
    return _CUE.search(simplified(said)) is not None


def _ends_label(cited: Sequence[Passage], heard: HeardWindow, target: str) -> bool:
    """Return True if the quotes say that it is over with what the label alone names."""
    return any(map(has_ending_cue, labelled_clauses(cited, heard, target)))


def _is_news(said: str, text: str) -> bool:
    """Return True if *said* tells what has come about, and from which the end of *text* follows."""
    is_sale = _SALE.search(said) is not None and _ON_OFFER.search(simplified(text)) is not None
    return is_sale or _NEWS.search(said) is not None


def end_remarks(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield a remark if the end of *text* follows from words that do not name it."""
    own = [each for each in cited if each.trust == "user"]
    if own and not _shared(text, own, heard):
        yield "the cited words do not name it: it follows from them that it is over"


def _shared(text: str, cited: Sequence[Passage], heard: HeardWindow) -> float:
    """Return how many words of *text* the *cited* say, or something close to them."""
    nothing: list[WordIndex] = []
    words = trace(text, Sources(heard, cited, nothing))
    shared = sum(each.weight for each in words if each.origin == "cited")
    return shared or float(any(_calls_by_month(each.text, text) for each in cited))


def _calls_by_month(said: str, text: str) -> bool:
    """
    Return True if *said* calls the plan of *text* by its month.

    >>> _calls_by_month("so u can bin the feb one", "The test is on 2026-02-05")
    True
    """
    told = {int(each) for each in _ISO_MONTH.findall(text)}
    return any(
        (month_number(each["month"]) if each["month"] else whole_number(each["number"])) in told
        for each in _BY_MONTH.finditer(plain(said))
    )


def _are_about_another(cited: Sequence[Passage], heard: HeardWindow, target: str) -> bool:
    others = (each for id_, each in heard.offer.known.items() if id_ != target)
    return any(_shared(contents_of(each.value), cited, heard) >= OTHER_WORDS_MIN for each in others)


def _follows_for_past(text: str, cited: Sequence[Passage], heard: HeardWindow, target: str) -> bool:
    """
    Return True for a plan whose day has gone, if the words are about a memory like it.

    "5 months in Keld Harbour" is about the move there, and ends the note of the moving day.
    """
    if target not in heard.offer.past:
        return False
    others = (each for id_, each in heard.offer.known.items() if id_ != target)
    told = [contents_of(each.value) for each in others]
    about = [each for each in told if _shared(each, cited, heard) >= OTHER_WORDS_MIN]
    return any(_in_common(text, each) >= OTHER_WORDS_MIN for each in about)


def _in_common(text: str, other: str) -> int:
    """Return how many words that say something two memories share."""
    index = WordIndex()
    index.add(other, with_compounds=True)
    return sum(not is_neutral(each) and index.has(each) for each in tokens_in(text))


def _ends(text: str, cited: Passage, *, is_field: bool) -> bool:
    """Return True if the sentences say that what they share with *text* is over."""
    stood = [_Subjects(clause) for clause in clauses_in(text)]
    told = [(clause, _Subjects(clause)) for clause in (*cited.clauses, *cited.asked)]
    common = [(clause, each, max(stood, key=each.in_common)) for clause, each in told if stood]
    common = [found for found in common if found[1].in_common(found[2])]
    # An allergy, or a wish such as "never suggest nuts", is over only where it is allowed again.
    grave = [
        (clause, each)
        for clause, each, nearest in common
        if nearest.is_bad or (is_field and nearest.is_negative)
    ]
    if grave:
        return any(
            not each.is_negative and (each.denies_bad or _AGAIN.search(clause.text))
            for clause, each in grave
        )
    # "I have a new job, in Oslo": what changed may be told beside the words that both share.
    return any(each.is_negative or _CUE.search(clause.text) for clause, each in told)


class _Subjects:
    """The subjects of a clause; whether it is negated, and tells an allergy or a dislike."""

    def __init__(self, clause: Clause) -> None:
        index = WordIndex()
        words = [each for each in clause.words if each.is_run or not is_neutral(each)]
        for each in words:
            index.add_token(each)
        self._keys = {each.key for each in words if not each.is_run}
        self._groups = groups_said(index)
        self._pairs = {pair for pair in index.pairs if not _is_neutral_pair(pair)}
        bad = {attitude for attitude, denied in BAD - {("likes", True)} if not denied}
        self.denies_bad = any(denied and attitude in bad for attitude, denied in clause.attitudes)
        self.is_bad = bool(BAD & clause.attitudes)
        self.is_negative = self.is_bad or (bool(clause.denials) and not self.denies_bad)

    def in_common(self, other: _Subjects) -> int:
        """Return how many subjects both have."""
        return (
            2 * len(self._keys & other._keys)
            + 2 * len(self._pairs & other._pairs)
            + len(self._groups & other._groups)
        )


def _is_neutral_pair(pair: str) -> bool:
    return neutral_length(pair, 0) == len(pair) or all(neutral_length(pair, at) for at in (0, 1))
