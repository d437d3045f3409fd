"""
A model of rules: it forms profiles and notes from plain sentences, without a network or chance.

It reads nothing but the request that it is given, as a language model would: without the
messages in it, or without what is remembered, it cannot answer right.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.formation.citations import cited_words
from recollect.formation.consolidation import LEAVE
from recollect.formation.prompt import SPEAKERS
from recollect.formation.value_identity import normalised
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Usage
from recollect.records import Json
from recollect.text.analysis import terms_of
from recollect.text.token_estimate import estimated_tokens

_PROPER: Final = r"([A-Z]\w+(?: [A-Z]\w+)*|[\u4e00-\u9fff]{2,4}?)"
_NAME: Final = rf"{_PROPER}(?=[.,!?;，。！？]|$| and\b)"
_PLACE: Final = rf"{_PROPER}(?=[.,!?;，。！？]|$| now\b| since\b| with\b)"
_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("user_name", re.compile(rf"\b(?:[Hh]i|[Hh]ello|[Hh]ey)[,!]? I(?:'m| am) {_NAME}")),
    ("user_name", re.compile(rf"(?:[Mm]y name is|[Cc]all me|[Ii] go by|我叫) ?{_NAME}")),
    ("home", re.compile(rf"(?:I live in|I(?:'ve| have)? moved to|我住在|我搬到了?) ?{_PLACE}")),
    ("age", re.compile(r"(?:I am|I'm|I turned|我今年) ?(\d{1,3})(?: years old| today|岁|$)")),
    ("occupation", re.compile(r"I (?:work|am working) as an? ([\w -]+?)(?=[.,!?;]|$)")),
    (
        "interests",
        re.compile(r"I (?:like|love|enjoy) ([\w -]+?)(?=[.,!?;]|$)|我喜欢([^，。！？]+)"),
    ),
    ("conversation_preferences", re.compile(r"[Pp]lease (keep [^.!?]+|answer [^.!?]+)")),
)
_NOTE: Final = re.compile(
    r"(?P<en>[^.!?]*\b[Mm]y (?!name)\w+ [^.!?]+)[.!?]?|(?P<zh>我的(?!名字)[^，。！？]{3,})"
)
_HEADINGS: Final = ("Remembered:", "New messages:", "Said before, for reference:")
_MESSAGE: Final = re.compile(r"(?P<number>\d+) (?P<speaker>[^:]+): (?P<words>.*)")
_QUESTIONS: Final = tuple(
    (name, re.compile(rule, re.IGNORECASE))
    for name, rule in (
        ("user_name", r"\b(?:my name|who am i)\b|我叫什么|我的名字|我是谁"),
        ("home", r"\b(?:do|did|where) i live\b|\bmy home\b|我(?:现在)?住在?(?:哪|什么)|我家在哪"),
        ("age", r"\bhow old am i\b|\bmy age\b|我(?:今年)?多大|我几岁"),
        ("occupation", r"\bdo i (?:work|do for a living)\b|\bmy job\b|我(?:是)?做什么工作"),
        ("interests", r"\bdo i (?:like|love|enjoy)\b|我喜欢什么"),
        ("conversation_preferences", r"\bhow should you answer\b|怎么回答我"),
    )
)
_CONTEXT: Final = re.compile(
    r"<memory (?P<mark>[0-9a-f]+)> [^\n]*\n(?P<lines>.*)\n</memory (?P=mark)>", re.DOTALL
)
_MEMORIES: Final = ("Known", "No longer so")
"""The headings above memories in a context; messages stand under their days."""
_LISTS: Final = frozenset({"interests", "conversation_preferences"})


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

    *requests* keeps what it was asked. It speaks the English sentences "My name is …", "Hi, I'm
    …", "I live in …", "I moved to …", "I am … years old", "I work as …", "I like …", "Please keep
    …", "… my … …", and some Chinese ones.
    """

    identity: str = "rules/1"
    requests: list[ModelRequest] = field(default_factory=list)

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return calls for what the new messages of *request* say, or that there is nothing."""
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
            for each in _said_in(number, speaker, words)
        ]
        offered = {tool.name for tool in request.tools}
        told = [each for each in said if each.field != "note"]
        if SPEAKERS.partition(".")[0] in request.system:
            calls = _calls_of_each(known, told, offered)
        else:
            calls = _profile_calls(known, told, offered)
        calls += _note_calls(known, said, offered)
        if not calls:
            calls = [ToolCall(name="remember_nothing", arguments="{}")]
        written = sum(estimated_tokens(str(call.arguments)) for call in calls)
        return ModelAnswer(
            calls=tuple(calls),
            usage=Usage(input_tokens=tokens_of(request), output_tokens=written),
        )

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield what was said, and what the system text remembers of it, word by word."""
        self.requests.append(request)
        said = request.turns[-1].text
        remembered = _remembered(request.system, said)
        answer = f"You said: {said}" + (f" I remember: {remembered}" if remembered else "")
        for word in answer.split(" "):
            yield f"{word} "


def _remembered(system: str, said: str) -> str:
    """
    Return the record in *system* that answers what was *said*, as well as can be told.

    That is the profile where it has the field that is asked for: what it says now, not what was
    said once. Else it is the record that shares most words, a memory rather than a message.
    """
    wanted = [name for name, rule in _QUESTIONS if rule.search(said)]
    asked = set(terms_of(said))
    best, most = "", (0, False, False)
    for who, text, is_memory in _told_in(system):
        fields = {part.partition(":")[0] for part in text.split("; ")}
        if is_memory and who == "User" and fields & set(wanted):
            return text
        shared = (len(asked & set(terms_of(text))), is_memory, who != "assistant")
        if shared[0] and shared > most:
            best, most = text, shared
    return best


def _told_in(system: str) -> list[tuple[str, str, bool]]:
    """
    Return what *system* tells: who says it or its type, its text, whether it is a memory.

    It is told by a context, or by records as JSON, one a line.
    """
    block = _CONTEXT.search(system)
    told = [_recorded(line) for line in system.splitlines() if line.startswith("{")]
    heading, fields = "", dict[str, list[str]]()
    for line in block["lines"].split("\n") if block else ():
        if line.startswith("# "):
            heading = line[2:]
        elif line.startswith("- "):
            fields.setdefault(heading.rpartition(" [")[0], []).append(line[2:])
        elif line.startswith("["):
            text = line.partition("] ")[2]
            is_memory = heading in _MEMORIES
            who, _, words = ("", "", text) if is_memory else text.partition(": ")
            told.append((who, words, is_memory))
    return [*((who, "; ".join(each), True) for who, each in fields.items()), *told]


def _recorded(line: str) -> tuple[str, str, bool]:
    record = json.loads(line)
    who, source = str(record.get("who", "")), str(record.get("source", ""))
    return who, str(record.get("text", "")), source.startswith(f"{who}/")


def tokens_of(request: ModelRequest) -> int:
    """Return about how many tokens a request has, its tools included."""
    texts = [request.system, *(turn.text for turn in request.turns)]
    texts += [
        json.dumps([t.name, t.description, t.parameters], default=list) for t in request.tools
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
    """Parse a formation's request: messages are (number, speaker, text)."""
    known: list[tuple[str, str, Mapping[str, Json]]] = []
    new: list[tuple[int, str, str]] = []
    before: list[tuple[int, str, str]] = []
    owners: dict[str, str] = {}
    heading = ""
    for line in request.turns[0].text.split("\n"):
        if line in _HEADINGS:
            heading = line
        elif heading == "Remembered:":
            head, begin = line.partition(" {")[0], line.index(" {") + 1
            id_, type_, *_ = head.split(" ", maxsplit=2)
            known.append((id_, type_, json.loads(line[begin:])))
            owners[id_] = head.partition(" of ")[2]
        elif message := _MESSAGE.fullmatch(line):
            said = (int(message["number"]), message["speaker"], message["words"])
            (new if heading == "New messages:" else before).append(said)
    return Shown(known=tuple(known), new=tuple(new), before=tuple(before), owners=owners)


def _is_user(speaker: str) -> bool:
    return speaker.split(" ", maxsplit=1)[0] not in {"assistant", "tool", "system"}


def _said_in(number: int, speaker: str, words: str) -> list[_Said]:
    found = []
    for name, rule in _RULES:
        for match in rule.finditer(words):
            value = next(each for each in match.groups() if each)
            typed = int(value) if name == "age" else value.strip()
            quote = match.group()
            found.append(
                _Said(number=number, speaker=speaker, quote=quote, field=name, value=typed)
            )
    found += [
        _Said(number=number, speaker=speaker, quote=noted, field="note", value=noted)
        for noted in (str(match["en"] or match["zh"]).strip() for match in _NOTE.finditer(words))
    ]
    return found


def _calls_of_each(
    known: Sequence[Mapping[str, Json]], told: list[_Said], offered: set[str]
) -> list[ToolCall]:
    """Return the calls for what each of several users told, for that user's profile alone."""
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
    cited: dict[str, Json] = {"because": cited_words(each.number, each.quote)}
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


def _note_calls(
    known: Sequence[Mapping[str, Json]], said: list[_Said], offered: set[str]
) -> list[ToolCall]:
    if "Note" not in offered:
        return []
    notes = [each["value"] for each in known if each["type"] == "Note"]
    contents = {each["content"] for each in notes if isinstance(each, Mapping)}
    calls = []
    for each in said:
        if each.field == "note" and each.value not in contents:
            value = {"context": "said in passing", "content": each.value}
            because = [cited_words(each.number, each.quote)]
            arguments = json.dumps({"value": value, "because": because}, ensure_ascii=False)
            calls.append(ToolCall(name="Note", arguments=arguments))
    return calls
