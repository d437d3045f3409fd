"""
Read Cantonese as the written Chinese that everybody shares: 我住喺邊度 as 我住在哪里.

People of Hong Kong type as they speak. Each of their words is replaced by one of as many
characters, so that positions are valid in both texts, as with `simplified`; the result is compared
and never shown. Only a text with a word that no other Chinese uses is touched: 食 and 行 are
words of their own elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.text.chinese_scripts import simplified

_ONLY_CANTONESE: Final = re.compile(
    "[喺冇咗嘅佢哋咩乜嘢啲𠮶嚟冚嘥睇㗎啱嘞攞噉]|钟意|中意[吃喝食饮]|返[工学]|边[度个行间]|[住做]边"
    "|[而依]家|几[时多]|[我你]个名|憎[食饮]|食得|[大细]仔|细女|[读学做住食饮]紧(?![急张要])"
    "|唔(?=[\u3400-\u9fff])"
)
"""Characters and words by which a text is known as Cantonese, simplified."""
_KEPT: Final = (
    "饮茶 饮食 食物 食品 食堂 食材 食谱 美食 零食 粮食 素食 个女儿 个女人 个女生 "
    "个女孩 关系 联系 系统 系列 体系 学系 喇叭 喇嘛 仲裁 仲介"
).split()
"""Words that everybody writes, with a character that is a word of Cantonese."""
_WORDS: Final = dict(
    each.split("=")
    for each in (
        "边度=哪里 边个=谁个 边间=哪家 边年=哪年 边日=哪天 边行=哪行 住边度=住哪里 住边=住哪 "
        "几时=何时 几多=多少 点解=为何 点样=怎样 乜嘢=什么 咩嘢=什么 乜野=什么 咩野=什么 "
        "而家=现在 依家=现在 宜家=现在 听日=明天 琴日=昨天 寻日=昨天 噚日=昨天 今日=今天 "
        "后日=后天 前日=前天 琴晚=昨晚 寻晚=昨晚 听晚=明晚 听朝=明早 朝早=早上 返工=上班 "
        "放工=下班 返学=上学 返屋企=在家里 屋企=家里 搬屋=搬家 钟意=喜欢 中意=喜欢 好憎=讨厌 "
        "憎=厌 敏感=过敏 老豆=爸爸 阿爸=爸爸 阿妈=妈妈 家姐=姐姐 细佬=弟弟 细妹=妹妹 大佬=哥哥 "
        "个仔=儿子 个女=女儿 仔女=子女 𠮶度=那里 呢度=这里 𠮶个=那个 呢个=这个 𠮶阵=那时 "
        "呢排=最近 头先=刚才 啱啱=刚刚 同埋=以及 唔好=不要 唔使=不用 唔食得=不能吃 "
        "食唔得=不能吃 唔饮得=不能喝 饮唔得=不能喝 食得=能吃 饮得=能喝 有冇=有无 系咪=是否 "
        "转咗工=换工作 佢话=他说 谂住=打算 好似=好像 喺度=正在 学紧=学着 读紧=读着 做紧=做着 "
        "住紧=住着 睇紧=看着 等紧=等着 过咗身=去世了 过身=去世 钟唔钟意=喜不喜欢 老细=老板 "
        "个名=的名 做嘢=工作 大仔=长子 细仔=幼子 大女=长女 细女=幼女 改咗去=改到了 "
        "喺边度=在哪里 喺边个=在哪个 喺边间=在哪家 喺边=在哪 个大仔=的长子 个细仔=的幼子 "
        "个大女=的长女 个细女=的幼女 唔系好=不怎么 年班=年级 一齐=一起 揸=开 游水=游泳 "
        "揸车=开车 倾偈=聊天 行山=爬山 瞓觉=睡觉 冲凉=洗澡 系=是 喺=在 唔=不 冇=没 咗=了 嘅=的 "
        "佢=他 哋=们 咩=啥 乜=啥 啲=些 𠮶=那 嚟=来 畀=给 俾=给 揾=找 攞=拿 睇=看 谂=想 食=吃 "
        "饮=喝 仲=还 喇=了 嘞=了 㗎=啊 攰=累"
    ).split()
) | {each: each for each in _KEPT}
"""Words of Cantonese with those of written Chinese of as many characters."""
_IS: Final = re.compile("(?<!關)係(?!數)")
"""是 as Cantonese writes it; simplified it would be the 系 of other words."""
_MOVED: Final = re.compile("(?<=[搬转换])咗(?=[去到入嚟来])[去到入嚟来]")
"""搬咗去: written Chinese has the mark of what is done after 去."""
_OWN: Final = re.compile("(?<=[我你佢])[只条部架间](?=[猫狗兔鸟龟鱼鼠车船屋铺手电])")
"""我隻貓 is 我的貓."""
_WORD: Final = re.compile("|".join(sorted(_WORDS, key=len, reverse=True)))


def written_chinese(text: str) -> str:
    """
    Return *text* simplified, and its Cantonese words replaced by those of written Chinese.

    The result has as many characters as *text*, so that positions are valid in both.

    >>> written_chinese("我住喺邊度"), written_chinese("我唔鍾意飲咖啡")
    ('我住在哪里', '我不喜欢喝咖啡')
    >>> written_chinese("食物系統")
    '食物系统'
    """
    plain = simplified(_IS.sub("是", text))
    if plain.isascii() or _ONLY_CANTONESE.search(plain) is None:
        return plain
    plain = _MOVED.sub(lambda found: f"{found[0][1]}了", plain)
    plain = _OWN.sub("的", plain)
    return _WORD.sub(lambda found: _WORDS[found[0]], plain)
