"""Spell out short forms of times in messages, so that a value's dates are found in them."""

import re
from typing import Final

from recollect.formation.wording.pieces import PIECE_CHARACTERS

_DAYS: Final = {
    short: f"{day}day"
    for day, shorts in {
        "mon": "mon mons", "tues": "tue tues", "wednes": "wed weds", "thurs": "thu thur thurs",
        "fri": "fri fris", "satur": "sat sats", "sun": "sun suns",
    }.items()
    for short in shorts.split()
}  # fmt: skip
_WORDS: Final = _DAYS | {
    "yr": "year", "yrs": "years", "wk": "week", "wks": "weeks", "wkend": "weekend",
    "mth": "month", "mths": "months", "nxt": "next", "eow": "this week", "eom": "this month",
    "jan": "January", "feb": "February", "apr": "April", "jun": "June", "jul": "July",
    "aug": "August", "sep": "September", "sept": "September", "oct": "October",
    "nov": "November", "dec": "December", "boxing day": "26 December",
    "weekdays": "Monday to Friday", "may half": "May half", "may bank": "May bank",
}  # fmt: skip
_SEASONS: Final = {
    "spring": "this spring, next spring", "summer": "this summer, next summer",
    "autumn": "this autumn, next autumn", "winter": "this winter, next winter",
}  # fmt: skip
_SHORT: Final = re.compile(
    r"(?<![\w.@/-])(?:"
    r"(?:rest|end) of (?:the|this) (?P<unit>week|month|year|wk|yr)"
    r"|(?P<few>couple|few) (?=(?:days|weeks|wks|months|years|yrs)\b)"
    r"|(?P<long>\d{1,2}\.[0-5]\d\.[0-5]\d)(?!\.?\d)"
    r"|(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?!\.?\d|%)"
    r"|(?P<at>at|by|from|till?|until) (?P<clock>(?:[01]\d|2[0-3])[0-5]\d)(?!\.?\d|%)"
    r"|(?P<before>born in|class of|back in|since) '?(?P<year>\d\d)(?![\d.:%/-]| ?[a-z])"
    rf"|(?<!this )(?<!next )(?<!last )(?P<season>{'|'.join(_SEASONS)})\b"
    rf"|(?P<word>{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?:[ -]?ish)?\b)",
    re.IGNORECASE,
)


def spelled_out(piece: str) -> str:
    """
    Return a text with its short forms of times spelled out; ``""`` if it has none.

    Two readings of one form appear side by side: the result is for lookup, not for display.

    >>> spelled_out("sat or sun, feb ish, 2.30, ran it in 1.22.40")
    'saturday or sunday, February, 2:30, ran it in 1:22:40'
    """
    found = _SHORT.sub(_whole, piece[:PIECE_CHARACTERS])
    return "" if found == piece[:PIECE_CHARACTERS] else found


def _whole(match: re.Match[str]) -> str:
    if match["unit"]:
        return f"this {_WORDS.get(match['unit'].lower(), match['unit'])}"
    if match["few"]:
        return f"a {match['few']} of "
    if match["long"] or match["hour"]:
        return match.group().replace(".", ":")
    if match["clock"]:
        return f"{match['at']} {match['clock'][:2]}:{match['clock'][2:]}"
    if match["year"]:
        return f"{match['before']} 19{match['year']}, 20{match['year']}"
    short = (match["season"] or match["word"]).lower()
    return _SEASONS.get(short) or _WORDS[short]
