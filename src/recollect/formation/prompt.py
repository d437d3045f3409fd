"""
The prompt of a formation; parts that never change come first, so that providers can cache them.

Every message and every memory is one line, so that nothing in them can begin a line, end a
block or pass for an instruction of ours: memories are JSON behind their id and type, messages
have their line ends marked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, get_args

from recollect.formation.document_excerpts import shown_value
from recollect.formation.offer import Offer
from recollect.formation.operations import Fault
from recollect.formation.prompt_texts import ENGLISH, PromptLanguage, PromptTexts
from recollect.formation.repair_texts import reason_in
from recollect.formation.tool_names import NOTHING
from recollect.formation.type_texts import description_in, schema_in
from recollect.formation.types import MemoryType
from recollect.formation.window import Window, WindowLine
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Turn
from recollect.records import Memory, Message, Role
from recollect.stores.validation import plain_container

LINE_END: Final = " ⏎ "
"""The mark of a line break inside a message."""
TIME_SAID_AGAIN: Final = timedelta(minutes=30)
_ROLES: Final = frozenset(get_args(Role))
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
"""Line separators that JSON leaves unescaped."""
_PLACE: Final = re.compile(r"\{\{|\}\}|\{(\w+)\}")
ECHO_CHARACTERS_MAX: Final = 20_000
"""Most characters of a model's own text that a repair shows it again."""


def filled(text: str, **values: str) -> str:
    """
    Return a prompt with its variables filled in; nothing in *values* is read as a variable.

    >>> filled("It is {time}. Write {{}} for nothing.", time="{noon}")
    'It is {noon}. Write {} for nothing.'
    """
    return _PLACE.sub(lambda found: values[found[1]] if found[1] else found[0][0], text)


def first_request(window: Window, offer: Offer) -> ModelRequest:
    """Return the first request of a formation, with all types, memories and messages."""
    return ModelRequest(
        system=_system(offer),
        turns=(context_turn(window, offer),),
        tools=offer.tools,
        must_call=True,
    )


def cut_request(
    request: ModelRequest,
    window: Window,
    offer: Offer,
    numbers: Collection[int],
    targets: Collection[str],
) -> ModelRequest:
    """Return *request* with only these lines and memories, under the same numbers."""
    cut = replace(window, lines=tuple(e for e in window.lines if e.number in numbers))
    known = {id_: memory for id_, memory in offer.known.items() if id_ in targets}
    return replace(request, turns=(context_turn(cut, replace(offer, known=known)),))


def context_turn(window: Window, offer: Offer) -> Turn:
    """Return the turn that shows the known memories and the messages."""
    known = [offer.texts.remembered, *_known_lines(offer)] if offer.known else []
    return Turn(role="user", text="\n".join([*known, *_talk_lines(window, offer.texts)]))


def _system(offer: Offer) -> str:
    texts = offer.texts
    parts = [filled(texts.extraction, nothing=NOTHING)]
    parts += [
        filled(texts.sources, type=each.name, roles=", ".join(each.roles))
        for each in offer.types.values()
        if set(each.roles) != {"user"}
    ]
    instructed = [each for each in offer.inserts if each.instructions]
    parts += [f"{each.name}: {each.instructions}" for each in instructed]
    if offer.described:
        parts.append(filled(texts.patching))
        parts += [_described(each, texts.language) for each in offer.described]
    if offer.whose:
        parts.append(filled(texts.speakers, types=", ".join(sorted(offer.whose))))
    return "\n".join(parts)


def _described(type_: MemoryType, language: PromptLanguage) -> str:
    description = description_in(language, type_.description)
    about = " ".join(part for part in (description, type_.instructions) if part)
    return f"{type_.name}: {about}\n{json_line(schema_in(language, type_.parameters))}"


def _known_lines(offer: Offer) -> list[str]:
    return [_known_line(id_, memory, offer) for id_, memory in offer.known.items()]


def _owner(memory: Memory, offer: Offer) -> str:
    """Return the name of the speaker whose document it is, if several have one."""
    whose = offer.whose.get(memory.type)
    return whose.owner_of(memory.key) if whose else ""


def _known_line(id_: str, memory: Memory, offer: Offer) -> str:
    owner = _owner(memory, offer)
    began = memory.valid_from or memory.said_at
    since = "" if began is None else f" {began.date().isoformat()}"
    of = f" @{owner}" if owner else ""
    past = f" ({offer.texts.past})" if id_ in offer.past else ""
    value = json_line(shown_value(memory.value, offer.hidden[id_]))
    return f"{id_} {memory.type}{since}{past}{of} {value}"


def _talk_lines(window: Window, texts: PromptTexts) -> list[str]:
    """Return the lines of the messages, with a heading before new ones, and changed times."""
    lines: list[str] = []
    before: WindowLine | None = None
    for line in window.lines:
        begins = before is None or (line.message.thread, line.new) != (
            before.message.thread,
            before.new,
        )
        if begins:
            lines.append(texts.new_messages if line.new else texts.said_before)
        if begins or before is None or line.message.time - before.message.time > TIME_SAID_AGAIN:
            weekday = texts.weekdays.split()[line.message.time.weekday()]
            lines.append(f"{weekday} {line.message.time:%Y-%m-%d %H:%M}")
        lines.append(f"{line.number} {_speaker(line.message)}: {on_one_line(line.text)}")
        before = line
    return lines


def _speaker(message: Message) -> str:
    """Return the speaker's label: for a user the name, unless it looks like a role."""
    name = on_one_line(message.name or "").replace(":", " ").strip()
    if message.role != "user" or not name:
        return f"{message.role} {name}".strip()
    return f"user {name}" if name.split(" ", maxsplit=1)[0].casefold() in _ROLES else name


def on_one_line(text: str) -> str:
    r"""
    Return *text* with its line ends marked.

    >>> on_one_line("eggs\n  milk")
    'eggs ⏎ milk'
    """
    return LINE_END.join(part.strip() for part in text.splitlines())


def json_line(value: object) -> str:
    """Return a value as JSON on one line, whatever characters are in it."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain_container)
    return _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def repair_request(
    request: ModelRequest,
    answer: ModelAnswer,
    calls: Sequence[ToolCall],
    faults: Sequence[Fault],
    texts: PromptTexts = ENGLISH,
) -> ModelRequest:
    """Return *request* followed by its answer and the fault of each call."""
    reasons: dict[str | None, list[str]] = {}
    for fault in faults:
        reasons.setdefault(fault.call, []).append(reason_in(texts.language, fault.reason))
    replies = [
        Turn(
            role="tool",
            answers=call.id,
            text=f"{texts.repair} {'; '.join(reasons[call.id])}"
            if call.id in reasons
            else texts.kept,
        )
        for call in calls
    ]
    if None in reasons:
        replies.append(Turn(role="user", text="; ".join(reasons[None])))
    asked = Turn(role="assistant", text=_echoed(answer.text), calls=tuple(map(_named, calls)))
    return ModelRequest(
        system=request.system,
        turns=(*request.turns, asked, *replies),
        tools=request.tools,
        must_call=True,
        output_tokens_max=request.output_tokens_max,
    )


def _named(call: ToolCall) -> ToolCall:
    """Return a call as it is shown to the model that made it."""
    arguments = call.arguments
    return replace(
        call,
        name=_echoed(call.name)[:80] or "nothing",
        arguments=_echoed(arguments) if isinstance(arguments, str) else arguments,
    )


def _echoed(text: str) -> str:
    """Return a model's text in a form that can be sent back: valid characters, limited length."""
    cut = text[:ECHO_CHARACTERS_MAX]
    return cut.replace("\0", "").encode("utf-8", "replace").decode()
