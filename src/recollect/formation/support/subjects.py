"""The subject of a clause: its speaker, or someone else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.formation.support.stances import Attitude, Clause

_I: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|me|mine|ich|wir|yo|nosotros|je|j'|nous|eu|io)\b"
    r"|我(?![妈爸哥姐弟妹爷奶外女儿老媳朋同闺室]|们?家)|咱|本人|私|僕|俺",
    re.IGNORECASE,
)
KIN: Final = (
    r"mother|mum|mom|father|dad|parents?|brother|sister|sibling|son|daughter|child|children|kids?"
    r"|boys?|girls?"
    r"|baby|wife"
    r"|husband|partner|boyfriend|girlfriend|fianc[eé]e?|friends?|neighbou?r|landlord|landlady"
    r"|boss|colleague"
    r"|coworker|roommate|flatmate|aunt|uncle|cousin|nephew|niece|gran(?:d\w+|ny)?|nan|nana|ex"
    r"|guest|teacher"
    r"|dog|cat|puppy|kitten|bruder|schwester|mutter|vater|sohn|tochter|frau|mann|freund(?:in)?"
    r"|hermano"
    r"|hermana|madre|padre|hijo|hija|marido|mujer|amigo|amiga|frere|soeur|mere|pere|fils|fille"
    r"|irmao|irma"
)
KIN_HAN: Final = (
    "妈|母亲|爸|父亲|爹|娘|哥|弟|姐|妹|儿子|女儿|孩子|老婆|老公|妻|丈夫|太太|先生|爱人|男友|女友"
    "|男朋友|女朋友"
    "|朋友|同事|同学|室友|邻居|房东|老板|奶奶|爷爷|外婆|外公|姥|舅|姨|叔|姑|侄|甥|闺蜜|狗|猫|兄"
    "|母|父|妻|夫|息子"
    "|娘|友達|嬷|阿公|阿妈|阿伯|婆|公公"
)
_ANOTHER: Final = re.compile(
    rf"\b(?:he|she|they|he's|she's|they're|er|ella|elle|ele|ela|(?:my|his|her|our|their|the)"
    rf" (?:\w+ )?(?:{KIN})|(?:{KIN}))\b|他|她|{KIN_HAN}|彼",
    re.IGNORECASE,
)
_USER: Final = re.compile(
    r"\b(?:user|speaker|customer|i|nutzer(?:in)?|usuari[oa]|utilisat\w+|utente|gebruiker)\b|用户"
    r"|使用者|ユーザー"
    r"|사용자|我",
    re.IGNORECASE,
)


def speaks_of_another(clause: Clause) -> bool:
    """
    Return True if a clause speaks of a person who is not its speaker.

    >>> from recollect.formation.support.stances import clauses_in
    >>> [speaks_of_another(each) for each in clauses_in("my brother is allergic, I love nuts")]
    [True, False]
    """
    return _ANOTHER.search(clause.text) is not None and _I.search(clause.text) is None


def speaks_of_user(clauses: Sequence[Clause], attitude: Attitude) -> bool:
    """Return True if a clause with the attitude is about the user alone."""
    having = [each for each in clauses if (attitude, False) in each.attitudes]
    return any(_USER.search(each.text) and not _ANOTHER.search(each.text) for each in having)
