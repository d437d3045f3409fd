"""
Small talk: recognise turns that ask for nothing, in English and Chinese.

A turn is small talk if it consists of greetings, thanks, goodbyes and acknowledgements alone, of
questions to a program about itself, or of signs without a word. The grammar is closed: one word
beyond it, and the turn is not small talk. So "Hello! Where did I park?" and "thanks, and what is
her name?" are searched for.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.text.analysis import fold

CHARACTERS_MAX: Final = 120
"""A longer turn is not small talk."""

_NOT_A_WORD: Final = re.compile(r"[^\w']+|_+")
_WHEN: Final = (
    r"(?: (?:today|tonight|tomorrow|now|later|soon|then|again|around|next (?:time|week)))"
)
_THANKED: Final = (
    r"(?: for (?:(?:all|that|this|it|the|your|my) )*(?:\w+ )??(?:now|today|all|that|this|it"
    r"|everything|help|time|answers?|advice|support|explanation|info|tips?))"
)
_MUCH: Final = r"(?: (?:so much|very much|a lot|a bunch|a million|a ton|again|anyway|though))"
_VERY: Final = r"(?:(?:really|very|so|super|all|quite|just|pretty|too) )?"
_FINE: Final = (
    r"(?:fine|great|good|nice|cool|perfect|awesome|amazing|excellent|wonderful|lovely|super"
    r"|fantastic|brilliant|sweet|neat|interesting|helpful|useful|funny|kind|right|correct|true|ok"
    r"|okay|enough)"
)

# A phrase ends at a word's end, and the first that matches stands: the longer ones come first.
_ENGLISH: Final = (
    # Greetings
    (
        r"(?:it's |it is )?(?:so )?(?:nice|good|great|lovely|pleased|glad) to"
        r" (?:meet|see|hear from|be back|know)(?: you)?(?: too| again)?"
    ),
    r"(?:very )?good ?(?:morning|afternoon|evening|day|night)(?: (?:to you|everyone|all))?",
    (
        r"(?:hi+|hey+|hello+|hiya|howdy|yo|greetings|welcome)"
        r"(?: (?:there|again|all|back|everyone|everybody|guys|folks|you))?"
    ),
    r"long time no see|how (?:do you do|have you been|goes it)",
    (
        rf"how(?:'s| is| are|'re| r) (?:you|u|ya|things|it|everything|life|your (?:day|week))"
        rf"(?: (?:doing|going|feeling|been))?{_WHEN}?"
    ),
    r"(?:what's|what is|whats) (?:up|new|going on)|wassup|sup",
    (
        r"(?:i'm|i am) (?:fine|good|well|great|ok|okay|back|here|done|all set|bored|ready)"
        rf"(?: (?:too|now))?{_THANKED}?"
    ),
    # Thanks
    rf"(?:many |ok |no )?(?:thanks|thank ?(?:you|u)|thx|ty|tysm|cheers){_MUCH}*{_THANKED}?",
    rf"(?:(?:much|i|really) )*appreciated?(?: (?:it|that|this|your \w+))?{_MUCH}?{_THANKED}?",
    (
        rf"(?:that was|that's|that is|this is|it was|it's) {_VERY}(?:{_FINE}|all|it)"
        rf"(?: (?:of you|to (?:know|hear)))?{_THANKED}?{_WHEN}?"
    ),
    rf"(?:you're|you are|ur) (?:the best|welcome|a star|a lifesaver|{_VERY}{_FINE})",
    (
        r"same to you|(?:you|me) too|my pleasure|anytime|don't mention it"
        r"|no (?:problem|worries|rush|need|way)"
    ),
    # Goodbyes
    rf"(?:good ?)?bye+(?: bye+)?{_THANKED}?{_WHEN}?",
    rf"(?:see|talk to|catch|speak to) (?:you|ya|u){_WHEN}*|ttyl|cya|farewell|until{_WHEN}",
    (
        r"(?:have|enjoy) (?:a|your|the) (?:(?:nice|good|great|lovely|wonderful) )?"
        r"(?:day|night|evening|afternoon|weekend|one|time|trip|rest)(?: of (?:your|the) day)?"
    ),
    (
        r"(?:sleep well|sweet dreams|take care|(?:i )?(?:gotta|got to|have to|must)"
        rf" (?:go|run|leave)){_WHEN}?"
    ),
    # A program about itself, and what it is asked to say without a matter
    (
        r"are you (?:(?:a|an|still) )?(?:there|real|alive|human|person|robot|bot|ai|machine|program"
        r"|ok|okay|busy)|(?:who|what) (?:are|r) (?:you|u)"
    ),
    r"who (?:made|created|built|trained|developed) you|what can you do(?: for me)?",
    r"(?:can|could|will) you (?:please )?help(?: me)?(?: (?:out|please))?(?: with something)?",
    r"(?:i need )?(?:some |your )?help(?: me)?(?: please)?",
    (
        r"(?:can you |please )?(?:tell|give)(?: me)? (?:a|another|one more) (?:joke|story|riddle"
        r"|fun fact|random fact)"
    ),
    (
        r"(?:say|tell me) something(?: (?:nice|funny|interesting|else|sweet))?"
        r"|let's (?:chat|talk|start|go)"
    ),
    # Acknowledgements
    (
        r"(?:that |it )?(?:all )?(?:makes (?:perfect )?sense|(?:sounds?|looks?)"
        r" (?:good|great|fine|perfect|right)(?: to me)?)"
    ),
    r"(?:good|great|nice) (?:idea|point|to know|job|work|one|luck|question|call)|well done",
    r"(?:i )?(?:(?:got|get) it|gotcha|see|understand|agree|guess(?: so)?|think so|hope so)",
    r"(?:please )?(?:go (?:ahead|on)|continue|carry on|do(?: so)?)(?: please)?",
    r"of course|by all means|why not|fair enough|you bet|not (?:now|yet|really|sure|bad|at all)",
    (
        r"never ?mind|forget (?:about )?it|my (?:bad|mistake)"
        r"|(?:i'm |i am )?(?:so |very )?sorry(?: about that)?"
    ),
    (
        r"(?:wait|hold on|hang on|give me|just|(?=a|one))"
        r"(?: ?(?:a|one) (?:moment|sec(?:ond)?|minute))?(?: please)?|be right back"
    ),
    (
        r"let me (?:think|see|check)(?: (?:about|of) (?:it|that|this))?"
        r"(?: for a (?:moment|second|minute))?"
    ),
    r"o?k|okay|okey|okie|kk|all ?right|sure(?: thing)?|ye[ps]|yeah|yea|yup|yes|no|nope|nah",
    _FINE,
    (
        r"exactly|indeed|agreed|done|understood|noted|absolutely|definitely|certainly|totally|really"
        r"|seriously|maybe|perhaps|please|bravo|congrats|congratulations|whatever|later|back|brb|oops"
    ),
    (
        r"oh|ah+|aha|aw+|hm+|mm+|um+|uh+|huh|wow+|whoa|yay|ugh|ouch|phew|ha(?:ha)+h?|he(?:he)+|lo+l"
        r"|lmao|rofl|omg|xd|test|testing|and|so|well|then|but|dear|mate|buddy|everyone|sir"
    ),
)
_CHINESE: Final = (
    # Greetings
    r"(?:你|您)好吗|(?:你|您)?(?:最近|今天)?(?:怎么样|还好吗|如何)|最近好吗",
    (
        r"(?:(?:你|您|大家)?(?:早上|上午|中午|下午|晚上)好|你好|您好|大家好|哈喽|哈罗|嗨|早安?|[晚午]安"
        r"|好久不见|(?:你|您)?在(?:吗|不在))"
    ),
    # Thanks, apologies and wishes
    (
        r"(?:非常|十分|太|真的?很?|真是|多)*(?:谢谢|感谢|谢)(?:你|您|大家)*"
        r"(?:的(?:帮助|帮忙|回答|建议|支持|解答))?"
    ),
    r"(?:不|别)(?:客气|用谢|谢)|没关系|没事|没问题|(?:辛苦|麻烦)(?:你|您)?",
    r"对不起|抱歉|不好意思|打扰(?:你|您)?|加油|祝(?:你|您)(?:好运|顺利)|(?:祝?(?:你|您)?)周末愉快",
    # Goodbyes
    (
        r"再见|拜|(?:明天|明儿|回头|下次|待会儿?|一会儿?|改天|下周)再?[见聊说]|回聊|晚点再?[聊说见]"
        r"|(?:那|先|就)+这样"
    ),
    # A program about itself, and what it is asked to say without a matter
    r"(?:你|您)(?:是谁|叫什么(?:名字)?|是(?:机器人|真人|人工智能|人|ai))",
    r"(?:你|您)(?:都|还)?[能会](?:做|干)?(?:什么|啥|些什么)",
    r"(?:你|您)?(?:可以|能)?(?:不能)?帮(?:我|帮我)(?:个|一个)?忙?",
    r"(?:请|能不能|可以)?再?(?:给我|跟我|和我)?再?[讲说来]一?个(?:笑话|故事|谜语|段子)",
    r"(?:随便|陪我|跟我|和我)?(?:聊聊天?|聊天|说说话)|(?:好|真|很)?无聊",
    # Acknowledgements
    r"不[用要行必]|不需要|不|算了|没有?(?:别的|其他)?|知道|明白|清楚|懂|了解|收到|同意|请?继续",
    r"(?:真|很|太|非常)(?:好|棒|不错|厉害|有趣|有意思|赞)|不错|厉害|有道理|有意思|原来如此|这样",
    (
        r"请?稍?等(?:一下|一会儿?|等|一等|我)*|稍候|(?:让|容)?我再?(?:想想|想一想|想一下|看看)"
        r"|我(?:回来|好)"
    ),
    r"好的?|行|可以的?|当然(?:可以)?|没错|对的?|是的?|那|就",
    "[嗯恩哦噢喔哈呵嘿嘻啊哇呀哎唉呃额诶呜]",
)
_PARTICLES: Final = "[啊呀呢吧啦哦嘛了的哈哟吗么喽咯滴]*"
# Atomic groups: what matched is not tried in another way, so the time grows with the length.
_PHRASES: Final = re.compile(
    f"(?:(?>(?:{'|'.join(_ENGLISH)})(?: |$))|(?>(?:{'|'.join(_CHINESE)}){_PARTICLES} ?))+"
)


def is_small_talk(text: str) -> bool:
    """
    Return True if *text* asks for nothing that is remembered.

    >>> is_small_talk("Hey, thanks a lot! Good night 👋"), is_small_talk("謝謝你的幫助!再見")
    (True, True)
    >>> is_small_talk("Hi! Where did I park?"), is_small_talk("谢谢,我的猫叫什么?")
    (False, False)
    """
    if len(text) > CHARACTERS_MAX:
        return False
    words = _NOT_A_WORD.sub(" ", fold(text.replace("\u2019", "'"))).strip()
    return not words or _PHRASES.fullmatch(words) is not None
