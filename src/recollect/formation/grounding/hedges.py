"""Doubt and hearsay in what was said, and whether a value keeps them."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.numerals import plain
from recollect.text.short_texts import kept_if_short

TEXT_CHARACTERS_MAX: Final = 10_000
"""Characters of a sentence or a value that are searched for doubts."""

_PERSON: Final = (
    # What a doctor says of one's health is a finding, no hearsay.
    r"(?:he|she|they|(?:my|his|her|our|the) (?![^.!?\n]{0,16}(?:doctor|doc|gp|vet|dentist|physio"
    r"|midwife|nurse"
    r"|consultant|oncologist|surgeon|specialist)\b)(?:[a-z]{2,15} ){0,1}[a-z]{2,15}"
    r"|(?:land(?:lord|lady)|mum|mom|dad|boss|manager|teacher|tutor|neighbou?rs?|sister|brother"
    r"|husband|wife)|someone"
    r"|somebody"
    r"|people|everyone)"
)
# A name has its capital; so has a word that begins a sentence, unless it is a verb's.
_NAMED: Final = (
    r"(?!(?:First|Please|Just|Then|Always|Never|And|But|So|Or|Also|I|You|We|It|The|This|That|What"
    r"|Who|Which|Another|Something|Nothing|Everything)\b)[A-Z][a-z]{1,15}"
)
_UNASKED: Final = r"(?i:(?<!\bdo )(?<!\bdoes )(?<!\bdid )(?<!\bshould )(?<!\bwould )(?<!\bwill ))"
"""Lookbehinds that exclude questions: "do people think …?" reports nothing."""
_OPINION: Final = (
    r"(?![^.!?\n]{0,60}\b(?:great|good|best|better|nice|fun|beautiful|amazing|awesome|bad"
    r"|worse|worst"
    r"|delicious|boring|interesting|important|cool|lovely|cute|ugly|funny|we should|i should"
    r"|i'll|i will)\b)"
)
_IN_HINDSIGHT: Final = "".join(
    rf"(?<!\b{word} {verb} )"
    for word in ("why", "how")
    for verb in ("didn't", "didnt", "don't", "couldn't")
)
"""Lookbehinds that exclude an exclamation: "why didn't I think of that"."""
_NO_REPLY: Final = r"(?! (?:no|yes) to\b)"
"""Lookahead that excludes what somebody refused or accepted: "he said no to the job" is done."""
_DOUBTS: Final = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_IN_HINDSIGHT}\bi (?:think|believe|suppose|reckon)\b{_OPINION}",
        (
            rf"{_IN_HINDSIGHT}\bi (?:guess|suspect|assume|imagine|doubt)\b"
            r"|\bi don'?t (?:think(?! in \w+s\b)|know (?:if|whether))\b"
        ),
        r"\b(?:maybe|perhaps|probably|possibly|presumably|apparently|allegedly|supposedly)\b",
        (
            r"\b(?:might|may|could) (?:be|have|also|move|go|get|become|change|quit|take"
            r"|start|try)\b|\b(?:i|we|he|she|they|it|there)"
            r" (?:might\b|may\b(?! not\b))(?! as well be \w+ing\b)"
            r"|\bmay not (?!eat|drink|have|use|take|touch|do\b)"
            r"|\b(?:(?:can't|cannot|don't) (?:quite )?(?:remember|recall)"
            r" (?:if|whether|when|which|how)"
            r"|no idea (?:if|whether)|i wonder (?:if|whether)|undecided|tentatively)\b"
        ),
        r"\b(?:not|n't|un)\s?(?:so |too |really |entirely |completely |quite )?(?:sure|certain)\b",
        r"\bmight\b(?! as well\b)|\bonly if\b|[在都]猜",
        r"\bunsure\b|\bif i remember (?:right|correctly)\b|\bas far as i know\b|\bafaik\b|\biirc\b",
        r"\b(?:it|that|he|she|they|there) seems?\b|\bseems (?:like|to|that)\b|\blooks like\b",
        (
            r"(?<![不尽])可能(?!性|会?(?:用到|用得[上到]|派上))|也许|或许|大概(?!要?[几多什啥哪])|好像|似乎|估计|说不定|没准|搞不好|恐怕"
            r"|不太?确定|应该(?:是|会|没|不会|已经|快)|不一定|未必|(?<![看听写讲说读])不太?清楚|没想好|[没未]决定|我猜|如果没记错"
            r"|怀疑|八成(?=[是会要得在不没])|估[摸么]|不知道?(?:是不是|要不要|会不会|能不能|有没有)"
            r"|(?:记不清|不记得|想不起来)"
        ),
        (
            r"我(?:觉得|想(?=[他她它这那])|认为|以为)(?=[^，,。！？\n]{0,12}(?:是|在|有|会"
            r"|要))(?![^，,。！？\n]{0,20}(?:好|棒|有趣|不错|重要|漂亮|难|应该))"
        ),
    )
)
_HEARSAY: Final = tuple(
    lazy_pattern(pattern)
    for pattern in (
        (
            rf"{_UNASKED}(?i:(?<!\botherwise )(?<!'s what )\b{_PERSON}) "
            r"(?i:says?|said|tells? me|told (?:me|us)|claims?|claimed"
            r"|thinks?|thought|believes?|insists?|insisted|swears?(?! by\b)|reckons?|mentioned)\b"
            + _NO_REPLY
        ),
        (
            rf"{_UNASKED}\b{_NAMED}(?: (?:from|in|at|next) [a-z ]{{2,20}}?)?"
            r" (?:says|said|tells me|told (?:me|us)|claims|claimed|thinks"
            r"|thought|believes|insists|insisted|swears(?! by\b)|reckons|mentioned)\b" + _NO_REPLY
        ),
        (
            r"(?i:\baccording to\b|\bi(?:'ve| have)? heard\b"
            r"(?! of\b| a lot\b| (?:so )?(?:great|good|many|much) )|\bi was told\b|\brumou?rs?\b"
            r"|\bword is\b|\breportedly\b"
            r"|\bsupposedly\b|\ballegedly\b|\bapparently\b)"
        ),
        (
            r"听[说讲]|听[^，,。！？\s我你]{1,8}[说讲](?!说)|[A-Z]{2,8} ?[说讲](?!明)"
            r"|(?:微信|业主|家长|小区)群里?(?:有人|都|在)?[说讲传]|据说|传[言闻说]|谣传|(?:有人|人家|大家|网路?络?上?|新闻|报[道纸]上?)都?[说讲](?!的)|(?<![跟和对向同给找与其])(?:他|她|他们|我[妈爸哥姐弟妹]{1,2}|我?(?:朋友|同事|老婆"
            r"|老公|妻子|丈夫|老师|老板|师[父傅]|同学|室友|邻居|老乡))(?:跟我|告诉我|和我|都|总)?(?:说(?!的话)|讲(?!的话)|认为"
            r"|觉得|告诉)"
        ),
        r"(?:根据|按照?|依照?|照)[^，,。\n]{1,20}(?:说法|的话|所说)",
    )
)
_INTENTIONS: Final = tuple(
    lazy_pattern(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:considering|contemplating|mulling)\b|\bthinking (?:of|about) \w+ing\b",
        r"在?(?:想|考虑)要不要|还?在(?:考虑|犹豫|纠结)|打算考虑",
    )
)
"""Options still being weighed; a value may call one wanted or planned, but not settled."""
_KEPT: Final = lazy_pattern(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|apparently|allegedly|supposedly|reportedly"
    r"|might|may|could|unsure|uncertain|tentative(?:ly)?|unconfirmed|likely|considering|wonders?"
    r"|not (?:sure|certain|confirmed)|thinks?|thought|believes?|believed|guess(?:es|ed)?|suspects?"
    r"|suspected|assumes?|assumed|doubts?|seems?|appears?|feels?|supposes?|heard|hears|told"
    r"|says?|said"
    r"|claims?|claimed|according to|mentioned|reckons?|insists?|recommends?|recommended"
    r"|suggests?|suggested|advises?|advised|warns?|warned|orders?|ordered|asks?|asked|promised?"
    r"|if|unless|provided|in case|whether|depend(?:s|ing|ent)"
    r"|(?:not|n't|yet to) (?:yet )?(?:decided?|settled?)"
    r"|by \w+'s account|in the opinion"
    r"|\w+'s (?:limit|advice|rule|orders|instructions?|recommendation|opinion|view|estimate))\b"
    r"|可能|也许|或许|大概|好像|似乎|估计|不确定|说不定|听说|据说|认为|觉得|猜|(?<!小)说(?![话明法])|称|告诉"
    r"|以为|考虑|打算|未确认|不一定|没想好|[没未]有?决定|多半|八成|倾向|未必|而定|如果"
    r"|是否|要不要|若|要是|假如|应该|(?<![合续签契节制预特邀公违租])约(?![定会好了])|左右|上下|疑似|怀疑|疑|预计|估计|未定|待定"
    r"|或许|差不多|没准|恐怕|嘱|建议|要求|叮嘱|表示|提到|指出|告知|提醒|转述|传(?![统真家])|让|叫(?=用户|使用者)"
    r"|好似|[唔不]知|讲(?![究课座师义解台])",
    re.IGNORECASE,
)
_INTENDED: Final = lazy_pattern(
    r"\b(?:thinking|interest\w*|wants?|would like|hop(?:es?|ing)|plan\w*|look(?:s|ing)|explor\w*"
    r"|curious|open to|wish(?:es)?|weigh\w*|contemplat\w*|mulling|intend\w*|keen|future"
    r"|potential)\b"
    r"|要(?:写|叫|称|用)|想|计划|有兴趣|感兴趣|有意|希望|愿|将来|未来|在看|纠结|犹豫",
    re.IGNORECASE,
)
_CONSENT: Final = lazy_pattern(
    r"\b(?:yes|ok(?:ay)?|fine|sure|deal|agrees?|agreed|can|could)\b|[可好行]|同意|答应|得(?=[,，。]|$)",
    re.IGNORECASE,
)
_AGREED: Final = lazy_pattern(
    r"\b(?:agreed (?:with|between)|agreement with|(?:deal|arrangement) with)\b"
    r"|[和跟与同][^，,。；]{1,8}(?:约|谈|讲|商)[好定]",
    re.IGNORECASE,
)
_CONDITION: Final = lazy_pattern(r"\b(?:if|as long as|provided)\b|如果|只要|要是", re.IGNORECASE)
_DUTY: Final = lazy_pattern(
    r"\b(?:must|ha(?:s|ve|d) to|needs? to|is to|owes|in (?:return|exchange))\b|[要得须]|作为交换",
    re.IGNORECASE,
)
_PROMISED: Final = lazy_pattern(
    r"(?:'d|'ll|\bwould|\bwill|\bgoing to)\b[^,.;!?]{0,60}\b(?:me|my|us|our)\b|[给帮][我咱]",
    re.IGNORECASE,
)
_FULFILLED: Final = lazy_pattern(
    r"\b(?:came|come|gone) through\b|\b(?:landed|arrived|been paid|paid out)\b"
    r"|\b(?:got|had) (?:the|my|our) first\b"
    r"|(?:[到入][账帐]|到手|兑现|收到|拿到)[了咗]|已经?(?:[到入][账帐]|到手|兑现|收到|拿到)",
    re.IGNORECASE,
)
"""Words of a promise to the user, and of its coming true, which the user saw."""
_UNFULFILLED: Final = lazy_pattern(
    r"^\W*(?:and )?that\b|\b(?:not?|never|yet|should|supposed|will|if|when)\b|n't\b|[没未不]|说|讲",
    re.IGNORECASE,
)
_TOLD_PARTS: Final = lazy_pattern(r"[,;.!?，；。！？]+|\band\b", re.IGNORECASE)
_REPORTED_WISH: Final = lazy_pattern(
    r"\b(?:wants?|would like|'d like|hop(?:es?|ing)|wish(?:es)?|dreams?|keen|plans?)\b"
    r"|想要|最想|希望|想|盼|打算|(?<=说)要(?:写|叫|称|用)",
    re.IGNORECASE,
)
_TELLER: Final = lazy_pattern(
    r"(?P<kin>\b(?:sister|brother|husband|wife|mum|mom|dad|son|daughter|partner|boyfriend|girlfriend"
    r"|friend|gran|nan|aunt|uncle|cousin)\b|[妈爸哥姐弟妹公婆]|老婆|老公|妻子|丈夫|朋友)"
    r"|(?P<pronoun>\b(?:she|he)\b|[她他])",
    re.IGNORECASE,
)
_OF_THEMSELVES: Final = lazy_pattern(
    r"[\s,:]*(?:that )?(?:she|he|they|it)(?:'\w+)?\b|(?![\x00-\x7f]|[^，,。！？\s]{0,4}[我你])",
    re.IGNORECASE,
)
"""The reported clause goes on with its teller: "she moved"; 她说太重, without another subject."""
_RELATIVE: Final = lazy_pattern(
    r"\b(?:sister|brother|husband|wife|mother|father|mum|dad|son|daughter|partner|gran\w*)\b"
    r"|[妈爸哥姐弟妹婆爷奶]|妻|夫|媳|先生|太太|儿子|女儿|女友|男友",
    re.IGNORECASE,
)
_OF_MANNER: Final = (
    r"\s*(?:that )?(?:you(?:'re|r)?|u)\b"
    r"(?! (?:can|could|have to|need|must|should|will|may|get|pay)\w*)"
)
_OF_MANNER_HAN: Final = r"\s*[你您妳](?![要得能们會会]|可以|必须|应该|不[能可得])"
_TAKEN_UP: Final = lazy_pattern(
    rf"{_OF_MANNER}[^.!?\n]{{0,80}}?"
    r"(?:(?:[,;]|\s[-–]) ?(?:so|therefore)\b[^.!?\n]{0,24}| so )\b"
    r"(?:please|pls|(?:can|could) you|from now on|don'?t|stop|no more|never|always|keep|use|call me"
    r"|be|make|give|write|answer|talk|drop|skip|cut)\b"
    rf"|{_OF_MANNER}[^.!?\n]{{0,30}}\b(?:too|like a|so many|sounds?)\b[^.!?\n]{{0,50}}?[,;] ?"
    r"(?:just |please |pls )?call me\b"
    rf"|{_OF_MANNER_HAN}[^。！？\n]{{0,40}}?[,;\s](?:所以|那|就|咁|因此|以后)[^。！？\n]{{0,10}}"
    r"(?:别|不要|不用|唔好|请|麻烦|以后|改|用|少|多|说|讲|写|叫我|喊我)"
    rf"|{_OF_MANNER_HAN}(?:太|老是|总|别[老总]|像|成日)[^。！？\n]{{0,40}}?[,;\s][叫喊称]我",
    re.IGNORECASE,
)
"""
How an assistant answers, told behind "my wife says", and the user's own wish that follows from it.

"You're too formal, so please relax" is no report by then; "you can't park there, so don't" is one.
"""
_WORD: Final = lazy_pattern(r"[^\W\d_\u3400-\u9fff]+(?:'[a-z]+)?|[\u3400-\u9fff]")
_ROOM_WORDS_MIN: Final = 3
_ROOM_CHARACTERS_MIN: Final = 7


@kept_if_short
def hedges_in(text: str) -> tuple[str, ...]:
    """
    Return the words of doubt and of hearsay in *text*, in order.

    An opinion ("I think hiking is great") is no doubt.

    >>> hedges_in("I think he moved; my brother says to Oslo")
    ('I think', 'my brother says')
    """
    text = _usual(text)
    found = {
        match.start(): match.group()
        for pattern in (*_DOUBTS, *_INTENTIONS)
        for match in pattern.finditer(text)
    } | {match.start(): match.group() for match in _reports_in(text)}
    return tuple(found[at] for at in sorted(found))


def hearsay_in(text: str) -> bool:
    """Return True if *text* reports the words of a third person."""
    return any(True for _ in _reports_in(_usual(text)))


def _reports_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the heads of hearsay in a text, but not of what the user takes up as their own wish."""
    for pattern in _HEARSAY:
        for match in pattern.finditer(text):
            if not _TAKEN_UP.match(text, match.end()):
                yield match


def _usual(text: str) -> str:
    return plain(text[:TEXT_CHARACTERS_MAX])


def keeps_hedge(value_text: str, quote: str) -> bool:
    """
    Return True if *value_text* keeps the doubt or the attribution of *quote*, in any words.

    A value of one or two words (six Chinese characters) has no room for it, and passes.

    >>> keeps_hedge("lives in Oslo now", "I think he lives in Oslo")
    False
    >>> keeps_hedge("probably lives in Oslo", "I think he lives in Oslo")
    True
    """
    if not hedges_in(quote) or not _has_room(value_text):
        return True
    value = _usual(value_text)
    if _KEPT.search(value) or hedges_in(value) or _tells_agreement(value, quote):
        return True
    if tells_fulfilled(value, quote):
        return True
    if _is_uncertain(quote) and not _reports_a_wish(quote):
        return _is_of_its_teller(value, quote)
    return bool(_INTENDED.search(value))


def _tells_agreement(value: str, quote: str) -> bool:
    """
    Return True if a value tells the yes of somebody as agreed with them, and its condition as due.

    >>> said = "she said yes if I take Zosia on the 30th"
    >>> _tells_agreement("He must take Zosia on the 30th, as agreed with her", said)
    True
    >>> _tells_agreement("He gets a week, as agreed with her", said)
    False
    """
    text = _usual(quote)
    if any(pattern.search(text) for pattern in (*_DOUBTS, *_INTENTIONS)):
        return False
    is_told = _CONSENT.search(text) is not None and _AGREED.search(value) is not None
    return is_told and (not _CONDITION.search(text) or _DUTY.search(value) is not None)


def tells_fulfilled(value: str, quote: str) -> bool:
    """
    Return True if a value tells a promise to the user that came true, and that it did.

    >>> said = "he said he'd give me 32k, the first pay landed in May"
    >>> tells_fulfilled("His boss raised his pay to 32k; the first landed in May", said)
    True
    >>> tells_fulfilled("His boss raised his pay to 32k", said)
    False
    """
    value, text = _usual(value), _usual(quote)
    if not _FULFILLED.search(value) or any(e.search(text) for e in (*_DOUBTS, *_INTENTIONS)):
        return False
    first, *rest = _TOLD_PARTS.split(text)
    own = (each for each in rest if not any(_reports_in(each)) and not _UNFULFILLED.search(each))
    return _PROMISED.search(first) is not None and any(map(_FULFILLED.search, own))


def _is_of_its_teller(value: str, quote: str) -> bool:
    """
    Return True if a value tells of those who told it: "my sister says she moved".

    >>> _is_of_its_teller("The user's sister moved to Bath", "my sister says she moved to Bath")
    True
    >>> _is_of_its_teller("The user moved to Bath", "my sister says I moved to Bath")
    False
    """
    text = _usual(quote)
    if any(pattern.search(text) for pattern in (*_DOUBTS, *_INTENTIONS)):
        return False
    tellers = list(_reports_in(text))
    if not all(_OF_THEMSELVES.match(text, match.end()) for match in tellers):
        return False
    named = [_TELLER.search(match.group()) for match in tellers]
    return bool(named) and all(each and _names_teller(each, value) for each in named)


def _names_teller(teller: re.Match[str], value: str) -> bool:
    name = teller.group()
    if teller.lastgroup == "pronoun":
        return _RELATIVE.search(value) is not None
    return re.search(rf"\b{re.escape(name)}\b" if name.isascii() else name, value) is not None


def _reports_a_wish(quote: str) -> bool:
    """Return True if a quote tells what somebody wishes, which is theirs to say: 他说他想要…."""
    text = _usual(quote)
    doubts = [match for pattern in _DOUBTS for match in pattern.finditer(text)]
    return not doubts and hearsay_in(quote) and _REPORTED_WISH.search(text) is not None


def _is_uncertain(quote: str) -> bool:
    """Return True if a quote has more than an intention that is being weighed."""
    text = _usual(quote)
    return any(pattern.search(text) for pattern in _DOUBTS) or hearsay_in(quote)


def _has_room(value_text: str) -> bool:
    words: list[str] = _WORD.findall(value_text)
    characters = sum("\u3400" <= word <= "\u9fff" for word in words)
    if characters:
        return characters >= _ROOM_CHARACTERS_MIN
    return len(words) >= _ROOM_WORDS_MIN
