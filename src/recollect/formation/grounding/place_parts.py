"""
Places within other places: what names a part of a city or a country names the whole as well.

In English these are airports and districts alone: a Bergen or an Athens lies in several countries,
so that "I live in Bergen" does not say "Norway". The Chinese names of cities are each one city's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_TABLE: Final = """
london: heathrow gatwick stansted luton lhr lgw|amsterdam: schiphol ams|paris: cdg orly
new york: jfk laguardia manhattan brooklyn queens bronx nyc|tokyo: haneda narita shibuya shinjuku
日本: 东京 京都 大阪 奈良 札幌 北海道 冲绳 福冈 名古屋 金阁寺 伏见 箱根 富士山
韩国: 首尔 釜山 济州|泰国: 曼谷 清迈 普吉|法国: 巴黎 里昂 尼斯|意大利: 罗马 米兰 威尼斯 佛罗伦萨
西班牙: 马德里 巴塞罗那|英国: 伦敦 曼彻斯特 爱丁堡 剑桥 牛津|德国: 柏林 慕尼黑 汉堡
葡萄牙: 里斯本 波尔图|荷兰: 阿姆斯特丹 鹿特丹|瑞典: 斯德哥尔摩 隆德 哥德堡|越南: 河内 岘港 胡志明
台湾: 台北 高雄 台中 台南 花莲 台东 新竹|美国: 纽约 洛杉矶 旧金山 芝加哥 波士顿 西雅图
加拿大: 多伦多 温哥华|澳洲: 悉尼 墨尔本|澳大利亚: 悉尼 墨尔本
云南: 昆明 大理 丽江 香格里拉 西双版纳|四川: 成都 宜宾 绵阳 九寨|浙江: 杭州 宁波 温州
江苏: 南京 苏州 无锡|广东: 广州 深圳 潮州 佛山 东莞|湖南: 长沙 张家界 凤凰|陕西: 西安
海南: 三亚 海口|福建: 厦门 福州 泉州
"""
_PARTS: Final = {
    whole.strip(): frozenset(parts.split())
    for row in _TABLE.replace("\n", "|").split("|")
    if row
    for whole, _, parts in [row.partition(":")]
}


def has_part(whole: str, words: Iterable[str], text: str) -> bool:
    """
    Return True if a well-known part of a place was said, by its *words* or in a Chinese *text*.

    >>> has_part("london", {"heathrow"}, ""), has_part("日本", (), "去京都玩")
    (True, True)
    """
    parts = _PARTS.get(whole)
    if not parts:
        return False
    return not parts.isdisjoint(words) if whole.isascii() else any(each in text for each in parts)
