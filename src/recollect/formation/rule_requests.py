"""
How the rules answer a request: with calls if it is a formation's, with words if it is a chat's.

They read nothing but the request that they are given, as a language model would: without the
messages in it, or without what is remembered, they cannot answer right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from recollect.formation.citations import cited_words
from recollect.formation.consolidation import LEAVE
from recollect.formation.prompt import LINE_END
from recollect.formation.prompt_texts import TEXTS
from recollect.formation.remembered_lines import RememberedLine, remembered_in
from recollect.formation.rule_answers import ToldByUser, answer_of
from recollect.formation.rule_end_calls import end_calls
from recollect.formation.rule_ends import ends_in
from recollect.formation.rule_slips import put_right_among, told_in
from recollect.formation.rule_statements import RuleStatement, asked_in, statements_in
from recollect.formation.rule_successions import successions
from recollect.formation.rule_topics import topics_of
from recollect.formation.value_identity import normalised
from recollect.ports import ModelRequest, Tool, ToolCall
from recollect.records import Json
from recollect.text.cantonese import written_chinese

_HEADINGS: Final[dict[str, str]] = {
    getattr(texts, name): name
    for texts in TEXTS.values()
    for name in ("remembered", "new_messages", "said_before")
}
_SEVERAL_SPEAK: Final = tuple(re.split("[.。{]", each.speakers)[0] for each in TEXTS.values())
_SINCE: Final = re.compile(r" (\d{4}-\d\d-\d\d)(?: |$)")
"""The first day of a memory, in the head of its line."""
_DAY: Final = re.compile(r"[^\s\d:]{1,8} (?P<day>\d{4}-\d\d-\d\d) \d\d:\d\d")
"""The line with the time of the messages below it."""
_MESSAGE: Final = re.compile(r"(?P<number>\d+) (?P<speaker>[^:]+): (?P<words>.*)")
_LISTS: Final = frozenset({"interests", "conversation_preferences"})
_HAS_ONE: Final = re.compile(
    r"(?:my (?P<thing>birthday|favou?rite \w+|blood type|shoe size|(?:phone|e-?mail)(?: \w+)?)"
    r" (?:is|are)\b|我的?(?P<物>生日|血型|鞋码|电话|手机号|邮箱|最喜欢的[\u3400-\u9fff]{1,3}?)是)",
    re.IGNORECASE,
)
"""The beginning of a note on what has one value at a time."""


def calls_for(request: ModelRequest) -> tuple[ToolCall, ...]:
    """Return calls for the statements in the new messages of *request*, or one that says none."""
    if any(tool.name == LEAVE for tool in request.tools):
        # A consolidation request, for which there are no rules.
        return (ToolCall(name=LEAVE, arguments="{}"),)
    shown = shown_in(request)
    known: list[Mapping[str, Json]] = [
        {
            "id": id_,
            "type": type_,
            "value": value,
            "owner": shown.owners.get(id_, ""),
            "since": str(shown.begun.get(id_, "")),
        }
        for id_, type_, value in shown.known
    ]
    said = _said_in(shown)
    offered = {tool.name for tool in request.tools}
    told = [each for each in said if each.field != "note"]
    if any(each in request.system for each in _SEVERAL_SPEAK):
        calls = _calls_of_each(known, told, offered)
    else:
        for_profile, facts = successions(known, told, offered, shown.days)
        calls = _profile_calls(known, for_profile, offered)
        ends = [
            (number, over)
            for number, speaker, words in shown.new
            if _is_user(speaker)
            for over in ends_in(words.replace(LINE_END, "\n"))
        ]
        calls += [*end_calls(known, told, ends, offered, shown.days), *facts]
    calls += _note_calls(known, said, request.tools)
    return tuple(calls) or (ToolCall(name="remember_nothing", arguments="{}"),)


def _said_in(shown: Shown) -> list[RuleStatement]:
    """Return what the users state in the new messages, and what they put right in the last one."""
    said: list[RuleStatement] = []
    earlier: dict[str, list[str]] = {}
    new = frozenset(number for number, *_ in shown.new)
    for number, speaker, line in sorted((*shown.before, *shown.new)):
        words = line.replace(LINE_END, "\n")
        if number in new and _is_user(speaker):
            right = put_right_among(number, speaker, words, earlier.get(speaker, []))
            slips = {(each.speaker, each.field) for each in right}
            said = [each for each in said if (each.speaker, each.field) not in slips]
            said += right or told_in(number, speaker, words)
        earlier.setdefault(speaker, []).append(words)
    return said


def words_for(request: ModelRequest) -> str:
    """Return the answer to the last turn of *request*, from the memories in the system prompt."""
    *before, last = request.turns
    said = [turn.text for turn in before if turn.role == "user"]
    talk = [
        text
        for number, text in enumerate(said, start=1)
        if not any(_takes_back(later, text) for later in (*said[number:], last.text))
    ]
    told = [
        each
        for number, text in enumerate(said)
        if text in talk
        for each in _told_by_user(text, said[:number])
    ]
    noted = [
        *_told_by_user(last.text, said),
        *_end_told(last.text, request.system),
    ]
    asked = asked_in(last.text)
    return answer_of(last.text, request.system, noted, told, asked=asked, talk=talk)


def _told_by_user(text: str, before: Sequence[str]) -> list[ToldByUser]:
    """Return what a message states, or puts right of the user's messages *before*."""
    return [
        ToldByUser(field=each.field, quote=each.quote.strip(), value=str(each.value))
        for each in told_in(1, "user", text) or put_right_among(1, "user", text, before)
    ]


def _takes_back(later: str, text: str) -> bool:
    """Return True if a *later* message says that what *text* states is over."""
    told = statements_in(1, "user", text)
    return any(
        over.field == each.field and over.ends(str(each.value))
        for over in ends_in(later)
        for each in told
    )


def _end_told(text: str, system: str) -> list[ToldByUser]:
    """Return the ends of what a prompt tells of the user's partner, home or work."""
    known = remembered_in(system)
    return [
        ToldByUser(field=over.field, quote=over.quote, value="")
        for over in ends_in(text)
        if any(over.ends(each.text) for each in known if _is_on(each, over.field))
    ]


def _is_on(line: RememberedLine, field: str) -> bool:
    """Return True if a line is a profile's *field*, or tells how it is now."""
    return line.field == field or (line.is_so_now and field in topics_of(line.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    A request as a model sees it: memories as (id, type, value), new messages by number.

    *owners* maps document ids to their owners' names, if several users speak; *days* has the days
    of messages, and *begun* the first days of memories, as far as they are told.
    """

    known: tuple[tuple[str, str, Mapping[str, Json]], ...]
    new: tuple[tuple[int, str, str], ...]
    before: tuple[tuple[int, str, str], ...]
    owners: Mapping[str, str] = field(default_factory=dict)
    days: Mapping[int, date] = field(default_factory=dict)
    begun: Mapping[str, date] = field(default_factory=dict)


def shown_in(request: ModelRequest) -> Shown:
    """Parse a formation's request in any of its languages: messages are (number, speaker, text)."""
    known: list[tuple[str, str, Mapping[str, Json]]] = []
    new: list[tuple[int, str, str]] = []
    before: list[tuple[int, str, str]] = []
    owners: dict[str, str] = {}
    days: dict[int, date] = {}
    begun: dict[str, date] = {}
    heading, day = "", None
    for line in request.turns[0].text.split("\n"):
        if line in _HEADINGS:
            heading = _HEADINGS[line]
        elif heading == "remembered":
            head, begin = line.partition(" {")[0], line.index(" {") + 1
            id_, type_, *_ = head.split(" ", maxsplit=2)
            known.append((id_, type_, json.loads(line[begin:])))
            owners[id_] = head.partition(" @")[2]
            if since := _SINCE.search(head):
                begun[id_] = date.fromisoformat(since[1])
        elif told := _DAY.fullmatch(line):
            day = date.fromisoformat(told["day"])
        elif message := _MESSAGE.fullmatch(line):
            said = (int(message["number"]), message["speaker"], message["words"])
            if day is not None:
                days[said[0]] = day
            (new if heading == "new_messages" else before).append(said)
    return Shown(
        known=tuple(known),
        new=tuple(new),
        before=tuple(before),
        owners=owners,
        days=days,
        begun=begun,
    )


def _is_user(speaker: str) -> bool:
    return speaker.split(" ", maxsplit=1)[0] not in {"assistant", "tool", "system"}


def _calls_of_each(
    known: Sequence[Mapping[str, Json]], told: list[RuleStatement], offered: set[str]
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
    known: Sequence[Mapping[str, Json]], told: list[RuleStatement], offered: set[str]
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


def _inserted(told: list[RuleStatement]) -> ToolCall:
    value: dict[str, Json] = {}
    cited: dict[str, list[Json]] = {}
    for each in told:
        path = f"/{each.field}"
        if each.field in _LISTS:
            listed = value.setdefault(each.field, [])
            if isinstance(listed, list) and each.value in listed:
                continue
            if isinstance(listed, list):
                path += f"/{len(listed)}"
                listed.append(each.value)
        else:
            if value.get(each.field) != each.value:
                cited.pop(path, None)  # words that state the former value do not support this one
            value[each.field] = each.value
        cited.setdefault(path, []).append(cited_words(each.number, each.quote, path))
    because = [words for found in cited.values() for words in found]
    arguments = json.dumps({"value": value, "because": because}, ensure_ascii=False)
    return ToolCall(name="User", arguments=arguments)


def _changes(each: RuleStatement, current: dict[str, Json]) -> list[Json]:
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


def _note_calls(
    known: Sequence[Mapping[str, Json]], said: list[RuleStatement], tools: Sequence[Tool]
) -> list[ToolCall]:
    """Return the calls for what fits no profile; a new birthday replaces the one before."""
    tool = next((each for each in tools if each.name == "Note"), None)
    if tool is None:
        return []
    main, others = _note_fields(tool)
    notes = [each["value"] for each in known if each["type"] == "Note"]
    contents = {each.get(main) for each in notes if isinstance(each, Mapping)}
    calls = []
    for each in said:
        if each.field != "note" or each.value in contents:
            continue
        former = _former_note(str(each.value), known, main)
        if former is not None:
            change = {
                "op": "replace",
                "path": f"/{main}",
                "value": each.value,
                "because": [cited_words(each.number, each.quote)],
            }
            arguments = json.dumps({"id": former, "changes": [change]}, ensure_ascii=False)
            calls.append(ToolCall(name="patch_memory", arguments=arguments))
        else:
            value = {**dict.fromkeys(others, "said in passing"), main: each.value}
            because = [cited_words(each.number, each.quote)]
            arguments = json.dumps({"value": value, "because": because}, ensure_ascii=False)
            calls.append(ToolCall(name="Note", arguments=arguments))
    return calls


def _former_note(said: str, known: Sequence[Mapping[str, Json]], main: str) -> str | None:
    """Return the id of the note that tells another value of what can have only one."""
    thing = _HAS_ONE.match(written_chinese(said))
    for each in known if thing else ():
        value = each["value"]
        told = value.get(main) if each["type"] == "Note" and isinstance(value, Mapping) else None
        other = _HAS_ONE.match(written_chinese(told)) if isinstance(told, str) else None
        if thing and other and _thing_of(thing) == _thing_of(other):
            return str(each["id"])
    return None


def _thing_of(found: re.Match[str]) -> str:
    return (found["thing"] or found["物"]).casefold()


def _note_fields(tool: Tool) -> tuple[str, list[str]]:
    """Return the field of a note's text, and the other required fields."""
    schema: Any = tool.parameters
    required = list(schema["properties"]["value"].get("required", ()))
    main = "content" if "content" in required or not required else required[-1]
    return main, [each for each in required if each != main]
