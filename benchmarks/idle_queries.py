"""
Queries that ask for nothing remembered: the list of the fit, and two held-out lists.

`SECOND_UNSEEN` was written before the rule that recognises turns which ask for nothing, so that the
rule is not checked by its own examples.
"""

from __future__ import annotations

from typing import Final

FITTED: Final = (
    *("Hello!", "asdf", "ok thanks", "How are you?", "lol", "qwerty zxcv", "Good morning"),
    *("thank you so much", "hmm", "What's 2+2?", "Tell me a joke", "你好", "test", "👍"),
    *("What is the capital of Mongolia?", "Explain quantum entanglement simply", "早上好", "谢谢"),
    *("Can you help me with something?", "write a haiku about autumn leaves"),
)
"""The queries that the relevance was fitted with."""
UNSEEN: Final = (
    *("hey there", "hi", "good night!", "see you tomorrow", "yes please", "no", "cool, thanks"),
    *("blah blah blah", "xkcd fjdksl", "zzzzzz", "12345", "...", "?", "🙂🙂", "one moment please"),
    *("what can you do?", "who made you?", "are you a robot?", "nice to meet you", "never mind"),
    *("Convert 12 miles to kilometres", "What is the square root of 144?"),
    *("Translate 'cheese' into German", "Who wrote Don Quixote?", "How do vaccines work?"),
    *("Sort these numbers: 4, 9, 2", "Write a regex for an IPv4 address", "Say something nice"),
    *("在吗", "晚安", "哈哈哈", "好的", "讲个笑话", "一百除以七等于几?", "法国的首都是哪里?"),
    *("用Python写一个冒泡排序", "你是谁?", "再见", "嗯嗯", "qwe啊啊啊"),
)
SECOND_UNSEEN: Final = (
    *("good afternoon", "Hey, how's it going?", "Hi there, long time no see!", "what's up?"),
    *("thanks a lot, that was really helpful", "ty!", "much appreciated", "you're the best"),
    *("bye for now", "talk to you later", "That's all for today, thanks", "have a nice weekend"),
    *("okay, got it", "sounds good to me", "sure, go ahead", "makes sense", "wow, amazing!"),
    *("oops, wrong window", "brb", "I'm back", "let me think about it for a second", "not now"),
    *("fghj vbnm uiop", "lorem ipsum dolor sit amet", "987654321", "!!!", "😀🎉", "aaaaaaaaargh"),
    *("Are you there?", "Do you have feelings?", "What languages do you speak?", "flip a coin"),
    *("tell me a fun fact", "How many continents are there?", "What does HTTP stand for?"),
    *("Spell the word accommodate", "What is photosynthesis?", "Who painted the Mona Lisa?"),
    *("Write a SQL query that counts rows", "What is 15% of 80?", "Give me a synonym for big"),
    *("下午好", "大家好呀", "謝謝你的幫助", "多谢啦", "拜拜", "明天見", "收到", "明白了", "沒問題"),
    *(
        "不用了",
        "嘿嘿",
        "辛苦了",
        "等一下",
        "你會做什麼?",
        "光的速度是多少?",
        "用JavaScript反转字符串",
    ),
    *("給我講個故事", "三角形的內角和是多少?", "水为什么会结冰?", "啊啊啊啊", "随便聊聊"),
)
