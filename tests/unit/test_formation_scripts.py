"""English and both Chinese scripts: what one of them says, a value may say in another form."""

from datetime import UTC, date, datetime
from typing import Final

import pytest

from recollect.formation.claims import SaidText, unsupported
from recollect.formation.grounding.quotes import find_quote
from recollect.text.chinese_scripts import simplified
from recollect.text.lunar_calendar import FIRST_YEAR, LAST_YEAR, lunar_date

SAID_AT: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)  # a Monday


def lacking(value: str, said: str) -> tuple[str, ...]:
    """Return what a value claims beyond one sentence."""
    return unsupported(value, [SaidText(text=said, at=SAID_AT, speaker=None)])


# A value that is right, one that is wrong, and what was said: English, simplified, traditional.
TOLD: Final = [
    ("2024-05-17", "2024-05-20", "see you next Friday", "下周五见", "下週五見"),
    ("2024-05-08", "2024-05-07", "the day after tomorrow", "后天要考试", "後天要考試"),
    ("2024-06", "2024-07", "we move next month", "下个月搬家", "下個月搬家"),
    ("2024-05-31", "2024-05-15", "by the end of the month", "月底交稿", "月底交稿"),
    ("2024-12-31", "2024-11-15", "by the end of the year", "年底结婚", "年底結婚"),
    ("2025-12", "2024-12", "at the end of next year", "明年年底", "明年年底"),
    ("Q3 2024", "Q4 2024", "it starts next quarter", "下个季度开始", "下個季度開始"),
    ("2024年第三季度", "2024年第二季度", "in Q3 2024", "2024年第三季", "2024年第三季"),
    ("2024-06-30", "2024-05-30", "at the end of this quarter", "本季末", "本季末"),
    ("2023年上半年", "2022年上半年", "in the first half of last year", "去年上半年", "去年上半年"),
    ("2024-12-25", "2024-12-20", "we meet on Christmas", "圣诞节见", "聖誕節見"),
    ("2024-02-10", "2024-03-10", "on this Chinese New Year", "今年春节", "今年春節"),
    ("2024-09-17", "2024-09-10", "home for Mid-Autumn this year", "中秋节回家", "中秋節回家"),
    ("2024-06-10", "2024-06-01", "the Dragon Boat festival", "端午节回家", "端午節回家"),
    ("2025-04-20", "2025-04-10", "at Easter next year", "明年复活节", "明年復活節"),
    (
        "2024-03-28", "2024-03-21", "the Thursday before Easter this year",
        "今年复活节前那个周四", "今年復活節前那個週四",
    ),
    ("2024-06-13", "2024-06-06", "the Thursday after the dragon boat festival this year",
     "今年端午节后的周四", "今年端午節後的週四"),
    ("2024-07", "2024-10", "in the summer holidays", "暑假去日本", "暑假去日本"),
    ("2022", "2019", "for the past two years", "过去两年", "過去兩年"),
    ("2024-04-29 to 2024-05-05", "2024-04-01 to 2024-04-07", "last week", "上周", "上週"),
    ("2023-01", "2023-02", "it was January 2023", "2023年1月", "二〇二三年一月"),
    ("25000", "250000", "I earn 25,000", "月薪两万五", "月薪兩萬五"),
    ("2000", "1000", "two thousand", "两千", "兩千"),
    ("300000000", "3", "three hundred million", "三亿", "三億"),
    ("15:30", "14:30", "at half past three in the afternoon", "下午三点半", "下午三點半"),
    ("15:30", "03:30", "at 3:30 pm", "下午3:30", "下午3:30"),
    ("30%", "50%", "thirty percent off", "三成", "三成"),
    ("90", "45", "it took an hour and a half", "花了一个半小时", "花了一個半小時"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "english", "simple", "traditional"), TOLD)
def test_what_is_told_is_read_alike_in_three_scripts(
    right: str, wrong: str, english: str, simple: str, traditional: str
) -> None:
    """The right value passes, and another of the same kind does not."""
    said = (english, simple, traditional)

    assert [()] * 3 == [lacking(right, each) for each in said]
    assert all(lacking(wrong, each) for each in said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2024-05-09", "大後天"),
        ("2023", "去年"), ("2026", "後年"), ("2024-06-15", "下個月十五號"),
        ("2025-01-28", "明年除夕"), ("农历八月十五", "中秋"), ("2024-10-10", "雙十節"),
        ("1990-03-12", "民國79年3月12日"), ("07:45", "早上七點三刻"), ("150", "一百五"),
        ("1.75", "一米七五"), ("2024-05-11/12", "這個週末"), ("2024-05-11/2024-05-12", "這週末"),
        ("week of 29 April to 5 May", "last week"), ("Summer 2024", "this summer"),
        ("H2 2024", "the second half of the year"), ("2024-11-28", "at Thanksgiving"),
        ("2024-02-12", "carnival monday"), ("2024-02-13", "on pancake day"),
        ("2024-05-20", "Whit Monday"), ("2024-11-05", "bonfire night"),
        ("2024-02-24", "正月十五"), ("2025-02-12", "明年正月十五"), ("2025-01-07", "臘月初八"),
        ("2024-04-11", "三月初三"), ("2024-04-11", "農曆三月初三"),
    ],
)  # fmt: skip
def test_more_dates_and_numbers_are_read(value: str, said: str) -> None:
    """Feasts of both calendars, years of the Republic, quarters of an hour."""
    assert () == lacking(value, said)


@pytest.mark.parametrize(
    ("value", "said"),
    [("2024-04-23", "三月十五"), ("2024-04-11", "三月三號"), ("2024-04-11", "三月初")],
)
def test_a_month_that_nothing_calls_lunar_is_of_the_usual_calendar(value: str, said: str) -> None:
    assert lacking(value, said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("三億", "3"), ("3", "三億"), ("3億", "三千"), ("三千", "三萬"), ("30k", "it cost 3k"),
        ("$3M", "$3k"), ("three hundred million", "3"), ("3000", "3 million"),
        ("30000", "三億"), ("20000", "兩千"),
    ],
)  # fmt: skip
def test_a_number_of_another_magnitude_was_not_said(value: str, said: str) -> None:
    """However it is written."""
    assert lacking(value, said)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("我住在台北", "我住在臺北"), ("寫著字", "写着字"), ("兩萬五", "两万五"),
        ("月薪25000", "我月薪兩萬五"), ("I turned 30", "I turned thirty last week"),
        ("turned thirty-five", "I turned 35"), ("花了300块", "花了三百塊"),
    ],
)  # fmt: skip
def test_a_quote_is_found_in_another_script_and_with_its_numbers(quote: str, text: str) -> None:
    """The words are the same."""
    assert find_quote(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("我住在台中", "我住在臺北"), ("I turned 31", "I turned thirty last week"),
        ("5%", "I gave 5"), ("two", "2% of it"), ("兩千", "2万"), ("3k", "I gave 3"),
        ("three cats", "I have 2 cats and 3 dogs"), ("version 3.1", "version 3.11"),
    ],
)  # fmt: skip
def test_a_quote_with_another_number_is_not_found(quote: str, text: str) -> None:
    """Nor one with a sign or a scale that the text does not have."""
    assert find_quote(quote, text) is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("来年の春に結婚する", "来年の春に結婚します"), ("3月末に引っ越す", "3月末に引っ越します"),
        ("다음 주에 이사한다", "다음 주에 이사해요"), ("10월에 결혼", "10월에 결혼해요"),
        ("يسكن في القاهرة", "أنا أسكن في القاهرة"), ("दिल्ली में रहता है", "मैं दिल्ली में रहता हूँ"),
        ("zieht nächste Woche um", "Ich ziehe nächste Woche um"),
        ("se casa en otoño", "Nos casamos en otoño"),
        ("Ende des Jahres in Rente", "Ich gehe Ende des Jahres in Rente"),
    ],
)  # fmt: skip
def test_other_languages_are_not_judged_by_rules_that_do_not_know_them(
    value: str, said: str
) -> None:
    """Nothing is missed in them."""
    assert () == lacking(value, said)


def test_the_chinese_calendar_knows_its_own_reach() -> None:
    """New Year falls between 20 January and 22 February; beyond the table nothing is told."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    found = [lunar_date(year, 1, 1) for year in years]

    assert all(each and (1, 20) <= (each.month, each.day) <= (2, 22) for each in found)
    assert date(2025, 1, 29) == lunar_date(2025, 1, 1)
    assert date(2025, 10, 6) == lunar_date(2025, 8, 15)  # behind a leap month
    assert lunar_date(LAST_YEAR + 1, 1, 1) is lunar_date(2024, 13, 1) is None
    assert lunar_date(2024, 1, 30) is None


def test_one_table_serves_search_and_checks() -> None:
    """Variants that are not simplified by the usual table are folded too."""
    assert "看着你的它和姐姐" == simplified("看著妳的牠和姊姊")
