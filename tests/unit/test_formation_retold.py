"""What a good model retells otherwise than it was said, and must be let pass; and its opposites."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation import claims
from recollect.formation.claims import Heard, SaidText
from recollect.formation.support import languages, polarity
from tests.harness.answer_cases import case, end, known_note, note, patch, right_answers_pass

Case = Mapping[str, Any]
MAIL: Final = (
    "u: paste:\n> Dear Ms Prewett, we would like a weekly lunch for 22. Two colleagues are "
    "coeliac. Please quote. — T. Iwuji, office manager\nI want this one so badly"
)
LETTER: Final = (
    "u: 收到一封邮件：\n> 您好，每周三订二十二份午餐，两位同事对麸质不耐受。——林涛\n我很想接"
)
COELIAC: Final = "1: Two colleagues are coeliac"
RIGHT: Final[Mapping[str, Case]] = {
    "an allergy that a letter tells": case(
        [MAIL], note("Two colleagues at the office are coeliac (T. Iwuji's mail says).", COELIAC)
    ),
    "by a mail": case([MAIL], note("By T. Iwuji's mail, two colleagues are coeliac.", COELIAC)),
    "according to its author": case(
        [MAIL], note("According to T. Iwuji, two colleagues are coeliac.", COELIAC)
    ),
    "in Chinese": case([LETTER], note("林涛来信说两位同事对麸质不耐受", "1: 两位同事对麸质不耐受")),
    "who is not meant": case(
        ["u: kelly my manager i mean, not dev's sister kelly who thinks its a lifestyle"],
        note("Two Kellys: the user's manager, and Dev's sister, who thinks it a lifestyle.",
             "1: kelly my manager i mean, not dev's sister kelly who thinks its a lifestyle"),
    ),
    "who is not meant, in Chinese": case(
        ["u: 我说的小王是我经理，不是阿德的表弟小王"],
        note("有两个小王：用户的经理，和阿德的表弟", "1: 我说的小王是我经理，不是阿德的表弟小王"),
    ),
    "a plan whose day has gone": case(
        ["u: 5 months in keld harbour and the garage sale was fun. I walk on the pier"],
        end("m1", "1: 5 months in keld harbour"),
        known=[known_note("Moving day is 2025-02-13, the van comes at nine"),
               {**known_note("The user's move to Keld Harbour took a van, at nine"), "id": "m2"}],
    ),
    "a debt told as what remains": case(
        ["u: Auntie Esi I have paid some, remaining nine and half thousand"],
        note("The user still owes Auntie Esi nine and a half thousand",
             "1: Auntie Esi I have paid some, remaining nine and half thousand"),
    ),
    "a debt told as what remains, in Chinese": case(
        ["u: 永寬剩返五萬三"], note("用戶還欠永寬五萬三", "1: 永寬剩返五萬三")
    ),
    "days that the assistant wrote out": case(
        ["u: new carer is Lupe, mon wed fri, seven and a half hours",
         "a: So Lupe on Mondays, Wednesdays and Fridays, seven and a half hours.", "u: yes"],
        note("The carer is Lupe, on Mondays, Wednesdays and Fridays, seven and a half hours",
             "1: new carer is Lupe, mon wed fri, seven and a half hours"),
    ),
    "amounts in formal numerals": case(
        ["u: 社費一個月三百，鐘點費兩千，以前一千五。寫錢用國字大寫",
         "a: 社費參佰元；鐘點費由壹仟伍佰元調為貳仟元。", "u: 對"],
        note("社費一個月參佰元；鐘點費貳仟元，以前壹仟伍佰元",
             "1: 社費一個月三百，鐘點費兩千，以前一千五"),
    ),
}  # fmt: skip
WRONG: Final[Mapping[str, Case]] = {
    "the user's, by a letter": case([MAIL], note("The user is coeliac, T. Iwuji wrote.", COELIAC)),
    "the user's": case([MAIL], note("The user is coeliac.", COELIAC)),
    "denied by nobody": case(
        [MAIL], note("T. Iwuji wrote that two colleagues are not coeliac.", COELIAC)
    ),
    "a plain denial": case(
        ["u: I live in Porto, not Lisbon"],
        note("The user lives in Lisbon", "1: I live in Porto, not Lisbon"),
    ),
    "what was paid": case(
        ["u: Auntie Esi I have paid everything"],
        note("The user owes Auntie Esi a lot", "1: Auntie Esi I have paid everything"),
    ),
}


test_right_answers_pass = right_answers_pass(RIGHT)


@pytest.mark.parametrize("name", WRONG)
def test_its_opposite_is_not_the_users(name: str) -> None:
    assert 0 == verdict_on(WRONG[name]).as_user


def test_a_value_may_date_what_it_changes() -> None:
    """The day stands beside the memory that the model was shown; another month does not."""
    known = {"content": "Mochi weighs 4.7 lb"}
    said = [SaidText(text="he is 5.1 lb now", at=datetime(2025, 11, 2, tzinfo=UTC), speaker=None)]
    heard = Heard(said, known, before_at=datetime(2025, 5, 25, tzinfo=UTC))

    assert () == heard.lacks("Mochi weighs 5.1 lb, up from 4.7 in May 2025")
    assert ("the date June 2025",) == heard.lacks("Mochi weighs 5.1 lb, up from 4.7 in June 2025")
    assert heard.lacks("豆豆2025年5月六岁") == ("the number 六",)


def test_an_age_behind_a_month_is_no_day() -> None:
    heard = Heard([SaidText(text="豆豆2025年3月六岁", at=None, speaker=None)])

    assert () == heard.lacks("豆豆六岁")
    assert heard.lacks("2025-03-06")


def test_a_chinese_sentence_full_of_english_words_is_chinese() -> None:
    text = "Hazel本來想念Thornfield University的Animal Science，final grade：Biology 91、Chem 84"

    assert "zh" == languages.language_of(text)
    assert "other" == languages.language_of("Zürich, Đà Nẵng")


def test_a_contrast_that_denies_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant reads "not dev's sister" as a denial of her."""
    monkeypatch.setattr(polarity, "without_meant", iter)

    assert not verdict_on(RIGHT["who is not meant"]).passes


def test_a_day_without_its_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant does not know when the memory that is changed was said."""
    changed = case(
        ["u: he is 5.1 lb now"],
        patch("m1", "replace", "/content", "1: he is 5.1 lb now", "Mochi: 5.1 lb; 4.7 in May 2024"),
        known=[{**known_note("Mochi: 4.7 lb"), "since": "2024-05-25"}],
    )
    assert verdict_on(changed).passes
    monkeypatch.setattr(claims, "SaidText", lambda **kept: SaidText(**{**kept, "at": None}))

    assert not verdict_on(changed).passes
