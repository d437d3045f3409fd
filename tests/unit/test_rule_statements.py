"""The rules read plain statements about the speaker, in both scripts of Chinese, and no others."""

import re
from types import ModuleType

import pytest

import recollect
from recollect.formation import rule_patterns as english
from recollect.formation import rule_patterns_chinese as chinese
from recollect.formation import rule_statements
from recollect.formation.rule_statements import asked_in, statements_in
from recollect.text.chinese_scripts import simplified

NEVER = re.compile("(?!)")
CELLO = "I've taken up the cello since last week; my teacher is called Duarte"

STATED = [
    (
        "I like to hide my passport in the piano.",
        [("note", "I like to hide my passport in the piano")],
    ),
    (f"Guess what, {CELLO}", [("note", CELLO)]),
    ("my husband's name is Tom", [("note", "my husband's name is Tom")]),
    ("now I work at the library", [("note", "now I work at the library")]),
    ("Dear assistant, I live in Oslo", [("home", "Oslo")]),
    ("Oh, by the way, I’m allergic to nuts.", [("note", "I’m allergic to nuts")]),
    ("btw my cat is called Tom", [("note", "my cat is called Tom")]),
    ("Don't forget my birthday is 3 May.", [("note", "my birthday is 3 May")]),
    ("I have just started swimming.", [("note", "I have just started swimming")]),
    ("I changed jobs in May.", [("note", "I changed jobs in May")]),
    ("So far I have two cats.", [("note", "So far I have two cats")]),
    ("I like heather honey best.", [("interests", "heather honey")]),
    ("I really love chess very much.", [("interests", "chess")]),
    ("I like tea but not coffee.", [("interests", "tea")]),
    (
        "I like tea, chess, and old films.",
        [("interests", e) for e in ("tea", "chess", "old films")],
    ),
    ("I like tea, not coffee and cake.", [("interests", "tea")]),
    ("I like fish and chips.", [("interests", "fish and chips")]),
    ("Well, I moved to Oslo.", [("home", "Oslo")]),
    ("We moved to Oslo in May.", [("home", "Oslo")]),
    ("we've just moved house to Oslo", [("home", "Oslo")]),
    ("We have just moved to Oslo.", [("home", "Oslo")]),
    ("We live in Oslo now", [("home", "Oslo")]),
    ("We moved to Slack last year.", []),
    ("We moved to Fridays.", []),
    ("We moved to Postgres in May.", []),
    ("My name is Tom, and I hope that helps.", [("user_name", "Tom")]),
    ("Update: I live in Oslo", [("home", "Oslo")]),
    (
        "hi! im Renske, i live in Groningen and work as a tram driver",
        [("user_name", "Renske"), ("home", "Groningen"), ("occupation", "tram driver")],
    ),
    ("i live in oslo and work as a baker", [("home", "oslo"), ("occupation", "baker")]),
    ("I'm Ana, 34, and live in Lyon", [("user_name", "Ana"), ("home", "Lyon")]),
    ("i'm 34 and a teacher", [("age", 34), ("occupation", "teacher")]),
    ("Hey, Sam here.", [("user_name", "Sam")]),
    ("I'm Dutch and live in Rome", [("home", "Rome")]),
    ("I work as a nurse in Lyon", [("occupation", "nurse")]),
    ("We've a labrador named Guinness", [("note", "We've a labrador named Guinness")]),
    ("I take 50 mg of zinc", [("note", "I take 50 mg of zinc")]),
]
STATED_WITH_FULL_STOPS = [
    (
        "My dentist is Dr. Hauge, every second Tuesday.",
        [("note", "My dentist is Dr. Hauge, every second Tuesday")],
    ),
    (
        "My bus leaves at 7.40 a.m. from stop No. 5, i.e. at Mrs. Lee's. I like tea.",
        [
            ("interests", "tea"),
            ("note", "My bus leaves at 7.40 a.m. from stop No. 5, i.e. at Mrs. Lee's"),
        ],
    ),
    (
        "My alarm rings at 6 a.m. I like tea.",
        [("interests", "tea"), ("note", "My alarm rings at 6 a.m")],
    ),
    ("My hero is J. K. Rowling.", [("note", "My hero is J. K. Rowling")]),
    ("I live in St. Gallen. Call me Dr. Who!", [("home", "St. Gallen"), ("user_name", "Dr. Who")]),
    ("I like Dr. Who.", []),
]
STATED_IN_CHINESE = [
    (
        "哈囉，我叫林美玲，跟先生和兩個小孩住在台中。",
        [("user_name", "林美玲"), ("home", "台中")],
    ),
    ("我上個月開始學游泳了，教練叫阿明。", [("note", "我上個月開始學游泳了，教練叫阿明")]),
    (
        "我養了一隻貓，牠叫湯圓，我住在高雄。",
        [("note", "我養了一隻貓，牠叫湯圓"), ("home", "高雄")],
    ),
    ("對了，我換了工作。", [("note", "我換了工作")]),
    ("跟你說，我對花生過敏！", [("note", "我對花生過敏")]),
    ("我不喜歡下雨天", [("note", "我不喜歡下雨天")]),
    ("話說我的貓叫湯圓", [("note", "我的貓叫湯圓")]),
    ("我媽對花生過敏", [("note", "我媽對花生過敏")]),
    ("我妹妹叫雅婷，住在臺中。", [("note", "我妹妹叫雅婷，住在臺中")]),
    ("你猜怎麼著，我搬到阿姆斯特丹了", [("home", "阿姆斯特丹")]),
    ("我搬到了成都。", [("home", "成都")]),
    ("我上週搬到高雄工作了", [("home", "高雄")]),
    ("我在高雄住了三年", []),
    ("我叫雅婷，今年三十二歲，住在臺中。", [("user_name", "雅婷"), ("age", 32), ("home", "臺中")]),
    ("我今年30歲，是國小老師", [("age", 30), ("occupation", "國小老師")]),
    ("我最喜歡蜂蜜了", [("interests", "蜂蜜")]),
    ("我非常喜歡爬山，但是不喜歡游泳。", [("interests", "爬山")]),
    ("我超愛吃火鍋的", [("interests", "吃火鍋")]),
    ("我來自臺南", [("note", "我來自臺南")]),
    ("我會說葡萄牙語", [("note", "我會說葡萄牙語")]),
    ("我從來不喝咖啡", [("note", "我從來不喝咖啡")]),
    ("我叫林小雨，我家在上海。", [("user_name", "林小雨"), ("home", "上海")]),
    ("我叫林小雨，家住上海。", [("user_name", "林小雨"), ("home", "上海")]),
    ("我家住台北市大安區", [("home", "台北市大安區")]),
    ("我搬家了，現在住在成都。", [("home", "成都")]),
    ("我搬到杭州了，住在西湖區。", [("home", "杭州")]),
    ("我住在西湖區", [("home", "西湖區")]),
    ("我住在上海，現在搬到杭州了", [("home", "上海"), ("home", "杭州")]),
    (
        "我不在字節跳動上班了，現在在 Anthropic 做產品經理。",
        [("occupation", "在 Anthropic 做產品經理")],
    ),
    ("我不在美團了，現在在 Stripe 工作。", [("occupation", "在 Stripe 工作")]),
    ("我在Google當工程師", [("occupation", "在Google當工程師")]),
    ("我喜歡爬山、壽司跟老電影", [("interests", e) for e in ("爬山", "壽司", "老電影")]),
    ("我上禮拜滿三十了", [("age", 30)]),
    ("我考試滿分了", []),
    ("我喜歡爬山和游泳", [("interests", "爬山"), ("interests", "游泳")]),
    ("我喜歡看貓和狗打架", [("interests", "看貓和狗打架")]),
    ("請用中文回答我", [("conversation_preferences", "用中文回答我")]),
    ("我喜歡爬山和看推理小說。", [("interests", "爬山和看推理小說")]),
    ("上週末我搬到桃園了。", [("home", "桃園")]),
    ("上週我們從朝陽區搬到了海淀區。", [("home", "海淀區")]),
    ("我剛從臺北搬來高雄。", [("home", "高雄")]),
    ("我不是住新竹市，是住竹北。", [("home", "竹北")]),
    ("我不是工程師，是設計師。", [("occupation", "設計師")]),
    ("我以前住在杭州，現在住蘇州工業園區。", [("home", "蘇州工業園區")]),
    ("我是小美，在北京當老師。", [("occupation", "在北京當老師")]),
    ("我在高雄當護理師", [("occupation", "在高雄當護理師")]),
    ("我是社工", [("occupation", "社工")]),
    ("大家都叫我阿明，我住臺北。", [("user_name", "阿明"), ("home", "臺北")]),
    ("叫我小美就好。", [("user_name", "小美")]),
    ("我們有一個女兒，叫朵朵。", [("note", "我們有一個女兒，叫朵朵")]),
    ("家裡還養了一隻橘貓，叫年糕。", [("note", "家裡還養了一隻橘貓，叫年糕")]),
    ("我有個女兒", [("note", "我有個女兒")]),
    ("不對，我是搬到竹北。", [("home", "竹北")]),
    ("我們家的狗叫皮皮", [("note", "我們家的狗叫皮皮")]),
    ("我超討厭蟑螂", [("note", "我超討厭蟑螂")]),
    ("我不敢吃香菜", [("note", "我不敢吃香菜")]),
    ("我養了幾年貓", [("note", "我養了幾年貓")]),
]
NOT_STATED = [
    "Remind me what I am allergic to",
    "Dear Anna, thank you. My sister lives in Lyon now. I live in Hamburg, they say",
    "我住在酒店",
    "我跟朋友说住在台中很好",
    "我和小王吵架后住在酒店",
    "親愛的安娜：我姐姐現在住在里昂，她是麵包師。我住在漢堡。",
    "I work with a friend and she works as a nurse",
    "I'm 2 and a half hours away",
    "I'm 5 and a bit over budget",
    "I live with friends and work as a team",
    "I'm Late and I live elsewhere",
    "I love the sort called Pingo de Mel.",
    "If I live in Oslo, I like snow.",
    "I wish I live in Oslo.",
    "Maybe I like chess.",
    "My sister said I live in Oslo.",
    "She wrote: I live in Lima.",
    "My riddle: I live in Lima.",
    'He asked "why not? I live in Lima. I like tea."',
    "I don't think I like tea.",
    "It is not true that I live in Oslo.",
    "When I have moved to Oslo, it is over.",
    "I'm a nurse's daughter.",
    "Do I like tea?",
    "Does my dog bark at night?",
    "Plan my week.",
    "I live in Oslo, I think.",
    "I'm a nurse, my mum said.",
    "I live in fear.",
    "I would hate it if my cat ran away.",
    "My opinion is the same.",
]
NOT_STATED_IN_CHINESE = [
    "我開始學游泳了嗎？",
    "我開始學游泳好不好",
    "我養了貓，你呢？",
    "我住在哪裡",
    "如果我養了貓，我會很開心",
    "要是搬到高雄就好了",
    "我想搬到高雄",
    "我希望我養了貓",
    "我明天搬到高雄",
    "我要搬到高雄了",
    "我沒搬到高雄",
    "我對花生不過敏",
    "我沒養貓",
    "我不是老師",
    "我是老師的學生",
    "我是他的老師",
    "我愛人是老師",
    "我媽說我喜歡貓",
    "我媽說，我對花生過敏",
    "聽說我搬到高雄了",
    "阿明說：「我上個月開始學游泳了。」",
    "他說：「很好。我養了貓。」",
    "我叫外賣",
    "我叫車去機場",
    "我叫他來",
    "我喜歡的顏色是藍色",
    "我喜歡你",
    "我住了三年",
    "我搬到樓上了",
    "我們搬到會議室了",
    "我快三十歲了",
    "幫我翻譯：我住在上海",
    "我在學校",
    "我有一個問題",
    "我三歲就會游泳",
    "我家在裝修",
    "我家在上海開店",
    "我家在小區裡",
    "我家在哪裡",
    "我媽說我家在上海",
    "如果我搬家了，住在成都就好了",
    "他搬家了，現在住在成都",
    "我想在Google當工程師",
    "我在哪家公司做經理",
    "我現在在家上班",
    "他說我喜歡爬山",
    "週末我搬到桃園",
    "我從來沒搬到過桃園",
    "我從臺北搬來和他住",
    "我想從臺北搬到高雄",
    "我不是怕狗，是沒時間",
    "我以前住在杭州，後來搬走了",
    "我是說真的，住在北京",
    "大家都叫我小心",
    "媽媽叫我阿明",
    "你叫我小聲點",
    "叫我起床",
    "我們有個問題",
    "我女兒幾年級",
    "我女兒幾個月",
    "我妹妹下週要幹嘛",
    "我的狗是貴賓還是柴犬",
    "家裡有點亂",
]


def told_in(words: str) -> list[tuple[str, str | int]]:
    """Return field and value of each statement."""
    return [(each.field, each.value) for each in statements_in(1, "user", words)]


@pytest.mark.parametrize(("words", "told"), STATED)
def test_a_statement_is_read_without_its_opening_and_degree(
    words: str, told: list[tuple[str, str | int]]
) -> None:
    assert told == told_in(words)


@pytest.mark.parametrize(("words", "told"), STATED_WITH_FULL_STOPS)
def test_the_full_stop_of_an_abbreviation_ends_no_sentence(
    words: str, told: list[tuple[str, str | int]]
) -> None:
    """A value that ends at one is not read: it would be cut."""
    assert told == told_in(words)


@pytest.mark.parametrize(("words", "told"), STATED_IN_CHINESE)
def test_both_scripts_of_chinese_state_the_same(
    words: str, told: list[tuple[str, str | int]]
) -> None:
    simple = [(name, simplified(each) if isinstance(each, str) else each) for name, each in told]

    assert sorted(told, key=str) == sorted(told_in(words), key=str)
    assert sorted(simple, key=str) == sorted(told_in(simplified(words)), key=str)


@pytest.mark.parametrize("words", [*NOT_STATED, *NOT_STATED_IN_CHINESE])
def test_what_is_not_said_of_oneself_as_so_states_nothing(words: str) -> None:
    """Questions, conditions, wishes, plans, denials and the words of others."""
    assert [] == told_in(words) == told_in(simplified(words))


@pytest.mark.parametrize(
    "words", [each for each, _ in (*STATED, *STATED_WITH_FULL_STOPS, *STATED_IN_CHINESE)]
)
def test_each_statement_quotes_the_message_exactly(words: str) -> None:
    assert all(each.quote in words for each in statements_in(1, "user", words))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (english, "NOT_MEANT"),
        (english, "NOT_MEANT_BEFORE"),
        (english, "NOT_MEANT_AFTER"),
        (english, "QUESTION"),
        (chinese, "NOT_MEANT"),
        (chinese, "QUESTION"),
        (rule_statements, "_QUOTED_BEFORE"),
    ],
)
def test_without_one_of_its_guards_it_states_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    """The mutants: each guard keeps something out that nothing else keeps out."""
    monkeypatch.setattr(module, name, NEVER)

    assert any(told_in(each) for each in (*NOT_STATED, *NOT_STATED_IN_CHINESE))


def test_questions_beside_a_statement_are_found() -> None:
    assert "Where did I live?" == asked_in("I moved to Oslo. Where did I live?")
    assert "" == asked_in("I moved to Oslo.")


@pytest.mark.parametrize(
    "words", ["我上個月開始學游泳了，教練叫阿明。", "我上个月开始学游泳了，教练叫阿明。"]
)
def test_news_in_chinese_become_a_memory_with_their_words(words: str) -> None:
    with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
        memory.append("lin", "talk", words)
        memory.form("lin")
        (note,) = memory.memories("lin").rows

    assert words.rstrip("。") == note.value["content"]


def test_a_clause_without_its_subject_is_formed_after_an_own_one() -> None:
    with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
        memory.append("lin", "talk", "我叫雅婷，今年三十二歲，住在臺中。")
        memory.form("lin")
        (profile,) = memory.memories("lin").rows

    assert {"user_name": "雅婷", "age": 32, "home": "臺中"} == profile.value
