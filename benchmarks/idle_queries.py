"""Queries that ask for nothing remembered: those of the fit, and others that no fit has seen."""

from __future__ import annotations

from typing import Final

FITTED: Final = (
    *("Hello!", "asdf", "ok thanks", "How are you?", "lol", "qwerty zxcv", "Good morning"),
    *("thank you so much", "hmm", "What's 2+2?", "Tell me a joke", "你好", "test", "👍"),
    *("What is the capital of Mongolia?", "Explain quantum entanglement simply", "早上好", "谢谢"),
    *("Can you help me with something?", "write a haiku about autumn leaves"),
)
"""The relevance was fitted beside these."""
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
