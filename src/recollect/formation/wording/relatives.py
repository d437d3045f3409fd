"""Words for relatives and others about a person, as alternatives of a pattern."""

from typing import Final

KIN: Final = (
    r"mother|mum|mom|father|dad|parents?|brother|sister|sibling|son|daughter|child|children|kids?"
    r"|boys?|girls?"
    r"|baby|wife"
    r"|husband|partner|boyfriend|girlfriend|fianc[eé]e?|friends?|neighbou?r|landlord|landlady"
    r"|boss|colleague"
    r"|coworker|roommate|flatmate|aunt|uncle|cousin|nephew|niece|gran(?:d\w+|ny)?|nan|nana|ex"
    r"|guest|teacher"
    r"|dog|cat|puppy|kitten|bruder|schwester|mutter|vater|sohn|tochter|frau|mann|freund(?:in)?"
    r"|hermano"
    r"|hermana|madre|padre|hijo|hija|marido|mujer|amigo|amiga|frere|soeur|mere|pere|fils|fille"
    r"|irmao|irma"
)
KIN_HAN: Final = (
    "妈|母亲|爸|父亲|爹|娘|哥|弟|姐|妹|儿子|女儿|孩子|老婆|老公|妻|丈夫|太太|先生|爱人|男友|女友"
    "|男朋友|女朋友"
    "|朋友|同事|同学|室友|邻居|房东|老板|奶奶|爷爷|外婆|外公|姥|舅|姨|叔|姑|侄|甥|闺蜜|狗|猫|兄"
    "|母|父|妻|夫|息子"
    "|娘|友達|嬷|阿公|阿妈|阿伯|婆|公公"
    "|个仔(?!细)|个女(?![生人性的孩])|[大细]佬|老[豆窦]|阿[仔女嫲]|闺女|媳妇"
)
