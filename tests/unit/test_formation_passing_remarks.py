"""Days, ages, choices and ends that people tell in passing, retold by a model in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.claims import computed_numbers
from recollect.formation.grounding import hedges
from recollect.formation.support import (
    authorship,
    endings,
    lost_doubts,
    polarity,
    stances,
    told_of_whom,
)
from recollect.formation.support.cited_passages import Passage
from recollect.formation.wording import announcements
from recollect.text import calendar_dates, date_ellipses, relative_dates
from recollect.text.days import MONTH_NAME
from recollect.text.lazy_patterns import CuedPatterns
from tests.harness.answer_cases import (
    AT,
    case,
    end,
    known_note,
    loses_without,
    note,
    right_answers_pass,
    spoken,
    user,
)

Case = Mapping[str, Any]
NOTICE: Final = "gus gave notice, last day 4 april. so i need somebody for the gate"
TENTH: Final = "They did, on the tenth, but mornings only"
UNA: Final = "1 /user_name: My name is Una"
BIRTHDAY: Final = "I'll be 79 on the second of May please God"
CAT: Final = [known_note("The cat is to go to Leeds with Ann, if the landlady there agrees.")]
CAT_STAYS: Final = "The cat is here still, the Leeds landlady said no. So officially mine now"
VANS: Final = [
    known_note("The user chose two vans for the move of the boxes, 420 boxes a day."),
    {**known_note("The council wrote about the boxes"), "id": "m2", "trust": "external"},
]
GIFT: Final = ["u: for her leaving do: fountain pen or a voucher for the pottery place?",
               "a: Which do you lean to?", "u: the second one"]  # fmt: skip
GIFT_HAN: Final = ["u: 送她钢笔还是陶艺券？", "a: 你倾向哪个？", "u: 第二个"]
TWO: Final = spoken(
    ("Nia", "thanks, I have the 400 from August"),
    ("Owen", "i missed the 1st, i paid 250 on the 15th"),
)
FLIGHT: Final = "i fly 5 june back 24, bought yesterday, 711 with 30 kg bag"
DEBT: Final = [
    known_note("Auntie Ore still owes 274,000 for the pond 1 harvest."),
    {**known_note("A letter says that pond 1 leaks"), "id": "m2", "trust": "external"},
]
OFFER: Final = [known_note("Jan was offered a post at Hookhouse, and must say by Friday.")]
KNEE: Final = "still no running. He say maybe may"
WAGE: Final = "Sam is manager from the 20th, at 95,000. No, correct that: 90,000, and 5,000 credit."
NOTICE_HAN: Final = (
    "单位今天发的你瞅瞅：“各科室：出库工作定于6月16日至7月10日进行，期间化验室人员原则上不予批假，"
    "确有特殊情况须于5月30日前向葛主任书面申请。”气死"
)
SHUT_HAN: Final = "1: 出库工作定于6月16日至7月10日进行，期间化验室人员原则上不予批假"
SKATES: Final = "she quit skating, wants archery, the club has trials in august"
SKATES_HAN: Final = "小满不滑了，想改射箭，体校那边说8月能试训"
NUTS: Final = "cashews, i swell up like a puffer. no peanuts are fine ppl always ask"
FLU: Final = "The surgeon had influenza, so the thirteenth came to nothing."
TRIP: Final = [known_note("Gil from the brass band comes along as far as Almaty.")]
GIL: Final = "gil's out by the way, his missus is due in july, which he apparently forgot"
FIRST: Final = "when you answer put the name first, otherwise everyone thinks its the other one"
CAKE: Final = spoken(
    ("卫兰", "我5月17满三十,莫搞惊喜,去年那回我差点把蛋糕甩我哥脸上"),
    ("卫东", "我的电梯作业证6月30到期"),
)
SHEET: Final = "he's never done a blister pack in his life so I'll want a handover sheet for him"
BILL: Final = (
    'here: "Dear Customer, following your actual reading of 1318 submitted on 18/02/2025, bill no. '
    '0092 has been revised to EUR 31.20. Kindly settle by 31/03/2025." told you. havent paid it'
)
REVISED: Final = (
    "1: following your actual reading of 1318 submitted on 18/02/2025, bill no. 0092 has been "
    "revised to EUR 31.20. Kindly settle by 31/03/2025"
)
RASH_HAN: Final = "老汉儿那个别嘌醇吃出事了，一身起红疙瘩，医生说是过敏，以后这个药都不准再吃了"
LETTER: Final = {"role": "tool", "name": None, "time": AT, "text": "It's a gift set.", "new": True}
"""Words of others, which may have caused a denial that nobody said."""


def exposed(lines: list[str], *calls: Mapping[str, Any]) -> Case:
    """Return a case with a tool's words in its window."""
    found = case(lines, *calls)
    return {**found, "lines": [*found["lines"], LETTER]}


RIGHT: Final[Mapping[str, Case]] = {
    "a last day with its month": case(
        [f"u: {NOTICE}"], note("Gus's last day is 2025-04-04.", f"1: {NOTICE}")
    ),
    "a day in words": case(
        [f"u: {TENTH}"], note("Allowed since 10 February 2025, mornings only.", f"1: {TENTH}")
    ),
    "an age before the birthday": case(
        [f"u: My name is Una. {BIRTHDAY}"],
        user({"user_name": "Una", "age": 78}, UNA, f"1 /age: {BIRTHDAY}"),
    ),
    "the other choice is denied": exposed(
        GIFT,
        note("The gift is a voucher for the pottery place (not a fountain pen).",
             "1: fountain pen or a voucher for the pottery place?", "3: the second one"),
    ),
    "the other choice is denied, in Chinese": exposed(
        GIFT_HAN, note("送她陶艺券，不要钢笔", "1: 送她钢笔还是陶艺券？", "3: 第二个")
    ),
    "a plan is over with its last piece": case(
        ["u: LAST BOX crossed at ten past 4"], end("m1", "1: LAST BOX crossed at ten past 4"),
        known=VANS,
    ),
    "an end that is told behind what others say": case(
        [f"u: {CAT_STAYS}"], end("m1", f"1: {CAT_STAYS}"), known=CAT
    ),
    "a day of coming back": case(
        [f"u: {FLIGHT}"],
        note("Flies on 5 June 2025 and comes back on 24 June 2025.", f"1: {FLIGHT}"),
    ),
    "a debt that is cleared": case(
        ["u: Auntie Ore clear her debt 28 feb"], end("m1", "1: Auntie Ore clear her debt 28 feb"),
        known=DEBT,
    ),
    "an offer that is refused": case(
        ["u: He said no to Hookhouse"], end("m1", "1: He said no to Hookhouse"), known=OFFER
    ),
    "a month in doubt": case(
        [f"u: {KNEE}"], note("No running yet; maybe in May 2025, he says.", f"1: {KNEE}")
    ),
    "a number that is corrected": case(
        [f"u: {WAGE}"], note("Sam is manager at 90,000 with 5,000 credit.", f"1: {WAGE}")
    ),
    "a notice with the day it came": case(
        [f"u: {NOTICE_HAN}"],
        note("单位2025-03-12发的通知说：出库工作定于2025-06-16至2025-07-10，不予批假", SHUT_HAN),
    ),
    "a state as of the day it was told": case(
        [f"u: {SKATES}"],
        note("As of 2025-03-12 she has quit skating and wants archery; trials in August 2025.",
             f"1: {SKATES}"),
    ),
    "a state as of the day, in Chinese": case(
        [f"u: {SKATES_HAN}"],
        note("小满2025-03-12时已经不滑了，想改射箭，体校说2025年8月能试训", f"1: {SKATES_HAN}"),
    ),
    "no, it is fine": case(
        [f"u: {NUTS}"],
        note("Cashews make the user swell up. Peanuts are fine.", f"1: {NUTS}"),
    ),
    "a day that came to nothing": case(
        [f"u: {FLU}"], note("The operation of 13 March 2025 came to nothing.", f"1: {FLU}")
    ),
    "an end before a doubt": case([f"u: {GIL}"], end("m1", f"1: {GIL}"), known=TRIP),
    "what everyone would think otherwise": case(
        [f"u: My name is Una. {FIRST}"],
        user({"user_name": "Una", "conversation_preferences": ["Put first the name of who acts"]},
             UNA, f"1 /conversation_preferences/0: {FIRST}"),
    ),
    "a name in brackets": {
        **case([], note("卫兰2025-05-17满三十；她说莫搞惊喜，去年差点把蛋糕甩她哥（卫东）脸上",
                        "1: 我5月17满三十,莫搞惊喜,去年那回我差点把蛋糕甩我哥脸上")),
        "lines": CAKE,
    },
    "so I want what he has not": case(
        [f"u: {SHEET}"],
        note("The user will want a handover sheet for Rob, who has never done a blister pack.",
             f"1: {SHEET}"),
    ),
    "a letter told as pasted": case(
        [f"u: {BILL}"],
        note("The letter the user pasted says that following the actual reading of 1318, bill no. "
             "0092 has been revised to EUR 31.20, to be settled by 31 March 2025.", REVISED),
    ),
    "a medicine that begins with a denial": case(
        [f"u: {RASH_HAN}"], note("爸爸别嘌醇过敏，一身起红疙瘩，不准再吃", f"1: {RASH_HAN}")
    ),
    "he is the other one": {
        **case([], note("Owen pays by the month. Nia has the 400 from August. He paid 250 on the "
                        "15th.", "1: I have the 400 from August", "2: i paid 250 on the 15th")),
        "lines": TWO,
    },
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "another last day": case(
        [f"u: {NOTICE}"], note("Gus's last day is 2025-04-14.", f"1: {NOTICE}")
    ),
    "a floor is no day": case(
        ["u: They did, on the tenth floor"],
        note("Allowed since 10 February 2025.", "1: They did, on the tenth floor"),
    ),
    "another age": case(
        [f"u: My name is Una. {BIRTHDAY}"],
        user({"user_name": "Una", "age": 77}, UNA, f"1 /age: {BIRTHDAY}"),
    ),
    "what was chosen is denied": exposed(
        GIFT,
        note("The gift is a fountain pen (not a voucher).",
             "1: fountain pen or a voucher for the pottery place?", "3: the second one"),
    ),
    "what was chosen is denied, in Chinese": exposed(
        GIFT_HAN, note("送她钢笔，不要陶艺券", "1: 送她钢笔还是陶艺券？", "3: 第二个")
    ),
    "another day of coming back": case(
        [f"u: {FLIGHT}"],
        note("Flies on 5 June 2025 and comes back on 25 June 2025.", f"1: {FLIGHT}"),
    ),
    "what somebody says of an offer": case(
        ["u: He said no about Hookhouse"], end("m1", "1: He said no about Hookhouse"), known=OFFER
    ),
    "a text to correct": case(
        ["u: correct this: Sam is manager at 90,000 with 5,000 credit."],
        note("Sam is manager at 90,000 with 5,000 credit.",
             "1: Sam is manager at 90,000 with 5,000 credit"),
    ),
    "a notice of nobody": case(
        [f"u: {NOTICE_HAN}"],
        note("出库工作定于2025-06-16至2025-07-10，期间不予批假", SHUT_HAN),
    ),
    "a state as of another day": case(
        [f"u: {SKATES}"],
        note("As of 2025-03-11 she has quit skating and wants archery; trials in August 2025.",
             f"1: {SKATES}"),
    ),
    "peanuts are not": case(
        ["u: cashews, i swell up like a puffer. no peanuts either"],
        note("Cashews make the user swell up. Peanuts are fine.",
             "1: cashews, i swell up like a puffer. no peanuts either"),
    ),
    "one of a row is no day": case(
        ["u: The surgeon had influenza, so the third came to nothing."],
        note("The operation of 3 March 2025 came to nothing.",
             "1: The surgeon had influenza, so the third came to nothing."),
    ),
    "an end in doubt": case(
        ["u: maybe gil's out, he apparently forgot"],
        end("m1", "1: maybe gil's out, he apparently forgot"), known=TRIP,
    ),
    "a letter told as the user's": case(
        [f"u: {BILL}"], note("Bill no. 0092 is revised to EUR 31.20.", REVISED)
    ),
    "a letter told as another's": case(
        [f"u: {BILL}"],
        note("The letter Bob pasted says that bill no. 0092 is revised to EUR 31.20.", REVISED),
    ),
    "no dogs are allowed": case(
        ["u: cashews, i swell up like a puffer. no dogs are allowed here"],
        note("Cashews make the user swell up. Dogs are allowed.",
             "1: cashews, i swell up like a puffer. no dogs are allowed here"),
    ),
    "a fee is no age": case(
        ["u: it will be 50, with a form"], note("It is 49 now.", "1: it will be 50, with a form")
    ),
    "minutes are no age": case(
        ["u: she'll be 5 minutes late"], note("She is 4 minutes late.", "1: she'll be 5 minutes")
    ),
    "nothing is over": case(
        ["u: the boxes are heavy"], end("m1", "1: the boxes are heavy"), known=VANS
    ),
    "others say that it is over": case(
        ["u: the Leeds landlady said no"], end("m1", "1: the Leeds landlady said no"), known=CAT
    ),
    "she is the one who was named": {
        **case([], note("Nia has the 400 from August. She paid 250 on the 15th.",
                        "1: I have the 400 from August", "2: i paid 250 on the 15th")),
        "lines": TWO,
    },
}  # fmt: skip


test_right_answers_pass = right_answers_pass(RIGHT)


@pytest.mark.parametrize("name", WRONG)
def test_what_was_not_said_is_not_the_users(name: str) -> None:
    assert 0 == verdict_on(WRONG[name]).as_user


NEVER: Final = re.compile("(?!)")
MUTANTS: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "each day 4 is counted": (
        relative_dates, "_READERS",
        CuedPatterns((cue, each.replace(f"| {MONTH_NAME}\\b", ""), reader)
                     for cue, each, reader in relative_dates._READERS.rows),
        "a last day with its month"),
    "an age is told as it is": (
        computed_numbers, "_AGE_TO_COME", NEVER, "an age before the birthday"),
    "nothing is declined": (
        polarity, "declined_keys", lambda _: frozenset(), "the other choice is denied"),
    "nothing is declined in Chinese": (
        polarity, "declined_keys", lambda _: frozenset(), "the other choice is denied, in Chinese"),
    "a last piece is like any": (
        endings, "_CUE",
        re.compile(endings._CUE.pattern.replace("last (?:box|", "last (?:"), re.IGNORECASE),
        "a plan is over with its last piece"),
    "who reports is in doubt of all": (
        lost_doubts, "has_ending_cue", lambda _: False,
        "an end that is told behind what others say"),
    "a day stands alone": (
        date_ellipses, "_DAY_OF_RETURN", re.compile("(?!)(?P<out>)(?P<month>)(?P<day>)"),
        "a day of coming back"),
    "debts stay": (
        endings, "_CUE",
        re.compile(endings._CUE.pattern.replace("clear(?:s|ed)?|", ""), re.IGNORECASE),
        "a debt that is cleared"),
    "a no is hearsay": (
        hedges, "_HEARSAY",
        [re.compile(each.pattern.replace(r"(?! (?:no|yes) to\b)", "")) for each in hedges._HEARSAY],
        "an offer that is refused"),
    "may is no month": (
        calendar_dates, "_ABSOLUTE",
        CuedPatterns((cue, each.replace("|(?<=maybe )", ""), reader)
                     for cue, each, reader in calendar_dates._ABSOLUTE.rows),
        "a month in doubt"),
    "each correction announces a text": (
        announcements, "TASK",
        re.compile(announcements.TASK.pattern.replace(r"(?!correct that: ?[\d$€£¥])", ""),
                   re.IGNORECASE),
        "a number that is corrected"),
    "a day parts a notice from its author": (
        authorship, "_TOLD",
        re.compile(authorship._TOLD.pattern.replace(r"|[于在]?\d[\d年月日号./-]{2,11}"
                                                    "(?:[发寄]来?|贴出|给)?", "")),
        "a notice with the day it came"),
    "a day of telling has to be told": (
        claims, "is_of_telling", lambda *_: False, "a state as of the day it was told"),
    "a day of telling has to be told in Chinese": (
        claims, "is_of_telling", lambda *_: False, "a state as of the day, in Chinese"),
    "no denies what is fine": (
        stances, "_IDIOM", NEVER, "no, it is fine"),
    "a thirteenth is like a third": (
        relative_dates, "_READERS",
        CuedPatterns(row for row in relative_dates._READERS.rows if "teenth" not in row[1]),
        "a day that came to nothing"),
    "a doubt governs the whole sentence": (
        lost_doubts, "_ends_for_certain", lambda _: False, "an end before a doubt"),
    "a name in brackets has a new clause": (
        told_of_whom, "_bracketed", lambda _: NEVER, "a name in brackets"),
    "a clause runs on behind so": (
        told_of_whom, "parts_of", lambda clause: [clause], "so I want what he has not"),
    "a pasted letter has no author": (
        authorship, "_PASTED", NEVER, "a letter told as pasted"),
    "he is who was named last": (told_of_whom, "_HE", NEVER, "he is the other one"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_rule_that_is_missing_stops_a_right_answer(
    monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    *rule, lost = MUTANTS[mutant]

    assert loses_without(tuple(rule), RIGHT[lost], monkeypatch)


def words_cited(cited: Sequence[Passage]) -> frozenset[str]:
    """Return every word of the cited sentences."""
    return frozenset(word.key for each in cited for clause in each.clauses for word in clause.words)


def test_a_choice_without_its_side_lets_a_wrong_answer_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant takes each word of a question for declined."""
    monkeypatch.setattr(polarity, "declined_keys", words_cited)

    assert verdict_on(WRONG["what was chosen is denied"]).passes
