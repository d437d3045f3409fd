"""Read Chinese numerals: 三十五, 两万三, 廿二, 十二块五, 百分之二十, 俩, 半."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Final

from recollect.text.number import Number
from recollect.text.short_texts import kept_if_short

DIGITS: Final = {
    **{each: value for value, each in enumerate("零一二三四五六七八九")},
    **{each: value for value, each in enumerate("\u3007壹贰叁肆伍陆柒捌玖")},
    "\u3007": 0, "两": 2, "俩": 2, "仨": 3, "幺": 1,
}  # fmt: skip
_SCALES: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_LARGE: Final = {"万": 10**4, "亿": 10**8}
_TWENTIES: Final = {"廿": 20, "卅": 30}
NUMERAL: Final = "零\u3007一二两三四五六七八九十百千万亿廿卅俩仨幺壹贰叁肆伍陆柒捌玖拾佰仟"
"""The characters of Chinese numbers."""
NUMERAL_CHARACTERS_MAX: Final = 24
"""Characters of one number that are read, which bounds the regular expression."""

_RUN: Final = re.compile(
    rf"(?P<parts>百分之)?(?P<run>(?:\d{{1,12}}(?:\.\d{{1,6}})?(?=[十百千万亿]))?[{NUMERAL}]"
    rf"(?:(?!二手)[{NUMERAL}]|(?<=[十百千万亿零])\d{{1,4}}(?=[十百千万亿]"
    rf"|(?!\d))){{0,{NUMERAL_CHARACTERS_MAX}}}"
    rf"|(?<=百分之)\d{{1,12}})"
    rf"(?:(?P<below>分之)(?P<above>[{NUMERAL}]{{1,4}})"
    rf"|点(?P<decimals>[零\u3007一二三四五六七八九]{{1,12}})"
    r"|[块元](?P<money>[一二三四五六七八九\d](?![个只点年月号日十百千万亿\d]))毛?(?P<cents>[一"
    r"二三四五六七八九\d](?!\d))?"
    r"|(?P<half>个?(?:[年天月]|小时|星期|钟头|公里)?半))?"
)
"""A number in characters with its parts: 两万三千, 百分之五, 三分之一, 三点五, 五块八, 两年半."""
_IN_A_ROW: Final = re.compile(
    r"([二三四五六七八九]?十[一二三四五六七八九])([二三四五六七八九]十[一二三四五六七八九]?)"
)
"""Two days or ages written without a separator: 六月二十五二十六."""
_RUN_ON: Final = re.compile(r"(.*[十百千万][一二三四五六七八九])([一二三四五六七八九])")
"""A price and what follows it, as people dictate: 一个月一千五三楼没电梯."""
_DIGIT_MONEY: Final = re.compile(
    r"(?<![\d.])(\d{1,12})[块元](\d{1,2})(?![\d.个只点年月号日万千百人])"
)
"""As in 12块5: 12.5 yuan."""
_TENTH_BEHIND: Final = re.compile(
    rf"(?<![\d.])(?P<whole>\d{{1,3}}|[{NUMERAL}]{{1,4}})(?:(?P<metres>米)|斤)"
    r"(?P<tenth>[1-9一二三四五六七八九])(?(metres)|[两兩])(?![\d一二三四五六七八九十百千万亿个只点年月号日米人])"
)
"""A tenth after its unit: 四米二 is 4.2 metres; 三斤六两 is 3.6 斤."""
_TWO_DIGITS: Final = re.compile(r"([一二三四五六七八九两])([一二三四五六七八九])(?=[十百千万亿])")
"""As in 两三百: two numbers that share a scale."""
_FIRST_OF_SPAN: Final = re.compile(
    r"(?<![\d.A-Za-z])(?P<first>\d{1,4}(?= ?[-~到至] ?\d{1,4}[百千万亿])"
    r"|\d(?=, ?\d[百千万亿])|\d\d(?=, ?\d\d[百千万亿]))(?=[^百千万亿]{2,7}(?P<scale>[百千万亿]))"
)
"""The first number of a span: the 2 of 2-3万 is 20,000, and the 60 of "M60，3万" is not."""
_MONTHS_OF_YEAR: Final = 12
_HEIGHT: Final = re.compile(
    r"(?<![\d.])(?P<metres>[12一两])米(?P<rest>\d{1,2}|[一二三四五六七八九]{1,2})(?![\d米])"
)
"""As in 1米75: the height in metres."""
_TENTHS: Final = re.compile(
    r"(?<![\d.完达赞年变收组构现养促一二三四五六七八九十百千万])(?P<tenths>[1-9一二三四五六七八九两])"
    r"(?P<half>[1-9一二三四五六七八九])?(?P<kind>成(?![都年功立长员绩语熟果分人为了名])(?P<more>半)?|折)"
)
"""As in 三成 and 七折: tenths of a whole."""
_HALF_AFTER_DIGITS: Final = re.compile(r"(?<![\d.])(\d{1,6})个?(?:[年天月]|小时|星期|公里)?半")
"""As in 2个半小时, 3年半: a half behind digits."""
_MEASURES: Final = frozenset(
    "个只岁年月天日号次条本位名件份张块元把杯瓶碗盘斤公米里楼层周人口头匹辆台部家间套双对倍章页级度点分秒"
    "届场门篇支枚颗棵座幢栋种样遍趟回顿步句封箱袋包盒片粒克吨升亩环折成万千百亿来多余几站米小户集轮堂节"
)
_ADVERBS: Final = re.compile(
    r"十分(?![钟之])|千万(?![元块人个吨年用])|万一|一[起直样定些下般旦切律向点会再]|[万千百]科"
    r"|十[足全]|百货|百度|百合|万能|千金|百姓|三亚|四川|九江|六安|三明"
)
"""Words in which a numeral counts nothing: 十分, 万一, 百货, 四川."""
_LOOSE: Final = {
    "半": "1/2 50 30", "双": "2", "独": "1", "单": "1", "没": "0", "无": "0", "不": "0", "未": "0",
    "我": "1", "个": "1",
}  # fmt: skip
_LOOSE_VALUES: Final = {each: frozenset(map(Fraction, v.split())) for each, v in _LOOSE.items()}
_LOOSE_CHARACTER: Final = re.compile(rf"[{''.join(_LOOSE)}]")


def chinese_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers in Chinese characters in *text*, and characters that may be numbers."""
    for match in _RUN.finditer(text):
        is_vague = text[match.start() - 1 : match.start()] == "几" or (
            text.startswith("几", match.end("run"))
        )
        yield Number(
            start=match.start(),
            end=match.end(),
            readings=frozenset(_readings(match)),
            parts=frozenset(_parts(match)),
            is_claim=not is_vague and _is_claim(text, match),
        )
    for match in _DIGIT_MONEY.finditer(text):
        yield _number(match, Fraction(f"{match[1]}.{match[2]}"))
    for match in _TENTH_BEHIND.finditer(text):
        tenth = Fraction(_digit(match["tenth"]), 10)
        whole = match["whole"]
        wholes = {Fraction(whole)} if whole.isdecimal() else chinese_values(whole)
        yield Number(
            start=match.start(),
            end=match.end(),
            readings=frozenset(each + tenth for each in wholes),
            parts=frozenset({*wholes, 10 * tenth}),
        )
    for match in _HEIGHT.finditer(text):
        metres, rest = (_whole(match[name]) for name in ("metres", "rest"))
        centimetres = metres * 100 + (rest if rest >= 10 else rest * 10)
        yield Number(
            start=match.start(),
            end=match.end(),
            readings=frozenset({Fraction(centimetres), Fraction(centimetres, 100)}),
        )
    for match in _TENTHS.finditer(text):
        yield _tenths(match)
    for match in _FIRST_OF_SPAN.finditer(text):
        scale = {**_SCALES, **_LARGE}[match["scale"]]
        yield _number(match, Fraction(match["first"]) * scale)
    for match in _HALF_AFTER_DIGITS.finditer(text):
        yield _number(match, int(match[1]) + Fraction(1, 2))
    for match in _LOOSE_CHARACTER.finditer(text):
        readings = _LOOSE_VALUES[match.group()]
        yield Number(start=match.start(), end=match.end(), readings=readings, is_claim=False)


def _tenths(match: re.Match[str]) -> Number:
    """Read 三成 as 30 %, 八五折 as 85 % of a price, and as 15 % off it."""
    share = 10 * _digit(match["tenths"])
    share += _digit(match["half"]) if match["half"] else 5 if match["more"] else 0
    shares = {Fraction(share)} | ({Fraction(100 - share)} if match["kind"] == "折" else set())
    parts = {each / 100 for each in shares} | {Fraction(share, 10)}
    return Number(
        start=match.start(), end=match.end(), readings=frozenset(shares), parts=frozenset(parts)
    )


def _number(match: re.Match[str], value: Fraction) -> Number:
    return Number(start=match.start(), end=match.end(), readings=frozenset({value}))


def _is_claim(text: str, match: re.Match[str]) -> bool:
    """Return True if an amount is meant: 四 in 四川 and 万 in 万一 mean none."""
    run = match["run"]
    before = text[max(match.start() - 2, 0) : match.start()]
    if before.endswith(("周", "星期", "礼拜")) or _ADVERBS.match(text, match.start()):
        return False
    if match["parts"] or match["below"] or match["decimals"] or match["money"] or match["half"]:
        return True
    if run in {"一", "零", "\u3007"} or (run[0] in "万亿百千十" and len(run) == 1):
        return run == "十" and text[match.end() : match.end() + 1] in _MEASURES - {"分"}
    return len(run) > 1 or text[match.end() : match.end() + 1] in _MEASURES


def _readings(match: re.Match[str]) -> AbstractSet[Fraction]:
    values = chinese_values(match["run"])
    if match["parts"]:
        return values
    if match["below"]:
        above = chinese_values(match["above"])
        return {top / each for top in above for each in values if each}
    if match["decimals"]:
        decimals = "".join(str(DIGITS[each]) for each in match["decimals"])
        return {each + Fraction(f"0.{decimals}") for each in values}
    if match["money"]:
        cents = _digit(match["money"]) * 10 + _digit(match["cents"] or "0")
        return {each + Fraction(cents, 100) for each in values}
    if match["half"]:
        return {each + Fraction(1, 2) for each in values}
    return values


def _parts(match: re.Match[str]) -> AbstractSet[Fraction]:
    """Return numerator and denominator of a fraction, and its percentage."""
    values = chinese_values(match["run"])
    if match["parts"]:
        return {each / 100 for each in values}
    if match["below"]:
        return values | chinese_values(match["above"])
    if match["half"] and "年" in match["half"]:
        return {_MONTHS_OF_YEAR * (each + Fraction(1, 2)) for each in values}
    in_a_row = _IN_A_ROW.fullmatch(match["run"]) or _RUN_ON.fullmatch(match["run"])
    return (
        {each for run in in_a_row.groups() for each in chinese_values(run)} if in_a_row else set()
    )


def _whole(written: str) -> int:
    if written.isdecimal():
        return int(written)
    return int("".join(str(DIGITS[each]) for each in written))


def _digit(character: str) -> int:
    return DIGITS.get(character, 0) if character in DIGITS else int(character)


@kept_if_short
def chinese_values(run: str) -> frozenset[Fraction]:
    """
    Return the possible values of a run of Chinese numerals.

    >>> [int(min(chinese_values(each))) for each in ("一百二十", "两万三", "廿二", "二\u3007二四")]
    [120, 23000, 22, 2024]
    >>> sorted(map(int, chinese_values("三四")))
    [3, 4, 34]
    """
    if all(each in DIGITS for each in run):
        values = frozenset({Fraction(int("".join(str(DIGITS[each]) for each in run)))})
        return values | {Fraction(DIGITS[each]) for each in run} if len(run) == 2 else values
    # 两三百 means two or three hundred.
    ways = [_TWO_DIGITS.sub(way, run) for way in (r"\1", r"\2")]
    return frozenset({_scaled(run), *map(_scaled, ways)})


def whole_number(written: str | None) -> int | None:
    """
    Return a whole number in digits or Chinese numerals; ``None`` if nothing is written.

    >>> whole_number("12"), whole_number("十二"), whole_number(None)
    (12, 12, None)
    """
    if not written:
        return None
    return int(written) if written.isdecimal() else int(max(chinese_values(written)))


def _scaled(run: str) -> Fraction:
    total = section = Fraction(0)
    current: Fraction | None = None
    last_scale = 1
    for mark in re.findall(r"\d+(?:\.\d+)?|.", run):
        if mark in _SCALES:
            last_scale = _SCALES[mark]
            section += (1 if current is None else current) * last_scale
            current = None
        elif mark in _LARGE:
            last_scale = _LARGE[mark]
            below = section + (current or 0) or total or Fraction(1)
            total = (0 if below is total else total) + below * last_scale
            section, current = Fraction(0), None
        elif mark in _TWENTIES:
            section, last_scale = section + _TWENTIES[mark], 10
        elif mark in "零\u3007":
            current, last_scale = None, 10
        else:
            current = Fraction(DIGITS[mark]) if mark in DIGITS else Fraction(mark)
    # 一百二 is 120, 两万三 is 23,000: a last digit counts tenths of the scale before it.
    return total + section + (current or 0) * max(last_scale // 10, 1)
