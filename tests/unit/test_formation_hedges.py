"""Doubt, hearsay and plain words: thirty sentences of each in English and both Chinese scripts."""

import re
from typing import Final

import pytest

from benchmarks.support import verdict_on
from recollect.formation.grounding import hedges
from recollect.formation.grounding.hedges import hearsay_in, hedges_in, keeps_hedge
from tests.harness.answer_cases import case, note

HEDGED: Final = {
    "english": """
        I think we're moving to Leeds in June.
        Maybe I'll sell the car next month.
        I might take the job in Hamburg.
        I'm not sure if the flight is on Tuesday.
        Perhaps my sister is coming for Easter.
        We'll probably get a second dog.
        My brother says the flat costs 900 a month.
        I heard that Priya left the company.
        Apparently the clinic closes in August.
        It seems I've lost my passport.
        I guess the dentist is on Friday.
        I suppose we could meet in Porto.
        I don't think I'm allergic to penicillin.
        I may switch to decaf.
        He told me the school starts at nine.
        According to my landlord the boiler is new.
        Supposedly my cousin has married.
        I'm considering a move to Lisbon.
        I'm thinking of quitting my job.
        I believe the meeting is on the 12th.
        Possibly I'll train for a marathon.
        I can't remember whether it was 2019 or 2020.
        If I remember correctly, he was born in Turin.
        Not certain yet, but the wedding could be in May.
        They say the new line opens in March.
        Rumour has it that our office moves to Bath.
        I wonder whether I have a nut allergy.
        I doubt we'll stay in this flat.
        She claims she paid the rent.
        I was told the visa takes three months.
    """,
    "simplified": """
        我可能下个月搬去杭州。
        也许周五不去上班了。
        大概要花三千块吧。
        听说小李辞职了。
        据说新地铁三月开通。
        我好像对花生过敏。
        应该是下周三考试。
        恐怕这周回不了家。
        说不定明年结婚。
        没准我会换工作。
        我估计要住院三天。
        我猜他是四川人。
        我记得好像是五月出生的。
        似乎要下雨，可能不去爬山了。
        不确定航班是几点。
        我还没想好去不去北京。
        我妈说她要搬过来住。
        我朋友说那家公司要裁员。
        有人说这药不能跟牛奶一起吃。
        他告诉我学校九点开门。
        按房东的说法，锅炉是新的。
        我不太清楚要不要办签证。
        我觉得他是去年搬走的。
        如果没记错，是2019年买的房。
        我打算考虑换个手机，但不一定。
        或许我们会养一只狗。
        网上说这个牌子不好。
        我怀疑自己乳糖不耐受。
        传闻公司要搬到苏州。
        也不知道是不是周二开会。
    """,
    "traditional": """
        我可能下個月搬去高雄。
        也許週五不去上班了。
        大概要花三千塊吧。
        聽說小李離職了。
        據說新捷運三月通車。
        我好像對花生過敏。
        應該是下週三考試。
        恐怕這週回不了家。
        說不定明年結婚。
        搞不好我會換工作。
        我估計要住院三天。
        我猜他是屏東人。
        我記得好像是五月出生的。
        似乎要下雨，可能不去爬山了。
        不確定班機是幾點。
        我還沒想好去不去臺北。
        我媽說她要搬過來住。
        我朋友說那家公司要裁員。
        有人說這藥不能跟牛奶一起吃。
        他跟我講學校九點開門。
        照房東的說法，熱水器是新的。
        我不太清楚要不要辦簽證。
        我覺得他是去年搬走的。
        如果沒記錯，是2019年買的房。
        我在想要不要換手機，還沒決定。
        或許我們會養一隻狗。
        網路上說這個牌子不好。
        我懷疑自己乳糖不耐。
        傳聞公司要搬到新竹。
        八成是週二開會。
    """,
}

PLAIN: Final = {
    "english": """
        Do you think I should sell my Honda?
        What do you think of my new bike?
        I live in Leeds with two cats.
        My birthday is on 12 May.
        Please answer in short sentences.
        I moved to Hamburg in May.
        My doctor says I am allergic to nuts.
        Could you book a table for four?
        I think hiking is great.
        I said no to the offer.
        Can you tell me how to cook rice?
        You told me about a boat last week.
        My sister Anna lives in Rome.
        I'm sure the exam is on Friday.
        I know that the shop is closed.
        We definitely leave on Monday.
        I may not eat pork for religious reasons.
        Should I tell my boss that I quit?
        My phone number is 555 0142.
        I want to learn the cello.
        Honda builds my favourite bikes.
        Do people think my CV is too long?
        I thought about it and I took the job.
        Remember that I like dark chocolate.
        I work as a nurse at St James.
        My car is a blue Honda Civic.
        Let me think: I have three nephews.
        Tell Maria that I said hello.
        I have told everyone that we are getting married.
        Does my landlord have to say why?
    """,
    "simplified": """
        请尽可能用简体中文回答。
        我不可能吃辣。
        我住在杭州，养了两只猫。
        我的生日是五月十二号。
        我下个月搬去广州。
        医生说我对花生过敏。
        你觉得我该卖掉我的本田吗？
        你说过要帮我订票。
        我肯定周五到。
        我一定要学会大提琴。
        能不能告诉我怎么煮米饭？
        我觉得爬山很有趣。
        我姐姐叫林晓，住在成都。
        我昨天买了一辆自行车。
        我在医院当护士。
        回答要简短一点。
        我说的是上海，不是北京。
        我不喝咖啡。
        我可以周三开会。
        我明确告诉过老板我要辞职。
        我好喜欢像样的咖啡馆。
        我的手机号是13800000000。
        我每天六点起床。
        我有三个侄子。
        我好想去冰岛看极光。
        应该怎么申请签证？
        我估算过了，一共三千块。
        这种可能性我不考虑。
        告诉小王我明天到。
        我女儿今年上小学。
    """,
    "traditional": """
        請盡可能用繁體中文回答。
        我不可能吃辣。
        我住在高雄，養了兩隻貓。
        我的生日是五月十二號。
        我下個月搬去臺中。
        醫生說我對花生過敏。
        你覺得我該賣掉我的本田嗎？
        你說過要幫我訂票。
        我肯定週五到。
        我一定要學會大提琴。
        能不能告訴我怎麼煮飯？
        我覺得爬山很有趣。
        我姊姊叫林曉，住在臺南。
        我昨天買了一輛腳踏車。
        我在醫院當護理師。
        回答要簡短一點。
        我說的是新竹，不是苗栗。
        我不喝咖啡。
        我可以週三開會。
        我明確告訴過老闆我要離職。
        儘可能不要用表情符號。
        我的手機號碼是0912000111。
        我每天六點起床。
        我有三個姪子。
        我好想去冰島看極光。
        應該怎麼申請簽證？
        我估算過了，一共三千塊。
        這種可能性我不考慮。
        告訴小王我明天到。
        我女兒今年上小學。
    """,
}


def sentences(written: str) -> list[str]:
    """Return the thirty sentences of one script."""
    found = [each.strip() for each in written.strip().splitlines()]
    assert len(set(found)) == 30
    return found


@pytest.mark.parametrize("script", HEDGED)
def test_every_doubt_is_seen(script: str) -> None:
    """Of doubt, of hearsay, of what is being weighed."""
    assert [] == [each for each in sentences(HEDGED[script]) if not hedges_in(each)]


@pytest.mark.parametrize("script", PLAIN)
def test_no_doubt_is_seen_where_there_is_none(script: str) -> None:
    """In questions, opinions, preferences, and words that only look like doubt."""
    assert [] == [(each, hedges_in(each)) for each in sentences(PLAIN[script]) if hedges_in(each)]


@pytest.mark.parametrize(
    ("value", "quote", "kept"),
    [
        ("Is moving to Lisbon next year", "I'm considering a move to Lisbon", False),
        ("Plans a move to Lisbon", "I'm considering a move to Lisbon", True),
        ("Plans a move to Lisbon", "I think I'm moving to Lisbon", False),
        ("用户决定了换一个新手机", "我在想要不要换手机", False),
        ("用户想换一个新手机", "我在想要不要換手機", True),
        ("使用者偏好盡可能用繁體中文回答", "請盡可能用繁體中文回答", True),
        ("用户偏好简体中文的回答", "请尽可能用简体中文回答", True),
        ("使用者下個月要搬去高雄", "我可能下個月搬去高雄", False),
        ("阿明叔叫用戶冬天糖水不要太稀", "阿明叔講話了,他說冬天糖水不要太稀", True),
        ("冬天糖水不要太稀，這叫餵蜂", "阿明叔講話了,他說冬天糖水不要太稀", False),
    ],
)
def test_a_value_keeps_what_is_weighed(value: str, quote: str, *, kept: bool) -> None:
    """As wanted or planned; what is doubted stays doubted."""
    assert kept is keeps_hedge(value, quote)


@pytest.mark.parametrize(
    "text", ["Do you think I should sell my Honda?", "I've heard great things about it"]
)
def test_a_question_and_praise_are_no_hearsay(text: str) -> None:
    """Nobody's words are reported."""
    assert not hearsay_in(text)


@pytest.mark.parametrize(
    ("text", "is_doubt"),
    [
        ("Scones, of course, why didn't I think of it", False),
        ("the spare key! Why didn’t I guess", False),
        ("how didnt i suspect that sooner", False),
        ("how couldn't I imagine it, a surprise party", False),
        ("why did I think he'd moved to Leeds", True),
        ("she doesn't i think eat meat", True),
        ("he didn't I guess move after all", True),
        ("why didn't I ask, I think he lives in Oslo", True),
        ("I don't think he eats meat", True),
    ],
)
def test_an_exclamation_in_hindsight_is_no_doubt(text: str, *, is_doubt: bool) -> None:
    """That nobody thought of a thing doubts nothing of it."""
    assert is_doubt is bool(hedges_in(text))


RAISE: Final = "my boss said he'd put me on 32k, the first one landed in May"
RAISE_IN_CHINESE: Final = "他说给我涨到八千，原来六千五，这个月收到了第一笔"
FULFILLED: Final = [
    ("The user's boss put the user on 32k; the first payment landed in May", RAISE),
    ("The landlord pays for the boiler: the money came through",
     "she said she'd pay me for the boiler and it's come through now"),
    ("老板给用户涨到八千，原来六千五，2025年3月收到了第一笔", RAISE_IN_CHINESE),
    ("主任幫用戶加薪到四萬二，五月已經入帳", "她說幫我加到四萬二，五月已經入帳"),
]  # fmt: skip
UNFULFILLED: Final = [
    ("The user's boss put the user on 32k", RAISE),
    ("The user earns 32k, which landed", "my boss said he'd put me on 32k, it hasn't landed yet"),
    ("The user earns 32k, which landed", "my boss said he'd put me on 32k and that it landed"),
    ("The user earns 32k, which landed", "my boss said he'd put me on 32k, he says it landed"),
    ("The user earns 32k, which landed", "my boss said he'd maybe put me on 32k, my pay landed"),
    ("The house is haunted; the pay landed", "my boss said the house is haunted, my pay landed"),
    ("用户工资涨到八千", RAISE_IN_CHINESE),
    ("用户工资涨到八千，五月到账了", "他说给我涨到八千，这个月还没到账"),
    ("用户工资涨到八千，五月到账了", "他说工资八千五月到账了"),
    ("用户工资涨到八千，五月到账了", "他说给我涨到八千，他说五月到账了"),
]


@pytest.mark.parametrize(("value", "quote"), FULFILLED)
def test_a_promise_that_came_true_is_no_hearsay(value: str, quote: str) -> None:
    """If the value says that it came true."""
    assert keeps_hedge(value, quote)


@pytest.mark.parametrize(("value", "quote"), UNFULFILLED)
def test_a_promise_that_may_be_empty_stays_hearsay(value: str, quote: str) -> None:
    """As does what has nothing to do with the user."""
    assert not keeps_hedge(value, quote)


@pytest.mark.parametrize(("value", "quote"), FULFILLED)
def test_no_doubt_is_lost_of_a_promise_that_came_true(value: str, quote: str) -> None:
    """Nor is the memory trusted less for it."""
    told = verdict_on(case([f"u: {quote}"], note(value, f"1: {quote}")))

    assert ((), 1) == (told.reasons, told.as_user)


def test_a_promise_that_is_always_kept_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants ask for no promise, and see no sign that it is still empty."""
    for name, pattern in (("_PROMISED", ""), ("_UNFULFILLED", "(?!)")):
        with monkeypatch.context() as mutant:
            mutant.setattr(hedges, name, re.compile(pattern))
            assert any(keeps_hedge(*each) for each in UNFULFILLED)


CONDITION: Final = "she said yes if I take Zosia to her orthodontist on the 30th"
CONDITION_IN_CHINESE: Final = "她说可以 只要我三十号带女儿去看牙"
AGREED: Final = [
    ("The user must take Zosia on the 30th, as agreed with her mother", CONDITION),
    (
        "Takes Zosia to the orthodontist in return, by agreement with her mother: he has to",
        CONDITION,
    ),
    ("The bike goes into the hall, as agreed with the landlord", "my landlord said ok to the hall"),
    ("用户三十号要带女儿看牙，和她妈妈约好的", CONDITION_IN_CHINESE),
    ("用戶三十號要帶女兒看牙，跟她媽媽講好的", "她說可以 只要我三十號帶女兒去看牙"),
]
NOT_AGREED: Final = [
    ("The user takes Zosia to her orthodontist on the 30th", CONDITION),
    ("The user gets an extra week, as agreed with her mother", CONDITION),
    ("The house is haunted, as agreed with the sister", "my sister says the house is haunted"),
    ("The user moves in June, as agreed with the boss", "maybe the boss says yes to June"),
    ("用户得到多一周，没有条件", CONDITION_IN_CHINESE),
]


@pytest.mark.parametrize(("value", "quote"), AGREED)
def test_what_was_agreed_is_told_as_such(value: str, quote: str) -> None:
    """With whom, and what it depends on."""
    assert keeps_hedge(value, quote)


@pytest.mark.parametrize(("value", "quote"), NOT_AGREED)
def test_a_condition_is_not_lost(value: str, quote: str) -> None:
    """As is what somebody thinks, or may agree to."""
    assert not keeps_hedge(value, quote)


def test_an_agreement_that_excuses_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants ask for no duty, and know no agreement."""
    with monkeypatch.context() as mutant:
        mutant.setattr(hedges, "_DUTY", re.compile(""))
        assert any(keeps_hedge(*each) for each in NOT_AGREED)
    monkeypatch.setattr(hedges, "_AGREED", re.compile("(?!)"))

    assert not any(keeps_hedge(*each) for each in AGREED[:2])
