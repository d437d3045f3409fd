"""
A question as the rule model reads it: what an entry must say to answer it.

Each thing that is asked about has to stand in the entry, in the same words or in those of a topic,
and the entry has to have what the question asks for: a time, a place, a number, a name. An entry
that only shares a word with the question answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from recollect.formation import rule_stems as stems
from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_kinds import ASKS_COLOUR, ASKS_MEDICINE, KINDS, SO_OLD
from recollect.formation.rule_objects import AskedObject, asked_object
from recollect.formation.rule_statements import own_words_in
from recollect.formation.rule_stems import stems_in
from recollect.formation.rule_topics import PERSONS, TOPICS, topic_of_field, topics_of
from recollect.formation.rule_visits import (
    AskedVisit,
    asked_visit,
    is_of_own_visit,
    tells_own_visit,
)
from recollect.text.analysis import terms_of
from recollect.text.cantonese import written_chinese
from recollect.text.sentences import sentence_matches

_COMMON: Final = frozenset(
    terms_of(
        "what when where which who whom whose how why is are am was were do does did done have has "
        "had my me i you your we our us the a an to of in on at for it its about that this these "
        "those and or but if be been being will would can could should shall may might many much "
        "now still there any call called tell told know known remember name named please long "
        "often by with from up out as so than then not no yes again ever also just really exactly "
        "give gives get gets got getting go goes going went into come came make made use used say "
        "said think mean put need want take took choose chose pick keep kept own drink eat thing "
        "kind sort type due currently today tonight tomorrow yesterday before earlier formerly ago "
        "previously "
        "anything something everything anyone someone anybody somebody any all else "
        "she her hers he him his they them their theirs mine myself one first full last old since "
        "year month week day date time january february march april june july august september "
        "october november december 's ll ve re m d t s"
    )
)
_COMMON_CHINESE: Final = re.compile(
    "几年级|什么时候|什么地方|什么东西|什么颜色|啥颜?色|什么(?:名(?!字))?|啥名?|些|何时|时候|怎么样?|为什么|开始|哪[家间]?公司|哪[所间个](?:大学|学校)"
    "|哪一?[里儿边个家天年月日号]?玩?|[做干](?:什么|啥)|干[嘛吗]|(?:星期|周|礼拜)几|多少钱?|多[大久长]|几[岁点号个年月天]?|[现目]前?在?"
    "|以前|之前|曾经|过去|原来|今[天年晚]|明[天年]|昨天|去年|名字|告诉|知道|记得|还有|是不是|有没有"
    "|[我你您他她它们的地得了着过在是有和与吗呢吧啊呀嘛里谁叫也还都就会要能把被从向到放去来最很这那让]"
    "|[一两二三四五六七八九十几]+[只条]|[\\d年月日号]+|[^\u3400-\u9fff]+"
)
_POSSESSIVE: Final = re.compile(r"['\u2019]s\b")
_STANDS: Final = re.compile(
    r"\b(?:which|what) (?:\w+ ){1,2}?(?P<verb>stands?|sits?|lies|hangs?|grows?)"
    r"(?= (?:on|in|at|by|near|under|behind)\b)",
    re.IGNORECASE,
)
"""A verb that only says where something is: "Which plant stands on my balcony?"."""
_GOES_ON: Final = re.compile(r"(?:she|he|they|it)\b|[她他]", re.IGNORECASE)
_ASKS_FIRM: Final = re.compile("哪[家间]?公司")
_FIRM: Final = re.compile(r"在|\b(?:at|for)\b")
"""An entry without it names a job, and not where it is done."""
_OWN_NAME: Final = re.compile(
    r"\b(?:my|her|his) (?:(?:first|last|full|own) )?names?\b(?! of)|\b(?:am i|i(?:'m| am)) called\b"
    r"|\bwho am i\b|\bcalls? me\b|我的?(?:姓名|名字|全名)|我叫|我是谁",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"\b(?:called|named|names? (?:is|was|are)|it's|(?:sister|brother|mother|father|mum|dad|wife"
    r"|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mate|neighbou?r|daughter"
    r"|son|friend|boss|dog|cat|teacher|dentist|doctor|(?:is|was) )"
    r"|(?:sisters|brothers|daughters|sons|children|kids|friends|dogs|cats|pets)"
    r"(?= ?[:,(–—-]| are ))"
    r"(?: are)?[ :,(–—'\"\u201c-]*(?-i:[A-Z\u3400-\u9fff])|叫 ?[^\s什啥]|名字?是",
    re.IGNORECASE,
)
"""A name that is told: "is called Tom", "my sister Ana"."""
_OF_SOMEBODY: Final = re.compile(
    r"\b(?:what(?:'s| is| was) (?:wrong|the matter|up|new|going on) with"
    r"|what(?:'s)? happened (?:to|with)|(?:what|how) about|tell me (?:more |something )?about"
    r"|how(?:'s| is| are| was)(?= (?:my |our )?\w+(?: doing| feeling| these days)?\W*$)"
    r"|(?:doing|feeling|these days)(?=\W*$)|did i (?:ask|tell) you to(?= remind\b))\b"
    r"|说说|讲讲|聊聊|介绍一?下?|怎么了|怎么样了?|怎样了|好吗|近况",
    re.IGNORECASE,
)
"""Words that ask for anything about somebody: "What's wrong with Biscuit?"."""
_WHO: Final = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_PROPER: Final = re.compile("\\b[A-Z][A-Za-z\u00c0-\u024f-]+")
_WHO_IS: Final = re.compile(
    r"\W*who(?:['\u2019]s| is| was) (?P<name>(?:(?:Mrs?|Ms|Dr|Prof)\.? )?[A-Z]\w*(?: [A-Z]\w+)*)\W*"
    r"|(?P<chinese>[^\s，。？！是]{1,12}?)是谁\W*",
    re.IGNORECASE,
)
_LIKINGS: Final = frozenset({"dislikes", "interests"})
_OF_FOOD: Final = frozenset({"dislikes", "interests", "allergy", "not_eaten"})
_TAKES_OBJECT: Final = "打吃喝练学骑弹拉唱跳写种踢买"
"""Verbs of one character, whose object is often a longer word in a statement."""
_TOWN_CHINESE: Final = re.compile("城市|国家|城镇|地方")
_ASKS_PRICE: Final = re.compile(
    r"\b(?:how much|what d(?:id|o|oes)) (?:\w+ ){1,6}costs?\b|\bprice of\b"
    r"|\bhow much (?:\w+ ){1,3}(?:do|does) (?:i|we) pay\b|\bhow much is (?:my|our|the) rent\b",
    re.IGNORECASE,
)
"""A question for a price, which an entry tells by its currency: "for 1,150 euros"."""
_ASKS_COLOUR: Final = re.compile(ASKS_COLOUR, re.IGNORECASE)
"""A question that a colour answers, whether or not it is called one."""
_ASKS_BREED: Final = re.compile(r"\b(?:what|which) breed\b|(?:什么|啥)品种", re.IGNORECASE)
"""A question that an entry on the animal answers, or nothing does."""
_ASKS_MEDICINE: Final = re.compile(ASKS_MEDICINE, re.IGNORECASE)
"""A question that a dose answers."""
_ASKS_YES: Final = re.compile(
    r"^\W*(?:and |so )?(?:do|does)(?:n't)? (?!you\b)(?!.*\b(?:what|which|who|how|why)\b)"
    r".*\b(?:like|love|enjoy|hate|dislike|mind)\b"
    r"|喜不喜欢|讨不讨厌|^(?!.*(?:什么|啥|哪|谁|知道|记得)).*(?:喜欢|讨厌).*吗\W*$",
    re.IGNORECASE,
)
"""A question that a liking answers as well as an aversion."""
_HOW_TAKEN: Final = re.compile(
    r"\bhow (?:do|did|does) \w+ like (?:my|his|her|the)\b", re.IGNORECASE
)
"""How something is taken, which the line of it tells: "How do I like my coffee?"."""
_FAVOURITE: Final = re.compile(r"\bfavou?rite\b", re.IGNORECASE)
"""A favourite answers no question for a food or colour that it does not name."""
_OWES: Final = re.compile(r"\bow(?:e|es|ed)\b", re.IGNORECASE)
"""A question for a debt: an entry tells its amount, and need not say money."""
_PAID_BACK: Final = re.compile(
    r"\bpaid (?:[\w']+ ){0,4}?(?:back|off)\b|还清|[钱债](?:都|已经?)?还(?:给|了)", re.IGNORECASE
)
_THING_WORKS: Final = re.compile(
    r"\b(?:the|it|this|that|which|everything|nothing)\b(?: \w+){0,3}? works?\b"
    r"(?! (?:as|at|for|in|with)\b)",
    re.IGNORECASE,
)
"""A thing that works is no work of anybody: "the kettle already works"."""
_PERSONAL: Final = frozenset(
    {"home", "age", "occupation", "name", "birthday", "allergy", "interests"}
)
"""Topics on which an entry about somebody else tells nothing of the user."""
_OF_OTHERS: Final = re.compile(
    r"^\W*(?:my|our|[A-Z]\w+['\u2019]s) (?!(?:name|home|address|job|work|age|birthday|allergy"
    r"|occupation|flat|house|hobby|hobbies|favou?rite)\b)\w+|^我的?(?:[家女儿妈爸姐妹哥弟朋同老太奶爷])",
    re.IGNORECASE,
)
_ANIMALS: Final = frozenset({"cat", "dog", "pet"})
_ALLERGIC_TO: Final = re.compile(
    r"^\W*(?:i'?m|i am) (?:\w+ )?allergic to\b|^我(?:们?家)?(?:也|还)?对[^，。]+(?:过敏|敏感)",
    re.IGNORECASE,
)
_OF_ONESELF: Final = re.compile(r"\b(?:i|me|my|mine|she|her|he|his|him)\b|我|[她他]", re.IGNORECASE)
_PERSONS: Final = frozenset(
    {"cat", "dog", "pet", "sister", "brother", "mother", "father", "partner", "child", "friend"}
)
_PRESENT: Final = re.compile(
    r"\b(?:used to|before|previously|formerly|former|earlier|lived|worked|was|were|had|until"
    r"|moved from|left)\b|以前|之前|曾|过去|原来",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RuleQuestion:
    """
    A question about the user, whose *names* stand for "I" in it, or on the topics *about*.

    With *is_former* it asks how something was before. The user lives in *places*.
    """

    text: str
    names: frozenset[str] = frozenset()
    is_former: bool = False
    about: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()

    @cached_property
    def _visit(self) -> AskedVisit | None:
        return asked_visit(self.text, self.names, self.places)

    @cached_property
    def _object(self) -> AskedObject | None:
        return asked_object(self.text, self.names)

    @cached_property
    def _asked(self) -> str:
        plain = _HOW_TAKEN.sub(" ", written_chinese(self.text))
        return plain.replace("喜不喜欢", "喜欢").replace("color", "colour")

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that an entry has to be on."""
        found = topics_of(self._asked) - {"answers"}
        if "home" in found:
            found -= {"move"}
        if "dislikes" in found:
            found -= {"interests", "dislikes"} if "not_eaten" in found else {"interests"}
        if "allergy" in found:
            found -= {"not_eaten"}
        found |= self.about
        return found - {"name"} if self._asks_name else found - {"name"} or found

    @property
    def _asks_name(self) -> bool:
        """Whether it asks for the name of something else than the user."""
        return "name" in topics_of(self.text) and not _OWN_NAME.search(written_chinese(self.text))

    @cached_property
    def _plain(self) -> str:
        """The question without the words of its topics."""
        plain = _OF_SOMEBODY.sub(" ", self._asked)
        for name, rule in TOPICS:
            if name in self.topics:
                plain = rule.sub(" ", plain)
        return plain

    @cached_property
    def terms(self) -> frozenset[str]:
        """The other words that have to stand in it, as terms."""
        latin = _POSSESSIVE.sub("", re.sub("[\u3400-\u9fff]", " ", self._plain))
        names = stems_in(" ".join(each for each in self.names if each in self.text))
        stands = _STANDS.search(self.text)
        needless = stems_in(stands["verb"]) if stands else frozenset()
        needless |= stems.PRICE if _ASKS_PRICE.search(self.text) else frozenset()
        needless |= stems.TOWN if "home" in self.topics else frozenset()
        needless |= stems.MONEY if _OWES.search(self.text) else frozenset()
        needless |= stems.COLOUR if _ASKS_COLOUR.search(self.text) else frozenset()
        needless |= stems.MEDICINE if _ASKS_MEDICINE.search(self.text) else frozenset()
        needless |= stems.BREED if _ASKS_BREED.search(written_chinese(self.text)) else frozenset()
        needless |= stems.FOOD if self.topics & _OF_FOOD else frozenset()
        found = stems_in(latin, besides=_COMMON) - names - needless
        if found or self.topics or self.runs:
            return found
        # "What do I drink?", "Where am I going in July?" ask for nothing else.
        return stems_in(latin) & (stems.VERB | stems.MONTH)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The other words in Chinese: runs of characters between the usual words."""
        plain = _TOWN_CHINESE.sub(" ", self._plain) if "home" in self.topics else self._plain
        plain = re.sub("养|(?:什么|啥)?品种", " ", plain) if "pet" in self.topics else plain
        plain = plain.replace("钱", " ") if "欠" in plain else plain
        plain = re.sub("(?:几口)?人", " ", plain) if "family" in self.topics else plain
        return tuple(filter(None, _COMMON_CHINESE.split(plain)))

    def is_met_by(self, line: RememberedLine) -> bool:
        """Return True if a line says something on all that is asked."""
        if not (self.topics or self.terms or self.runs):
            return False
        text = line.text
        if line.speaker and line.speaker != "assistant":
            text = own_words_in(text)  # what the user pasted tells nothing of the user
        if self._visit is not None:
            return any(self._is_visit_met(each, line) for each in _statements_of(text))
        return any(self._is_met(each, line) for each in windows_of(text))

    def shared_with(self, line: RememberedLine) -> int:
        """Return how many of the things that are asked about a line names, by topic or word."""
        plain = written_chinese(line.text)
        topics = (topics_of(plain) | {topic_of_field(line.field)}) - {"name"}
        runs = sum(_has_run(run, plain) for run in self.runs)
        return len(self.topics & topics) + len(self.terms & stems_in(plain)) + runs

    def _is_visit_met(self, said: str, line: RememberedLine) -> bool:
        plain = written_chinese(said)
        is_told = self._visit is not None and self._visit.is_told_by(plain)
        return is_told and self._has_kind(said, plain, line)

    def _is_met(self, said: str, line: RememberedLine) -> bool:
        plain = written_chinese(said)
        topics = topics_of(_THING_WORKS.sub(" ", said)) | {topic_of_field(line.field)}
        if "dislikes" in topics:
            topics -= {"interests"}
        if topics & _LIKINGS and _ASKS_YES.search(written_chinese(self.text)):
            topics |= _LIKINGS
        if topics & PERSONS:
            topics |= {"family"}
        is_of_another = self.topics & _PERSONS or self.terms or self.runs
        if "age" in self.topics and is_of_another and SO_OLD.search(plain):
            topics |= {"age"}
        if line.field in _PERSONS and re.search(r"\bin (?-i:[A-Z])", plain):
            topics |= {"home"}
        return (
            self.topics <= topics
            and self.has_words(plain)
            and self._has_kind(said, plain, line)
            and not (
                is_of_own_visit(self.text, self.names) and not tells_own_visit(plain, self.names)
            )
            and not self._is_of_another(said, topics)
            and not (self.is_former and line.tense != "until" and not _PRESENT.search(plain))
        )

    def introduces(self, line: RememberedLine) -> bool:
        """Return True if a line says who somebody is, and the question asks that."""
        found = _WHO_IS.fullmatch(written_chinese(self.text))
        if found is None:
            return False
        name = re.escape(found["name"] or found["chinese"])
        if line.field in _PERSONS:
            return re.search(name, line.text) is not None
        told = (
            rf"\b(?:my|our|her|his|[A-Z]\w+['\u2019]s) (?:\w+ ){{1,2}}?(?:is |is called )?{name}\b"
            rf"|\b{name}(?:,| is| was) (?:my|our|her|his|the|an?|[A-Z]\w+['\u2019]s) "
            rf"|(?:我|我的|[她他])(?:老[公婆]|[男女]朋?友|丈夫|妻子|先生|太太|伴侣|[姐妹哥弟爸妈]{{1,2}}"
            rf"|同事|老板|朋友)(?:叫|是)? ?{name}|{name} ?是(?!谁|不是)"
        )
        return re.search(told, written_chinese(line.text)) is not None

    def has_words(self, plain: str) -> bool:
        """Return True if a text has the words of the question, or the thing of the kind asked."""
        terms, runs = self.terms, self.runs
        if self._object is not None and self._object.is_told_by(plain):
            terms -= stems_in(self._object.words)
            runs = tuple(each for each in runs if each not in self._object.words)
        if _FAVOURITE.search(plain):
            terms |= stems_in(self._asked) & (stems.FOOD | stems.COLOUR)
        said = stems_in(_POSSESSIVE.sub("", plain.replace("color", "colour")))
        if len(terms) > 1 and re.search(r"\d(?:[ -]?\d){4}|[A-Z]\d|\d[A-Z]", plain):
            terms -= stems.NUMBER  # "my plate number" may be told as "plate KX19"
        if _PAID_BACK.search(plain):
            terms -= stems.OWE  # who has paid it back owes nothing any more
            runs = tuple(each.replace("欠", "") for each in runs)
        return terms <= said and all(_has_run(run, plain) for run in runs)

    def has_kind(self, line: RememberedLine) -> bool:
        """Return True if a line has a time, where the question asks when, and so on."""
        return self._has_kind(line.text, written_chinese(line.text), line)

    def _has_kind(self, said: str, plain: str, line: RememberedLine) -> bool:
        """Return True if a text has a time, where the question asks when, and so on."""
        asked = written_chinese(self.text)
        if _ASKS_FIRM.search(asked) and not _FIRM.search(plain):
            return False
        kind = next((has for asks, has in KINDS if asks.search(asked)), None)
        if kind is not None:
            is_dated = line.is_memory and bool(line.tense) and "when" in asked.lower()
            return is_dated or topic_of_field(line.field) in self.topics or bool(kind.search(plain))
        if self._asks_name:
            return line.field in _PERSONS or _NAMED.search(plain) is not None
        if _WHO.search(self.text):
            # "I owe my brother 50" answers "Who do I owe money to?"
            if self.introduces(line) or (topics_of(plain) - self.topics) & PERSONS:
                return True
            return bool(set(_PROPER.findall(said)) - set(_PROPER.findall(self.text)) - self.names)
        return True

    def _is_of_another(self, said: str, topics: frozenset[str]) -> bool:
        """Return True if a text is about somebody else, and the user is asked about."""
        if not self.topics & _PERSONAL or self.topics & _PERSONS or self.terms or self.runs:
            return False
        if not _OF_ONESELF.search(self.text) and not any(e in self.text for e in self.names):
            return False
        if self.topics == {"allergy"} and _ALLERGIC_TO.search(written_chinese(said)):
            topics -= _ANIMALS  # they cause it
        return bool(topics & _PERSONS) or _OF_OTHERS.match(said) is not None


def _statements_of(text: str) -> Iterator[str]:
    """Yield each sentence that asks nothing, with the next one if that begins with a pronoun."""
    every = [each.group().strip() for each in sentence_matches(text)]
    for number, sentence in enumerate(every):
        if sentence.endswith(("?", "？")):
            continue
        following = every[number + 1] if number + 1 < len(every) else ""
        yield f"{sentence} {following}" if _GOES_ON.match(following) else sentence


def windows_of(text: str) -> Iterator[str]:
    """Yield each two sentences that follow each other, or all; a question answers nothing."""
    every: Sequence[str] = [each.group().strip() for each in sentence_matches(text)]
    sentences = [each for each in every if not each.endswith(("?", "？"))]
    if len(sentences) < 3:
        yield text if len(sentences) == len(every) else " ".join(sentences)
    for first, second in pairwise(sentences):
        yield f"{first} {second}"


def _has_run(run: str, plain: str) -> bool:
    """
    Return True if a text has half of the pairs of characters of a run, or the one character.

    Of a verb and its object other words may stand between: 打羽毛球 has 打球.
    """
    if len(run) < 2:
        return run in plain
    if len(run) == 2 and run[0] in _TAKES_OBJECT:
        return re.search(f"{run[0]}[^，。！？；]{{0,3}}{run[1]}", plain) is not None
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return 2 * sum(each in plain for each in pairs) >= len(pairs)
