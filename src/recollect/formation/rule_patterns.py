"""English patterns of the rule model: plain statements of a user about themselves."""

from __future__ import annotations

import re
from typing import Final

from recollect.text.sentences import TITLES

_PROPER: Final = rf"((?:(?:{TITLES}|[A-Z])\. ?)*[A-Z]\w+(?: [A-Z]\w+)*)"
_NAME: Final = rf"{_PROPER}(?=[.,!;]|$| and\b)"
_PLACE: Final = (
    rf"(?:{_PROPER}(?=[.,!;]|$| (?:now|since|with|last|this|in|on|for|and|but|because|\w+ ago"
    r"|yesterday|today)\b)"
    r"|(?!(?:fear|peace|pain|style|luxury|poverty|denial|comfort|chaos|exile|town|dorms?|hotels?"
    r"|hostels?|tents?|vans?|flats?)\b)([a-z]{3,})(?=[.,!;]|$| and (?:i |I )?work\b))"
)
_MOVED_WHEN: Final = r" (?:yesterday|today|(?:in|on|since|last) (?!the\b)[\w ]{1,24}?|\w+ \w+ ago)"
_NO_TOWN: Final = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Slack|Teams|Zoom|Git\w+|Post\w+|My\w+|Python|Rust|Java\w*"
    r"|React|Linux|Windows|Mac|AWS|Azure|Google|Kubernetes|Notion|Jira|Plan|Phase|Part|Tier|Room)\b"
)
"""Names of what a team moves to, and does not live in: "We moved to Slack last year"."""
_I_AM: Final = r"[Ii](?:'?m| am)"
"""As people type it: without the apostrophe too."""
_PEOPLE: Final = (
    r"(?:\w+(?:ish|ese|nch|utch)|\w{3,}[aei]an|Greek|Swiss|Thai|Czech|German|Catholic|Muslim|Jewish"
    r"|Hindu|Icelandic|Arab|Black|White|Deaf|Home|Vegan|Late|Happy|Sorry|Fine|Back|Sure|Here|Busy|Single"
    r"|Married|Retired|Tired|New|Ok|OK)\b"
)
"""Capital words behind "I'm" that are no name: "I'm Dutch and live in Rome"."""
_JOBS: Final = (
    r"(?:accountant|act(?:or|ress)|analyst|architect|artist|author|baker|barber|barista|bartender"
    r"|biologist|bookkeeper|butcher|carpenter|cashier|chef|chemist|cleaner|clerk|coach|consultant"
    r"|cook|dancer|dentist|designer|developer|diver|doctor|driver|economist|editor|electrician"
    r"|engineer|farmer|firefighter|fisher(?:man|woman)|florist|freelancer|gardener|geologist"
    r"|hairdresser|historian|illustrator|interpreter|journalist|judge|lawyer|lecturer|librarian"
    r"|manager|mechanic|midwife|musician|nurse|optician|painter|paramedic|pharmacist|photographer"
    r"|physicist|physiotherapist|pilot|plumber|police officer|producer|professor|programmer"
    r"|psychologist|receptionist|researcher|sailor|scientist|singer|social worker|soldier|student"
    r"|surgeon|tailor|teacher|therapist|trainer|translator|tutor|vet|veterinarian|waiter|waitress"
    r"|welder|writer)"
)
_LISTED: Final = (
    r"(?!(?:and|but|so|or|i|my|we|our|he|she|it|they|you|because|which|who|when|not|especially"
    r"|although|though|also|to)\b)[\w-]+(?: (?!(?:and|or|is|are|was|i)\b)[\w-]+){0,2}?"
)
"""One of several things that are liked: "hiking, sushi and old films"."""
DOGS: Final = (
    r"dogs?|puppy|labradors?|spaniels?|terriers?|poodles?|beagles?|huskies|husky|greyhounds?"
    r"|whippets?|dachshunds?|corgis?|staff(?:y|ie)|lurcher|(?:golden )?retrievers?"
)
"""Words for a dog, and for its breed."""
FIELDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "user_name",
        re.compile(
            rf"\b(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| all)?[,!.]? {_I_AM} {_NAME}"
            rf"|^\W*(?:[Hh]i|[Hh]ello|[Hh]ey)[,!]? {_PROPER}(?= here\b)"
            rf"|^\W*{_I_AM} (?!{_PEOPLE}){_PROPER}(?=,? (?:\d{{1,3}},? )?(?:and )?(?:[Ii] )?"
            r"(?:live|work)\b)"
        ),
    ),
    (
        "user_name",
        re.compile(
            r"(?:[Mm]y name(?: is|'s)|[Cc]all me|[Ii] go by"
            r"|\b(?:everyone|everybody|people|(?:all )?my friends|most people|they) calls? me)"
            rf" ?{_NAME}"
        ),
    ),
    (
        "home",
        re.compile(
            r"(?:\b[Ii](?: now)? live (?:with (?:my )?[\w ]{2,30}? )?in"
            rf"|\b{_I_AM} (?:[A-Z]\w+,? )?(?:\d{{1,3}}(?: years old)?,? )?and live in"
            rf"|\b[Ii](?:'ve| have)?(?: just)? moved(?: back)?(?: from [A-Z]\w+)? to) ?{_PLACE}"
            r"|\b[Ww]e(?: (?:now )?live in|(?:'ve| have)?(?: just)? moved(?: house| back)? to)"
            rf" (?!{_NO_TOWN}){_PROPER}(?=[.,!;]|$| now\b|{_MOVED_WHEN})"
        ),
    ),
    (
        "age",
        re.compile(
            r"\b[Ii](?: am|'?m| turned) ?(\d{1,3})"
            r"(?: years old| today|(?=[.,!;]|$| and (?:[Ii] )?(?:live|work)\b"
            rf"| and an? (?:\w+ )?{_JOBS}\b))"
        ),
    ),
    (
        "occupation",
        re.compile(
            rf"(?:\b(?:[Ii](?: now)? work|{_I_AM} working)"
            rf"|\b(?:{_I_AM} (?:[A-Z]|\d)|[Ii] live )[^.,!?;]{{1,40}}?,? and work) as an? "
            r"(?!team\b)([\w -]+?)(?=(?: now| at| in| for| and)\b|[.,!;]|$)"
        ),
    ),
    (
        "occupation",
        re.compile(
            rf"\b{_I_AM} (?:\d{{1,3}}(?: years old)?,? and )?an? "
            rf"((?:(?!of\b|to\b|for\b|with\b|in\b)[\w-]+ ){{0,2}}?{_JOBS})\b(?!['’-])"
        ),
    ),
    (
        "occupation",
        re.compile(
            rf"\b{_I_AM}(?: now)?(?: the)? "
            rf"((?:head|chief|senior|lead) (?:\w+ )?{_JOBS})\b(?!['’-])"
        ),
    ),
    (
        "interests",
        re.compile(
            r"\b[Ii](?: really)? (?:like|love|enjoy) "
            r"(?!(?:it|that|this|these|those|them|him|her|you|your|my|how|what|when|to think)\b"
            r"|to (?:\w+ ){2,}|(?:the|an?) \w+ (?:called|named)\b)"
            rf"((?:{_LISTED}, )+?{_LISTED},? and {_LISTED}|[\w -]+?)"
            r"(?=[.,!;]|$| (?:but|because|and I|and my)\b)"
        ),
    ),
    ("conversation_preferences", re.compile(r"[Pp]lease (keep [^.!?]+|answer [^.!?]+)")),
)
TOLD_WHEN: Final = re.compile(rf"{_MOVED_WHEN}(?=[.,!;]|$)")
"""The time of a move, which belongs to its quote: it dates the new home."""
INTEREST_DEGREE: Final = re.compile(
    r"(?:^| )(?:(?:the )?(?:best|most)(?: of all)?|(?:(?:very|so|too|really) )?much|a (?:lot|bit)"
    r"|more than anything|really|as well|too|these days|nowadays|now|again)$"
)
"""How much something is liked, at the end: no part of the interest."""
NOTE: Final = re.compile(
    r"\b(?:[Mm]y (?!(?:name|opinion|view|bad|mistake|fault|god|goodness|point|question|turn)\b)"
    r"\w+(?:['’]s)? "
    r"|[Ii](?:'m| am) (?:(?:an? )?(?:veg(?:etari)?an|diabetic|asthmatic)|co?eliac|allergic|from"
    r"|learning|married|afraid)\b"
    r"|[Ii](?:'ve| have)? (?:just |recently |finally )?"
    r"(?:(?:started|begun|began) (?:to \w|\w+ing|an?)"
    r"|t(?:aken|ook) up|adopted|(?:changed|switched) (?:my |to an? )?(?:new )?(?:job|career|school)"
    r"|got (?:a new|an? (?:cat|dog|puppy|kitten|job)|married|engaged))"
    r"|[Ii] (?:hate|prefer|speak|own|never|always|don't (?:like|eat|drink)|can't (?:eat|stand)"
    r"|was born|have (?:an? |two |three )(?!question|problem|idea|feeling|look))\b"
    r"|(?:[Ii](?:'ve| have) got|[Ww]e(?:'ve| have)(?: got)?) (?:an? |two |three |four )(?:\w+ )?"
    rf"(?:kids?|child(?:ren)?|sons?|daughters?|brothers?|sisters?|cats?|pets?|twins|{DOGS})\b"
    r"|\b(?:[Tt]he|[Oo]ur) (?:kids|twins|boys|girls|cats|dogs) are (?:called|named)\b"
    r"|[Ii] take \d+ ?m?g\b"
    r"|[Ii](?: now| currently)? work (?:at|for|in) (?:the |an? )?\w"
    r"|[Ii](?:'m| am) moving (?:back )?to (?:[A-Z]|the (?:coast|country))"
    r"|(?:[Ii](?:'m| am)|[Ww]e(?:'re| are)) (?:flying|travell?ing|driving|going) to [A-Z]"
    r"|(?:[Ii]|[Ww]e)(?:'ve| have)? (?:just )?booked \w)"
)
OPENING: Final = re.compile(
    r"(?:(?:(?:no,? )?wait|change of mind|correction|scratch that|on second thoughts?"
    r"|guess what|you know what|you know|by the way|btw|fyi|just so you know|fun fact"
    r"|(?:(?:good|big|great|some) )?news|update|listen|look|so|well|oh|ah|hm+|um+|yes|yeah|yep|no"
    r"|ok(?:ay)?|sure|right|actually|anyway|also|and|but|oh my (?:god|goodness|gosh)|omg|hi|hello"
    r"|hey|hi there|hey there|good (?:morning|evening|afternoon)|thanks|thank you"
    r"|(?:please )?(?:remember|note|don't forget)(?: that)?)"
    r"(?:\s*[,!:;…—–-]+\s*|\s+(?=(?:[Ii]|[Mm]y|[Ww]e|[Oo]ur)\b)))+",
    re.IGNORECASE,
)
"""Words before a statement that are no part of it."""
NOT_MEANT: Final = re.compile(
    r"\b(?:if|unless|whether|suppos\w+|imagin\w+|pretend\w*|wish\w*|hop(?:e|es|ing)|dream\w*"
    r"|maybe|perhaps|might|would|says?|said|tells?|told|claims?|claimed|asks?|asked|heard"
    r"|thinks?|thought|guess|believes?|doubt|wonder\w*|according to|joking|kidding)\b|\w'd\b",
    re.IGNORECASE,
)
"""Conditions, wishes, doubts and the words of others: nothing that the user states as so."""
NOT_MEANT_BEFORE: Final = re.compile(
    r"\b(?:not|never|nobody|none|nothing|hardly|when|once|until|till|before|after|as soon as"
    r"|by the time)\b|n't\b",
    re.IGNORECASE,
)
"""In the clause before a statement: what denies it, or puts it off."""
NOT_MEANT_AFTER: Final = re.compile(
    r"\b(?:I (?:think|guess|suppose|hope|believe)|(?:said|says|told me)(?: so)?(?: \w+){0,2}"
    r"|(?:he|she|they|\w+ \w+) (?:said|says|claims?|thinks?)|maybe|perhaps|or not)\W*$",
    re.IGNORECASE,
)
"""At the end of a sentence: a doubt, or whose words it was."""
# Requests too: "Plan my week" states nothing about it.
QUESTION: Final = re.compile(
    r"^\W*(?:please |(?:can|could) you )?(?:plan|book|list|show|find|check|tell|give|help|suggest"
    r"|remind me (?:what|who|when|where|which|how|why|if|whether|of)|recommend|write"
    r"|draft|review|compare|describe|prepare|schedule|summari[sz]e"
    r"|forget|delete|erase|wipe|remove)\b"
    r"|[?？]$",
    re.IGNORECASE,
)
