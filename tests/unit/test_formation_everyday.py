"""Everyday talk: two amounts in a row, a letter for what it is, and what follows from news."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.claims import day_steps
from recollect.formation.grounding import hedges, latin_names, told_dates
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.support import (
    acceptance,
    authorship,
    cited_passages,
    endings,
    identity_fields,
    told_of_whom,
    told_relatives,
)
from recollect.formation.support import corrected_numbers as corrected
from recollect.text import date_ellipses, numerals
from recollect.text.numerals import numbers_in, plain
from tests.harness.answer_cases import (
    Case,
    Mutant,
    case,
    each_rule_is_needed,
    end,
    known_note,
    note,
    patch,
    right_answers_pass,
    spoken,
    user,
    wrong_answers_are_not_the_users,
)

RACKET: Final = "不打了 又有点酸 算了 拍子闲鱼卖了 挂400 320出的"
BILL: Final = "等等我睇返張單,係720唔係680,680係舊客價"
HOURS: Final = "我六点下班不是五点半,托管那条可以"
HOLIDAY: Final = "我妈五一以后要回老家"
JOBLESS: Final = "我是冠廷 她佳穎 失業中(她說要寫「待業」)"
HIRED: Final = "報告 我錄取了 是西屯一家做居家電商的 10/13報到"
DROPS: Final = "eye place called. right eye tues 25 march"
LETTER: Final = (
    "this came friday, we're unit 4, what's ours?\n\nDear Tenants, Units 1-6, 38 Mackie Court,\n"
    "1) Gutters are cleaned on 25 February.\nQueries to Sharon, property manager, 08 5550 0142.\n"
    "Kind regards, Terrace & Lane Property"
)
PLANS: Final = [
    "u: 5月18号考试 帮我排一下",
    "a: 1. 早上看书。2. 考前两周停投简历,专心冲刺。",
    "u: 早上我起不来的",
    "a: 改到晚上。周末那条对吗?",
    "u: 也不对 周末我都去我姐家带娃。考前两周停投那个可以",
]
EXAM: Final = "我妈叫我回阜阳考编……死也不"
LEAVE: Final = "佳蓉12/12到14排到連休 想帶小的出去"
QUOTE: Final = (
    "got a quote, pasting it:\n\nHi there,\nOPTION B  $564 a year.\n"
    "Exclusions: inflatables; alcohol service.\nWarmly, Lakeline"
)
GARAGE: Final = "trailer ate the garage. storage unit in Cicero"
YEAR: Final = "Has run rentals for about a year (as of March 2025), from a garage"
RENT: Final = spoken(
    ("雪琳", "一共2600，主卧我1450他1150，租到8月31"), ("浩然", "我在眼镜店当店长，周末8点半下班")
)
TRIP: Final = spoken(
    ("阿布", "我晕车嘞，山路转得我要吐"), ("Coco", "我随便，但28号我不行，要去医院陪床")
)
SHOP: Final = "群組說低音銅管改下禮拜六，18:30。也好啦29號我本來就要去看豐原的店面"
AUNT: Final = "lol its Marit. with a t. Maren is my aunt, you mix them up every time"
BEES: Final = known_note("The user's aunt keeps bees outside Lillehammer.")
FLIGHT: Final = "i'm flying down fri 28th come back sunday"
AGENCY: Final = (
    "the agent sent this long thing:\n\nBAKARE & SONS\nDear Tenant, kindly find below:\n"
    "B) One bedroom, Phase 2, Gbagada. Rent N1,800,000. Inspection fee N10,000.\nMr Kunle Bakare."
)
SHARES: Final = "我而家俾8200佢9000，各加350啱唔啱"
SOAP: Final = "theres 3 of us not 4. no coriander EVER it tastes like soap. 11 kids not 15"
COST: Final = "came in at 485. no hang on, 435, mum paid the cake"
KNEE: Final = "醫生說半月板可能有裂 我自己覺得沒那麼誇張= = 下禮拜二早上九點半去榮總照MRI"
PROPOSAL: Final = spoken(
    ("嘉敏", "好"),
    ("阿澄", "我俾咗先 你哋還我呀唔該~ 我下星期五要交proposal 呢兩個禮拜唔好搵我洗廁所"),
)
SALE: Final = "我只管左營的 週年慶檔期:楠梓店 4/17–5/2;左營店、鳳山店 4/24–5/9;屏東店 5/7–5/23。"
WALK: Final = [
    "u: 星期六早上我去大巴窑8巷的巴刹买菜",
    "a: 星期五：半职的帐务工作。\n星期六：巴刹买菜，之后跟秀兰去麦里芝蓄水池慢走5公里。",
    "u: 太长了啦，以后短短的就好",
    "a: 好的，以后简短。内容哪里要改？",
]
CAT: Final = spoken(
    ("蒋雨桐", "公司给的过渡公寓不让养。饭团先放西安，老韩带，等我2月找到房再接。猫粮我每月打200"),
    ("韩磊", "养猫，行么，反正额现在六点半能下班"),
)
PHYSIO: Final = "物理治疗星期三下午两点半，8次，从下星期三开始"
LESSONS: Final = "我闺女周二周四五点半画画，周六上午游泳"
FACTOR: Final = "got this off the factor, whats my bit?? im 2/1"
NAGOYA: Final = "想去名古屋，連我阿媽四個人"
AWAY: Final = "we fly out on 5 August for six weeks"

RIGHT: Final[Mapping[str, Case]] = {
    "two amounts parted by a comma": case(
        [f"u: {RACKET}"], note("用户不打球了，球拍挂400，320出的", f"1: {RACKET}")),
    "a quote that ends at such a comma": case(
        [f"u: {BILL}"], note("physio每次$720", "1: 係720唔係680")),
    "a holiday beside a time put right": case(
        [f"u: {HOLIDAY}", f"u: {HOURS}"], note("用户的妈妈五一以后要回老家", f"1: {HOLIDAY}")),
    "how somebody wants it written": case(
        [f"u: {JOBLESS}"], note("佳穎目前沒工作，她要寫「待業」", f"1: {JOBLESS}")),
    "an end that follows from a new job": case(
        ["-u: 我現在沒工作", "u: 我們去看鞋", f"u: {HIRED}"], end("m1", f"3: {HIRED}"),
        known=[known_note("用戶待業中"),
               {"id": "m2", "type": "Note", "value": {"content": "西屯一家居家電商約了面試"}}]),
    "a day as long before the new one": case(
        [f"u: {DROPS}"],
        patch("m1", "replace", "/content", f"1: {DROPS}",
              "Drops from 3 days before the eye, so from 2025-03-22"),
        known=[known_note("Drops from 3 days before the eye")]),
    "a home by its number": case(
        [f"u: {LETTER}"], user({"home": "unit 4"}, "1: we're unit 4")),
    "a letter by how it begins": case(
        [f"u: {LETTER}"],
        note("They rent unit 4 at 38 Mackie Court through Terrace & Lane; the letter gives "
             "Sharon, property manager, 08 5550 0142, for queries", "1: we're unit 4",
             "1: Queries to Sharon, property manager, 08 5550 0142")),
    "an item of a list before the last one": case(
        PLANS, note("用户同意考前两周停投简历，专心冲刺", "5: 考前两周停投那个可以")),
    "a refusal behind an ellipsis": case(
        [f"u: {EXAM}"], note("妈妈叫用户回阜阳考编，用户死也不肯", f"1: {EXAM}")),
    "two days of one month": case(
        [f"u: {LEAVE}"], note("佳蓉2025-12-12到2025-12-14連休", f"1: {LEAVE}")),
    "a heading in an answer": case(
        [f"u: {QUOTE}"],
        note("Lakeline's quote, Option B: $564 a year. Excluded: inflatables, alcohol service.",
             "1: OPTION B  $564 a year", "1: inflatables; alcohol service")),
    "since when it was a year": case(
        [f"u: {GARAGE}"],
        patch("m1", "replace", "/content", f"1: {GARAGE}",
              "Has run rentals since about March 2024, from a storage unit in Cicero"),
        known=[known_note(YEAR)]),
    "both parts of a rent": {
        **case([], note("雪琳住主卧1450，浩然1150；租到2025-08-31",
                        "1: 一共2600，主卧我1450他1150，租到8月31")),
        "lines": RENT,
    },
    "who cannot come": {
        **case([], note("阿布晕车；Coco 28号要去医院陪床", "1: 我晕车嘞",
                        "2: 但28号我不行，要去医院陪床")),
        "lines": TRIP,
    },
    "what was meant in any case": case(
        [f"u: {SHOP}"], note("用戶29號去看豐原的店面", "1: 29號我本來就要去看豐原的店面")),
    "a relative by her name": case(
        [f"u: {AUNT}"],
        patch("m1", "replace", "/content", f"1: {AUNT}",
              "The user's aunt Maren keeps bees outside Lillehammer."), known=[BEES]),
    "another relative beside": case(
        ["u: my sister and her kids visit the aunt with the bees in may"],
        patch("m1", "replace", "/content", "1: my sister and her kids visit the aunt",
              "The user's sister visits, in May, the one who keeps bees outside Lillehammer."),
        known=[BEES]),
    "a day of the week behind a day": case(
        [f"u: {FLIGHT}"],
        note("Flies down on Friday 2025-03-28, comes back on 2025-03-30", f"1: {FLIGHT}")),
    "an author at the beginning": case(
        [f"u: {AGENCY}", "a: Which unit?", "u: B, the rest don't concern me"],
        note("Only interested in unit B of Bakare & Sons. Agent's message: one bedroom, "
             "Phase 2, Gbagada, rent N1,800,000", "3: B, the rest don't concern me",
             "1: BAKARE & SONS",
             "1: B) One bedroom, Phase 2, Gbagada. Rent N1,800,000")),
    "a fee that is waived": case(
        ["u: kunle says he'll take 5% and the inspection fee he has waived"],
        note("Kunle says he'll take 5% and has waived the inspection fee",
             "1: kunle says he'll take 5% and the inspection fee he has waived")),
    "two amounts with a slash": case(
        [f"u: {SHARES}"], note("而家俾8200/9000", "1: 我而家俾8200佢9000")),
    "a taste like soap": case(
        [f"u: {SOAP}"], note("No coriander ever, tastes like soap.", "1: no coriander EVER")),
    "a number after a no": case(
        ["a: And the party?", f"u: {COST}"],
        patch("m1", "replace", "/content", "2: no hang on, 435, mum paid the cake",
              "The party came in at $435; mum paid the cake"),
        known=[known_note("The party, $400 tops")]),
    "behind a sign of a face": case(
        [f"u: {KNEE}"],
        note("用戶下禮拜二早上九點半去榮總照MRI", "1: 下禮拜二早上九點半去榮總照MRI")),
    "behind thanks in Cantonese": {
        **case([], note("阿澄下星期五要交proposal", "2: 我下星期五要交proposal")),
        "lines": PROPOSAL},
    "a stretch of days with a dash": case(
        [f"u: {SALE}"],
        note("用戶左營店的週年慶檔期是2025-04-24到2025-05-09", "1: 左營店、鳳山店 4/24–5/9")),
    "what is right of an offer": case(
        [*WALK, "u: 麦里芝那个对的，不过5公里太多，3公里就好"],
        note("用户星期六早上去巴刹买菜；之后跟秀兰去麦里芝蓄水池慢走，3公里就好",
             "1: 星期六早上我去大巴窑8巷的巴刹买菜",
             "5: 麦里芝那个对的，不过5公里太多，3公里就好")),
    "a given name behind another's": {
        **case([], note("饭团先由韩磊带，韩磊答应了；雨桐每月打200猫粮钱，等2月找到房再接走",
                        "1: 饭团先放西安，老韩带，等我2月找到房再接。猫粮我每月打200")),
        "lines": CAT},
    "the last of eight times": case(
        [f"u: {PHYSIO}"],
        note("用户做物理治疗：星期三，共8次，从2025年3月19日到2025年5月7日", f"1: {PHYSIO}")),
    "a yes in Cantonese": case(
        [f"u: {NAGOYA}", "a: 有長者，揀酒店近車站、有𨋢會好啲。", "u: 係。另外我右邊膊頭整親"],
        note("用戶連佢阿媽四個人去名古屋；同意酒店揀近車站、有𨋢", f"1: {NAGOYA}", "3: 係。")),
    "half past five on a Thursday": case(
        [f"u: {LESSONS}"], note("用户的女儿周二、周四17:30画画", f"1: {LESSONS}")),
    "two days off": case(
        ["u: 我驗光師 固定休三跟日"], note("用戶是驗光師，固定休週三和週日", "1: 固定休三跟日")),
    "a flat by its number": case(
        [f"u: {FACTOR}"], user({"home": "flat 2/1"}, "1 /home: im 2/1")),
    "the month of an end": case(
        [f"u: {AWAY}"],
        note("The user is away from 2025-08-05 until September 2025", f"1: {AWAY}")),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "a part of a thousand": case(
        ["u: 賺120,000元"], note("用戶賺120元", "1: 賺120,000元")),
    "a third amount": case([f"u: {RACKET}"], note("用户的球拍350出的", f"1: {RACKET}")),
    "a wish as a fact": case(
        ["u: 她說要用新的系統"], note("公司已經換了新的系統了", "1: 她說要用新的系統")),
    "a day at another length": case(
        [f"u: {DROPS}"],
        patch("m1", "replace", "/content", f"1: {DROPS}",
              "Drops from 3 days before the eye, so from 2025-03-20"),
        known=[known_note("Drops from 3 days before the eye")]),
    "another year of before": case(
        [f"u: {GARAGE}"],
        patch("m1", "replace", "/content", f"1: {GARAGE}",
              "Has run rentals since about March 2023, from a storage unit in Cicero"),
        known=[known_note(YEAR)]),
    "a day beyond the two": case(
        [f"u: {LEAVE}"], note("佳蓉2025-12-12到2025-12-15連休", f"1: {LEAVE}")),
    "what another cannot": {
        **case([], note("阿布晕车，2025-02-28要去医院陪床", "1: 我晕车嘞",
                        "2: 但28号我不行，要去医院陪床")),
        "lines": TRIP,
    },
    "one relative for another": case(
        [f"u: {AUNT}"],
        patch("m1", "replace", "/content", "1: its Marit. with a t. Maren is my aunt",
              "The user's sister Marit keeps bees outside Lillehammer."), known=[BEES]),
    "another day of the week behind it": case(
        [f"u: {FLIGHT}"], note("Comes back on 2025-03-31", f"1: {FLIGHT}")),
    "a right that is waived": case(
        ["u: the agent says all is waived"],
        note("The user has waived the right to be asked", "1: the agent says all is waived")),
    "a home at another number": case(
        [f"u: {LETTER}"], user({"home": "unit 9"}, "1: we're unit 4")),
    "liking the taste": case(
        [f"u: {SOAP}"], note("The user likes coriander", "1: no coriander EVER")),
    "an answer of no": case(
        ["a: Is the party on?", "u: no, mum paid the cake for nothing"],
        note("The party is on; mum paid the cake", "2: no, mum paid the cake for nothing")),
    "a day beside the stretch": case(
        [f"u: {SALE}"],
        note("用戶左營店的週年慶檔期是2025-04-24到2025-05-11", "1: 左營店、鳳山店 4/24–5/9")),
    "what is wrong of an offer": case(
        [*WALK, "u: 麦里芝那个不行，太远"],
        note("用户星期六跟秀兰去麦里芝蓄水池慢走5公里", "5: 麦里芝那个不行，太远")),
    "the other's money": {
        **case([], note("韩磊每月打200猫粮钱，等2月找到房再接走",
                        "1: 等我2月找到房再接。猫粮我每月打200")),
        "lines": CAT},
    "a month after the last of eight": case(
        [f"u: {PHYSIO}"],
        note("用户做物理治疗：星期三，共8次，从2025年3月19日到2025年6月", f"1: {PHYSIO}")),
    "a no in Cantonese": case(
        [f"u: {NAGOYA}", "a: 有長者，揀酒店近車站、有𨋢會好啲。", "u: 唔係。另外我右邊膊頭整親"],
        note("用戶同意酒店揀近車站、有𨋢", "3: 唔係。")),
    "half past four on a Thursday": case(
        [f"u: {LESSONS}"], note("用户的女儿周二、周四16:30画画", f"1: {LESSONS}")),
    "another day off": case(
        ["u: 我驗光師 固定休三跟日"], note("用戶是驗光師，固定休週四和週日", "1: 固定休三跟日")),
    "another month of an end": case(
        [f"u: {AWAY}"], note("The user is away from 2025-08-05 until October 2025", f"1: {AWAY}")),
}  # fmt: skip
NEVER: Final = re.compile("(?!)")
NO_DAYS: Final = re.compile("(?!)(?P<month>)(?P<one>)(?P<two>)")
MUTANTS: Final[Mapping[str, Mutant]] = {
    "a comma always parts thousands": (
        numerals, "_TWO_AMOUNTS", NEVER, "two amounts parted by a comma"),
    "a time is an amount": (corrected, "_TIME", NEVER, "a holiday beside a time put right"),
    "nobody says how to write": (
        hedges, "_REPORTED_WISH", NEVER, "how somebody wants it written"),
    "a new job is no news": (endings, "_NEWS", NEVER, "an end that follows from a new job"),
    "nothing was so long before": (
        claims, "is_as_long_from", lambda *_: False, "a day as long before the new one"),
    "nobody is at a number": (
        identity_fields, "_CUES", ((re.compile("home"), NEVER),), "a home by its number"),
    "only the last message offers": (
        cited_passages, "praised_in", lambda *_: "", "an item of a list before the last one"),
    "every word with such an end is a name": (
        latin_names, "ENDINGS", ("ing",), "a heading in an answer"),
    "no day stands behind a slash": (
        date_ellipses, "_DAYS_BEHIND_SLASH", NO_DAYS, "two days of one month"),
    "one clause tells of one": (told_of_whom, "_OF_BOTH", NEVER, "both parts of a rent"),
    "no source tells both days": (
        day_steps, "_is_told_before", lambda *_: False, "a day of the week behind a day"),
    "a slash is always of a fraction": (
        numerals, "_FRACTION_MAX", 10**9, "two amounts with a slash"),
    "no letter is addressed": (
        authorship, "letter_start", lambda _: None, "a letter by how it begins"),
    "a no is a no": (
        cited_passages, "NO", re.compile(r"no\b"), "a number after a no"),
    "nothing is praised": (acceptance, "_PRAISE", NEVER, "what is right of an offer"),
    "a name has its surname": (
        told_of_whom, "_speaker_pattern", told_relatives.pattern_of,
        "a given name behind another's"),
    "nothing comes every week": (
        told_dates, "weekly_lengths_in", lambda _: (), "the last of eight times"),
    "no month is reckoned": (
        told_dates, "stretch", lambda *_: None, "the month of an end"),
}  # fmt: skip
test_right_answers_pass = right_answers_pass(RIGHT)
test_wrong_answers_are_not_the_users = wrong_answers_are_not_the_users(WRONG)
test_each_rule_is_needed = each_rule_is_needed(MUTANTS, RIGHT)


@pytest.mark.parametrize(
    ("said", "amounts"),
    [
        ("挂400，320出的", [400, 320]),
        ("係720唔係680,680係舊客價", [720, 680, 680]),
        ("租金120,000元", [120_000]),
        ("有250,300人", [250_300]),
        ("赚了120,000多", [120_000]),
        ("一共1,980", [1_980]),
    ],
)
def test_a_comma_between_amounts(said: str, amounts: list[int]) -> None:
    found = [each.readings for each in numbers_in(plain(said)) if each.is_claim]

    assert [{Fraction(each)} for each in amounts] == [
        each for each in found if each != {Fraction(1)}
    ]


def test_no_quote_ends_within_a_number() -> None:
    assert find_quote("係720唔係680", BILL) is not None
    assert find_quote("賺120", "賺120,000元") is None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("what another cannot", (told_of_whom, "_GOES_ON", NEVER)),
        ("one relative for another", (told_relatives, "_KINDS", {})),
    ],
)
def test_without_its_rule_a_wrong_answer_is_kept(
    monkeypatch: pytest.MonkeyPatch, name: str, rule: tuple[Any, str, Any]
) -> None:
    monkeypatch.setattr(*rule)

    assert verdict_on(WRONG[name]).active


def test_an_author_may_begin_a_sentence() -> None:
    found = authorship._LETTER_OF_ROLE.search("Unit B alone. Agent's message: one bedroom")

    assert found is not None
    assert "Agent" == found["role"]
