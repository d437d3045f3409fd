"""The model of rules in talk: likings said twice or taken back, greetings, and since when."""

import asyncio
from datetime import UTC, datetime
from typing import Final

import pytest

import recollect
from recollect.chat import Chatbot
from recollect.formation.question_parts import without_opening
from recollect.formation.rule_model import RuleModel
from tests.harness.rule_chat import answer_after

TAKEN_BACK: Final = [
    (("I like tea.", "I like rowing.", "I don't like tea any more."), ["rowing"]),
    (("I like tea. I like tea.",), ["tea"]),
    (("我喜歡爬山和游泳", "我已經不爬山了，膝蓋不好。"), ["游泳"]),
    (("我喜欢咖啡", "我喜欢划船", "我不喜欢咖啡了"), ["划船"]),
]
QUESTIONS: Final = [
    ("Hi, where do I live?", "where do I live?"),
    ("hello! where do I live?", "where do I live?"),
    ("ok so where do i live", "where do i live"),
    ("Can you tell me where I live?", "where I live?"),
    ("嗨，我住在哪里？", "我住在哪里？"),
    ("請問我住在哪裡", "我住在哪裡"),
    ("Where do I live?", "Where do I live?"),
    ("Hi, I live in Oslo.", "Hi, I live in Oslo."),
    ("Is tea good?", "Is tea good?"),
]


@pytest.mark.parametrize(("said", "left"), TAKEN_BACK)
def test_a_liking_leaves_the_profile_where_it_is_over(
    said: tuple[str, ...], left: list[str]
) -> None:
    async def scenario() -> None:
        async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
            for text in said:
                await memory.append("ana", "talk", [{"role": "user", "content": text}])
                await memory.form("ana")
            profile = await memory.get("ana", "User", "User")
            assert profile is not None
            assert profile.value["interests"] == left

    asyncio.run(scenario())


@pytest.mark.parametrize(("asked", "plain"), QUESTIONS)
def test_a_question_is_read_behind_its_greeting(asked: str, plain: str) -> None:
    assert without_opening(asked) == plain


def test_a_greeted_question_is_answered_and_a_liking_taken_back_is_not_quoted() -> None:
    async def scenario() -> None:
        model = RuleModel()
        async with recollect.open("memory:", embedder="none", model=model) as memory:
            bot = Chatbot(memory, model, "ana")
            await bot.reply("I live in Oslo.")
            await memory.form("ana")
            assert "Oslo" in await bot.reply("Hi, where do I live?")
            await bot.reply("I like tea.")
            await bot.reply("I don't like tea any more.")
            assert "“I like tea”" not in await bot.reply("What do I like?")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Since when do I live in Oslo?", "3 May 2021"),
        ("我什么时候开始住在Oslo的？", "2021年5月3日"),
    ],
)
def test_since_when_is_answered_by_the_message_that_told_it(asked: str, told: str) -> None:
    """A profile has no day; the words it rests on have one."""

    async def scenario() -> str:
        model = RuleModel()
        async with recollect.open("memory:", embedder="none", model=model) as memory:
            said = datetime(2021, 5, 3, tzinfo=UTC)
            message = recollect.NewMessage(role="user", text="I live in Oslo.", time=said)
            await memory.append("ana", "talk", [message])
            await memory.form("ana")
            return await Chatbot(memory, model, "ana").reply(asked)

    assert told in asyncio.run(scenario())


@pytest.mark.parametrize(
    ("talk", "asked", "told"),
    [
        (("I have two cats, Biscuit and Toast",), "What are my cats called?", "Biscuit and Toast"),
        (("My kids are Ann and Leo.",), "What are my kids' names?", "Ann and Leo"),
        (("Biscuit is diabetic", "I like tea"), "What's wrong with Biscuit?", "diabetic"),
        (("Biscuit is diabetic", "I like tea"), "How is Biscuit doing?", "diabetic"),
        (("my sister Samira is having a baby in march",), "When is Samira's baby due?", "march"),
        (
            ("the boiler is due on 14 january", "I like tea"),
            "When is the boiler due?",
            "14 january",
        ),
        (("My kids are Ann and Leo. Leo broke his arm",), "What happened to Leo?", "his arm"),
        (("年糕肾不好", "我喜欢茶"), "年糕怎么样？", "肾不好"),
        (("I live in Oslo.", "I moved to Bergen.", "Where do I live?"), "And before?", "Oslo"),
        (("我住在上海", "我搬到苏州了", "我住在哪里？"), "那以前呢？", "上海"),
        (("I'm allergic to penicillin", "I like tea"), "What can't I take?", "penicillin"),
        (("我对芒果过敏", "我喜欢茶"), "我不能吃什么？", "芒果"),
        (("My car is a red Corsa, plate KX19 ABC",), "What's my number plate?", "KX19"),
        (("I usually drink oat milk lattes",), "What do I drink?", "oat milk"),
        (("My boss Carla leaves at the end of May",), "When does Carla leave?", "end of May"),
        (("We see the dentist at 4pm", "actually it's at 5pm"), "What time is the dentist?", "5pm"),
        (("下周三带儿子去看牙", "不对，是周四"), "看牙是哪天？", "周四"),
        (("My girlfriend is Noor", "Noor and I broke up"), "Who is my girlfriend?", "broke up"),
        (("明年去云南旅游", "云南不去了"), "我还去云南吗？", "不去了"),
        (
            ("The trip to Rome is on 5 May", "The trip to Rome is off"),
            "When is the trip?",
            "is off",
        ),
        (("我在成都做护士", "我换工作了，现在在社区医院"), "我在哪工作？", "社区医院"),
        (
            (
                "Our daughter Lily starts school in September",
                "She's allergic to eggs",
                "I like tea",
            ),
            "What is Lily allergic to?",
            "In this talk you said: “Our daughter Lily starts school in September … She's allergic",
        ),
        (
            ("My favourite colour is green", "it's blue actually"),
            "What's my favourite colour?",
            "blue",
        ),
        (("We moved house! We're in Bristol now",), "Where do I live?", "Bristol"),
        (("I teach piano in Bath",), "Do you remember my job?", "piano"),
        (("I bought a phone for 300 euros",), "What is my phone number?", "nothing"),
        (("We see the dentist at 4pm", "oh it's Tuesday"), "What time is the dentist?", "4pm”."),
        (("I like tea",), "And before?", "nothing"),
        (("I've got two kids, Milo who's 6 and Ivy who's 3",), "How old is Ivy?", "3"),
        (("I've got two kids, Milo who's 6 and Ivy who's 3",), "Do I have kids?", "Milo"),
        (("I run a small flower shop in Leeds", "I like tea"), "What's my job?", "flower shop"),
        (("Milo is allergic to nuts",), "What does Milo need to avoid?", "nuts"),
        (("I can't stand coriander",), "What food do I hate?", "coriander"),
        (
            ("My mum lives in Whitby", "My mum moved in with us"),
            "Where does my mum live now?",
            "moved in with us",
        ),
        (("My mum lives in Whitby", "My husband Raj is a nurse"), "Tell me about my family", "Raj"),
        (("我妈住在青岛", "我老公是护士", "我喜欢茶"), "我的家人呢？", "护士"),
        (("I like tea", "My cat is ill"), "Tell me about my family", "nothing"),
        (("My name's Tom but everyone calls me Tommo",), "What should you call me?", "Tommo"),
        (("I live with my girlfriend Kez in Hull",), "Where do I live?", "home: Hull"),
        (("I live with my girlfriend Kez in Hull",), "What's my girlfriend called?", "Kez"),
        (("The brake pads are 180 quid",), "How much are the brake pads?", "180"),
        (("I usually wake up at 4",), "What time do I get up?", "at 4"),
        (("I owe my brother 50 quid",), "Who do I owe money to?", "brother"),
        (("I owe my brother 50 quid",), "How much do I owe my brother?", "50 quid"),
        (
            ("I owe my brother 50 quid", "Paid my brother back today"),
            "Do I still owe my brother money?",
            "back today",
        ),
        (("I owe my brother 50 quid",), "Who do I live with?", "nothing"),
        (("I come from Sapporo", "I like tea"), "Where am I from?", "Sapporo"),
        (("I turn 22 on June 9",), "When is my birthday?", "June 9"),
        (("I share a flat with Niamh and Jorge",), "Who do I live with?", "Niamh"),
        (("My tutor is called Mr. Byrne",), "Who is Mr. Byrne?", "tutor"),
        (("I lost my blue umbrella on the bus",), "What colour is my umbrella?", "blue"),
        (("My umbrella is on the bus",), "What colour is my umbrella?", "nothing"),
        (("I have to pay rent on the first",), "When do I pay rent?", "on the first"),
        (
            ("I lost my blue umbrella on the bus", "Found my umbrella! It was at the cafe"),
            "Where is my umbrella?",
            "at the cafe",
        ),
        (("我的车是白色的",), "我的车是什么颜色？", "白色"),
        (("我叫陈立,今年35",), "我几岁?", "年龄：35"),
        (("豆包对鸡蛋过敏",), "豆包不能吃什么?", "鸡蛋"),
        (("我欠老王三千块",), "我欠谁钱?", "老王"),
        (("我欠老王三千块",), "我欠老王多少钱?", "三千"),
        (("我欠老王三千块", "钱还给老王了"), "我还欠老王钱吗?", "还给老王"),
        (("周六带豆包去打疫苗", "疫苗改到周日上午了"), "什么时候打疫苗?", "周日"),
        (("我们有个儿子,小名豆包,五岁了", "豆包上周满六岁了"), "豆包几岁了?", "六岁"),
        (("我是测试工程师", "我升职了,现在是测试主管"), "我现在做什么?", "主管"),
        (("我老婆是老师", "我喜欢茶"), "说说我的家人", "老师"),
        (("我不怎么喜欢吃辣",), "我不喜欢吃什么？", "吃辣"),
        (("我老公是的士司机",), "我老公做什么工作？", "司机"),
        (("My favourite colour is teal",), "What colour do I like?", "teal"),
        (("My favourite colour is teal",), "What's my favorite color?", "teal"),
        (("My favourite colour is teal", "I like pizza"), "What's my favourite food?", "pizza"),
        (("My favourite colour is teal",), "What's my favourite food?", "nothing"),
        (("My sister hates boats",), "Does my sister like boats?", "hates boats"),
        (("My brother hates boats",), "Does my sister like boats?", "nothing"),
        (("我妹妹討厭坐船",), "我妹妹喜不喜歡坐船？", "討厭坐船"),
        (("I have a dog called Bolle, he's a 4 year old staffy",), "How old is Bolle?", "4 year"),
        (("We've a labrador named Guinness",), "What's my dog's name?", "Guinness"),
        (("We've a labrador named Guinness",), "What breed is my dog?", "labrador"),
        (("我的狗叫豆豆，四歲的米克斯",), "我的狗是什麼品種？", "米克斯"),
        (("We're going to Texel in July with Anke",), "Where are we going in July?", "Texel"),
        (("We're going to Texel in June with Anke",), "Where are we going in July?", "nothing"),
        (("I'm coeliac so no gluten for me",), "What am I allergic to?", "coeliac"),
        (("我对海鲜过敏",), "我有什么忌口？", "海鲜"),
        (("I take 50 mg of sertraline",), "What medication do I take?", "sertraline"),
        (("I take the bus at 8",), "What medication do I take?", "nothing"),
        (("My wife is a nurse", "My car is red"), "What do you know about my family?", "nurse"),
        (("房租四千二", "房租涨到四千五了"), "以前房租多少？", "四千二"),
        (("房租四千二",), "以前房租多少？", "没有找到"),
        (("我女朋友叫小艾，是牙医", "小艾和我分手了"), "我女朋友叫什么？", "分手"),
        (("我女朋友叫小艾，是牙医", "小李辞职了"), "我女朋友叫什么？", "牙医”。"),
        (("女友是小學老師，叫宜庭", "我喜歡茶"), "我女朋友叫什麼？做什麼的？", "宜庭"),
        (("我在竹科當工程師", "我姐叫阿美"), "我女朋友叫什麼？", "沒有找到"),
        (("最愛喝無糖綠",), "我喜歡喝什麼？", "無糖綠"),
        (("喜宴一桌一萬六",), "一桌多少錢？", "一萬六"),
        (("喜宴在一桌旁邊辦",), "一桌多少錢？", "沒有找到"),
        (("每週三晚上打羽球",), "我禮拜幾打球？", "每週三"),
        (("我們三月要結婚，在台南辦", "喜宴改在高雄了"), "婚禮在哪裡？", "高雄"),
        (("My rent is 700",), "What was my rent before?", "nothing"),
        (
            ("The trip costs 840 euros", "Scratch that, the trip is 910 euros"),
            "What does the trip cost?",
            "910",
        ),
        (
            ("The trip costs 840 euros", "Scratch that, the trip is 910 euros"),
            "What did the trip cost before?",
            "840",
        ),
        (("旅费是八千块", "不对，旅费是九千块"), "旅费多少钱？", "九千"),
        (("旅费是八千块", "不对，旅费是九千块"), "以前说旅费多少？", "八千"),
        (("I drink oat milk",), "What may I drink?", "oat milk"),
        (("I hate olives",), "Do you know what I like?", "nothing"),
        (("我讨厌香菜",), "你知道我喜欢什么吗？", "没有找到"),
        (("I hate olives",), "Do I like olives?", "hate"),
        (
            ("The trip costs 840 euros", "Actually the boat trip is 90 euros too"),
            "What does the trip cost?",
            "840",
        ),
        (("I have two cats, one Maine Coon",), "What are my cats called?", "nothing"),
        (("We have a Fiat and a Volvo", "I sold the Volvo"), "Do we have a Volvo?", "sold"),
        (("我們有一台豐田一台福特車", "福特賣掉了"), "我們有什麼車？", "賣掉"),
        (("我養了兩隻貓,一隻叫咪咪一隻叫橘子", "咪咪送人了"), "我有幾隻貓?", "送人"),
        (("My boss is called Henk", "no, his name is Hank"), "Who is my boss?", "Hank"),
        (("我老闆叫陳大文", "不對,他叫陳大民"), "我老闆是誰?", "陳大民"),
        (("I like hiking, sushi and old films",), "What do I like?", "hiking, sushi, old films"),
        (("I'm allergic to peanuts and cats",), "What should I avoid?", "peanuts and cats"),
        (("The cat is allergic to chicken",), "What should I avoid?", "nothing"),
        (("I weigh 82 kilos", "I like tea"), "How much do I weigh?", "82"),
        (("I'm a night-shift baker in Cork",), "What do I do for work?", "night-shift baker"),
        (("I'm a friend of a baker in Cork",), "What do I do for work?", "nothing"),
        (("I get migraines from red wine",), "What gives me migraines?", "red wine"),
        (("I pay 900 rent",), "How much rent do I pay?", "900"),
        (("I pay 900 rent", "rent went up to 950"), "How much rent do I pay?", "950”."),
        (("I bought the bike in 2021",), "How much was the bike?", "nothing"),
        (("I'm learning Irish", "I gave up Irish"), "What am I learning?", "gave up"),
        (("我體重82公斤",), "我多重?", "82"),
        (("我叫阿哲，在新竹做夜班保全",), "我做什麼工作？", "夜班保全"),
        (("我喝紅酒會頭痛",), "什麼會讓我頭痛？", "紅酒"),
        (("我房東姓陳，電話0912345678",), "房東電話幾號？", "0912345678"),
        (("我在學韓文", "我不學韓文了，改學日文"), "我在學什麼？", "日文"),
        (("我女兒今年上小一，叫小米",), "我女兒幾年級？", "小一"),
        (("我女兒叫小米",), "我女兒幾年級？", "沒有找到"),
        (("I'm 180 cm", "I'm 34"), "How tall am I?", "180"),
        (("I'm 34",), "How tall am I?", "nothing"),
        (("我身高一米七",), "我多高？", "一米七"),
    ],
)
def test_what_was_told_in_other_words_is_found(
    talk: tuple[str, ...], asked: str, told: str
) -> None:
    """By the names behind "cats", whatever is told of one named, and the question before."""
    assert told in asyncio.run(answer_after(talk, asked))


def test_a_former_home_of_this_talk_is_not_told_as_so() -> None:
    answer = asyncio.run(
        answer_after(("I live in Oslo.", "I moved to Bergen."), "What do you know about me?")
    )

    assert "Bergen" in answer
    assert "Oslo" not in answer


@pytest.mark.parametrize(
    ("first", "later", "value", "quote"),
    [
        ("My name is Bea and I live in Turku.", "I moved to Tampere.", "Tampere", None),
        ("我叫陳雅婷，住在台南。", "我搬到台中了。", "台中", "我搬到台中"),
    ],
)
def test_a_field_rests_on_the_words_for_its_last_value_alone(
    first: str, later: str, value: str, quote: str | None
) -> None:
    """One formation reads both messages; the former home is no evidence for the new one."""
    with recollect.open_sync("memory:", embedder="none", model=RuleModel(), worker=False) as memory:
        for text in (first, later):
            memory.append("ana", "talk", [{"role": "user", "content": text}])
        memory.form("ana")
        profile = memory.get("ana", "User", "User")

    assert profile is not None
    assert value == profile.value["home"]
    assert [quote or later.rstrip(".")] == [each.quote for each in profile.evidence["/home"]]


@pytest.mark.parametrize(
    ("said", "told"),
    [("🎉", "我在"), ("忘記我姐姐", "我不能在對話裡抹除"), ("謝謝你，真貼心！", "不客氣")],
)
def test_a_talk_in_chinese_is_answered_in_chinese(said: str, told: str) -> None:
    """A sign without a word as well, and what is to be forgotten."""

    async def scenario() -> str:
        model = RuleModel()
        async with recollect.open("memory:", embedder="none", model=model) as memory:
            bot = Chatbot(memory, model, "ana")
            await bot.reply("我有一個姐姐叫小敏，她養了一隻貓。")
            return await bot.reply(said)

    assert told in asyncio.run(scenario())
