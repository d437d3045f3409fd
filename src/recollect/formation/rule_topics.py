"""Topics of questions and memories for the rule model, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from recollect.formation.rule_patterns import DOGS
from recollect.formation.rule_patterns_chinese import JOBS
from recollect.text.cantonese import written_chinese

_DOGS_CHINESE: Final = "狗|柯基|金毛|拉布拉多|泰迪|哈士奇|柴犬|贵宾犬"
TOPICS: Final = tuple(
    (name, re.compile(rule, re.IGNORECASE))
    for name, rule in (
        (
            "name",
            (
                r"\b(?:names?|named|called|who am i|calls? me)\b"
                r"|我叫|名字|名叫|叫(?:什么|[啥她他])|我是谁|就叫"
            ),
        ),
        (
            "home",
            (
                r"\b(?:(?<!for a )liv(?:e|es|ed|ing)(?! up to\b)|home|address"
                r"|moved to (?-i:(?=[A-Z]))|moved house|moved in(?:to)? with"
                r"|shar(?:e|es|ing) (?:an? |my |our )?(?:flat|house|apartment|room|place))\b"
                r"|住|我家(?!里?(?:的|都?有))|我的家(?![人庭])|地址|(?<!公司)(?<!学校)(?<!单位)(?<!公室)搬到了?[^，。！？]{1,8}了"
            ),
        ),
        ("rise", r"\b(?:wak(?:e|es|ing)|woke|gets?|getting|got) up\b|起床"),
        ("family", r"\bfamily\b|家人|家里(?:人|有谁|有哪些人|都有谁|几口人)"),
        (
            "origin",
            (
                r"\bcom(?:e|es|ing) from\b|\bfrom\W*$|\bi(?:'m| am) from\b|\bgrew up\b"
                r"|来自|老家|哪[里儿]的?人|祖籍|籍贯"
            ),
        ),
        ("move", r"\bmov(?:e|es|ed|ing)\b|搬家?"),
        (
            "age",
            (
                r"\b(?:age|aged|how old|years old|turn(?:s|ed|ing)? \d+)\b"
                r"|多大|几岁|[\d一二三四五六七八九十]岁"
            ),
        ),
        (
            "occupation",
            (
                r"\b(?:work(?:s|ed|ing)?|jobs?|occupation|for a living|i teach|retired|resigned"
                r"|(?-i:\bI|\bwe) (?:run|own|manage) (?:an?|my|the|our) (?:\w+ ){0,3}?"
                r"(?:shop|store|caf[eé]|business|company|farm|bakery|restaurant|salon|studio|garage|pub|bar|agency|clinic|hotel)"
                r"|laid off|freelanc(?:e|er|ing)|self-employed|unemployed|quit(?! \w+ing\b))\b"
                r"|工作|职业|上班|[辞离]职|在[^，。！？我你做]{0,6}(?:公司|[医学]院|银行|学校|[工酒饭餐]?[厂店馆]|餐厅|超市|[局所社])做(?![饭菜梦客志义])"
                r"|我(?:现在|目前|如今)?是?[做干](?:什么|啥)\W*$|[做干当](?:什么|啥)(?:工作?|职业|(?:工作|职业)?的)|做哪[行个]"
                rf"|[是当做](?:一?[名个位])?(?:(?![我你他她]|的(?!士))[\u3400-\u9fff]){{0,4}}{JOBS}(?![的们\u3400-\u9fff])"
            ),
        ),
        (
            "interests",
            (
                r"\b(?:likes?|loves?|enjoys?|interests?|hobb(?:y|ies)|favou?rites?)\b"
                r"|喜欢|爱好|兴趣|最爱|(?<![可恋恩心])爱(?=[吃喝看玩听])"
            ),
        ),
        ("answers", r"\bconversation_preferences\b|\binstructions\b|\banswer\b|回答"),
        (
            "not_eaten",
            r"[我也都](?:[很最]?讨?厌|从?不(?:[能会爱]|(?:太|怎么|大)?喜欢)?)吃|讨厌的(?:[蔬青水]?[菜果]|食物)",
        ),
        (
            "allergy",
            (
                r"\ballerg\w+\b|\bco?eliac\b|\bintoleran\w+|忌口"
                r"|\b(?:ha(?:s|ve)|needs?|ought) to avoid\b"
                r"|\bshould(?:n't)? \w+ (?:not |never )?(?:avoid|eat)\b"
                r"|\bcan(?:'t|not| not) I (?:eat|take|have|drink)\b"
                r"|\bI can(?:'t|not| not) (?:eat|drink)\b|过敏|敏感"
                r"|我(?:都|还)?(?:不能|不可以)[吃喝用]|(?:不能|不可以)[吃喝碰](?:什么|啥|哪)"
            ),
        ),
        ("coffee", r"\b(?:coffees?|espressos?)\b|咖啡"),
        (
            "pet",
            rf"\b(?:pets?|cats?|kitten|tabby|hamster|rabbit|parrot|{DOGS})\b|宠物|猫|{_DOGS_CHINESE}",
        ),
        ("cat", r"\b(?:cats?|kitten|tabby)\b|猫"),
        ("dog", rf"\b(?:{DOGS})\b|{_DOGS_CHINESE}"),
        ("sister", r"\bsisters?\b|姐姐|妹妹|姐妹|我[姐妹](?!夫)"),
        ("brother", r"\bbrothers?\b|哥哥|弟弟|兄弟|我[哥弟]"),
        ("mother", r"\b(?:mother|mum|mom)\b|妈妈|母亲|我[老]?妈"),
        ("father", r"\b(?:father|dad)\b|爸爸|父亲|我[老]?爸"),
        (
            "partner",
            (
                r"\b(?:partner|husband|wife|boyfriend|girlfriend)\b|[男女]朋?友|丈夫|妻子|伴侣|老[公婆]"
                r"|(?<=我)先生|(?<=我的)先生|太太|爱人"
            ),
        ),
        (
            "dislikes",
            (
                r"\b(?:dislikes?|hates?|detests?|loathes?|(?:can't|cannot) stand|not fond of"
                r"|(?:don't|do not|doesn't|does not|didn't)(?: \w+)? (?:like|enjoy)|don't I like)\b"
                r"|讨厌|厌[恶吃喝]|受不了|不(?:太|怎么|大)?喜欢"
            ),
        ),
        (
            "wedding",
            r"\bweddings?\b|\b(?:get|gets|getting|be|marrying) married\b|婚[礼宴]|喜[宴酒]|结婚",
        ),
        ("weight", r"\bweigh(?:s|ed|t)?\b|体重|多重"),
        (
            "height",
            (
                r"\btall\b|\bheight\b|\b\d{3} ?cm\b|\b[12][.,]\d\d ?m\b"
                r"|\b\d (?:feet|foot|ft)\b|\b\d'\d|身高|多高"
            ),
        ),
        ("birthday", r"\b(?:birthday|born|turn(?:s|ed|ing)? \d+ on)\b|生日|出生"),
        (
            "child",
            r"\b(?:child(?:ren)?|kids?|daughters?|sons?|baby)\b|女儿|儿子|孩子|小孩|宝宝|[长次幼][子女]",
        ),
        ("daughter", r"\bdaughters?\b|女儿|[长次幼]女"),
        ("son", r"\bsons?\b|儿子|[长次幼]子"),
        # A baby that is due is born: no deadline.
        ("due", r"\bdeadlines?\b|(?<!baby )(?<!child )(?<!twins )\bdue\b|截止|交"),
        ("text", r"\btexts?\b|文字"),
        ("book", r"\bbooks?\b|(?<![念读教])书"),
        (
            "studies",
            "[念读上](?:书|学(?!期)|(?:小学|[初高国]中|大学|研究[所生]|[硕博]士))|就读",
        ),
        ("plant", r"\bplants?\b|植物"),
        ("balcony", r"\bbalcon(?:y|ies)\b|阳台"),
        ("exhibition", r"\bexhibitions?\b|展览"),
        ("museum", r"\bmuseums?\b|博物馆"),
        ("interview", r"\binterviews?\b|面试"),
    )
)
"""Names of topics, and the words by which a text is on one, in simplified characters."""

PERSONS: Final = frozenset(
    {"sister", "brother", "mother", "father", "partner", "child", "daughter", "son"}
)
"""Topics that are persons."""


def topic_of_field(field: str) -> str:
    """Return the topic of a profile's field."""
    return "name" if field == "user_name" else field


def topics_of(text: str) -> frozenset[str]:
    """Return the topics that a text is about."""
    plain = written_chinese(text).replace("_", " ")
    return frozenset(name for name, rule in TOPICS if rule.search(plain))
