"""Small talk is recognised in both languages, and a question among it is not."""

import subprocess
import sys
from time import process_time

import pytest

from recollect.text.small_talk import CHARACTERS_MAX, compile_phrases, is_small_talk

TALK = (
    *("Hello!", "Good morning, everyone", "hey there :)", "How are you doing today?", "what's up"),
    *("Thank you so much for your help!!", "ok thanks", "thx", "That was really helpful, thanks"),
    *("bye", "See you tomorrow!", "Have a nice weekend", "Talk to you later, good night"),
    *(
        "ok",
        "Yes, please.",
        "no",
        "Sounds good to me",
        "got it",
        "hmm",
        "never mind",
        "lol",
        "👍",
        "...",
    ),
    *("Are you a robot?", "What can you do for me?", "Tell me a joke", "I’m back"),
    *(
        "你好!",
        "早上好",
        "大家晚上好啊",
        "在吗?",
        "谢谢你的帮助",
        "謝謝你的幫助!",
        "不客气",
        "辛苦了",
    ),
    *("再见", "明天見", "好的,明白了", "没问题", "嗯嗯", "哈哈哈", "等一下", "讲个笑话"),
    *("你是机器人吗?", "給我講個笑話"),
)
QUESTIONS = (
    *("Hi! Where did I park?", "thanks, and what is her name?", "Good morning in Porto", "my name"),
    *("What was nice?", "Thanks for the boat", "see you at the lake", "Who are you meeting?"),
    *("Have a nice trip to Oslo, what do I pack?", "tell me a joke about my boat", "Ada", "42"),
    *("your favourite", "How is Tom?", "Is it good?", "What's up with the boat?", "no boat"),
    *(
        "你好,我住在哪里?",
        "谢谢小明",
        "我的猫叫什么?",
        "明天见谁?",
        "好吃的是什么?",
        "没有猫",
        "早餐吃什么",
    ),
)


@pytest.mark.parametrize("text", TALK)
def test_a_turn_that_asks_for_nothing_is_small_talk(text: str) -> None:
    assert is_small_talk(text)
    assert is_small_talk(text.upper())


@pytest.mark.parametrize("text", QUESTIONS)
def test_one_word_beyond_the_grammar_is_none(text: str) -> None:
    assert not is_small_talk(text)
    assert not is_small_talk(f"Hello! {text}")
    assert not is_small_talk(f"{text} 谢谢")


@pytest.mark.parametrize(
    "unit", ["ok ", "啊", "哈嘿", "bye later ", "thank you for all the ", "no "]
)
def test_the_time_does_not_explode(unit: str) -> None:
    """A text that nearly matches in many ways is refused at once."""
    text = unit * (CHARACTERS_MAX // len(unit) - 1) + "x"
    compile_phrases()
    began = process_time()

    assert not is_small_talk(text)
    assert process_time() - began < 0.05
    assert not is_small_talk(unit * (CHARACTERS_MAX + 1))


@pytest.mark.parametrize(
    ("module", "is_compiled"),
    [("recollect.formation.rule_answers", False), ("recollect.recall.empty_turns", True)],
)
def test_the_start_of_the_rules_does_not_compile_the_grammar(
    module: str, *, is_compiled: bool
) -> None:
    """Recall, whose modules are loaded on a worker thread, compiles it there."""
    code = (
        f"import {module}\nfrom recollect.text import small_talk\n"
        "print('match' in vars(small_talk._PHRASES))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert f"{is_compiled}\n" == done.stdout
