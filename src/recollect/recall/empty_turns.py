"""Turns that tell a later reader nothing: pleasantries, and questions about what is remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias, TypeVar

from recollect.formation.grounding.foreign_text import without_recalled
from recollect.records import Memory, Message
from recollect.text.analysis import fold
from recollect.text.chinese_scripts import simplified
from recollect.text.rule_replies import is_rule_reply
from recollect.text.searchable import message_text
from recollect.text.small_talk import compile_phrases, is_small_talk
from recollect.text.word_caches import word_cache

compile_phrases()  # while this module is loaded on a worker thread, not on the event loop
EntryT = TypeVar("EntryT")
ContentOf: TypeAlias = Callable[[EntryT], Message | Memory]
POLITE_CHARACTERS_MAX: Final = 60
"""Longest turn of an assistant that can be a mere pleasantry."""
QUESTION_CHARACTERS_MAX: Final = 80
"""Longest question that can tell nothing about whoever asks it."""

# Short for a decision: what it takes up stands in the turn before.
_DECIDES: Final = re.compile(
    r"\b(?:yes|yeah|yep|yup|ok|okay|sure|no|nope|nah|agreed?|sounds|looks|right|correct|exactly"
    r"|of course|go (?:ahead|on)|do (?:so|it)|why not|never ?mind|please|absolutely|definitely"
    r"|continue|perfect|great|idea|done|not)\b"
    r"|[好行对是不没要]|可以|同意|当然|继续|没错"
)
# One question about oneself, with no more words than it needs: "Where do I live?"
_ASKS_WHAT_IS_KNOWN: Final = re.compile(
    r"(?:(?:hey|hi|so|and|ok|please)[, ]+)?"
    r"(?:(?:do you (?:still )?(?:know|remember)"
    r"|(?:can|could) you (?:please )?(?:tell|remind) me) )?"
    r"(?:(?:what|where|when|who|which|how (?:old|many|much|often|long))(?:'s)?|my"
    r"|(?:am|do|did|was|have) i)\b"
    r"(?! (?:should|shall|could|can|would|if|about)\b)(?: [\w'-]+){1,6}\?+"
)
# One about somebody by name, which only a list of few entries leaves out.
_ASKS_OF_SOMEBODY: Final = re.compile(
    r"(?:(?:hey|hi|so|and|ok|please)[, ]+)?"
    r"(?:(?:since when|until when|what|where|when|who|which|whose"
    r"|how (?:old|many|much|often|long))(?:'s)?|does|did|is|was|has)\b"
    r"(?! (?:should|shall|could|can|would|if|about)\b)(?: [\w'-]+){1,9}\?+",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=\s)[A-Z][a-z]+")
_ONESELF: Final = re.compile(r"\b(?:i|i'm|me|my|mine|our|we|her|his)\b")
_ASKS_WHAT_IS_KNOWN_CHINESE: Final = re.compile(
    "(?:你(?:还)?(?:记得|知道))?我(?:们)?(?:的)?[^，。！？?,\n该要]{1,12}"
    "(?:什么|哪[里儿个]?|谁|多少|几[岁个号点]?|吗|叫啥)[^，。！？?,\n]{0,4}[?？]"
)


def without_empty(entries: Iterable[EntryT], content_of: ContentOf[EntryT]) -> Iterator[EntryT]:
    """
    Yield the entries that tell something: no empty turns, and no text a second time.

    For searches whose answer is a list of few entries: a question that a user asks every day
    would fill it.
    """
    seen = set[str]()
    for each in entries:
        content = content_of(each)
        if isinstance(content, Message):
            text = plain_words(content.text)
            if is_empty_answer(content) or is_empty_turn(content) or text in seen:
                continue
            seen.add(text)
        yield each


def plain_words(text: str) -> str:
    """Return the words of *text* in one form, without marks."""
    return " ".join(re.findall(r"\w+", fold(text)))


def own_words(content: Message) -> str:
    """Return the words of a message, without the context that its speaker only repeats."""
    said = message_text(content.text, None, content.content)
    return without_recalled(said).strip() if "<memory " in said else said


def is_empty_answer(content: Message) -> bool:
    """Return True for an assistant's "Noted.", and for what a chat without a model replied."""
    if content.role != "assistant":
        return False
    is_polite = len(content.text) <= POLITE_CHARACTERS_MAX and _is_small_talk(content.text)
    return is_polite or is_rule_reply(content.text)


def is_empty_turn(content: Message) -> bool:
    """Return True for a user's "Hello!" or "Where do I live?"; a "yes" may take up a proposal."""
    if content.role != "user" or content.content:
        return False
    text = content.text.strip()
    return len(text) <= QUESTION_CHARACTERS_MAX and _is_empty(text)


def is_bare_question(content: Message) -> bool:
    """Return True for a user's one short question about somebody: "Where does Mira work?"."""
    if content.role != "user" or content.content:
        return False
    text = content.text.strip().replace("\u2019", "'")
    if len(text) > QUESTION_CHARACTERS_MAX or not _NAME.search(text):
        return False
    return _ASKS_OF_SOMEBODY.fullmatch(text) is not None


_is_small_talk = word_cache(maxsize=4_096)(is_small_talk)


@word_cache(maxsize=4_096)
def _is_empty(text: str) -> bool:
    folded = fold(text.replace("\u2019", "'"))
    if is_small_talk(text):
        return not _DECIDES.search(simplified(folded))
    if _ASKS_WHAT_IS_KNOWN.fullmatch(folded):
        return bool(_ONESELF.search(folded))
    return bool(_ASKS_WHAT_IS_KNOWN_CHINESE.fullmatch(simplified(text)))
