"""The subject of a clause: its speaker, or someone else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.formation.support.stances import Attitude, Clause
from recollect.formation.wording.relatives import KIN, KIN_HAN

_I: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|me|mine|ich|wir|yo|nosotros|je|j'|nous|eu|io)\b"
    r"|我(?![妈爸哥姐弟妹爷奶外女儿老媳朋同闺室]|们?家)|咱|本人|私|僕|俺",
    re.IGNORECASE,
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
