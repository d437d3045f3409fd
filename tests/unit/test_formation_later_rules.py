"""Rules mended by later rounds of talk: what each lets pass, and what it still holds off."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from benchmarks.support import verdict_on
from tests.harness.answer_cases import AT, case, known_user, note, patch, right_answers_pass, user


def said_by(*lines: tuple[str, str], call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a case of a talk among named speakers."""
    told = [
        {"role": "user", "name": name, "time": AT, "text": text, "new": True}
        for name, text in lines
    ]
    return {**case([], call), "lines": told}


TEAM: Final = "not dariela, the service came to us in feb"
NUTS: Final = "im the nut one not her, i carry an epipen"
LETTER: Final = (
    "is he allowed??\n\n> Hi Gwen,\n> we'd like to get a greyhound, he's called Pilot and is 4.\n"
    "> Cheers, Lowell"
)
SHALINI: Final = (
    "See what my friend Shalini says of the certificate:\n"
    '"dont waste ur money di, nobody looks at that in QA, do the ISTQB one. cost is 16k only"\n'
    "what you think"
)
TAG: Final = "IG的文可以用表情符號 年輕人多 但FB還是不行 懂?"
RAYS: Final = "ray says 3400. ray mechanic not ray my brother"
MARKS: Final = "政治68英语75数学92专业课120,355"
RIGHT: Final = {
    "the old owner told as before": case(
        [f"u: {TEAM}"],
        note("The service came to the user's team in February 2025 (before that Dariela)",
             f"1: {TEAM}"),
    ),
    "what nobody touched": case(
        ["u: nobody touched max_connections, still 400"],
        note("max_connections is still 400", "1: nobody touched max_connections, still 400"),
    ),
    "who has no allergy": case(
        ["u: party for my daughter Clemmie", f"u: {NUTS}"],
        note("The user is allergic to nuts. Clemmie is not allergic to nuts.",
             "1: my daughter Clemmie", f"2: {NUTS}"),
    ),
    "a wish before what others think": case(
        ["u: please stop with museums, everyone thinks watercolour means museums"],
        user({"conversation_preferences": ["Don't suggest museums"]},
             "1: please stop with museums"),
    ),
    "days of two speakers": said_by(
        ("Tobiah", "other way round, I have my kids saturdays"),
        ("Ines", "fine. sat me, sun T."),
        call=note("Ines waters on Saturdays, Tobiah on Sundays",
                  "1: other way round, I have my kids saturdays", "2: sat me, sun T"),
    ),
    "a letter told as its author's": case(
        [f"u: {LETTER}", "a: It depends on the lease.",
         "u: Dog no. its the lady downstairs, severe asthma"],
        note("Lowell would like to get a greyhound, Pilot, aged 4. The user says no: the lady "
             "downstairs has severe asthma.",
             "1: we'd like to get a greyhound, he's called Pilot and is 4",
             "3: Dog no. its the lady downstairs, severe asthma"),
    ),
    "bad sight": case(
        ["u: 提醒傳我就好 她白內障看不清楚 四月開刀"],
        note("她有白內障,四月開刀", "1: 她白內障看不清楚 四月開刀"),
    ),
    "a short name glued to Chinese": case(
        ["u: 我们py3.9内网装不了新包"],
        note("用户的环境是Python 3.9,装不了新包", "1: 我们py3.9内网装不了新包"),
    ),
    "marks in a row": case(
        [f"u: {MARKS}"],
        note("用户估分355:政治68,英语75,数学92,专业课120", f"1: {MARKS}"),
    ),
    "a year that is taken back": case(
        ["u: 學測明年一月對吧 啊我高二 後年啦"],
        note("用戶的學測是2027年1月", "1: 學測明年一月對吧 啊我高二 後年啦"),
    ),
    "a week by its first day": case(
        ["u: going up w/c 24 march for the comet"],
        note("Goes up for the comet from 24 to 30 March 2025", "1: going up w/c 24 march"),
    ),
    "a friend's words told as the friend's": case(
        [f"u: {SHALINI}"],
        note("The user's friend Shalini says the certificate is a waste of money, and "
             "recommends the ISTQB one, which she says costs only 16k.",
             "1: my friend Shalini says of the certificate",
             "1: nobody looks at that in QA, do the ISTQB one. cost is 16k only"),
    ),
    "a rule before a question that asks nothing": case(
        [f"u: {TAG}"],
        patch("m1", "add", "/conversation_preferences/-",
              "1: IG的文可以用表情符號 年輕人多 但FB還是不行",
              "IG文可以用表情符號（年輕人多），FB還是不行"),
        known=[known_user(user_name="阿珠", conversation_preferences=["FB文不要用表情符號"])],
    ),
    "a pressure of two numbers": case(
        ["u: 量了血压 一百四十六 九十"],
        note("用户的血压是146/90", "1: 一百四十六 九十"),
    ),
    "a weight behind a month": case(
        ["u: 豆花8月5.1公斤 现在4.6了"],
        note("豆花2024年8月5.1公斤,现在4.6公斤", "1: 豆花8月5.1公斤 现在4.6了"),
    ),
    "a relative whom the user names": case(
        ["u: 然後我跟女友以柔下個月要同居"],
        note("用戶的女友叫以柔", "1: 我跟女友以柔下個月要同居"),
    ),
    "a son as people in Hong Kong say": case(
        ["u: 另外我個仔阿朗讀中五，補數學"],
        note("用戶的兒子阿朗讀中五，補數學", "1: 我個仔阿朗讀中五，補數學"),
    ),
    "a daughter as people in Hong Kong say": case(
        ["u: 仲有，我女Sydney畢業前就搵到工，月薪一萬九"],
        note("用戶個女叫Sydney，畢業前就搵到工，月薪一萬九",
             "1: 我女Sydney畢業前就搵到工，月薪一萬九"),
    ),
    "a son-in-law who is told to come": case(
        ["u: 那就叫我女婿自己去接恩恩"],
        note("用戶打算叫女婿自己去接恩恩", "1: 那就叫我女婿自己去接恩恩"),
    ),
    "words taken seriously": case(
        ["u: 两个老张 一个是大夫 他说的话我听 一个下棋的 当笑话听"],
        note("用户认得两个老张:一个是大夫,他的话用户听;一个下棋的,当笑话听",
             "1: 两个老张 一个是大夫 他说的话我听 一个下棋的 当笑话听"),
    ),
    "a rule that is praised": case(
        ["a: 三條：\n下雨就回頭。\n任一條件成立就下撤，不投票。", "u: 不投票這個讚"],
        note("用戶贊成：任一條件成立就下撤，不投票", "2: 不投票這個讚"),
    ),
    "a denial taken back": case(
        ["u: pls forget that I said I don't eat mutton, I have started"],
        note("The user has started to eat mutton",
             "1: pls forget that I said I don't eat mutton, I have started"),
    ),
    "a Latin name among Chinese": said_by(
        ("老高", "搭建我来"),
        ("Mia", "我12月开始休产假,海外客户交给周岚"),
        call=note("老高管搭建,Mia管海外客户,2025-12起Mia休产假",
                  "1: 搭建我来", "2: 我12月开始休产假,海外客户交给周岚"),
    ),
    "two of one name": case(
        [f"u: {RAYS}"],
        note("The user knows Ray the mechanic, and Ray, the user's brother",
             "1: ray mechanic not ray my brother"),
    ),
}  # fmt: skip


test_right_answers_pass = right_answers_pass(RIGHT)


def test_a_speaker_need_not_say_their_own_name() -> None:
    """Only the assistant's question names Ben, who answers it."""
    lines = [
        ("assistant", None, "Sorry for the guess. Orla works at a brewery, and Ben?"),
        ("user", "Ben", "vibes. (I'm a sound engineer, freelance)"),
    ]
    value = {"user_name": "Ben", "occupation": "Freelance sound engineer"}
    told = [
        {"role": role, "name": name, "time": AT, "text": text, "new": True}
        for role, name, text in lines
    ]
    talk = {**case([], user(value, "2: I'm a sound engineer, freelance")), "lines": told}

    verdict = verdict_on(talk)

    assert verdict.passes, verdict.reasons


def test_an_element_of_a_list_that_is_not_there_makes_the_list() -> None:
    """Whoever adds two adds the second behind the first."""
    call = patch("m1", "add", "/conversation_preferences/-", "1: please keep answers short",
                 "short answers")  # fmt: skip
    more = {**call["arguments"]["changes"][0], "value": "please"}
    call["arguments"]["changes"].append(more)
    talk = case(["u: please keep answers short"], call, known=[known_user(user_name="Ann")])

    verdict = verdict_on(talk)

    assert verdict.passes, verdict.reasons
    assert 1 == verdict.as_user


WRONG: Final = {
    "the old owner told as now": case(
        [f"u: {TEAM}"], note("Dariela, since February 2025", f"1: {TEAM}")
    ),
    "what was touched": case(
        ["u: nobody touched the wiring"],
        note("Touched the wiring", "1: nobody touched the wiring"),
    ),
    "who has an allergy": case(
        ["u: party for my daughter Clemmie", f"u: {NUTS}"],
        note("The user is not allergic to nuts.", "1: my daughter Clemmie", f"2: {NUTS}"),
    ),
    "an order in what others say": case(
        ["u: please listen, my boss says answer everything in French from now on"],
        user({"conversation_preferences": ["Answer everything in French"]},
             "1: answer everything in French"),
    ),
    "an order before who gave it": case(
        ["u: always answer in French, my boss says"],
        user({"conversation_preferences": ["Always answer in French"]},
             "1: always answer in French"),
    ),
    "what another speaker has": said_by(
        ("Tobiah", "other way round, I have my kids and the dog saturdays"),
        ("Ines", "fine. sun me"),
        call=note("Ines has kids and a dog",
                  "1: other way round, I have my kids and the dog saturdays"),
    ),
    "a letter that was not answered": case(
        [f"u: {LETTER}"],
        note("Lowell would like to get a greyhound, Pilot", "1: we'd like to get a greyhound"),
    ),
    "a letter told as the user's": case(
        [f"u: {LETTER}", "a: It depends on the lease.", "u: look at the lease then"],
        note("The user would like to get a greyhound called Pilot",
             "1: we'd like to get a greyhound", "3: look at the lease then"),
    ),
    "a real doubt": case(
        ["u: 四月開刀 左眼還是右眼我不清楚"],
        note("四月開刀,左眼右眼一起", "1: 左眼還是右眼我不清楚"),
    ),
    "an amount with its comma": case(
        ["u: 房租120,355"], note("房租355", "1: 房租120,355")
    ),
    "a friend's words told as a fact": case(
        [f"u: {SHALINI}"],
        note("Nobody in QA looks at the certificate; the ISTQB one costs 16k.",
             "1: nobody looks at that in QA, do the ISTQB one. cost is 16k only"),
    ),
    "a rule that is only asked for": case(
        ["u: IG的文可以用表情符號嗎?"],
        user({"conversation_preferences": ["IG文用表情符號"]}, "1: IG的文可以用表情符號嗎"),
    ),
    "a pressure with another number": case(
        ["u: 量了血压 一百四十六 九十"],
        note("用户的血压是164/90", "1: 一百四十六 九十"),
    ),
    "a son's school told of the user": case(
        ["u: 另外我個仔讀緊中五，補數學"],
        note("用戶讀緊中五，補數學", "1: 我個仔讀緊中五，補數學"),
    ),
    "a relative by another name": case(
        ["u: 然後我跟女友以柔下個月要同居"],
        note("用戶的女友叫雅婷", "1: 我跟女友以柔下個月要同居"),
    ),
    "a friend's word as a fact": case(
        ["u: 我朋友说下周涨价 他说的"],
        note("下周涨价,用户确定", "1: 我朋友说下周涨价"),
    ),
    "the other one of a contrast": case(
        [f"u: {RAYS}"],
        note("Ray, the user's brother, says 3400", f"1: {RAYS}"),
    ),
    "the name of another speaker": said_by(
        ("Ben", "vibes. (I'm a sound engineer, freelance)"),
        ("Orla", "ha"),
        call=user({"user_name": "Orla"}, "1: I'm a sound engineer, freelance"),
    ),
    "a day of another week": case(
        ["u: going up w/c 24 march for the comet"],
        note("Goes up for the comet on 3 April 2025", "1: going up w/c 24 march"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_their_opposites_are_not_the_users(name: str) -> None:
    """What a rule lets pass has an opposite that it must not."""
    assert 0 == verdict_on(WRONG[name]).as_user
