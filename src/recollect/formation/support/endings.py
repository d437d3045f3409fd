"""Endings: whether cited words are about what they end, remove or replace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.content_words import WordIndex
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.origins import Sources, trace
from recollect.formation.support.stances import BAD, Clause, clauses_in
from recollect.formation.support.vocabulary import groups_said, is_neutral, neutral_length
from recollect.text.chinese_scripts import simplified

_CUE: Final = re.compile(
    r"\b(?:no|not|never|n't|don't|dont|doesn't|didn't|isn't|won't|can't"
    r"|cant|wont|doesnt|didnt|isnt|arent|wasnt|havent|hasnt|any ?more|no longer|stop\w*"
    r"|quit\w*|g[ai]ve up|giving up|cancel\w*|scrap\w*|drop\w*|end(?:ed|s)?|over|done|finish\w*"
    r"|complet\w*|gone|left|leav(?:e|es|ing)|lost|sold|sell\w*|broke|broken|split|divorc\w*|died"
    r"|dead"
    r"|passed|moved|mov(?:e|es|ing)|chang\w*|switch\w*|swap\w*|replac\w*|instead|now|new|forget"
    r"|ignore"
    r"|remov\w*|delet\w*|scratch|wrong|mistake|correct\w*|actually|was|were|used to|former\w*|ex"
    r"|recover\w*|healed|better|again|retir\w*|resign\w*|fired|laid off|postpon\w*|reschedul\w*|off"
    r"|went|happened|got|became|turned|back|expired|out|grew|outgr\w*|already|since"
    r"|nicht|kein\w*|mehr|vorbei|gekundigt|aufgehort|jetzt|verkauft|fertig|statt"
    r"|ya|nunca|deje|dejo|cancel\w*|vendi\w*|ahora|termin\w*|cambi\w*"
    r"|ne|pas|plus|fini\w*|arret\w*|vendu\w*|maintenant|nao|mais|acab\w*|agora)\b"
    r"|不|没|無|无|别|停|戒|取消|退|换|改|结束|完|分手|离|卖|搬|辞|丢|死|去世|过世|了|已|现在|新"
    r"|算了|作废"
    r"|忘|删|错|好了|康复|もう|ない|やめ|終|辞め|売っ|안|그만|끝",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"\b(?:any ?more|no longer|never again|stop\w*|quit\w*|g[ai]ve up|giving up|cancel\w*|scrap\w*"
    r"|drop\w*|end(?:ed|s)?|over|done|finish\w*|complet\w*|gone|left|leaving|lost|sold|sell\w*"
    r"|broke|broken|split|divorc\w*|died|dead|passed|moved|moving|chang\w*|switch\w*|swap\w*"
    r"|replac\w*|instead|forget|remov\w*|delet\w*|scratch|wrong|used to|former\w*|ex|recover\w*"
    r"|healed|retir\w*|resign\w*|fired|laid off|postpon\w*|expired|outgr\w*|last|final(?:ly)?"
    r"|ever|paid (?:off|up)|free of|these days|can't|cant|won't|wont|back|off|out|without"
    r"|new (?:job|role|place|flat|house|home|boss|phone|car|school|office|team))\b"
    r"|新(?:公司|家|工作|单位|职|学校|老板|手机|车|房)|不再|不用再|别再|没再|取消|退|换|改|结束|完|分手|离|卖|搬|辞|丢|死|过世|去世|算了|作废|忘|删"
    r"|戒|停|毕业|回来|到家|康复|好了|最后|终于|唔使|唔再",
    re.IGNORECASE,
)
"""Words of an end that say nothing of what ends; fewer than `_CUE`, which stands beside that."""
_DONE: Final = re.compile(
    r"[\u3400-\u9fff](?:了|啦|喽|咯|惹)(?=[，。！!~…；\s]|$)|终于|总算|到手|搞定|[\u3400-\u9fff](?:掉|完|成)了"
    r"|\b(?:passed|arrived|came|made it|did it|got (?:it|in|the)|installed|fitted|fixed|sorted"
    r"|delivered|landed|picked up|finally|at last|all set|good to go|cleared"
    r"|(?:is|are|'s) (?:in|here|mine|ready|up and running))\b",
    re.IGNORECASE,
)
"""Something that has come about: what waited for it is over, 牵车啦, "the worktops are in"."""
_OTHER: Final = re.compile("[\u0400-\u05ff\u0600-\u06ff\u0900-\u0e7f]")

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


def ending_reasons(
    text: str, cited: Sequence[Passage], heard: HeardWindow, where: str
) -> Iterator[str]:
    """Yield why words that are cited for the end of *text* do not end it."""
    own = [each for each in cited if each.trust == "user"]
    if not own:
        return  # words of others are doubted for what they are
    if not heard.is_exposed:
        # An end is seldom told in the words of its memory: "last payment went out this morning".
        tells_end = any(_tells_end(each.text) for each in own)
        if not tells_end and not _shared(text, _with_messages(own, heard), heard):
            yield f"{where}: the cited words are not about it: cite those that end it"
        return
    about = [each for each in own if _shared(text, [each], heard)]
    if not about:
        yield f"{where}: the cited words are not about it: cite those that end it"
    elif not any(_ends(text, each) for each in about):
        yield f"{where}: the cited words do not say that it is over"


def _tells_end(said: str) -> bool:
    """Return True if *said* has a word of an end, or stands in a script without rules for that."""
    plain = simplified(said)
    return bool(_ENDS.search(plain) or _OTHER.search(plain) or _DONE.search(plain))


def _shared(text: str, cited: Sequence[Passage], heard: HeardWindow) -> bool:
    """Return True if *cited* say a word of *text*, or something close to one."""
    nothing: list[WordIndex] = []
    words = trace(text, Sources(heard, cited, nothing))
    return any(each.origin == "cited" and each.weight for each in words)


def _with_messages(cited: Sequence[Passage], heard: HeardWindow) -> list[Passage]:
    """Return the passages extended to their whole messages, and the message before."""
    found = list(cited)
    for each in cited:
        for number in (each.line.number, each.line.number - 1, each.line.number - 2):
            line = heard.line(number)
            own = [voice for voice in line.voices if voice.trust != "external"] if line else []
            found += [
                Passage(each.citation, voice.line, voice.trust, voice.text[:MESSAGE_CHARACTERS])
                for voice in own
            ]
    return found


MESSAGE_CHARACTERS: Final = 4_000
"""So much of the messages around a citation is looked through."""


def _ends(text: str, cited: Passage) -> bool:
    """Return True if a clause that is about *text* says that it is over."""
    stood = [_Subjects(clause) for clause in clauses_in(text)]
    for clause in (*cited.clauses, *cited.asked):
        told = _Subjects(clause)
        nearest = max(stood, key=told.in_common, default=None)
        if nearest is None or not told.in_common(nearest):
            continue
        if nearest.is_negative:
            # What was denied is over only where it is allowed again: a mention says nothing.
            if not told.is_negative and (told.denies_bad or _AGAIN.search(clause.text)):
                return True
        elif told.is_negative or _CUE.search(clause.text):
            return True
    return False


class _Subjects:
    """The subjects of a clause, and whether it is negated."""

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
        self.is_negative = bool(BAD & clause.attitudes) or (
            bool(clause.denials) and not self.denies_bad
        )

    def in_common(self, other: _Subjects) -> int:
        """Return how many subjects both have."""
        return (
            2 * len(self._keys & other._keys)
            + 2 * len(self._pairs & other._pairs)
            + len(self._groups & other._groups)
        )


def _is_neutral_pair(pair: str) -> bool:
    return neutral_length(pair, 0) == len(pair) or all(neutral_length(pair, at) for at in (0, 1))
