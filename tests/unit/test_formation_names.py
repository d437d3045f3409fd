"""Chinese names and places that a value brings: invented ones are told from words that are none."""

from datetime import UTC, datetime
from typing import Final

import pytest

from recollect.formation.claims import SaidText, unsupported
from recollect.text.chinese_scripts import simplified

# A value with an invented name or an exchanged place, and what was said, in either script.
INVENTED: Final = [
    ("住在新竹", "我住在臺南"),
    ("住在臺中", "我住在高雄"),
    ("住在新北", "我住在桃園"),
    ("住在板橋", "我住在三重"),
    ("lives in Taichung", "我住在高雄"),
    ("朋友林志豪", "我朋友喜歡貓"),
    ("老公陳志明", "我老公很忙"),
    ("女兒名叫江小雨", "女兒三歲"),
    ("主管方文山", "我主管很兇"),
    ("房東是林小姐", "房東是王小姐"),
    ("同事田中一", "同事很好"),
    ("媽媽林淑芬", "我媽媽退休了"),
    ("儿子叫史小明", "儿子上小学"),
    ("老婆叫龙婷婷", "我老婆是护士"),
    ("姊姊叫余美麗", "我姊姊住臺南"),
    ("陳醫師", "我看了李醫師"),
    ("搬到新店", "我搬到淡水了"),
    ("在台東出生", "我在花蓮出生"),
]
HONEST: Final = [
    ("舞台中央", "她站在舞台中央"),
    ("用户的女儿高中毕业", "女儿高中毕业了"),
    ("爸爸周末不在家", "爸爸周末不在"),
    ("房东钱包丢了", "房东把钱包弄丢了"),
    ("同事高兴极了", "同事很开心"),
    ("朋友方便的时候来", "朋友有空来"),
    ("住在新公寓", "刚搬进新房子"),
    ("住在三樓", "我家在三樓"),
    ("母亲黄昏时散步", "我妈傍晚散步"),
    ("家住台中", "我住臺中"),
    ("老板顾虑很多", "老板想得多"),
    ("客户严重不满", "客户很生气"),
    ("孩子叫豆豆", "孩子小名豆豆"),
    ("朋友林志豪", "我朋友叫林志豪"),
    ("使用者的同事陳小姐", "同事陳小姐來了"),
    ("住在新北市板橋區", "我住新北板橋"),
    ("奶奶身体不好", "我奶奶病了"),
    ("太太喜欢旅行", "我太太爱旅游"),
    ("教练严格", "教练很严"),
    ("助理程序员", "助理是写程序的"),
    ("老师万分感谢", "老师很感谢"),
    ("平台中的文件", "平台里的文件"),
    ("学长任职台积电", "学长在台积电上班"),
    ("表姐毛衣店", "表姐卖毛衣"),
]


def lacking(value: str, said: str) -> tuple[str, ...]:
    """Return what a value claims beyond one sentence."""
    at = datetime(2024, 5, 6, 12, tzinfo=UTC)
    return unsupported(value, [SaidText(text=said, at=at, speaker=None)])


@pytest.mark.parametrize(("value", "said"), INVENTED)
def test_an_invented_name_and_an_exchanged_place_are_refused(value: str, said: str) -> None:
    """As they are written, and both in simplified characters."""
    assert lacking(value, said)
    assert lacking(simplified(value), simplified(said))


@pytest.mark.parametrize(("value", "said"), HONEST)
def test_words_that_begin_like_names_are_none(value: str, said: str) -> None:
    """Nor are names that were said."""
    assert () == lacking(value, said)
    assert () == lacking(simplified(value), simplified(said))
