"""Detect the language of a text by the function words of a few languages."""

from __future__ import annotations

import re
from typing import Final

from recollect.formation.support.content_words import tokens_in
from recollect.text.word_caches import word_cache

SAMPLE_CHARACTERS: Final = 1_000
_KANA: Final = re.compile("[\u3041-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_HAN_SHARE: Final = 0.2
_HAN_MIN: Final = 2
_SMALL_WORDS: Final = {
    "en": """
        the a an is are was were and of to in for with my i he she it his her their they we you
        that this on at has have not from by about would be as but or so who when if me us our
        don't i'm it's she's he's i've do does did can will just
        no am come die per son met plus
    """,
    "de": """
        der die das und ist ich nicht ein eine einen dem den des mit auf fur im in zu von wir er
        sie es mein meine hat habe bin sind war aber wenn wie auch noch nur sehr nach bei vom zum
        zur aus seit am um unser dass
    """,
    "es": """
        el la los las de y que es un una en con por para mi me no se lo su al del soy estoy tengo
        como muy pero mas esta son yo le les hoy desde porque
    """,
    "fr": """
        le la les de des et est un une en dans avec pour par je il elle nous vous mon ma mes ne
        pas que qui sur au aux du ce cette mais plus suis ai se sa son ses on
    """,
    "pt": """
        o a os as de e que um uma em com por para meu minha nao se do da no na eu ele ela muito
        mas mais esta sou tenho ao dos das ja seu sua
    """,
    "it": """
        il lo la gli le di e che un una in con per mio mia non si del della nel sono ho ma piu
        come anche io lui lei da al dal alla questo
    """,
    "nl": """
        de het een en van ik niet is dat op te in met voor mijn zijn heeft heb maar ook bij naar
        om wij we hij zij ze er aan dit
    """,
}
_WORDS: Final = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
WITH_RULES: Final = frozenset({"en", "zh"})
"""Languages whose words are known well enough to tell what came from nowhere."""


@word_cache(maxsize=10_000)
def language_of(text: str) -> str:
    """
    Return the language of a text as a short code; ``""`` where nothing tells it.

    >>> [language_of(each) for each in ("my cat is old", "我养猫", "猫がいます", "Leeds")]
    ['en', 'zh', 'ja', '']
    """
    text = text[:SAMPLE_CHARACTERS]
    letters = len(_LETTER.findall(text))
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    han = len(_HAN.findall(text))
    if han > _HAN_SHARE * letters:
        return "zh"
    words = [token.folded for token in tokens_in(text)]
    hits = {name: sum(word in known for word in words) for name, known in _WORDS.items()}
    best = max(hits, key=lambda name: hits[name])
    if not hits[best]:
        return _without_small_words(text, letters, han)
    ties = [name for name in hits if hits[name] == hits[best]]
    if len(ties) > 1:
        return "" if "en" in ties else "other"
    return best


def _without_small_words(text: str, letters: int, han: int) -> str:
    """Return the language of a text without a small word: Chinese may be full of Latin words."""
    if han >= _HAN_MIN:
        return "zh"
    # Where only an emoji is no ASCII, nothing tells the language.
    return "" if not letters or "".join(_LETTER.findall(text)).isascii() else "other"
