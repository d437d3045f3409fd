"""
Read numbers as people write them, in digits and words.

Nothing is computed that was not said, with two exceptions: listed things may be counted ("my cats
Tom and Kit" are two), and counted things in one list may be added up ("two sons and a daughter" are
three).
"""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from recollect.text.chinese_scripts import simplified
from recollect.text.number import Number
from recollect.text.numerals_chinese import chinese_numbers
from recollect.text.numerals_english import english_numbers
from recollect.text.short_texts import kept_if_short

DIGITS_MAX: Final = 40
"""A longer run of digits (a key, an encoded file) is not a number: its spelling is compared."""

_VULGAR: Final = {ord(each): f" {unicodedata.normalize('NFKC', each)}" for each in "¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛"}
_MARKS: Final = str.maketrans({
    **dict.fromkeys("‘’\u02bc`\u00b4", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("\u2010\u2011\u2012–—―\u2212", "-"),
    "\u2044": "/",
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None),
})  # fmt: skip

_GROWTH_CHARACTERS: Final = 200
_PIECE_CHARACTERS: Final = 20_000
"""Characters normalised in one call, which holds the interpreter's lock."""

_SPACE_BEHIND: Final = re.compile(
    # The end of a date or of a span ("05-19 半夜") counts nothing.
    r"(?<=\d)(?<![-/:~]\d)(?<![-/:~]\d\d) (?=[万亿千百点分秒时半年月日号天周个岁元块毛米斤公])"
)
"""The space in "3 万" and "5 月", which is left out."""
_GROUPED: Final = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3}){1,4}(?=[万亿])")
"""The digits of 1,200万, whose commas are left out."""
_SPACE_BEFORE: Final = re.compile(r"(?<=\d[万亿千百点月年]) (?=\d)")
"""The space in "3万 5" and "5月 3"."""
_LETTER: Final = re.compile(r"[a-z]", re.IGNORECASE)
_DIGITS: Final = re.compile(
    r"(?<!\d)(?P<whole>\d{1,3}(?:,\d{3}){1,8}(?!\d)"
    # 84 500 as in South Africa, France and Poland; not the "12 200" of "12 200ml bottles".
    r"|(?<![\d][ .,:/-])[1-9]\d{0,2}(?: \d{3}){1,4}(?![ .,:/-]?\d|[^\W\d_])|\d++)"
    r"(?P<rest>(?:\.\d++){0,6})"
)
"""A number in digits: 1,200.50, 84 500, 2024."""
# 语文88数学92专业课120,355 and 两件8x10,680一件: the comma ends a row of marks or a size, and parts
# no thousands.
_IN_A_ROW: Final = re.compile(
    r"(?:(?:[\u3400-\u9fff]{1,8}\d{1,3}){2,20}[\u3400-\u9fff]{1,8}|[\u3400-\u9fff]\d{1,3}[x×*])$"
)
_TWO_AMOUNTS: Final = re.compile(
    r"(?<=[\u3400-\u9fff])\d{3}[,，](?!000)\d{3}(?=[\u3400-\u9fff])"
    r"(?![元块蚊圆円公平方人个名位件份只张字米克斤升瓦日天年岁点次条户吨])"
)
"""Two amounts in a row: 挂400，320出 and 唔系680,680系旧客价, not 120,000元."""
_SCALES: Final = {
    "k": 1_000, "w": 10_000, "grand": 1_000, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9,
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12, "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7,
}  # fmt: skip
_SUFFIX: Final = re.compile(
    r"(?P<percent>[ ]?(?:%|per ?cent\b|percentage))"
    r"|(?P<scale>[ ]?(?:hundred|thousand|million|billion|trillion|dozen|grand|lakhs?"
    r"|crores?)\b|(?:k|w|mn?"
    r"|bn?)\b|w(?=\+)| \((?:thousand|million|billion)\))"
    r"|(?P<decade>'?s\b|后|年代)"
    r"|(?P<half>(?:[ ]years?|[ ]hours?)? and a half\b"
    r"|[ ]and half(?=[ ](?:years?|hours?|months?|miles?|weeks?|days?)\b))"
    r"|(?P<over>/\d{1,4}(?![\d/]))"
    r"|(?P<mixed>[ ][1-9]/[1-9](?![\d/]))",
    re.IGNORECASE,
)
"""A suffix that changes the value of digits: 5%, 3k, 90s, "2 and a half", 1/2, "2 1/2"."""
_BEFORE_YEAR: Final = re.compile(r"\b(?:in|since|from|till|until|of) $", re.IGNORECASE)
"""Words before a year of two digits: "closed in 03"."""
_PAIR: Final = re.compile(r"(?:1\d\d|2\d\d|[6-9]\d)/(?:1[0-4]\d|[3-9]\d)(?![\d/])")
"""A blood pressure, 146/90: two numbers, no fraction."""
_FRACTION_MAX: Final = 100
"""One of the two parts of a fraction is smaller."""
_CURRENCY: Final = "$€£¥₹₩"
_VERSION_BEFORE: Final = re.compile(r"(?:\b[vV]|\b[A-Z][\w+#]{0,30} |\bversion |版本? ?)$")


def plain(text: str) -> str:
    """
    Return *text* with one form of each letter, digit, dash and quotation mark.

    Chinese is brought to its simplified form, without the space that typographers leave between a
    figure and the word that counts with it.

    >>> plain("３½ “cups”"), plain("2 萬 5 千元")
    ('3 1/2 "cups"', '2万5千元')
    """
    if text.isascii():
        return text.replace("`", "'")
    return _plain_pieces(text)


@kept_if_short
def _plain_pieces(text: str) -> str:
    starts = range(0, len(text), _PIECE_CHARACTERS)
    return "".join(_plain_piece(text[at : at + _PIECE_CHARACTERS]) for at in starts)


def _plain_piece(text: str) -> str:
    usual = unicodedata.normalize("NFKC", text.translate(_VULGAR))
    # One ligature may expand to 18 letters: a hostile text must not grow to many times its length.
    is_usual = len(usual) <= 2 * len(text) + _GROWTH_CHARACTERS
    return _without_spaces(simplified((usual if is_usual else text).translate(_MARKS)))


def _without_spaces(text: str) -> str:
    """Return *text* without the space or the commas between a figure and its Chinese word."""
    if _SPACE_BEHIND.search(text):
        text = _SPACE_BEFORE.sub("", _SPACE_BEHIND.sub("", text))
    return _GROUPED.sub(lambda match: match.group().replace(",", ""), text)


@kept_if_short
def numbers_in(text: str) -> tuple[Number, ...]:
    """
    Return the numbers of *text* (in its `plain` form), in order.

    >>> [str(min(each.readings)) for each in numbers_in("two dozen, $1.2k, 三十五岁")]
    ['24', '1200', '35']
    """
    spoken = list(english_numbers(text)) if _LETTER.search(text) else []
    if not text.isascii():
        spoken += chinese_numbers(text)
    found = [*spoken, *_digit_numbers(text)]
    # The longest at each place wins: "2万3千" and "1.2 million" are not read in parts again.
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[Number] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return tuple(kept)


def _digit_numbers(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        if len(match.group()) > DIGITS_MAX or match["rest"].count(".") > 1:
            yield _literal(match)
            continue
        value = Fraction(match["whole"].replace(",", "").replace(" ", "") + match["rest"])
        end, readings, parts = _with_suffix(text, match, value)
        if is_row_of_two(text, match.start()):
            yield from _row_of_two(match, value)
            continue
        if "," in match["whole"] and _IN_A_ROW.search(text, 0, match.start()):
            parts |= {Fraction(each) for each in match["whole"].split(",")}
        before = text[max(match.start() - 33, 0) : match.start()]
        is_part_of_name = bool(re.search(r"[^\W\d_]-?$", before)) and before[-1:].isascii()
        is_spaced = " " in match["whole"]
        if is_spaced and not is_part_of_name and before[-1:] not in _CURRENCY:
            parts |= {Fraction(each) for each in match["whole"].split(" ")}
        yield Number(
            start=match.start(),
            end=end,
            readings=readings,
            parts=parts,
            is_claim=not is_part_of_name or is_spaced,
            literal=match.group() if match["rest"] else None,
            is_version=bool(match["rest"] and _VERSION_BEFORE.search(before)),
            decade=_decade(text[match.end() : end], value),
        )


def _row_of_two(match: re.Match[str], whole: Fraction) -> Iterator[Number]:
    """Yield two amounts parted by a comma; as a source they support the *whole* as well."""
    start, comma, end = match.start(), match.start() + 3, match.end()
    one, other = (Fraction(each) for each in match["whole"].split(","))
    yield Number(start=start, end=comma, readings=frozenset({one}), parts=frozenset({whole}))
    yield Number(start=comma + 1, end=end, readings=frozenset({other}))


def is_row_of_two(text: str, at: int) -> bool:
    """
    Return True if two amounts stand at *at*, parted by a comma that is none of thousands.

    >>> is_row_of_two("挂400，320出的", 1), is_row_of_two("租金120,000元", 2)
    (True, False)
    """
    return _TWO_AMOUNTS.match(text, at) is not None


def _literal(match: re.Match[str]) -> Number:
    return Number(
        start=match.start(),
        end=match.end(),
        readings=frozenset(),
        literal=match.group(),
        is_version=True,
    )


def _with_suffix(
    text: str, match: re.Match[str], value: Fraction
) -> tuple[int, frozenset[Fraction], frozenset[Fraction]]:
    """Return end, readings and parts of a number with its suffix ("k", "%", "s", "and a half")."""
    suffix = None if _PAIR.match(text, match.start()) else _SUFFIX.match(text, match.end())
    if suffix and suffix["over"] and min(value, Fraction(suffix["over"][1:])) >= _FRACTION_MAX:
        suffix = None  # 8200/9000 are two amounts
    readings, parts = {value}, set[Fraction]()
    if suffix is None:
        return match.end(), frozenset(readings | _short_year(text, match, value)), frozenset()
    if suffix["percent"]:
        parts = {value / 100}
    elif suffix["half"]:
        readings = {value + Fraction(1, 2)}
    elif suffix["decade"]:
        readings |= {value + (1900 if value < 100 else -1900)}
    elif suffix["mixed"]:
        readings, parts = {value + Fraction(suffix["mixed"].strip())}, {value}
    elif suffix["over"]:
        below = int(suffix["over"][1:])
        readings, parts = {value / below} if below else set(), {value, Fraction(below)}
    else:
        readings = _scaled(text, match, suffix["scale"].strip(" ()").lower(), value)
    return suffix.end(), frozenset(readings), frozenset(parts)


def _scaled(text: str, match: re.Match[str], scale: str, value: Fraction) -> set[Fraction]:
    # "5k" may be a run of five kilometres, "5m" five metres; "$5k" is five thousand.
    is_price = match.start() > 0 and text[match.start() - 1] in _CURRENCY
    # "Budget 1.3" is so many lakhs where all money is counted in them.
    is_surely_scaled = is_price or (len(scale) > 2 and scale[0] not in "lc")
    return {value * _SCALES[scale]} | (set() if is_surely_scaled else {value})


def _decade(suffix: str, value: Fraction) -> int | None:
    if not suffix.lower().endswith(("s", "年代", "后")) or value % 10 or value.denominator > 1:
        return None
    return int(value) + (1900 if value < 100 else 0)


def _short_year(text: str, match: re.Match[str], value: Fraction) -> set[Fraction]:
    """Return the years that '98, 98年 or "in 03" may mean."""
    is_short = match.end() - match.start() == 2
    before = text[max(match.start() - 6, 0) : match.start()]
    if is_short and (
        before.endswith("'")
        or text.startswith("年", match.end())
        or (match.group().startswith("0") and _BEFORE_YEAR.search(before))
    ):
        return {value + 1900, value + 2000}
    return set()


_RUN: Final = re.compile(r"\d(?:[-. ()/]{0,3}\d){6,24}")


def digit_runs(text: str) -> tuple[tuple[int, int, str], ...]:
    """
    Return runs of digits that may be telephone numbers: start, end and digits.

    >>> digit_runs("+47 (555) 010-44")
    ((1, 16, '4755501044'),)
    """
    return tuple(
        (match.start(), match.end(), re.sub(r"\D", "", match.group()))
        for match in _RUN.finditer(text)
    )


_HOW_MANY: Final = r"an?|my|the|his|her|our|one|two|three|four|five|six|\d{1,2}"
_THING: Final = r"(?: [a-z][\w'-]{0,20}){1,2}?"
_ADDED: Final = re.compile(
    rf"\b(?P<one>{_HOW_MANY}){_THING},? (?:and|&|plus) (?P<other>{_HOW_MANY}){_THING}\b"
)
"""As in "two sons and a daughter": three children."""
_NAME: Final = r"[A-Z][\w'-]{0,20}(?: [A-Z][\w'-]{0,20}){0,2}"
_NAMES_LISTED: Final = re.compile(rf"\b{_NAME}(?:, {_NAME}){{0,9}},? (?:and|&) {_NAME}")
"""As in "Tom, Kit and Bo"."""
_NAMES_IN_A_ROW: Final = re.compile(rf"\b{_NAME}(?:, {_NAME}){{2,9}}(?!,? (?:and|&) [A-Z])")
"""As in "Tom, Kit, Bo", without an "and"."""
_THINGS_LISTED: Final = re.compile(r"\b[\w'-]{1,20}(?:, [\w'-]{1,20}){1,9},? (?:and|or|&) [\w'-]+")
"""As in "milk, eggs and bread"."""
_CHINESE_LISTED: Final = re.compile(
    r"[^\s、，。；：和跟与及]{1,10}(?:、[^\s、，。；：和跟与及]{1,10}){0,9}"
    r"[、和跟与及][^\s、，。；：和跟与及]"
)
"""As in 小明、小红和小刚."""
_CHINESE_ADDED: Final = re.compile(
    r"(?P<one>[一两三四])[个只]?[\u4e00-\u9fff](?P<other>[一两三四])[个只]?[\u4e00-\u9fff]"
)
"""As in 两儿一女: three children."""
_SMALL: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def counts_in(text: str) -> frozenset[Fraction]:
    """
    Return the number of things in each list in *text*.

    >>> sorted(map(int, counts_in("my cats Tom, Kit and Bo; two sons and a daughter")))
    [3]
    """
    counts: set[int] = set()
    for match in _ADDED.finditer(text):
        counts.add(sum(_small(match[name]) for name in ("one", "other")))
    for pattern in (_NAMES_LISTED, _NAMES_IN_A_ROW, _THINGS_LISTED):
        for match in pattern.finditer(text):
            counts.add(1 + len(re.findall(r", (?:and |or )?| (?:and|or|&) ", match.group())))
    for match in _CHINESE_ADDED.finditer(text):
        counts.add(sum("一两三四".index(match[name]) + 1 for name in ("one", "other")))
    for match in _CHINESE_LISTED.finditer(text):
        counts.add(1 + len(re.findall(r"[、和跟与及]", match.group())))
    return frozenset(map(Fraction, counts))


def _small(word: str) -> int:
    return int(word) if word.isdigit() else _SMALL.get(word, 1)
