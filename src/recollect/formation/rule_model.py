"""
A deterministic model: it forms profiles and notes from plain sentences by rules, offline.

It reads nothing but the request that it is given, as a language model would: without the
messages in it, or without what is remembered, it cannot answer right.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from recollect.formation.citations import cited_words
from recollect.formation.consolidation import LEAVE
from recollect.formation.prompt_texts import TEXTS
from recollect.formation.rule_answers import ToldEarlier, answer_of
from recollect.formation.tool_names import END
from recollect.formation.value_identity import normalised
from recollect.ports import ModelAnswer, ModelRequest, Tool, ToolCall, Usage
from recollect.records import Json
from recollect.text.token_estimate import estimated_tokens

_PROPER: Final = r"([A-Z]\w+(?: [A-Z]\w+)*|[\u4e00-\u9fff]{2,4}?)"
_NAME: Final = rf"{_PROPER}(?=[.,!;，。！]|$| and\b)"
_PLACE: Final = (
    rf"(?:{_PROPER}(?=[.,!;，。！]|$| (?:now|since|with|last|this|in|on|for|and|but|because|\w+ ago"
    r"|yesterday|today)\b|了)|([a-z]{3,})(?=[.,!;]|$))"
)
_ENGLISH_JOBS: Final = (
    r"(?:accountant|analyst|architect|artist|baker|carpenter|chef|consultant|cook|dentist|designer"
    r"|developer|doctor|driver|electrician|engineer|farmer|journalist|lawyer|manager|musician|nurse"
    r"|photographer|pilot|plumber|professor|programmer|researcher|scientist|student|teacher"
    r"|translator|waiter|writer)"
)
_CHINESE_JOBS: Final = (
    "(?:护士|護士|老师|老師|教师|教師|医生|醫生|学生|學生|律师|律師|厨师|廚師|工程师|工程師|设计师|設計師"
    "|程序员|程式設計師|会计|會計|记者|記者|司机|司機|作家)"
)
_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("user_name", re.compile(rf"\b(?:[Hh]i|[Hh]ello|[Hh]ey)[,!]? I(?:'m| am) {_NAME}")),
    ("user_name", re.compile(rf"(?:[Mm]y name is|[Cc]all me|[Ii] go by|我叫) ?{_NAME}")),
    (
        "home",
        re.compile(
            r"(?:\b[Ii](?: now)? live in|\b[Ii](?:'ve| have)?(?: just)? moved(?: from [A-Z]\w+)? to"
            rf"|我(?:现在|現在)?住(?!院|校)在?|我[们們]?搬(?:家)?到了?) ?{_PLACE}"
        ),
    ),
    (
        "age",
        re.compile(
            r"(?:I am|I'm|I turned|我今年) ?(\d{1,3})(?: years old| today|[岁歲]|(?=[.,!;]|$))"
        ),
    ),
    ("occupation", re.compile(r"I (?:work|am working) as an? ([\w -]+?)(?=[.,!;]|$)")),
    (
        "occupation",
        re.compile(
            rf"\b[Ii](?:'m| am) an? ((?:\w+ )?{_ENGLISH_JOBS})\b"
            rf"|我是(?:一[名个個位])?(\w{{0,4}}?{_CHINESE_JOBS})"
        ),
    ),
    (
        "interests",
        re.compile(
            r"\b[Ii](?: really)? (?:like|love|enjoy) "
            r"(?!(?:it|that|this|these|those|them|him|her|you|your|my|how|what|when|to think)\b)"
            r"([\w -]+?)(?=[.,!;]|$)|我(?:很|最|非常)?喜[欢歡]([^，。！]+)"
        ),
    ),
    ("conversation_preferences", re.compile(r"[Pp]lease (keep [^.!?]+|answer [^.!?]+)")),
)
READ_CHARACTERS_MAX: Final = 20_000
"""Characters of a message that are read: nobody types more, and the event loop waits."""
SENTENCE_CHARACTERS_MAX: Final = 500
"""A longer sentence states nothing simple, and some rules look at it once for each word."""
_SENTENCE: Final = re.compile(r"(?:(?:Hi|Hello|Hey)! ?)?[^.!?。！？\n]+[.!?。！？]?")
# Requests too: "Plan my week" states nothing about it.
_QUESTION: Final = re.compile(
    r"^\W*(?:please |(?:can|could) you )?(?:plan|book|list|show|find|check|tell|give|help|suggest"
    r"|recommend|write|draft|review|compare|describe|prepare|schedule|summari[sz]e)\b"
    r"|[?？]$|什[么麼]|哪|谁|誰|几|幾|多少|怎[么麼]|[吗嗎呢]\W*$",
    re.IGNORECASE,
)
_NOTE: Final = re.compile(
    r"(?P<en>[^.!]*\b(?:[Mm]y (?!name)\w+ "
    r"|[Ii](?:'m| am) (?:(?:an? )?veg(?:etari)?an|allergic|from|learning|married|afraid)\b"
    r"|[Ii] (?:hate|prefer|speak|own|never|always|don't (?:like|eat|drink)|can't (?:eat|stand)"
    r"|was born|have (?:an? |two |three )(?!question|problem|idea|feeling|look))\b)[^.!]*)[.!]?"
    r"|(?P<zh>我的(?!名字)[^，。！]{3,}"
    r"|我(?:[对對][^，。！]{1,12}[过過]敏|不[吃喝][^，。！]+|不喜[欢歡][^，。！]+|[讨討][厌厭][^，。！]+|[养養]了?[^，。！]{2,}"
    r"|有(?:一|[两兩]|三)[^，。！]{2,}|(?:正?在)[学學][^，。！]+|在[^，。！]+工作))"
)
_HEADINGS: Final[dict[str, str]] = {
    getattr(texts, name): name
    for texts in TEXTS.values()
    for name in ("remembered", "new_messages", "said_before")
}
_SEVERAL_SPEAK: Final = tuple(re.split("[.。{]", each.speakers)[0] for each in TEXTS.values())
_MESSAGE: Final = re.compile(r"(?P<number>\d+) (?P<speaker>[^:]+): (?P<words>.*)")
_LISTS: Final = frozenset({"interests", "conversation_preferences"})
_LIVES: Final = re.compile(r"\blives? (?:in|at)$|住在?$")
"""The predicate of a fact about a place of residence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    number: int
    speaker: str
    quote: str
    field: str
    value: str | int


@dataclass(slots=True)
class RuleModel:
    """
    A `Model` whose answers follow from rules, for the built-in types ``User`` and ``Note``.

    *requests* records the requests. It understands the English sentences "My name is …", "Hi, I'm
    …", "I live in …", "I moved to …", "I am … years old", "I work as …", "I like …", "Please keep
    …", "… my … …", and some Chinese ones.
    """

    identity: str = "rules/1"
    requests: list[ModelRequest] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return calls for the statements in the new messages of *request*, or an empty answer."""
        self.requests.append(request)
        if any(tool.name == LEAVE for tool in request.tools):
            # A consolidation request, for which it has no rules.
            return ModelAnswer(calls=(ToolCall(name=LEAVE, arguments="{}"),))
        shown = shown_in(request)
        known: list[Mapping[str, Json]] = [
            {"id": id_, "type": type_, "value": value, "owner": shown.owners.get(id_, "")}
            for id_, type_, value in shown.known
        ]
        said = [
            each
            for number, speaker, words in shown.new
            if _is_user(speaker)
            for each in _statements_in(number, speaker, words)
        ]
        offered = {tool.name for tool in request.tools}
        told = [each for each in said if each.field != "note"]
        if any(each in request.system for each in _SEVERAL_SPEAK):
            calls = _calls_of_each(known, told, offered)
        else:
            calls = _profile_calls(known, told, offered)
            calls += _ended_homes(known, told, offered)
        calls += _note_calls(known, said, request.tools)
        if not calls:
            calls = [ToolCall(name="remember_nothing", arguments="{}")]
        written = sum(estimated_tokens(str(call.arguments)) for call in calls)
        return ModelAnswer(
            calls=tuple(calls),
            usage=Usage(input_tokens=tokens_of(request), output_tokens=written),
        )

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield, word by word, an answer from the memories in the system prompt."""
        self.requests.append(request)
        *before, last = request.turns
        noted = [each.quote.strip() for each in _statements_in(1, "user", last.text)]
        told = [
            ToldEarlier(field=each.field, quote=each.quote.strip(), value=str(each.value))
            for turn in before
            if turn.role == "user"
            for each in _statements_in(1, "user", turn.text)
        ]
        answer = answer_of(last.text, request.system, noted, told)
        for number, word in enumerate(answer.split(" ")):
            yield word if number == 0 else f" {word}"


def tokens_of(request: ModelRequest) -> int:
    """Return the estimated tokens of a request, its tools included."""
    texts = [request.system, *(turn.text for turn in request.turns)]
    texts += [
        json.dumps([t.name, t.description, t.parameters], default=list, ensure_ascii=False)
        for t in request.tools
    ]
    return sum(estimated_tokens(text) for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    A request as a model sees it: memories as (id, type, value), new messages by number.

    *owners* maps document ids to their owners' names, if several users speak.
    """

    known: tuple[tuple[str, str, Mapping[str, Json]], ...]
    new: tuple[tuple[int, str, str], ...]
    before: tuple[tuple[int, str, str], ...]
    owners: Mapping[str, str] = field(default_factory=dict)


def shown_in(request: ModelRequest) -> Shown:
    """Parse a formation's request in any of its languages: messages are (number, speaker, text)."""
    known: list[tuple[str, str, Mapping[str, Json]]] = []
    new: list[tuple[int, str, str]] = []
    before: list[tuple[int, str, str]] = []
    owners: dict[str, str] = {}
    heading = ""
    for line in request.turns[0].text.split("\n"):
        if line in _HEADINGS:
            heading = _HEADINGS[line]
        elif heading == "remembered":
            head, begin = line.partition(" {")[0], line.index(" {") + 1
            id_, type_, *_ = head.split(" ", maxsplit=2)
            known.append((id_, type_, json.loads(line[begin:])))
            owners[id_] = head.partition(" @")[2]
        elif message := _MESSAGE.fullmatch(line):
            said = (int(message["number"]), message["speaker"], message["words"])
            (new if heading == "new_messages" else before).append(said)
    return Shown(known=tuple(known), new=tuple(new), before=tuple(before), owners=owners)


def _is_user(speaker: str) -> bool:
    return speaker.split(" ", maxsplit=1)[0] not in {"assistant", "tool", "system"}


def _statements_in(number: int, speaker: str, words: str) -> list[_Said]:
    sentences = (each.group().strip() for each in _SENTENCE.finditer(words[:READ_CHARACTERS_MAX]))
    short = [each for each in sentences if len(each) <= SENTENCE_CHARACTERS_MAX]
    told = [each for each in short if not _QUESTION.search(each)]
    found = [
        _Said(number=number, speaker=speaker, quote=match.group(), field=name, value=value)
        for name, rule in _RULES
        for sentence in told
        for match in rule.finditer(sentence)
        for value in [_typed(name, next(each for each in match.groups() if each))]
    ]
    found += [
        _Said(number=number, speaker=speaker, quote=noted, field="note", value=noted)
        for sentence in told
        for noted in (str(each["en"] or each["zh"]).strip() for each in _NOTE.finditer(sentence))
    ]
    return found


def _typed(field_name: str, told: str) -> str | int:
    return int(told) if field_name == "age" else told.strip()


def _calls_of_each(
    known: Sequence[Mapping[str, Json]], told: list[_Said], offered: set[str]
) -> list[ToolCall]:
    """Return calls for several users, each about that user's own profile."""
    return [
        call
        for speaker in dict.fromkeys(each.speaker for each in told)
        for call in _profile_calls(
            [each for each in known if each["owner"] == normalised(speaker)],
            [each for each in told if each.speaker == speaker],
            offered,
        )
    ]


def _profile_calls(
    known: Sequence[Mapping[str, Json]], told: list[_Said], offered: set[str]
) -> list[ToolCall]:
    document = next((each for each in known if each["type"] == "User"), None)
    if not told:
        return []
    if document is None:
        return [_inserted(told)] if "User" in offered else []
    value = document["value"]
    current = dict(value) if isinstance(value, Mapping) else {}
    if "name" in current and "user_name" not in current:  # as the user's own type calls it
        told = [replace(e, field="name") if e.field == "user_name" else e for e in told]
    changes = [change for each in told for change in _changes(each, current)]
    if not changes:
        return []
    arguments = json.dumps({"id": document["id"], "changes": changes}, ensure_ascii=False)
    return [ToolCall(name="patch_memory", arguments=arguments)]


def _inserted(told: list[_Said]) -> ToolCall:
    value: dict[str, Json] = {}
    because: list[Json] = []
    for each in told:
        path = f"/{each.field}"
        if each.field in _LISTS:
            listed = value.setdefault(each.field, [])
            if isinstance(listed, list):
                path += f"/{len(listed)}"
                listed.append(each.value)
        else:
            value[each.field] = each.value
        because.append(cited_words(each.number, each.quote, path))
    arguments = json.dumps({"value": value, "because": because}, ensure_ascii=False)
    return ToolCall(name="User", arguments=arguments)


def _changes(each: _Said, current: dict[str, Json]) -> list[Json]:
    """Return the operations that bring one thing into the document; *current* follows."""
    cited: dict[str, Json] = {"because": [cited_words(each.number, each.quote)]}
    listed = current.get(each.field)
    if each.field in _LISTS:
        if isinstance(listed, list):
            if each.value in listed:
                return []
            listed.append(each.value)
            return [{"op": "add", "path": f"/{each.field}/-", "value": each.value, **cited}]
        current[each.field] = [each.value]
        return [{"op": "add", "path": f"/{each.field}", "value": [each.value], **cited}]
    if listed == each.value:
        return []
    operation = "replace" if each.field in current else "add"
    current[each.field] = each.value
    return [{"op": operation, "path": f"/{each.field}", "value": each.value, **cited}]


def _ended_homes(
    known: Sequence[Mapping[str, Json]], told: Sequence[_Said], offered: set[str]
) -> list[ToolCall]:
    """Return the calls that end known facts about a home that the user has left."""
    home = next((each for each in reversed(told) if each.field == "home"), None)
    if home is None or END not in offered:
        return []
    calls = []
    for each in known:
        fact = each["value"]
        if not isinstance(fact, Mapping) or not _LIVES.search(str(fact.get("predicate", ""))):
            continue
        if str(home.value) in str(fact.get("object", "")):
            continue
        because = [cited_words(home.number, home.quote)]
        arguments = json.dumps({"id": each["id"], "because": because}, ensure_ascii=False)
        calls.append(ToolCall(name=END, arguments=arguments))
    return calls


def _note_calls(
    known: Sequence[Mapping[str, Json]], said: list[_Said], tools: Sequence[Tool]
) -> list[ToolCall]:
    tool = next((each for each in tools if each.name == "Note"), None)
    if tool is None:
        return []
    main, others = _note_fields(tool)
    notes = [each["value"] for each in known if each["type"] == "Note"]
    contents = {each.get(main) for each in notes if isinstance(each, Mapping)}
    calls = []
    for each in said:
        if each.field == "note" and each.value not in contents:
            value = {**dict.fromkeys(others, "said in passing"), main: each.value}
            because = [cited_words(each.number, each.quote)]
            arguments = json.dumps({"value": value, "because": because}, ensure_ascii=False)
            calls.append(ToolCall(name="Note", arguments=arguments))
    return calls


def _note_fields(tool: Tool) -> tuple[str, list[str]]:
    """Return the field of a note's text, and the other required fields."""
    schema: Any = tool.parameters
    required = list(schema["properties"]["value"].get("required", ()))
    main = "content" if "content" in required or not required else required[-1]
    return main, [each for each in required if each != main]
