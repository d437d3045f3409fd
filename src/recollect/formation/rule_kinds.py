"""Kinds of what questions ask for, a time, a place, a number, and the words that tell it."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty"
    r"|half|once|twice|[一二三四五六七八九十两百千半])"
)
_MONTHS: Final = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days?"
)
SO_OLD: Final = re.compile(
    rf"\b(?:is|was|turns|turned|who's|she's|he's) (?!\d{{4}}){_NUMBER}"
    r"(?=\W*$|[.,;!]|(?: and| now| today| yesterday| last| already| in)\b)"
    rf"|\b{_NUMBER}[ -](?:year|month|week)s?[ -]old\b",
    re.IGNORECASE,
)
"""An age as it is told of somebody: "turned 4", "who's 3", "a 4-year-old"."""
ASKS_COLOUR: Final = r"\b(?:what|which) colou?r\b"
ASKS_MEDICINE: Final = r"\b(?:what|which) (?:medications?|medicines?|meds|pills|tablets)\b"
KINDS: Final = tuple(
    (re.compile(asks, re.IGNORECASE), re.compile(has, re.IGNORECASE))
    for asks, has in (
        (
            r"\bwhy\b|为什么",
            r"\b(?:because|since|so|as|due to|therefore|reason|to)\b|[;；:：]|因为|由于|所以|为了",
        ),
        (
            rf"{ASKS_COLOUR}|什么颜色|啥颜?色",
            (
                r"\b(?:red|blue|green|yellow|black|white|gr[ae]y|brown|orange|pink|purple|beige"
                r"|gold|silver|navy|teal|maroon|turquoise|violet)\b|[红蓝绿黄黑白灰棕橙粉紫金银]"
            ),
        ),
        (
            ASKS_MEDICINE,
            r"\b\d+ ?m?g\b|\b(?:pills?|tablets?|inhaler|insulin|injections?)\b",
        ),
        (
            r"\bhow old\b|\bage\b|几岁|多大",
            (
                r"\bage\b|\baged\b|years? old|\b(?:is|am|turn(?:ed|s)?|was|he's|she's|who's|i'm) "
                rf"{_NUMBER}\b(?! \w+s\b)|{_NUMBER}岁|born"
            ),
        ),
        (
            (
                r"\bhow much (?!do(?:es)? (?:\w+ ){1,3}weigh\b)"
                r"(?:is|are|was|were|did|do|does|rent|money)\b|\bcosts?\b|\bprice\b"
                r"|多少钱|价"
            ),
            (
                r"[$€£¥]|\b(?:euros?|dollars?|pounds?|kr|kroner|francs?|yuan|cents?|quid|bucks|pence|grand)\b|[元块镑]"
                r"|[一二三四五六七八九十两几\d][万千百]|free"
                r"|\b(?!(?:19|20)\d\d\b)\d{3,}(?:\.\d+)?\b"
                r"(?! ?(?:k?m|miles?|k?g|ml|kcal|pages|people)\b)"
            ),
        ),
        ("几年级", "[小初高大][一二三四五六]|年级|[大中小]班"),
        (
            r"\bhow (?:much|many|long|far|often)\b|多少|多久|多长|几[个次]",
            rf"\b{_NUMBER}\b|{_NUMBER}",
        ),
        (
            (
                r"\bwhen\b|\bwhat (?:time|day|date)\b|\bdeadline\b"
                "|什么时候|(?<!电话)(?<!手机)(?<!门牌)几[点号月]|(?:星期|周|礼拜)几|何时|哪一?个?[天年月日号]"
            ),
            (
                rf"\b(?:{_MONTHS}|\d{{1,2}}(?:st|nd|rd|th)|\d{{4}}|\d{{1,2}}[:.]\d\d|o'clock"
                r"|(?:\d{1,2} ?)?[ap]m|at \d{1,2}|on the (?:first|second|third|last)|today|tomorrow"
                r"|yesterday|tonight|noon|midnight|weekends?"
                r"|(?:next|last|this|every|each) \w+|\w+ ago|(?:end|start|beginning|middle) of"
                r"|morning|evening|afternoon|autumn|spring|summer|winter)\b"
                r"|[月号日点]|\d年|[今明昨后前][天年]|去年|月底|年[底初]|周末|星期|周|礼拜|节|春|夏|秋|冬|每"
            ),
        ),
        (
            r"\bwhere\b|哪[里儿边]|什么地方|\baddress\b",
            (
                r"\b(?:in|at|on|to|under|behind|near|by|from|inside|above|below|beside|between"
                r"|outside|into|over) (?:the|my|our|a|an|his|her|their|[A-Z\u3400-\u9fff])"
                r"|\bhome\b|[在住到里去]"
            ),
        ),
    )
)
"""Patterns of what a question asks for, and of what an entry has that tells it."""
