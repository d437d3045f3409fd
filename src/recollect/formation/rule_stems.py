"""Stems of words, and those that an entry need not repeat to answer a question on them."""

from __future__ import annotations

import calendar
from typing import Final

from recollect.formation.support.content_words import stem_of
from recollect.text.analysis import terms_of

_AMBIGUOUS: Final = {"left": "leav", "saw": "see", "found": "find", "felt": "feel"}
"""Forms of verbs that are other words as well, with the stems of the verbs."""


def stems_in(text: str, *, besides: frozenset[str] = frozenset()) -> frozenset[str]:
    """
    Return the stems of the words of a text but those *besides*, of irregular verbs as well.

    >>> sorted(stems_in("two dogs left"))
    ['dog', 'leav', 'two']
    """
    terms = frozenset(terms_of(text)) - besides
    return frozenset(_AMBIGUOUS.get(each) or stem_of(each) for each in terms)


TOWN: Final = stems_in("city town place village country")
NUMBER: Final = stems_in("number numbers")
VERB: Final = stems_in("drink eat use own need make keep go take")
"""Verbs that are all that a question asks for: "What do I drink?"."""
MONTH: Final = stems_in(" ".join(calendar.month_name), besides=frozenset({"may"}))
"""Names of months; of May nobody knows in "What may I drink?"."""
MONEY: Final = stems_in("money")
OWE: Final = stems_in("owe owed")
COLOUR: Final = stems_in("colour")
MEDICINE: Final = stems_in("medication medications medicine medicines meds pills tablets")
BREED: Final = stems_in("breed")
FOOD: Final = stems_in("food foods dish dishes")
PRICE: Final = stems_in("cost costs price pay")
