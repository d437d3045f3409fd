"""Sentences with which the rule model replies in a chat, in English and both scripts of Chinese."""

from __future__ import annotations

import re
from typing import Final, Literal

from recollect.text.chinese_scripts import is_chinese, script_of
from recollect.text.lazy_patterns import lazy_pattern

Language = Literal["en", "zh", "zh-hant"]
PAGE_NOTES: Final[dict[Language, str]] = {
    "en": "",
    "zh": "The user reads simplified Chinese (简体中文).",
    "zh-hant": "The user reads traditional Chinese (繁體中文).",
}
"""Last line of a chat's system prompt, by the language in which the user reads the chat."""

SENTENCES: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "memory": "I remember: {quote}{when}.",
        "user": "You said{on}: {quote}.",
        "assistant": "I said{on}: {quote}.",
        "nothing": "I remember nothing about that. Tell me, and I will.",
        "closest": "I remember no answer to that. Closest to it: {quote}{when}.",
        "all": "This is what I remember: {quotes}.",
        "more": " The list of memories has {count} more.",
        "noted": "Noted: {what}. After a pause in our talk I remember it, or ask you to review it"
        " first.",
        "and": "{others} and {last}",
        "until_now": " Until now I remembered: {quote}{when}.",
        "told_here": " In this talk you said: {quote}.",
        "nothing_of": "Of question {number} I remember nothing.",
        "small_talk": "I am here. Tell me something, or ask what I remember.",
        "welcome": "You are welcome. Tell me more whenever you like, or ask what I remember.",
        "goodbye": "Goodbye. What you told me is kept; ask me next time.",
        "forget": "I cannot erase from here, and this request is kept as well. Erase the message"
        " or the memory for good where it stands: the preview lists what else quotes it.",
        "kept": "Kept. My few rules make no memory of it; ask me, and I find it again.",
    },
    "zh": {
        "memory": "我记得：{quote}{when}。",
        "user": "你{on}说过：{quote}。",
        "assistant": "我{on}说过：{quote}。",
        "nothing": "我没有找到答案。你告诉我，我就记下来。",
        "closest": "我不记得这个问题的答案。最接近的是：{quote}{when}。",
        "all": "我记得这些：{quotes}。",
        "more": "记忆列表里还有 {count} 条。",
        "noted": "收到：{what}。对话停下来后我会把它记住，拿不准的会先问你。",
        "and": "{others}，还有{last}",
        "until_now": "在此之前我记得：{quote}{when}。",
        "told_here": "在这次对话中你说过：{quote}。",
        "nothing_of": "第{number}个问题，我没有找到答案。",
        "small_talk": "我在。告诉我一些事，或者问我记得什么。",
        "welcome": "不客气。想到什么随时告诉我，也可以问我记得什么。",
        "goodbye": "再见。你说过的话都留着，下次可以接着问我。",
        "forget": "我不能在对话里抹除，这条要求本身也会留下。请在那条消息或记忆上选择彻底抹除："
        "预览会列出还有哪些消息引用它。",
        "kept": "已保存原话。固定规则没能从中形成记忆，但你问起时仍能找到这句话。",
    },
    "zh-hant": {
        "memory": "我記得：{quote}{when}。",
        "user": "你{on}說過：{quote}。",
        "assistant": "我{on}說過：{quote}。",
        "nothing": "我沒有找到答案。你告訴我，我就記下來。",
        "closest": "我不記得這個問題的答案。最接近的是：{quote}{when}。",
        "all": "我記得這些：{quotes}。",
        "more": "記憶清單裡還有 {count} 則。",
        "noted": "收到：{what}。對話停下來後我會把它記住，不確定的會先問你。",
        "and": "{others}，還有{last}",
        "until_now": "在此之前我記得：{quote}{when}。",
        "told_here": "在這次對話中你說過：{quote}。",
        "nothing_of": "第{number}個問題，我沒有找到答案。",
        "small_talk": "我在。告訴我一些事，或者問我記得什麼。",
        "welcome": "不客氣。想到什麼隨時告訴我，也可以問我記得什麼。",
        "goodbye": "再見。你說過的話都留著，下次可以接著問我。",
        "forget": "我不能在對話裡抹除，這則要求本身也會留下。請在那則訊息或記憶上選擇徹底抹除："
        "預覽會列出還有哪些訊息引用它。",
        "kept": "已儲存原話。固定規則沒能從中形成記憶，但你問起時仍能找到這句話。",
    },
}
# Kinds only: an answer that repeated the user's words would keep them after they are erased.
KINDS_NOTED: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "user_name": "your name",
        "home": "where you live",
        "age": "how old you are",
        "occupation": "your work",
        "interests": "what you like",
        "conversation_preferences": "how to answer you",
        "partner": "what changed with your partner",
        "note": "what you told me",
    },
    "zh": {
        "user_name": "你的名字",
        "home": "你的住处",
        "age": "你的年龄",
        "occupation": "你的工作",
        "interests": "你的喜好",
        "conversation_preferences": "你希望怎样得到回答",
        "partner": "你和伴侣的变化",
        "note": "你告诉我的事",
    },
    "zh-hant": {
        "user_name": "你的名字",
        "home": "你的住處",
        "age": "你的年齡",
        "occupation": "你的工作",
        "interests": "你的喜好",
        "conversation_preferences": "你希望怎樣得到回答",
        "partner": "你和伴侶的變化",
        "note": "你告訴我的事",
    },
}
_QUOTING: Final = frozenset({"memory", "closest", "all", "told_here", "until_now"})
_EARLIER: Final = (
    "关于这件事，我什么都不记得。告诉我，我就会记住。",
    "關於這件事，我什麼都不記得。告訴我，我就會記住。",
    "在这次谈话中你说过：",
    "在這次談話中你說過：",
    "已保存。我的几条规则没有从中形成记忆；问我，我会再找到它。",
    "已保存。我的幾條規則沒有從中形成記憶；問我，我會再找到它。",
    "。谈话稍停之后，我会记住它，或者先请你确认。",
    "。談話稍停之後，我會記住它，或者先請你確認。",
)
"""Words of earlier replies, which stand in talks that are kept."""
_OTHERS: Final = frozenset({"and", "more", "user", "assistant", "noted", "nothing_of"})
"""Sentences with too few words before their first value to be recognised by."""


def _forms() -> str:
    """Return a pattern of how replies begin, up to a value or the mark of a quotation."""
    begun = {
        re.escape(template.partition("{")[0].strip()) + (r"\s?[\u201c\u300c]" * (name in _QUOTING))
        for sentences in SENTENCES.values()
        for name, template in sentences.items()
        if name not in _OTHERS
    }
    begun |= set(_EARLIER) | {
        r"(?:You|I) said(?: on \d[^:\n]{1,20})?: \u201c",
        "[你我](?:在[^：\n]{1,12})?[说說][过過]：[\u201c\u300c]",
        r"Noted: [^.\n]{1,200}\. After a pause in our talk I remember it",
        r"收到：[^。\n]{1,100}。[对對][话話]停下[来來][后後]我[会會]把它[记記]住",
        r"Of question \d I remember nothing\.",
        r"已收到：[^。\n]{1,100}。[谈談][话話]稍停之[后後]，我[会會][记記]住它",
        r"第\d[个個](?:问题|問題)，我[没沒]有找到答案",
    }
    return "|".join(sorted(begun))


_REPLY: Final = lazy_pattern(rf"\s*(?:{_forms()})")
_SET_CHARACTERS_MIN: Final = 8
"""Shorter phrases may be said by anybody, and are too short for a quotation."""


def _set_phrases() -> str:
    """Return a pattern of what the replies say around their values, the longest first."""
    parts = {
        part.strip()
        for sentences in SENTENCES.values()
        for template in sentences.values()
        for part in re.split(r"\{\w+\}", template)
    }
    long = [each for each in (*parts, *_EARLIER) if len(each) >= _SET_CHARACTERS_MIN]
    return "|".join(map(re.escape, sorted(long, key=lambda each: (-len(each), each))))


_SET_PHRASE: Final = lazy_pattern(_set_phrases())


def language_of(text: str, *others: str) -> Language:
    """
    Return in which language, and script, *text* is to be answered.

    Words common to both scripts of Chinese are answered in the script of the first of the *others*
    that shows one: the user's talk, and what is remembered. So is a text without a word.

    >>> language_of("Where do I live?"), language_of("我住在哪里？"), language_of("我住在哪裡？")
    ('en', 'zh', 'zh-hant')
    >>> language_of("我住在哪？", "我搬到高雄了。", "我養了貓。")
    'zh-hant'
    >>> language_of("我对什么过敏？", "我養了貓。")
    'zh'
    """
    if not any(map(str.isalpha, text)):  # 🎉
        text = next((each for each in others if each), text)
    if not is_chinese(text):
        return "en"
    return next(filter(None, map(script_of, (text, *others))), "zh")


def page_note_in(system: str) -> str:
    """Return the note with which a system prompt ends, or an empty string."""
    notes = (each for each in PAGE_NOTES.values() if each)
    return next((each for each in notes if system.endswith(f"\n{each}")), "")


def is_rule_reply(text: str) -> bool:
    """
    Return True if a text is a reply of the rule model, which only repeats what is remembered.

    >>> is_rule_reply("I remember nothing about that. Tell me, and I will.")
    True
    >>> is_rule_reply("You said you like the harbour.")
    False
    """
    return _REPLY.match(text) is not None


def without_set_phrases(text: str) -> list[str]:
    """
    Return the pieces of *text* between the set phrases of the rule model, which tell nothing.

    >>> without_set_phrases("I remember nothing about that. Tell me, and I will. Or 4711?")
    ['', ' Or 4711?']
    """
    return _SET_PHRASE.split(text)
