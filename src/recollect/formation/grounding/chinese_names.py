"""
Chinese names that a value brings: where the words around them say that they are names.

Chinese has no capital letters, so precision comes from context ("叫…", "住在…", "姓…",
"…老师") and from a list of well-known places; all else is taken for a word.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from recollect.formation.grounding.known_places import PLACES
from recollect.text.lazy_patterns import lazy_pattern

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_SURNAMES: Final = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈"
    "姚卢姜崔钟谭陆汪范廖石韦贾夏付方邹熊白孟秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤"
)
_END: Final = rf"(?=[^{_HAN}]|$|[的了和与跟及是在也又就都还很喜爱住有会说上今去来读养开刚每已最])"
_NAME: Final = rf"(?P<name>[{_HAN}]{{2,4}}?)"
_PERSON: Final = (
    rf"(?:名字|名|全名|昵称|小名|英文名|网名)(?:是|叫做?|为|：|:) ?{_NAME}{_END}",
    (
        r"(?:我|他|她|它|名|人|友|子|女|儿|狗|猫|妹|姐|哥|弟|爸|妈|公|婆|妻|夫|先生|事|只"
        rf"|户)(?:名?叫|叫做) ?{_NAME}{_END}"
    ),
    rf"姓(?P<surname>[{_SURNAMES}])(?![名氏])",
    (
        rf"(?<![最很更太较])(?P<titled>[{_SURNAMES}])(?=老师|医[生师]|大夫|先生|女士|小姐|太太|教授"
        r"|经理|主任|校长|组长|主管|护士|护理师|教练|阿姨|叔叔|师傅|总(?![是会体共之结])|律师)"
    ),
    (
        r"(?:朋友|同事|同学|妻子|丈夫|老公|老婆|女儿|儿子|姐姐|妹妹|哥哥|弟弟|女友|男友|室友|邻居"
        r"|老板|上司|妈妈|母亲|爸爸|父亲|爷爷|奶奶|外公|外婆|太太|闺蜜|舅舅|[表堂][哥弟姐妹]|侄[子女]"
        r"|客户|主管|教练|房东|助理|学[长姐弟妹])"
        rf"(?P<name>[{_SURNAMES}小阿][{_HAN}]{{1,2}}?){_END}"
    ),
    rf"(?P<name>[{_SURNAMES}][{_HAN}]{{2}})的(?:歌|演唱会|电影|小说|作品|粉丝)",
    rf"(?:用户|姓名)(?:是|叫|：|:) ?(?P<name>[{_SURNAMES}][{_HAN}]{{1,2}}){_END}",
)
_PLACE: Final = (
    (
        r"(?:住在|来自|搬到了?|搬去了?|定居在?于?|出生[在于]|籍贯是?|老家[在是]|移居到?|就职于"
        r"|任职于|毕业于|就读于)"
        rf"(?P<place>[{_HAN}]{{2,6}}?)(?=[^{_HAN}]|$|[的了和与跟及]|工作|上班|生活|读书|上学|附近)"
    ),
    (
        rf"(?:去了?|到了?|在|飞往?|游览了?)(?P<place>[{_HAN}]{{2,3}}?[省市县州岛])(?=[^{_HAN}]"
        r"|$|[的了和与玩旅工出])"
    ),
)
_PERSONS: Final = tuple(map(lazy_pattern, _PERSON))
_PLACES: Final = tuple(map(lazy_pattern, _PLACE))
_KNOWN: Final = lazy_pattern(
    rf"(?:{'|'.join(sorted(PLACES, key=len, reverse=True))})(?<![舞电平讲阳]台中)"
    r"(?!大学|银行|烤鸭|火锅|路|料理|菜"
    r"|餐|人|语|话|文|剧"
    # 那日本身: "that day", and "itself".
    r"|身(?![上份分]))"
)

_NO_PERSON: Final = lazy_pattern(
    r"用户|使用者|本人|自己|家里|家人|爸|妈|爷|奶|外[公婆]|老[公婆师板]|高质|小(?:学|时|孩|区|说|提|狗|猫|吃|心|事|组|型|朋|姐|型|的|于)|高(?:中|考|兴|三|二|一)"
    r"|关(?:系|于|心)|方(?:面|便|式|法)"
    r"|马(?:上|路|拉)|白(?:天|领|色)|石|万|江(?:边|湖|南)|任(?:何|务|职)|余|程(?:序|度)"
    r"|周(?:末|一|二|三|四|五|六|日|围|年)"
    r"|常|何(?:时|处|必)|黄(?:色|金)|方|田|钱|毛|龙|武|史|夏(?:天|季)|江|林|阿姨|许(?:多|久)"
    r"|曾(?:经)|都|陆续|严|莫|顾"
    r"|什么|不(?:来|醒|动|上|出)|他|她|我|你|人|外卖|车|救命|苦|好|做|作|停|醒"
)
_SENDS: Final = frozenset(
    "传讯 来讯 来信 发信 寄信 写信 回信 来电 致电 传话 发文 发帖 贴文 留言".split()
)
"""Words for sending something, behind a surname."""
# Words that begin as a name of three characters does.
_NO_FULL_NAME: Final = lazy_pattern(
    r"高(?:兴|质|级|度|速|铁|血|烧|中|考|[一二三])|方(?:面|便|式|法|向|才|案)|马(?:上|路|拉)"
    r"|白(?:天|领|色)|石(?:头|油)|万(?:分|一|般|事)|江(?:边|湖|南|北|苏|西)|任(?:何|务|职|意)"
    r"|程(?:序|度)|周(?:末|[一二三四五六日]|围|年)|何(?:时|处|必|况)|黄(?:色|金|昏)|夏(?:天|季)"
    r"|许(?:多|久|愿)|曾(?:经|在)|陆续|林(?:业|地|区)|田(?:地|里|野)|钱(?:包|财|款)"
    r"|毛(?:衣|病|巾|笔)|龙(?:年|虾|舟)|武(?:术|汉|功|器)|史(?:上|料|诗)|严(?:重|格|肃)"
    r"|莫(?:名|非)|顾(?:客|问|虑|及)|金(?:融|额|钱|色|牌)|张(?:罗|贴|开)|余(?:下|额)|贺(?:卡|喜|年)"
    r"|胡(?:说|子|同|萝)|罗列|郑重|谢(?:谢|绝)|唐(?:诗|装)|姜(?:茶|汤|黄)|钟(?:头|点|表|爱|情)"
    r"|汤(?:匙|圆)|熊猫|段(?:时|落)|陶(?:瓷|醉|艺)|黎明|戴(?:着|上|眼)|杜绝|叶(?:子|片)|苏(?:打|醒)"
    r"|徐徐|孙(?:子|女|儿)|雷(?:雨|电)|丁克|小|阿姨|什么|不|他|她|我|你"
)
_NO_PLACE: Final = lazy_pattern(
    r"[一二三四五六七八九十两几这那哪此同](?!重|峡|亚)|自己|家|公司|学校|宿舍|公寓|郊|市中心|市区|城|乡"
    r"|农村|国外|国内|海外|海边|山|父母|爸|妈|朋友|酒店|附近"
    r"|新(?![竹店庄北疆乡余化营])|老|外地|本地|当地|租|楼|别墅|大学|小区|外面|里面|那里|这里|北方|南方|东部|西部|单亲"
    r"|普通|工薪|不|很|更|大城|小镇|沿海|内地"
    r"|[我他她你它]|男|女|单位|同|隔壁|对面|河|湖|江边|东边|西边|南边|北边"
)


@dataclass(frozen=True, slots=True)
class HanName:
    """A name in Chinese characters, as it is written from *start* on."""

    written: str
    start: int
    is_known: bool = False
    """Whether it is a well-known place, which has an English name as well."""


def han_names_in(text: str) -> tuple[HanName, ...]:
    """
    Return the names in Chinese characters in *text*, in order.

    >>> [each.written for each in han_names_in("我的猫叫豆豆，住在松溪")]
    ['豆豆', '松溪']
    """
    found = {each.start: each for each in _by_context(text)}
    for match in _KNOWN.finditer(text):
        found[match.start()] = HanName(match.group(), match.start(), is_known=True)
    return tuple(found[start] for start in sorted(found))


def _by_context(text: str) -> Iterator[HanName]:
    for patterns, no_name in ((_PERSONS, _NO_PERSON), (_PLACES, _NO_PLACE)):
        for pattern in patterns:
            for match in pattern.finditer(text):
                group = match.lastgroup or ""
                is_sure = group in {"surname", "titled"}
                written = match[group]
                # A surname whose given name is not told: 林某, and 林 of 房东林传讯说.
                if written[1:2] == "某" or written[1:] in _SENDS:
                    written = written[0]
                is_full = group == "name" and len(written) == 3 and written[0] in _SURNAMES
                refused = _NO_FULL_NAME if is_full else no_name
                if is_sure or not refused.match(written):
                    yield HanName(written, match.start(group))


def is_heard(name: HanName, text: str, latin_words: frozenset[str]) -> bool:
    """
    Return True if *text* contains *name*: a short one whole, of a longer one two characters.

    The end of a name is a guess, so a part is enough. *latin_words* are the words of the text in
    Latin letters, which may name a well-known place.
    """
    written = name.written
    if written in text:
        return True
    if name.is_known:
        return any(each in latin_words or each in text for each in PLACES[written])
    if len(written) == 1:
        return False
    # 北大 is short for 北京大学.
    short = [written[0] + each for each in written[2:]] if len(written) >= 4 else []
    return any(each in text for each in (*short, *map("".join, pairwise(written))))
