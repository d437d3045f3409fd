"""Cantonese is read as written Chinese: by the fold itself, by search, and by the chat of rules."""

import asyncio

import pytest

import recollect
from recollect.formation.rule_model import RuleModel
from recollect.text import cantonese
from recollect.text.analysis import terms_of
from recollect.text.cantonese import written_chinese
from recollect.text.chinese_scripts import simplified
from tests.harness.rule_chat import answer_after

WRITTEN = [
    ("我住喺沙田，喺旺角返工", "我住在沙田，在旺角上班"),
    ("我係牙科護士", "我是牙科护士"),
    ("我唔食得蝦，會敏感", "我不能吃虾，会过敏"),
    ("我哋上個月搬咗去元朗", "我们上个月搬去了元朗"),
    ("我隻貓叫咩名？", "我的猫叫啥名？"),
    ("我系广州人，而家喺深圳住", "我是广州人，现在在深圳住"),
    ("佢話佢會遲啲返", "他说他会迟些返"),
    ("喺餐廳食嘢，同食物有關係", "在餐厅吃嘢，同食物有关系"),
    ("我有兩個女兒，一個仔", "我有两个女儿，一个仔"),
    ("佢有兩個女兒", "他有两个女儿"),
]
OTHERS = [
    "我在食堂吃饭，他负责系统和联系",
    "我只吃素，今日多云",
    "飲食與睡眠的關係，係數是三",
    "唔，我想想",
    "他是仲裁员，吹喇叭",
    "I live in Oslo",
    "日本に住んでいます",
]
TALKS = [
    (("我住喺沙田",), "我住邊度？", "沙田"),
    (("我住喺沙田", "我上個禮拜搬咗去大埔"), "我而家住邊？", "大埔"),
    (("我住喺沙田", "我上個禮拜搬咗去大埔"), "我以前住邊度？", "沙田"),
    (("我喺荃灣住，同老婆一齊",), "我住喺邊呀？", "荃灣"),
    (("我個名係阿強，今年四十二歲",), "我叫咩名？", "阿強"),
    (("我係牙科護士",), "我做邊行？", "護士"),
    (("我係牙科護士", "我轉咗工，而家喺銀行做"), "我喺邊度返工？", "銀行"),
    (("我有隻貓叫豆豆",), "我隻貓叫咩名？", "豆豆"),
    (("我唔食得蝦，會敏感",), "我唔食得啲咩？", "蝦"),
    (("我對花生敏感",), "我對啲咩敏感？", "花生"),
    (("我最鍾意飲凍檸茶",), "我鍾意飲咩？", "凍檸茶"),
    (("我好憎食苦瓜",), "我憎食乜嘢？", "苦瓜"),
    (("我老公叫志明，係的士司機",), "我老公做咩工？", "的士司機"),
    (("我老婆喺醫院做清潔",), "我老婆喺邊度做嘢？", "醫院"),
    (("大仔叫樂樂，細仔叫天天",), "我大仔叫乜名？", "樂樂"),
    (("我下個月十五號去大阪玩",), "我幾時去大阪？", "十五號"),
    (("我下個月十五號去大阪玩", "我去大阪嗰件事取消咗"), "我幾時去大阪？", "取消"),
    (("我养咗两只狗，一只叫阿财，一只叫旺旺",), "我两只狗叫乜嘢名？", "旺旺"),
    (("我女朋友叫小敏，佢系老师",), "我女朋友系做乜嘢嘅？", "老师"),
    (("我唔系好钟意吃辣",), "我唔钟意食咩？", "吃辣"),
]


@pytest.mark.parametrize(("said", "written"), WRITTEN)
def test_cantonese_is_read_as_written_chinese(said: str, written: str) -> None:
    """Each word is replaced by one of as many characters, so that positions hold."""
    assert written_chinese(said) == written
    assert len(written) == len(said)


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_only_simplified(text: str) -> None:
    """食, 係 and 唔 are no words of Cantonese in a text that has none of its own."""
    assert written_chinese(text) == simplified(text)


def test_every_word_keeps_its_length() -> None:
    """A word that became longer would shift every quote behind it."""
    assert all(len(said) == len(written) for said, written in cantonese._WORDS.items())


def test_a_question_in_cantonese_finds_what_was_written() -> None:
    """Search compares the words of both as one language."""
    asked, told = set(terms_of("佢而家鍾意飲咩？")), set(terms_of("他現在喜歡喝凍檸茶"))

    assert {"现在", "喜欢", "欢喝"} <= asked & told


@pytest.mark.parametrize(("talk", "asked", "told"), TALKS)
def test_the_chat_of_rules_understands_cantonese(
    talk: tuple[str, ...], asked: str, told: str
) -> None:
    """What is told and asked in the words of Hong Kong or Guangzhou, in either script."""
    assert told in asyncio.run(answer_after(talk, asked))


def test_what_somebody_is_said_to_plan_is_no_fact() -> None:
    """佢話 and 諗住 tell the words of another and a plan, as 他說 and 打算 do."""

    async def scenario() -> list[str]:
        async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
            for text in ("佢話佢會搬去深圳", "我諗住搬去深圳"):
                await memory.append("ana", "talk", [{"role": "user", "content": text}])
                await memory.form("ana")
            page = await memory.memories("ana")
            return [str(each.value) for each in page.rows]

    assert asyncio.run(scenario()) == []
