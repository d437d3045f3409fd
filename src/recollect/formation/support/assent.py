"""Assent: recognise yes, no and choices in what a user answers to a question or an offer."""

from __future__ import annotations

import re
from typing import Final

from recollect.text.lazy_patterns import lazy_pattern

CHOICE: Final = lazy_pattern(r"\b(?:or|oder|o|ou|of)\b|还是|或者|ですか、|아니면")
YES: Final = lazy_pattern(
    r"\b(?:yes|yeah|yep|yup|yea|aye|sure|ok|okay|right|correct|exactly|indeed|great|perfect"
    r"|(?:much|far|so much|way) better|brilliant|lovely|excellent|fantastic|fab|spot on|that helps"
    r"|that's it|sounds good"
    r"|deal|agreed|go (?:with|for|ahead)|let's|lets|do (?:it|that|the)|that one"
    r"|this one|i'll take|we'll take|both"
    r"|love it|10/10|that'll do|otherwise (?:fine|good|ok|okay)|leave (?:it|that|them|those) in"
    r"|looks (?:good|great|fine|sweet|right|lovely|perfect)"
    r"|works|the \w+ one|(?:book|take|get|buy|order|use|keep) (?:it|that|this|them)|ja|genau|gern"
    r"|passt|klar|stimmt|si|claro|vale|perfecto|bueno|de acuerdo|oui|d'accord"
    r"|parfait|sim|pode ser|beleza|isso|ok(?:ay)?|va bene|certo|hai)\b|\bsí\b"
    r"|(?:^|[\s,，。;；!！~、])(?:[那嗯哦噢啊呃就都我也还]|这样|那就){0,2}"
    r"(?:好(?![像奇多几久难怕贵])|行(?![李程])|可以(?![^，。]{0,12}[吗么?？])|嗯|对(?![于面方手不])"
    r"|成(?![都绩本功为])|得(?![到]))"
    r"|(?<![不没])(?<!不太)(?:好|行|可以|成|得)[了的啦吧啊呀哦嘅喇呗]{0,2}(?=$|[\s,，。;；!！~])"
    r"|(?:^|[.!\n] ?)(?:(?:very|really|all) )?(?:good|nice|sweet)(?=[.,!\n]|$)"
    # "Ask her in writing." "I have."
    r"|^\W*(?:(?:i|we) (?:have|did|do|will)(?: already)?|(?:i |we )?already (?:have|did)"
    r"|(?:already )?(?:done|sorted|sent|posted|booked|ordered|signed)(?: it| that)?(?: already)?"
    r"|did that|will do|on it)(?=[.,!;\n]|$)"
    r"|(?:已经|早就?)?(?:问|说|做|弄|办|发|寄)(?:过|好|完)?了(?=$|[\s,，。;；!！~])|搞定"
    r"|是的|没错|没问题|没意见|就[这那]|要得|[这那][个班家款间种些一]"
    r"|听你的|采纳|同意|はい|うん|いい|お願い|네|좋"
    # Where "good" is 中, "yes" 係 or 啱, and "not bad" praises.
    r"|(?:^|[，,。!！~\n])\s*[中系啱](?=$|[\s,，。!！~吧啊呀喇])"
    r"|(?:^|[\s,，。!！~])(?:[这那][^\s,，。!！~不]{0,4})?(?:真|可|还|挺|蛮)?不[赖孬差](?=$|[\s,，。!！~呀啊嘛])",
    re.IGNORECASE,
)
YES_FIRST: Final = lazy_pattern(
    r"\W{0,3}(?:(?:oh|ah|um+|er+|haha|well|god|hm+)\W+){0,2}(?:yes|yeah|yep|yup|yea|aye|sure|ok"
    r"|okay|right"
    r"|correct|exactly|indeed|definitely|absolutely|of course|great|perfect|sounds good|deal|agreed"
    r"|go (?:with|for|ahead)|let's|lets|both|i do|i am|we do|we are|ja|genau|gern|klar|stimmt|si"
    r"|sí|claro"
    r"|vale|oui|sim|isso|certo|da|tak)\b|\W{0,3}(?:好|行|可以|嗯|对|是的?|没错|要|会|有|有的|当然"
    r"|就|成|得|系|啱|中(?=$|[\s,，。!！~吧啊])"
    r"|はい|うん|ええ|そう|네|응|맞)",
    re.IGNORECASE,
)
NO: Final = lazy_pattern(
    r"\W{0,3}(?:no(?!,? (?:wait|hang on|hold on)\b)|nope|nah|none|nothing"
    r"|not (?:really|at all|any ?more)|never|nein|nee|kein\w*"
    r"|non|ningun\w*|nao|não|net|いいえ|いや"
    r"|아니)\b|\W{0,3}(?:不是|没有|没|不|否|沒有|沒)",
    re.IGNORECASE,
)
NO_PROBLEM: Final = lazy_pattern(
    r"\W{0,3}(?:no (?:problem|worries|objections?)|(?:no|nope|nah),? (?:all good|thank|"
    r"(?:that|thats|that's|it's|its|this is) (?:is )?(?:fine|all|it|great|good|perfect|ok(?:ay)?))"
    r"|not bad|不[错赖孬差]|没有?(?:问题|意见|事|关系))",
    re.IGNORECASE,
)
"""Begins as a no, and is a yes."""
OTHER_PROPOSAL: Final = lazy_pattern(
    r"\W*(?:(?:(?:ok(?:ay)?|k|right|well|so|hm+|mm+|oh|ah|al+ ?right|fair(?: enough)?)\b"
    r"(?:\.{2,}|[^\w.!?\n])*"
    r"(?:but\b\W*)?)+|(?:\w+\W+){1,2}but\W+)"
    r"(?:(?:what|how) (?:about|if|abt)\b|what if\b|why not \w"
    r"|(?:\w+ ){1,3}(?<!that )(?<!this )(?<!it )(?<!them )instead\W*$)"
    r"|(?:(?:好|嗯+|行|可以|得|系)[的吧啊呀嘛啦]{0,2}|哦|噢|ok)?[，,、\s…~]*"
    r"(?:(?:但|不过|那么?|要不|不如|换成?|改成?|要是|如果)(?!.{0,6}(?:几|什么|怎么(?!样)|哪|谁|多少|点解|帮我))"
    r"[^，,。！!\n]{1,12}(?:呢|怎么样|如何|咋样|点样|好不好)|(?:要不|不如)(?!就|按|听)[^，,。！!\n]{1,12})"
    r"\W*$",
    re.IGNORECASE,
)
"""
Begins as a yes, and proposes something else: "ok what about tea".

"Ok. What about tea" and "yes, what about parking" agree first; a bare "ok" before a question only
shows that the offer was heard.
"""
