"""
Chinese patterns of the rule model: what a clause states about its speaker.

They are matched against text folded to simplified characters, which keeps its positions.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.formation.grounding.known_places import PLACES

_HAN: Final = "[\u3400-\u9fff]"
_WORDS: Final = "[^，。！？；,;!?]"
_DIGITS: Final = "[\\d一二三四五六七八九十两几半]"
# Time and manner stand between 我 and the verb. Words of the future are left out on purpose.
_WHEN: Final = (
    "(?:最近|刚刚?才?|现在|目前|已经|终于|也|又|就|[昨前今]天|[去今前]年"
    "|上个?(?:月|周|星期|礼拜)[一二三四五六日天末初底]?|这个?(?:月|周|星期)"
    f"|(?:[12]\\d{{3}}年)?{_DIGITS}{{1,3}}月(?:{_DIGITS}{{1,3}}[号日])?|[12]\\d{{3}}年"
    f"|{_DIGITS}+个?(?:年|月|天|周|星期)多?前){{0,3}}"
)
_NO_NAME: Final = (
    "(?!了|着|过|车|[^，。！；]*(?:你|您|他|她|它|外卖|救命|起床|[来去给请把做吃喝]|不[到要]))"
)
_NO_PLACE: Final = (
    "(?![了得着过不下进院校一哪什这那]|新?家|楼|学校|宿舍|酒店|[饭旅]店|[宾旅]馆|民宿|公司"
    "|外面|别处|隔壁|附近|对面|会议|教室|办公)"
)
_NOT_IN_PLACE: Final = "的以之想说吗呢吧也就是不没了跟与你您他她它我"
_PLACE: Final = (
    f"({_HAN}(?:(?![{_NOT_IN_PLACE}]|时候|会议){_HAN}){{1,5}}?|[A-Z]\\w+(?: [A-Z]\\w+)*)"
    "(?=[，。！；,;!]|$|了|[很已快有]|工作|上班|上学|读书|生活|定居"
    f"|{_DIGITS}+多?[年天个])"
)
CITY: Final = f"(?:{'|'.join(each for each in PLACES if not each.isascii())})"
"""A well-known place: "我家在装修" and "我家在山上" name none."""
_FROM: Final = "(?:从(?![来不没])[^，。！？；,;!?想说要没不会]{1,12}?)?"
"""Where a move began: "我从杭州搬到了苏州"."""
_WITH: Final = (
    "(?:[跟和与](?:(?![说讲想要问住后完了过]|告诉|觉得)[\u3400-\u9fff]){1,10}?(?:一起)?)?"
)
"""Who lives there as well: "我跟先生和两个小孩住在台中"."""
_TOWN: Final = (
    f"({CITY}(?:(?![{_NOT_IN_PLACE}开做买租卖有过上下]){_HAN}){{0,2}}"
    f"|(?:{CITY})?(?:(?![{_NOT_IN_PLACE}]){_HAN}){{1,5}}(?:[市省县镇]|(?<![市小郊社景校])区|路|街道?)"
    "|[A-Z]\\w+(?: [A-Z]\\w+)*)(?=[，。！；,;!]|$)"
)
JOBS: Final = (
    "(?:护士|老师|教师|医生|学生|律师|厨师|工程师|设计师|程序员|程式设计师|会计|记者|司机|作家"
    "|经理|总监|主管|顾问|分析师|研究员|教授|编辑|翻译|公务员|服务员|店长|实习生|牙医|医师"
    "|保全|警卫|护理师|药剂?师|社工|消防员|警察|军人|店员|摄影师|[理美]发师|美容师|水电工|木工|助理|秘书|导游|教练"
    "|飞行员|画家|歌手|演员|技师|治疗师|心理师|咨询师|营养师|快递员|外卖员|保安|保姆|程序猿|兽医|收银员)"
)
_FIRM: Final = (
    f"(?!{CITY}市?(?:工作|上班)|[家外]|公司|这|那|哪|什么|[国海]外)"
    "[^，。！？；,;!?你您他她它哪]{2,16}?"
)
_ABOUT_JOB: Final = "(?:(?![你您他她它来去找怕想要问请被不在让给跟对说的])\\w){0,4}?"
_KIN: Final = (
    "(?:妈妈?|爸爸?|姐姐?|妹妹?|哥哥?|弟弟?|父亲|母亲|女儿|儿子|老[婆公]|太太|先生|丈夫|妻子"
    "|[男女]朋?友|奶奶|爷爷|外[婆公]|朋友|同事|老板|小孩|孩子|家的?[猫狗])"
)
FIELDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile("".join(rule)))
    for name, *rule in (
        (
            "user_name",
            f"我(?:的?名?叫做?|的名字?(?:叫做?|是)){_NO_NAME} ?",
            f"({_HAN}{{2,4}}?|[A-Z]\\w+)(?=[，。！；,;!]|$)",
        ),
        (
            "user_name",
            "(?:(?:大家|朋友们?|同事们?|家里?人|[你您])(?:平时|一般|都|可以|就|也)*)?叫我 ?",
            f"([小阿老](?![心实声气孩公婆师板弟妹哥姐姨]|朋友){_HAN}{{1,2}}?|({_HAN})\\2|[A-Z]\\w+)",
            "(?=就[好行可]|[，。！；,;!]|$)",
        ),
        (
            "home",
            f"{_WHEN}我们?{_WHEN}{_WITH}(?:是?住(?>(?:在了?)?)|是?{_FROM}{_WHEN}搬家?[到去]了?)",
            f"{_NO_PLACE} ?{_PLACE}",
        ),
        ("home", f"{_WHEN}我们?{_WHEN}{_FROM}{_WHEN}搬来了?{_NO_PLACE} ?{_TOWN}"),
        ("home", f"{_WHEN}我们?{_WHEN}在{_NO_PLACE}({_HAN}{{2,5}}?)住(?=[，。！；,;!]|$)"),
        ("home", f"{_WHEN}我们?家{_WHEN}(?:住在?|搬[到去]了?|在){_NO_PLACE} ?{_TOWN}"),
        (
            "age",
            "我(?:今年|现在|已经)*满?(\\d{1,3}|[一二三四五六七八九十百]{1,4})(?:岁|(?<=今年\\d\\d))",
            "(?=[，。！；,;!了啦]|$)",
        ),
        (
            "age",
            f"{_WHEN}我{_WHEN}刚?满(\\d{{1,3}}|[一二三四五六七八九十百]{{1,4}})(?=了|[，。！；,;!]|$)",
        ),
        (
            "occupation",
            f"{_WHEN}我{_WHEN}[是当](?:一?[名个位])?({_ABOUT_JOB}{JOBS})(?=[，。！；,;!了]|$)",
        ),
        (
            "occupation",
            f"{_WHEN}我{_WHEN}(在 ?{_FIRM}[做当](?:一?[名个位])?{_ABOUT_JOB}{JOBS})",
            "(?=[，。！；,;!了]|$)",
        ),
        (
            "occupation",
            f"{_WHEN}我(?:现在|目前|如今)(在 ?{_FIRM}(?:工作|上班|做事?))(?=[，。！；,;!了]|$)",
        ),
        (
            "interests",
            "我(?:从小|[一向]直|就|也|都|很|最|非常|特别|[真挺超蛮]的?|比较)*",
            "(?:喜欢|热?爱)(?![你您他她它我自这那上好人的过])",
            f"({_WORDS}+?)(?=[，。！；,;!]|$|但|因为|可是|不过|[多胜]过)",
        ),
        (
            "conversation_preferences",
            "请[你您]?([用以][^，。！？]{1,12}?(?:回答|回[复覆]|答[复覆])我?",
            "|(?:保持|尽量)[^，。！？]{2,16})",
        ),
    )
)
INTEREST_DEGREE: Final = re.compile("(?:得?(?:很|不得了)|极了|最多|非常|最|[的了啊呀啦哦喔嘛])+$")
"""How much something is liked, at the end: no part of the interest."""
_NO_MATTER: Final = f"(?!{_WORDS}{{0,2}}(?:问题|想法|事|疑问))"
NOTE: Final = re.compile(
    f"{_WHEN}(?:我的(?!名字|天|意思|问题|错|话|看法|想法|梦){_WORDS}{{3,}}"
    f"|我们?[的家]?{_KIN}{_WORDS}{{2,}}|(?:[男女]朋?友|老[公婆])[叫是在]{_WORDS}{{2,}}"
    f"|(?:我(?:们?家里?|们)?|家里){_WHEN}[还也]?(?:养(?![成病伤]){_WORDS}+"
    f"|有(?:一(?![点些下])|[两三个只条](?![月人])){_NO_MATTER}{_WORDS}{{2,}})"
    f"|我{_WHEN}(?:"
    f"对(?:(?![不没]){_WORDS}){{1,12}}(?:过敏|敏感)"
    f"|(?:从来|一向)?不[能会爱敢]?[吃喝]{_WORDS}+|吃(?:全|纯)?素"
    f"|不(?:太|怎么|大)?喜欢{_WORDS}+|(?:很|最|超|真|特别|非常)?讨?厌(?![倦烦]){_WORDS}+|[很最]?害?怕(?![是你]){_WORDS}+"
    f"|(?:正?在|开始|正)学(?![校期生院])习?{_WORDS}+|学(?:[着了]|会了){_WORDS}+"
    f"|换(?:了|过)?{_WORDS}*(?:工作|公司|学校|职业|专业|手机|电话|号码|房子|老师|教练|医生|车)了?"
    "|辞职了|转行"
    f"|在(?!找|想|忙){_WORDS}{{2,12}}(?:工作|上班)"
    f"|会[说讲]{_WORDS}+|来自{_WORDS}+|出生[在于]?{_WORDS}+|(?:已|结|离)婚了?"
    f"|从不{_WORDS}+|总是{_WORDS}+|更喜欢{_WORDS}+|宁愿{_WORDS}+))"
)
GOES_ON: Final = re.compile(
    f"{_WHEN}我们?{_WHEN}(?:搬家?了|(?:早就)?不.+了$|不是?住.+$|不是[一名个]*.*{JOBS}$"
    "|(?:以前|之前|原来|原本|曾经|过去)是?(?:住|在).+$|是[^，]{2,6}$"
    "|(?:升职|转正|毕业|跳槽|失业|退休)了|辞职|离职|从.+[离辞]职|换了?(?:新?工作|公司)|在.+(?:工作|上班)$)"
)
"""A clause that states no field, after which one without a subject is about the user as well."""
IS_PART: Final = re.compile("[^市]+[区县镇乡村路街道里号弄]$")
"""A part of a town, which does not replace the town that the same sentence names."""
OPENING: Final = re.compile(
    "(?:(?:不对|对了|跟[你您][说讲][个件]?事?|告诉[你您](?:一?[个件])?事?|话说"
    "|[你您]猜(?:怎么[着样]|看)?|[你您]知道吗|顺便[说提讲](?:一?下|一?句)?|那个"
    "|[嗯哦喔噢啊哎唉诶欸嗨嘿]+|哈+|好[的吧了]?|是的|其实|说真的|说实话|老实说|另外|还有"
    "|而且|但是?|不过|因为|所以|然后|[你您]好|大家好|早(?:安|上好)?|晚上好|哈[囉喽啰]|谢谢[你您]?"
    "|请?记住)[呀啊哦喔吧呢]?(?:[，。！、：:,!~…\\s—]+|(?=我)))+"
)
"""Words before a statement that are no part of it."""
NOT_MEANT: Final = re.compile(
    "如果|要是|假[如设使]|若是|希望|但愿|(?<![理思幻联])想(?![像象])|要不|也许|或许|可能|好像|听说|据说"
    "|(?<![会小传])说(?!话)|告诉|觉得|以为|认为|梦|假装|差点|打算|计划|准备|应该|除非|的话|就好了"
    "|是不是|有没有|是否|吧$"
)
"""Conditions, wishes, doubts and the words of others: nothing that the user states as so."""
QUESTION: Final = re.compile(
    "[?？]$|什么|啥|哪|谁|几(?![年天个月])|几年级|几(?:年|天|个?月|个)\\W*$|干[嘛吗]|是[^，。]{1,8}还是|多少|(?<!不)怎么|[吗呢]\\W*$|(.)[不没]\\1"
)
