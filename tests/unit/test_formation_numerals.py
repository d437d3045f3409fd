"""Numbers and times as people write them: which support which."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation import claims
from recollect.formation.claims import SaidText, unsupported, value_texts
from recollect.records import Json
from recollect.text.clock_times import times_in
from recollect.text.numerals import counts_in, digit_runs, numbers_in, plain
from recollect.text.numerals_chinese import chinese_values

SAID_AT = datetime(2024, 5, 6, 12, tzinfo=UTC)


def lacking(value: Json, said: str) -> tuple[str, ...]:
    return unsupported(value, [SaidText(text=said, at=SAID_AT, speaker=None)])


HONEST: Final[list[tuple[Json, str]]] = [
    (30, "I turned thirty"),
    (30, "my 30th birthday"),
    (30, "my thirtieth birthday"),
    ("30-year-old", "I am thirty"),
    ("in their 30s", "in my thirties"),
    (21, "I'm twenty-one"),
    (21, "I'm twenty one"),
    (120, "a hundred and twenty"),
    (120, "one hundred twenty"),
    (1200, "twelve hundred"),
    (2500, "two thousand five hundred"),
    (1_000_000, "a million"),
    (1_200_000, "1.2 million"),
    (24, "two dozen eggs"),
    (12, "a dozen eggs"),
    (6, "half a dozen eggs"),
    (2, "a couple of cats"),
    (2, "both of my cats"),
    (2, "twice a week"),
    (2, "the twins"),
    (1, "a cat"),
    (1, "my only cat"),
    (0, "I have no cats"),
    (0, "I don't have cats"),
    (2.5, "two and a half hours"),
    (1.5, "an hour and a half"),
    (90, "an hour and a half"),
    (9_500, "nine and a half thousand"),
    (9_500, "nine and half thousand, as many say it"),
    (2.5, "two and half years"),
    (1_500, "租的房子一个月一千五三楼没电梯"),
    (0.5, "half of it"),
    (30, "half an hour"),
    (0.25, "a quarter"),
    (3.5, "3½ cups"),
    ("1/2 cup", "half a cup"),
    ("50%", "fifty percent"),
    ("50%", "half of us"),
    ("50 percent", "50%"),
    (0.2, "20%"),
    ("$1,200", "1.2k for the rent"),
    ("$1,200", "1200 dollars"),
    ("$1,200", "twelve hundred bucks"),
    ("1200 USD", "$1,200.00"),
    ("rent is 1.2k", "my rent is $1,200"),
    ("runs a 5k", "I run five kilometres"),
    ("5 km", "I ran a 5k"),
    ("Python 3.11", "python 3.11"),
    ("version 3.11", "3.11.4"),
    ("version 1.2.3", "v1.2.3"),
    ("$3.10", "3.1 dollars"),
    ("+47 555 01 044", "call 55501044"),
    ("(555) 010-4477", "555 010 4477"),
    ("5550104477", "it's +1 (555) 010-4477"),
    ("code 0042", "the code is 42"),
    ("two cats", "2 cats"),
    ("two children", "a son and a daughter"),
    ("three children", "two sons and a daughter"),
    ("three cats", "my cats Tom, Kit and Bo"),
    ("speaks 3 languages", "I speak French, German and Dutch"),
    ("four", "4"),
    ("-5 degrees", "minus five"),
    ("20-30 people", "between twenty and thirty people"),
    ("born in 1984", "born in nineteen eighty-four"),
    (1984, "born in '84"),
    (2024, "it happens this year"),
    (2023, "last year"),
    (14, "a fortnight"),
    ("one of her friends", "a friend"),
    ("first child", "our baby"),
    ("24/7", "twenty-four seven, 24/7"),
    ("\uff13\uff10岁", "30"),
    ("at 19:00", "dinner at 7pm"),
    ("at 7 pm", "at 19:00"),
    ("at 7pm", "at seven in the evening"),
    ("at 19:30", "half past seven"),
    ("at 7:30", "seven thirty"),
    ("at 7:45", "a quarter to eight"),
    ("at 7:15", "quarter past seven"),
    ("at noon", "at 12:00"),
    ("at 19:00", "at seven"),
    ("at seven o'clock", "at 7"),
    ("9 to 5", "from nine to five"),
    ({"hour": 19}, "at 7pm"),
    (35, "我今年三十五了"),
    ("三十五岁", "我35岁"),
    (120, "一百二十"),
    (120, "一百二"),
    (23_000, "两万三"),
    (20_000, "2万"),
    (350_000_000, "3.5亿"),
    (3_000_000, "3百万"),
    (22, "廿二"),
    (2, "我们俩"),
    (2, "两只猫"),
    (3, "仨孩子"),
    (105, "一百零五"),
    (2024, "二〇二四"),
    (0.5, "半个"),
    (2.5, "两个半小时"),
    (1.5, "一年半"),
    (20, "百分之二十"),
    ("百分之二十", "20%"),
    (12.5, "十二块五"),
    (12.5, "12块5"),
    (3.25, "三块二毛五"),
    ("3.14", "三点一四"),
    ("三分之一", "1/3"),
    (3, "三四个人"),
    (4, "三四个人"),
    ("第三名", "我拿了第3名"),
    (10, "十几年了"),
    ("几个朋友", "有一些朋友"),
    ("十几年", "好多年了"),
    ("两只猫", "我的猫豆豆和花花"),
    ("晚上七点半", "19:30"),
    ("19:30", "今晚七点半见"),
    ("早上八点", "8:00"),
    ("十分喜欢", "很爱"),
    ("千万别忘", "别忘了"),
    ("一起去爬山", "和朋友爬山"),
    ("来自四川", "I'm from Sichuan"),
    ("有一点紧张", "很紧张"),
    ("three cats", "我有三只猫"),
    ("三只猫", "I have three cats"),
    ("电话13800138000", "我的电话是138-0013-8000"),
]

FABRICATED: Final[list[tuple[Json, str, str]]] = [
    (50, "I am 15", "the number 50"),
    (15, "I am fifty", "the number 15"),
    (3, "I am 30", "the number 3"),
    (30, "I am 3", "the number 30"),
    (30, "I am 300", "the number 30"),
    ("has three cats", "my cats Tom and Kit", "the number three"),
    ("has two cats", "I love cats", "the number two"),
    ("four children", "two sons and a daughter", "the number four"),
    ("age 31", "I turned thirty", "the number 31"),
    ("forty", "I turned thirty", "the number forty"),
    ("twenty-two", "twenty", "the number twenty-two"),
    (20, "twenty-two", "the number 20"),
    ("$1,300", "1.2k for the rent", "the number 1,300"),
    ("$12,000", "twelve hundred", "the number 12,000"),
    ("60%", "fifty percent", "the number 60%"),
    ("Python 3.12", "python 3.11", "the number 3.12"),
    ("Python 3.10", "python 3.1", "the number 3.10"),
    ("version 1.2.4", "v1.2.3", "the number 1.2.4"),
    ("two dozen", "a dozen", "the number two dozen"),
    ("2.5 hours", "an hour and a half", "the number 2.5"),
    ("9,000", "nine and half thousand", "the number 9,000"),
    ("runs 10 km", "I run", "the number 10"),
    ("twice a week", "I go running", "the number twice"),
    (7, "一个人住", "the number 7"),
    ("三十六岁", "我今年三十五了", "the number 三十六"),
    ("三只猫", "我有两只猫", "the number 三"),
    (230_000, "两万三", "the number 230000"),
    (1200, "一百二", "the number 1200"),
    ("百分之三十", "百分之二十", "the number 百分之三十"),
    (12.6, "十二块五", "the number 12.6"),
    ("五个朋友", "几个朋友", "the number 五"),
    ("三分之二", "三分之一", "the number 三分之二"),
    ("at 19:00", "dinner at 8pm", "the time 19:00"),
    ("at 7am", "dinner at 7pm", "the time 7am"),
    ("at 19:30", "dinner at 7pm", "the time 19:30"),
    ("at noon", "at midnight", "the time noon"),
    ("早上七点", "晚上七点", "the time 早上七点"),
    ("晚上八点", "晚上七点", "the time 晚上八点"),
    ("at 6:15", "half past six", "the time 6:15"),
    (10**50, "5", "the number of more than 40 digits"),
    ("1" * 41, "5", "the number " + "1" * 41),
]


@pytest.mark.parametrize(("value", "said"), HONEST)
def test_a_number_passes_in_any_form(value: Json, said: str) -> None:
    """Words, digits, numerals, prices, parts and times of day are brought to one form."""
    assert () == lacking(value, said)


@pytest.mark.parametrize(("value", "said", "missing"), FABRICATED)
def test_another_number_is_caught(value: Json, said: str, missing: str) -> None:
    """Digits in common do not make two numbers alike."""
    assert (missing,) == lacking(value, said)


def test_a_checker_that_ignores_numbers_misses_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other part sees a number in a text."""
    rows = [row for row in FABRICATED if isinstance(row[0], str) and "the number" in row[2]]
    monkeypatch.setattr(value_texts, "numbers_in", lambda _: ())

    assert len(rows) >= 20
    assert [()] * len(rows) == [lacking(value, said) for value, said, _ in rows]


def test_a_checker_that_finds_digits_within_digits_misses_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A 3 must not be found in 30."""
    monkeypatch.setattr(
        claims.Heard,
        "_has_amount",
        lambda self, amount: any(str(amount) in each.text for each in self._sources),
    )

    assert () == lacking(3, "I am 30")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Tom and Kit", {2}),
        ("Tom, Kit & Bo", {3}),
        ("豆豆、花花和小黑", {3}),
        ("a dog and two cats", {3}),
        ("I came and went", set()),
        ("nothing listed", set()),
    ],
)
def test_listed_things_are_counted(text: str, counts: set[int]) -> None:
    """Names in a list, and things each with an article or a number."""
    assert set(map(Fraction, counts)) == counts_in(text)


@given(st.integers(0, 99_999_999))
def test_a_chinese_number_is_read_back(number: int) -> None:
    """Every whole number below a hundred million, as it is written out in full."""
    written = _in_chinese(number)

    assert Fraction(number) in chinese_values(written)


def _in_chinese(number: int) -> str:
    if number >= 10_000:
        below = number % 10_000
        link = "零" if 0 < below < 1_000 else ""
        return f"{_in_chinese(number // 10_000)}万{link}{_in_chinese(below) if below else ''}"
    written = ""
    for scale, name in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            written += "零一二三四五六七八九"[digit] + name
        elif written and number % scale and not written.endswith("零"):
            written += "零"
    return written or "零"


@given(st.integers(0, 10**12))
def test_a_number_supports_itself_with_separators(number: int) -> None:
    """Thousands may be parted by commas."""
    assert () == lacking(number, f"it is {number:,}.")
    assert () == lacking(f"it was {number:,}", f"{number}!")


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_is_read_back(hour: int, minute: int) -> None:
    """Twelve hours and twenty-four say the same."""
    half = "am" if hour < 12 else "pm"

    (time,) = times_in(f"at {hour % 12 or 12}:{minute:02} {half}")

    assert hour * 60 + minute == time.minutes


def test_plain_text_never_grows_without_bounds() -> None:
    """A ligature of many letters stays what it is where it would flood the text."""
    assert len(plain("\ufdfa" * 10_000)) <= 20_200
    assert "1/2" == plain("½").strip()


def test_spans_are_those_of_the_text() -> None:
    """Each number and telephone number says where it stands."""
    text = "call 555-010-4477, or take two dozen"

    assert ["two dozen"] == [text[n.start : n.end] for n in numbers_in(text) if n.start > 20]
    assert [(5, 17, "5550104477")] == list(digit_runs(text))
