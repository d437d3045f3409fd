"""
Questions that an entry answers in other words, and near misses, to the chat without a model.

The kinds are: a visit told with another verb, a thing asked for by its kind, an irregular verb, a
place or an age that only the form tells, and a bare "why" behind another question.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Final

import pytest

import recollect
from recollect.chat import Chatbot
from recollect.formation import rule_question
from recollect.formation.rule_model import RuleModel
from recollect.text.chinese_scripts import simplified
from tests.unit.test_rule_answer_questions import NOTHING, counted, demo

Told = Sequence[str]
ANSWERED: Final[Sequence[tuple[str, Told, str]]] = [
    ("When does my mother come to visit?", ["My mum arrives on 5 May."], "5 May"),
    ("When is my mother coming?", ["My mother visits us on 5 May."], "5 May"),
    ("When will my sister visit?", ["I live in Rome.", "My sister flies to Rome on 3 May."], "3 M"),
    ("When does Ana arrive?", ["Ana is coming to stay with us on Friday."], "Friday"),
    ("When does Rui's mother come?", ["Rui's mother visits us on 5 May."], "5 May"),
    ("When is my father's visit?", ["My father is coming. He arrives on 2 July."], "2 July"),
    ("When do I visit my mother?", ["I'm visiting my mother on 5 May."], "5 May"),
    ("我妈妈什么时候来？", ["我妈妈五月十七号来看我。"], "十七号"),
    ("我媽媽什麼時候來看我？", ["我媽媽五月十七號過來。"], "十七號"),
    ("When did my mother visit?", ["My mother came to visit last year."], "last year"),
    ("When is Tom coming to stay?", ["Tom will stay with us from 4 July."], "4 July"),
    ("我妹妹什么时候来看我们？", ["我妹妹下周五来看我们。"], "周五"),
    ("Which instrument do I play?", ["I play the cello in an orchestra."], "cello"),
    ("What instrument do I play?", ["My instrument is the cello."], "cello"),
    ("Which instrument does my brother play?", ["My brother plays the oboe."], "oboe"),
    ("Which language do I speak?", ["I speak Welsh with my children."], "Welsh"),
    ("Which language am I learning?", ["I am learning Portuguese."], "Portuguese"),
    ("Which sport do I play?", ["I play badminton on Mondays."], "badminton"),
    ("What car do I drive?", ["I drive an old Volvo."], "Volvo"),
    ("What car do I drive?", ["My car is a red Volvo."], "Volvo"),
    ("What music do I like?", ["I love jazz and old soul records."], "jazz"),
    ("What kind of music do I like?", ["I like cooking, jazz and tea."], "jazz"),
    ("Which sports do I enjoy?", ["I enjoy long walks and swimming."], "swimming"),
    ("What drinks do I like?", ["I really like green tea."], "tea"),
    ("我喜歡什麼音樂？", ["我喜歡聽爵士樂。"], "爵士"),
    ("我喜欢什么运动？", ["我喜欢爬山和羽毛球"], "羽毛球"),
    ("我住哪儿？", ["我家在上海。"], "上海"),
    ("我家在哪里？", ["我搬家了，现在住在成都。"], "成都"),
    ("我還住在台北嗎？", ["我家在台北市。", "我搬到新竹了。"], "^我記得：[^。]*新竹」。$"),
    ("我还住在成都吗？", ["我家在上海。", "我搬到成都了。"], "成都”。$"),
    ("我叫啥？", ["我叫林小雨。"], "林小雨"),
    ("我喜欢啥？", ["我喜欢爬山。"], "爬山"),
    ("我是做什么的？", ["我是前端工程师。"], "前端"),
    ("我是做什麼工作的？", ["我是軟體工程師。"], "軟體"),
    ("我在哪家公司上班？", ["我在字节跳动上班，是前端工程师。"], "字节"),
    ("我在哪間公司上班？", ["我現在在 Stripe 工作。"], "Stripe"),
    ("我先生是做什麼的？", ["我先生叫 David，他是牙醫。"], "記得：.*David"),
    ("我老公叫什么？", ["我先生叫 David，他是牙医。"], "David"),
    ("我弹什么乐器？", ["我从小弹钢琴。"], "钢琴"),
    ("Where did I buy the sofa?", ["I bought the sofa in Malmo."], "Malmo"),
    ("Who taught me to swim?", ["Pelle taught me to swim."], "Pelle"),
    ("Where did I leave my umbrella?", ["I left my umbrella at the station."], "station"),
    ("How old is my dog?", ["My dog is called Bruno, he is four."], "four"),
    ("Which picture hangs in my hall?", ["I put the picture of a ship in the hall."], "ship"),
    ("When does my mother come to visit?", ["My mother's visit on 5 May is off."], "off"),
    ("Why did I sell my boat?", ["I sold my boat because the mast was rotten."], "mast"),
    ("Which sport do I play and why?", ["I play golf because my boss does."], "boss"),
    ("Where was my son born and when?", ["My son was born in Oslo on 3 May 2011."], "3 May"),
]  # fmt: skip
UNKNOWN: Final[Sequence[tuple[str, Told]]] = [
    ("What music do I like?", ["I like rowing."]),
    ("What music do I like?", ["My sister likes jazz."]),
    ("What sports do I like?", ["I like jazz."]),
    ("我喜歡什麼音樂？", ["我喜歡爬山。"]),
    ("我喜欢什么音乐？", ["我不喜欢爵士乐。"]),
    ("When does my mother come to visit?", ["My mother's birthday is on 5 May."]),
    ("When does my mother come to visit?", ["My mother visits her sister on 5 May."]),
    ("When does my mother come to visit?", ["I'm visiting my mother on 5 May."]),
    ("When does my mother come to visit?", ["My mother stays in hospital until 5 May."]),
    ("When does my mother come to visit?", ["My mother isn't coming on 5 May."]),
    ("When does my sister come to visit?", ["My mother's visit on 5 May is cancelled."]),
    ("When does my mother come?", ["Rui's mother visits us on 5 May."]),
    ("When does my mother come?", ["My mother comes from Bergen. The rent is due on 5 May."]),
    ("When does my mother come to visit?", ["My sister visits us on 5 May."]),
    ("When will my sister visit?", ["I live in Rome.", "My sister flies to Lima on 3 June."]),
    ("When will my sister visit?", ["My sister is ill, so I fly to her on 3 June."]),
    ("When do I visit my mother?", ["My mother visits us on 5 May."]),
    ("When does it come?", ["My mother comes on 5 May."]),
    ("我妈妈什么时候来？", ["我妈妈五月十七号生日。"]),
    ("我妈妈什么时候来看我？", ["我五月十七号去看妈妈。"]),
    ("我妈妈什么时候来？", ["我妈妈从来不在五月旅行。"]),
    ("When do our friends arrive?", ["The parcel for our friends arrives on Friday."]),
    ("When does my brother arrive?", ["My brother's train to Lima arrives on 9 May."]),
    ("When does my sister visit?", ["My sister wants to visit us, she is free on 5 May."]),
    ("When does my mother come to visit?", ["My mother came to visit last year."]),
    ("When does my mother come to visit?", ["If my mother comes on 5 May, I leave."]),
    ("我妹妹什么时候来看我们？", ["我妹妹下周五来不了。"]),
    ("我拉什么乐器？", ["我拉着小提琴箱子走了很远。"]),
    ("Which instrument do I play?", ["I play chess on Tuesdays."]),
    ("Which instrument do I play?", ["My brother plays the cello."]),
    ("Which instrument do I play?", ["I would love to play the cello."]),
    ("Which instrument do I play?", ["I don't play the cello."]),
    ("Which instrument do I play?", ["I used to play the cello."]),
    ("Which instrument does my brother play?", ["My brother lives in Rome.", "I play the oboe."]),
    ("Which language do I speak?", ["I speak quickly when I am nervous."]),
    ("Which language do I speak?", ["My wife speaks Welsh."]),
    ("Which sport do I play?", ["I play the cello."]),
    ("What car do I drive?", ["I drive a Scania bus for a living."]),
    ("What car do I drive?", ["My car is broken."]),
    ("我弹什么乐器？", ["我不会弹钢琴。"]),
    ("我弹什么乐器？", ["我姐姐弹钢琴。"]),
    ("Where did I buy the sofa?", ["I sold the sofa in Malmo."]),
    ("Where did I leave my umbrella?", ["I lost my umbrella on Monday."]),
    ("How old is my dog?", ["My dog is two houses away at the sitter's."]),
    ("How old is my dog?", ["My dog is one of the best."]),
    ("Which picture hangs in my hall?", ["I painted the hall blue."]),
    ("Why did I sell my boat?", ["I sold my boat last summer."]),
    ("我先生是做什么的？", ["我是前端工程师。"]),
    ("我是做什么的？", ["我先生叫 David，他是牙医。"]),
    ("我在哪家公司上班？", ["我是前端工程师。"]),
    ("我老公住哪儿？", ["我家在上海。"]),
    ("我住哪个城市？", ["我们公司搬到南山了。"]),
    ("我以前住在什么地方？", ["我家在上海。"]),
    ("When will Ana visit?", ["Ana moved to Lyon on 3 May."]),
]

CHINESE: Final[Sequence[tuple[str, str, str]]] = [
    ("我的生日是三月十二號。", "我的生日是哪一天？", "三月十二"),
    ("我2019年從清華畢業。", "我哪一年畢業的？", "2019"),
    ("我2019年從清華畢業。", "我從哪所大學畢業？", "清華"),
    ("中秋節要回臺南看外婆。", "我中秋要做什麼？", "外婆"),
    ("這週六要去爬象山。", "這週六我要做什麼？", "象山"),
    ("國慶節我們去雲南旅遊。", "國慶去哪裡玩？", "雲南"),
    ("下週三我媽來北京看我。", "我媽什麼時候來？", "下週三"),
    ("我打算明年考駕照。", "我什麼時候考駕照？", "明年"),
    ("我上個禮拜搬去板橋了。", "我什麼時候搬家的？", "上個禮拜"),
    ("我住在板橋。", "我住哪邊？", "我記得：「住處：板橋」"),
    ("我妹妹在臺北唸大學。", "我妹妹在哪裡讀書？", "臺北"),
    ("我有一個兒子。", "我有幾個小孩？", "一個兒子"),
    ("我討厭香菜，也不喜歡吃榴槤。", "我不喜歡吃什麼？", "榴槤"),
    ("我最討厭的菜是苦瓜。", "我討厭吃什麼？", "苦瓜"),
    ("我們家的狗叫皮皮。", "我家的狗叫什麼", "皮皮"),
    ("我下下週要去日本。", "我下下週要幹嘛", "日本"),
    ("我住在板橋。", "你知道我哪些事？", "我記得這些：「住處：板橋」"),
    ("我上個禮拜搬去板橋了。", "你知道我什麼時候搬家的嗎？", "說過：「我上個禮拜"),
]


async def answered(told: Told, asked: str) -> str:
    """Return the answer in a new thread to a question, after something was told in another one."""
    async with recollect.open(
        "memory:", embedder="none", model=RuleModel(), worker=False
    ) as memory:
        await memory.append(("ada",), "talk", list(told))
        await memory.form(("ada",))
        return await Chatbot(memory, RuleModel(), ("ada",)).reply(asked)


@pytest.mark.parametrize(("asked", "told", "right"), ANSWERED)
def test_an_entry_in_other_words_answers(asked: str, told: Told, right: str) -> None:
    answer = asyncio.run(answered(told, asked))

    assert re.search(right, answer), answer
    assert "Of question" not in answer


@pytest.mark.parametrize(("told", "asked", "right"), CHINESE)
def test_both_scripts_of_chinese_are_answered_alike(told: str, asked: str, right: str) -> None:
    assert right in asyncio.run(answered([told], asked))

    marks = str.maketrans("「」", "“”")
    answer = asyncio.run(answered([simplified(told)], simplified(asked)))
    assert simplified(right).translate(marks) in answer


@pytest.mark.parametrize(
    ("told", "asked", "begun"),
    [
        ("我搬到高雄了，我養了貓。", "我住在哪？", "我記得：「"),
        ("我養了貓。我住在高雄。", "我对什么过敏？我住在哪里？", "我记得：“"),
        ("我搬到高雄了。", "我住在哪？", "我记得：“"),
    ],
)
def test_the_script_is_that_of_the_question_or_else_of_what_is_remembered(
    told: str, asked: str, begun: str
) -> None:
    assert begun in asyncio.run(answered([told], asked))


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ("我原来住哪？", "^[^成]*上海[^成]*$"),
        ("我以前住在什么地方？", "^[^成]*上海[^成]*$"),
        ("我还住在上海吗？", "成都.*上海.*至"),
        ("我還住在成都嗎？", "^[^上]*成都[^上]*$"),
        ("我家在哪里？", "^[^上]*成都[^上]*$"),
    ],
)
def test_a_move_leaves_the_home_before_it_to_be_asked_for(asked: str, right: str) -> None:
    async def scenario() -> str:
        async with recollect.open("memory:", embedder="none", model=RuleModel()) as memory:
            for text in ("我叫林小雨，我家在上海。", "我搬家了，现在住在成都。"):
                await memory.append(("ada",), "talk", text)
                await memory.form(("ada",))
            return await Chatbot(memory, RuleModel(), ("ada",)).reply(asked)

    answer = asyncio.run(scenario())
    assert re.search(right, answer), answer


@pytest.mark.parametrize(("asked", "told"), UNKNOWN)
def test_a_near_miss_is_not_answered(asked: str, told: Told) -> None:
    answer = asyncio.run(answered(told, asked))

    assert NOTHING.search(answer), answer


def test_a_reason_that_nobody_told_is_said_to_be_unknown() -> None:
    answer = asyncio.run(answered(["I drive an old Volvo."], "What car do I drive and why?"))

    assert "Volvo" in answer
    assert "Of question 2 I remember nothing." in answer


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ("When does my mother come to visit?", "17 May|十七号"),
        ("Which plant stands on my balcony and why?", "^I remember: .*faces north.*cast-iron"),
        ("When does Mira visit her mother?", ""),
        ("When does Rui's mother come to visit?", ""),
        ("When does my sister come to visit?", ""),
        ("Which instrument does Rui play?", ""),
    ],
)
@pytest.mark.parametrize("thread", [None, "kitchen"])
def test_the_questions_of_a_stranger_about_the_demo(
    asked: str, right: str, thread: str | None
) -> None:
    counts, wrong = counted(demo, [(asked, right)], thread)

    assert [] == wrong
    assert 1 == counts[bool(right), "right" if right else "nothing"]


def test_visits_are_found_in_the_mutant_whoever_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a question about a visit is read as any other one."""
    monkeypatch.setattr(rule_question, "asked_visit", lambda *_: None)

    answer = asyncio.run(answered(["My mum's birthday is on 5 May."], "When is my mother coming?"))

    assert not NOTHING.search(answer)
