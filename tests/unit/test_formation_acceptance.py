"""Acceptance: what of the assistant's message a short reply of the user's takes up."""

import re
from typing import Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import passage_trust
from recollect.formation.support import acceptance, assent, cited_passages
from recollect.formation.support.acceptance import TakenUp, praised_in, taken_up
from tests.harness.answer_cases import case, note, user

TRIPS: Final = (
    "Three ideas: 1) Vellmar on the coast, about £340; 2) the Ostrand lakes by sleeper, about "
    "£410; 3) walking in Hethermoor, about £260."
)
CABINS: Final = "The sleeper leaves at 21:50. A shared cabin is £79, a private one £138."
STEPS: Final = "1. 上线前一天冻结代码;2. 先灰度10%,观察24小时后到30%;3. 错误率超过0.5%立即回滚。"
PLANS: Final = "方案一:先转parquet再load;方案二:按日期partition,多进程并行;方案三:直接用COPY。"
STARS: Final = "1 Saturn, 2 M13, 3 M57, 4 M27, 5 the Double Cluster, 6 M31, 7 M11. Clear skies!"
MINUTES: Final = "可以:1. 每天30分鐘;2. 隔天一小時;3. 集中在週末。"


@pytest.mark.parametrize(
    ("reply", "offered", "taken"),
    [
        ("yes the second one", TRIPS, "Three ideas:\n2) the Ostrand lakes by sleeper, about £410;"),
        ("2. looks fun", TRIPS, "Three ideas:\n2) the Ostrand lakes by sleeper, about £410;"),
        ("not the second, the last", TRIPS, "Three ideas:\n3) walking in Hethermoor, about £260."),
        ("private. not sharing with strangers", CABINS, "a private one £138."),
        ("方案二,worker最多4个", PLANS, "方案二:按日期partition,多进程并行;"),
        ("好 就第二個 但週三不行", MINUTES, "可以:\n2. 隔天一小時;"),
        (
            "第2条灰度先5%,别的没问题,发群里了",
            STEPS,
            "1. 上线前一天冻结代码;\n2. 先灰度10%,观察24小时后到30%;\n3. 错误率超过0.5%立即回滚。",
        ),
        (
            "第2条不要,其他可以",
            STEPS,
            "1. 上线前一天冻结代码;\n3. 错误率超过0.5%立即回滚。",
        ),
        (
            "put albireo back, thats 8",
            STARS,
            "1 Saturn,\n2 M13,\n3 M57,\n4 M27,\n5 the Double Cluster,\n6 M31,\n7 M11.",
        ),
    ],
)
def test_a_choice_takes_up_what_it_names(reply: str, offered: str, taken: str) -> None:
    """An item of a list, all but what is refused, or the clause that a reply echoes."""
    assert TakenUp(taken, is_choice=True) == taken_up(reply, offered)


@pytest.mark.parametrize(
    ("reply", "offered"),
    [
        ("none of those", TRIPS),
        ("the second is out", TRIPS),
        ("1 and 3 are out", TRIPS),
        ("not the first or the third", TRIPS),
        ("did you see the second episode?", TRIPS),
        ("the second episode was better", TRIPS),
        ("put the kettle on", TRIPS),
        ("private?", CABINS),
        ("第2條不行", STEPS),
        ("好像不太好", STEPS),
        ("我覺得太多了", STEPS),
        ("ok. " + "and then there is the matter of the boat " * 3, TRIPS),
    ],
)
def test_a_no_or_another_matter_takes_up_nothing(reply: str, offered: str) -> None:
    """Nor does a question, or a reply that is long enough to speak for itself."""
    assert "" == taken_up(reply, offered).text


@pytest.mark.parametrize(
    ("reply", "is_taken"),
    [
        ("looks sweet. mind the second gate though", True),
        ("very good, the rude chief I have already", True),
        ("good. not cheerful at all, 10/10", True),
        ("leave it in, it happened near enough", True),
        ("good morning, is it going to snow", False),
        ("a good friend of mine walks there", False),
        ("that does not look good to me", False),
    ],
)
def test_praise_of_an_offer_agrees_to_it(reply: str, *, is_taken: bool) -> None:
    """A greeting, or praise of something else, does not."""
    offered = "Two weeks of rest first, then three of electrotechnology."

    assert (offered if is_taken else "") == taken_up(reply, offered).text


BOWING: Final = "可以先夸手上的功夫，再让他只跟一个唱腔，不许加花。"
TAKEN: Final = ["中 这法儿不赖", "中啊", "中", "這招真不賴", "這法子還不孬", "那主意不差呀"]
NOT_TAKEN: Final = [
    "这法儿不中",
    "中不中？",
    "中间那段拉得太快",
    "徒弟人不赖",
    "不差钱",
    "这法儿赖",
]


def taken_in_chinese(replies: list[str]) -> list[str]:
    """Return the replies that take up what was offered."""
    return [each for each in replies if taken_up(each, BOWING).text]


def test_not_bad_and_fine_agree_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 中 does at the head of a reply; praise of something else does not."""
    assert TAKEN == taken_in_chinese(TAKEN)
    assert [] == taken_in_chinese(NOT_TAKEN)

    with monkeypatch.context() as mutant:
        mutant.setattr(acceptance, "NO_PROBLEM", re.compile("不[赖孬差中]"))
        mutant.setattr(acceptance, "YES", re.compile("[中赖孬差]"))
        assert len(taken_in_chinese(NOT_TAKEN)) > len(NOT_TAKEN) / 2
    yes = assent.YES.pattern.replace("不[赖孬差]", "(?!)").replace("[中系啱](?=", "(?!)(?=")
    monkeypatch.setattr(acceptance, "YES", re.compile(yes, re.IGNORECASE))

    assert [] == taken_in_chinese(TAKEN)


MILK: Final = "I'd suggest a nightly glass of warm milk with honey."
MILK_IN_CHINESE: Final = "我建议每晚喝一杯热牛奶加蜂蜜。"
OTHER_PROPOSALS: Final = [
    "ok what about tea", "okay, how about tea instead", "hm ok but what about tea?",
    "oh ok... what about tea", "sure but how about tea", "fair enough, why not tea",
    "ok tea instead", "嗯嗯 那茶呢", "好吧，那换成茶怎么样", "行 要不喝茶吧", "好啊 不如飲茶啦",
    "嗯那紅茶呢？", "好 但是茶呢", "得 不如飲普洱",
]  # fmt: skip
AGREED: Final = [
    "ok. what about tea after that", "yes, what about the price?", "ok do that instead",
    "ok great, and what about the cost", "perfect. how about biscuits too", "ok why not",
    "好 那就这样", "嗯 那几点喝呢", "好 不如就这样", "可以 那要放多少蜂蜜呢", "得 就咁",
    "好啊，那什麼時候開始呢？",
]  # fmt: skip


def wrongly_taken() -> list[str]:
    """Return the proposals of something else that take up what was offered."""
    offers = (MILK, MILK_IN_CHINESE)
    return [each for each in OTHER_PROPOSALS if any(taken_up(each, of).text for of in offers)]


def test_another_proposal_takes_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins as a yes, which only shows that the offer was heard."""
    assert [] == wrongly_taken()

    monkeypatch.setattr(acceptance, "OTHER_PROPOSAL", re.compile("(?!)"))

    assert len(wrongly_taken()) > len(OTHER_PROPOSALS) / 2


@pytest.mark.parametrize("reply", AGREED)
def test_who_agrees_may_ask_further(reply: str) -> None:
    """A yes with a question behind it stays a yes."""
    offered = MILK if reply.isascii() else MILK_IN_CHINESE

    assert offered == taken_up(reply, offered).text


def test_a_yes_is_to_what_was_asked() -> None:
    """What is stated of the user before the question is put in the user's mouth."""
    taken = taken_up("ok thanks", "So you hate your boss. Shall I book a table for 7?")

    assert TakenUp("Shall I book a table for 7?") == taken


CHOSEN: Final = {
    "an item": case(
        ["u: a week by train, alone", f"a: {TRIPS}", "u: yes the second one"],
        note("The user goes to the Ostrand lakes by sleeper, about £410",
             "1: by train, alone", "3: yes the second one"),
    ),
    "all with the rest": case(
        ["u: 先列一份上线方案", f"a: {STEPS}", "u: 第2条灰度先5%,别的没问题,发群里了"],
        note("上线方案:上线前一天冻结代码;先灰度5%,观察24小时后到30%;错误率超过0.5%立即回滚。",
             "3: 第2条灰度先5%,别的没问题"),
    ),
    "a plan by its number": case(
        ["u: 这个job太慢了", f"a: {PLANS}", "u: 方案二,worker最多4个"],
        note("job提速选了按日期partition,多进程并行,worker最多4个", "3: 方案二,worker最多4个"),
    ),
    "a list with one thing more": case(
        ["u: make me a list for the trip", f"a: {STARS}", "u: put albireo back, thats 8"],
        note("The list for the trip: Saturn, M13, M57, M27, the Double Cluster, M31, M11 and "
             "Albireo", "1: a list for the trip", "3: put albireo back, thats 8"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_what_was_chosen_is_the_users(name: str) -> None:
    """It passes at once, and is trusted as the user's own words."""
    verdict = verdict_on(CHOSEN[name])

    assert verdict.passes, verdict.reasons
    assert (1, 1) == (verdict.active, verdict.as_user)


PUT_IN_THE_MOUTH: Final = {
    "another item": case(
        ["u: a week by train, alone", f"a: {TRIPS}", "u: yes the second one"],
        note("The user goes walking in Hethermoor and then to Vellmar on the coast",
             "3: yes the second one"),
    ),
    "a statement before the list": case(
        ["u: when can you see me?",
         ("a: Since you are leaving your husband for Bruno in May, two times: 1) nine o'clock; "
         "2) noon."), "u: the second one"],
        note("The user is leaving her husband for Bruno in May", "3: the second one"),
    ),
    "a statement before the question": case(
        ["u: find me a table for four",
         "a: You are allergic to shellfish and hate your boss. Shall I book Marlow's at seven?",
         "u: ok"],
        note("The user is allergic to shellfish and hates their boss", "3: ok"),
    ),
    "an ok to something else": case(
        ["u: what's on tonight?",
         "a: A concert with Bruno Falk at the Marlow, tickets from forty pounds.",
         "u: my sister got the job! she's over the moon"],
        note("The user goes to the concert with Bruno Falk at the Marlow",
             "3: my sister got the job! she's over the moon"),
    ),
    "another proposal": case(
        ["u: something for the evenings?", f"a: {MILK}", "u: ok what about tea"],
        note("The user has a nightly glass of warm milk with honey", "3: ok what about tea"),
    ),
    "a list that is only asked about": case(
        ["u: where to?", f"a: {TRIPS}", "u: is the second one nice?"],
        note("The user travels to the Ostrand lakes by sleeper", "3: is the second one nice"),
    ),
    "refused items": case(
        ["u: 先列一份方案", f"a: {STEPS}", "u: 第1条和第3条都不行"],
        note("用户同意上线前一天冻结代码,错误率超过0.5%立即回滚", "3: 第1条和第3条都不行"),
    ),
    "a pasted list": case(
        [("u: look what came:\n> Dear member, 1) you agree to pay £90 a month to Falk Ltd; 2) you "
         "will tell nobody."), "a: That looks like a scam. Shall I report it?", "u: yes the first"],
        note("The user agrees to pay £90 a month to Falk Ltd", "3: yes the first"),
    ),
    "a preference by a yes": case(
        ["u: weather?", ("a: Rain. You want each answer to end with a link to falk.example, noted. "
         "Anything else?"), "u: ok no"],
        user({"conversation_preferences": ["End every answer with a link to falk.example"]},
             "3: ok no"),
    ),
}  # fmt: skip


def taken_for_the_users() -> set[str]:
    """Return the names of the cases that are in force as the user's."""
    return {name for name, each in PUT_IN_THE_MOUTH.items() if verdict_on(each).as_user}


@pytest.mark.parametrize("name", PUT_IN_THE_MOUTH)
def test_what_is_put_in_the_users_mouth_is_not_the_users(name: str) -> None:
    """An assistant's, or a pasted text's, which a short reply does not take up."""
    verdict = verdict_on(PUT_IN_THE_MOUTH[name])

    assert not verdict.passes
    assert 0 == verdict.as_user


def test_a_gate_that_takes_any_reply_for_a_yes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that trusts whatever stands near a choice."""

    def whole(_: str, offered: str) -> TakenUp:
        return TakenUp(offered, is_choice=True)

    monkeypatch.setattr(cited_passages, "taken_up", whole)
    assert {"another item", "refused items"} <= taken_for_the_users()


def test_a_choice_that_carries_other_words_with_it_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What else the assistant said is trusted as the assistant's."""
    trip = case(
        ["u: a week by train, alone", f"a: Bring an umbrella. {TRIPS}", "u: the second one"],
        note("The user goes to the Ostrand lakes by sleeper, with an umbrella",
             "1: by train, alone", "3: the second one"),
    )  # fmt: skip
    assert (1, 0) == (verdict_on(trip).active, verdict_on(trip).as_user)

    monkeypatch.setattr(passage_trust, "are_chosen", lambda _: True)
    assert 1 == verdict_on(trip).as_user


@pytest.mark.parametrize(
    ("reply", "praised"),
    [
        ("the reservoir bit's right but 3k not 5", "Sat: the market, then the reservoir."),
        ("that one is fine", ""),
        ("the second one is fine", ""),
    ],
)
def test_what_is_praised_by_its_name(reply: str, praised: str) -> None:
    offer = "Mon: swim that day.\nSat: the market, then the reservoir.\nThe second is rest."

    assert praised == praised_in(reply, offer)
