"""Temperature scales in a text: Fahrenheit and Celsius, by name or by letter."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from recollect.text.chinese_scripts import simplified

_SCALES: Final = {"f": "Fahrenheit", "c": "Celsius", "华": "Fahrenheit", "摄": "Celsius"}
_CUE: Final = re.compile(
    r"\b(?:temps?|temperatures?|degrees?|weather|forecasts?|ovens?|thermostat|fever|heat\w*)\b"
    r"|[°º˚℃℉]|温|度|烤|焗|炉",
    re.IGNORECASE,
)
_AMOUNT: Final = r"(?P<amount>\d{1,6}(?:[.,]\d{1,3})?)"
_MEASURED: Final = (
    re.compile(
        _AMOUNT + r" ?(?:[°º˚]|degrees?)? ?"
        r"(?P<scale>(?:fahrenheit|celsius|centigrade)\b|华氏|摄氏|[FC](?![A-Za-z0-9_'-]))",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<scale>华氏|摄氏)度? ?" + _AMOUNT),
)
_NAMED: Final = re.compile(
    r"(?P<denied>(?:\b(?:not|no|never|without|instead of|rather than|over|from|don'?t"
    r"|doesn'?t|can'?t)\b"
    r"|(?<=fahrenheit )to\b|(?<=celsius )to\b|[别不唔冇咪没非])[^,.;!?\n\d，。；！？]{0,40}?)?"
    r"(?:\b(?P<name>fahrenheit|celsius|centigrade)\b|(?P<han>华氏|摄氏)"
    r"|[°º˚] ?(?P<sign>[FC])\b"
    r"|(?P<letter>(?<![A-Za-z0-9_'&.°º˚])(?-i:[FC])(?![A-Za-z0-9_'&+#-]|\.\w)))",
    re.IGNORECASE,
)


class Scale(NamedTuple):
    """A scale, whether the text denies it ("in F, not C"), and the number measured on it."""

    name: str
    is_denied: bool = False
    amount: str = ""


def scales_in(text: str) -> Iterator[tuple[int, Scale]]:
    """
    Yield where a text of bounded length names a scale, and which.

    A letter alone counts in a text about temperatures: not everybody who got an F froze.

    >>> [scale.name for _, scale in scales_in("temps in F pls, the oven goes to 250C")]
    ['Fahrenheit', 'Celsius']
    >>> list(scales_in("I got an F in maths"))
    []
    """
    text = simplified(text)
    found = {
        each.start("scale"): Scale(_name(each["scale"]), amount=each["amount"])
        for pattern in _MEASURED
        for each in pattern.finditer(text)
    }
    has_cue = _CUE.search(text) is not None
    for each in _NAMED.finditer(text):
        kind = each.lastgroup or ""
        if has_cue or kind != "letter":
            scale = Scale(_name(each[kind]), is_denied=each["denied"] is not None)
            found.setdefault(each.start(kind), scale)
    yield from sorted(found.items())


def exchanged(claim: Scale, said: frozenset[Scale]) -> bool:
    """
    Return True if *said* has the other scale where *claim* has this one, or denies this one.

    >>> exchanged(Scale("Celsius", amount="38"), frozenset({Scale("Fahrenheit", amount="38")}))
    True
    """
    others = any(
        each.amount == claim.amount and not each.is_denied and each.name != claim.name
        for each in said
    )
    is_turned = claim._replace(is_denied=not claim.is_denied) in said
    # "I used F, now C" says as well that F is not what is wanted.
    return claim not in said and (
        (is_turned and not others) if claim.is_denied else others or is_turned
    )


def _name(written: str) -> str:
    return _SCALES[written[0].lower()]
