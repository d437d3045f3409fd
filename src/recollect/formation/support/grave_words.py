"""Words that harm a person if untrue; values with them need an explicit speaker."""

from __future__ import annotations

import re
from typing import Final

from recollect.formation.support.content_words import stem_of
from recollect.text.chinese_scripts import simplified
from recollect.text.data_files import read_patterns
from recollect.text.lazy_patterns import lazy_pattern

_STEMS: Final = frozenset(
    stem_of(word)
    for word in """
    fraud fraudster fraudulent scam scammer swindle swindler crime criminal convict convicted
    conviction felon felony guilty prison jail jailed imprisoned inmate arrest arrested thief
    theft steal stealing stole stolen robber robbery burglar embezzle embezzlement bribe bribery
    corrupt corruption launder laundering blackmail threat threaten murder murderer kill killer
    rape rapist abuse abuser abusive assault violent violence terrorist extremist racist nazi
    addict addicted addiction junkie drunkard alcoholic cocaine heroin dealer gambler gambling
    bankrupt bankruptcy insolvent debt debts owe owes owed evict evicted misconduct liar cheat
    cheater cheated mistress hiv syphilis abortion suicidal suicide psychotic schizophrenic insane
    mad dementia cancer pregnant illegal illegally undocumented deported betrug betruger
    vorbestraft verurteilt haft dieb diebstahl suchtig estafa estafador condenado condenada carcel
    preso ladron robo fraude escroc voleur condamne
    """.split()
)
_HAN: Final = tuple(
    """
    诈骗 欺诈 诈欺 骗子 骗钱 犯罪 罪犯 罪 判刑 判决 坐牢 入狱 监狱 逮捕 被捕 拘留 前科 嫌疑 偷 盗
    窃 抢劫 贪污 受贿 行贿 洗钱 勒索 威胁 杀 强奸 性侵 虐待 家暴 暴力 恐怖 极端 种族 吸毒 毒品
    毒瘾 酗酒 赌博 赌 破产 欠债 欠 负债 老赖 开除 解雇 辞退 停职 撒谎 说谎 出轨 小三 婚外 艾滋
    梅毒 性病 堕胎 自杀 精神病 绝症 癌 怀孕 非法 偷渡 横领 詐欺 有罪 刑務所 窃盗 中毒
    """.split()
)


_EXACT: Final = frozenset("sentenced affair terminal fired sacked dismissed suspended".split())
"""Grave words whose stem is an everyday one: a kiln fires, "full sentences"."""
_NOT_GRAVE: Final = frozenset({"owing", "alcohol"})
"""Words with the stem of a grave one: "owing to repairs", "no alcohol at the fair"."""
_PHRASES: Final = tuple(
    (frozenset(map(stem_of, words.split())), lazy_pattern(pattern, re.IGNORECASE))
    for rows in read_patterns(__package__, "grave_phrases.toml").values()
    for words, pattern in rows
)


def is_grave_word(written: str) -> bool:
    """
    Return True for a word, or a stretch of a script without spaces, that tells something grave.

    >>> is_grave_word("convicted"), is_grave_word("有诈骗前科"), is_grave_word("nervous")
    (True, True, False)
    >>> is_grave_word("fired"), is_grave_word("fires"), is_grave_word("sentences")
    (True, False, False)
    """
    if written.isascii():
        is_stem = stem_of(written) in _STEMS and written not in _NOT_GRAVE
        return is_stem or written in _EXACT
    return any(each in written for each in _HAN)


def is_said_otherwise(written: str, said: str) -> bool:
    """
    Return True if everyday words of *said* mean the grave word *written*.

    >>> is_said_otherwise("owes", "you still havent paid me"), is_said_otherwise("owes", "I paid")
    (True, False)
    """
    plain = simplified(said)
    if written.isascii():
        stem = stem_of(written)
        return any(stem in words and pattern.search(plain) for words, pattern in _PHRASES)
    grave = [each for each in _HAN if each in written]
    return bool(grave) and all(
        any(each in words and pattern.search(plain) for words, pattern in _PHRASES)
        for each in grave
    )
