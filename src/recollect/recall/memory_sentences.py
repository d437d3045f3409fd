"""Write memories as people say them: the value as a sentence, with dates and validity."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Final

from recollect.records import JsonObject, Memory
from recollect.stores.field_evidence import each_evidence, is_written_over
from recollect.stores.json_pointers import parse_pointer
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import has_chinese
from recollect.text.searchable import memory_text
from recollect.text.terms import MONTHS

PLACES_MAX: Final = 3
"""Files named at most as the origin of a memory; its evidence has all of them."""
WAITING: Final = ("a change waits for review", "有更改待批准")
"""
The note at a value that a quarantined memory would change, in English and in Chinese.

The Chinese labels have characters that are the same in both scripts.
"""
_REFUSED_FIELD: Final = frozenset({"pointer", "value"})
"""Fields of a memory that keeps a rejected field of another one from being formed again."""
_WEEKDAYS: Final = "Mon Tue Wed Thu Fri Sat Sun".split()
_FACT: Final = ("subject", "predicate", "object")
_SENTENCE_FIELDS: Final = "content memory text fact note statement sentence summary".split()
"""Fields whose text can be read by itself."""


def sentence_of(value: JsonObject) -> str:
    """
    Return the value of a memory as a sentence.

    A fact becomes its three parts in a row, a note its content, followed by its context if that
    adds a word. Any other value becomes its fields by name, also if it has one field only: "Oslo"
    alone does not say that somebody lives there.

    >>> sentence_of({"subject": "Mira", "predicate": "lives in", "object": "Porto"})
    'Mira lives in Porto'
    >>> sentence_of({"subject": "米拉", "predicate": "住在", "object": "波尔图"})
    '米拉住在波尔图'
    >>> sentence_of({"context": "boat", "content": "The boat is called Ida."})
    'The boat is called Ida.'
    >>> sentence_of({"context": "holidays", "content": "Likes the north."})
    'Likes the north. (holidays)'
    >>> sentence_of({"home": "Oslo"}), sentence_of({"note": "The boat is called Ida."})
    ('home: Oslo', 'The boat is called Ida.')
    >>> sentence_of({"instructions": "Answer briefly."})
    'Answer briefly.'
    >>> sentence_of({"pointer": "/interests/0", "value": "fishing"})
    'interests: fishing'
    """
    if _is_fact(value):
        return _joined([str(value[name]) for name in _FACT])
    content, context = value.get("content"), value.get("context")
    if isinstance(content, str) and content and (context is None or isinstance(context, str)):
        others = {
            name: field for name, field in value.items() if name not in {"content", "context"}
        }
        told = set(terms_of(content))
        asides = [context] if context and not told >= set(terms_of(context)) else []
        asides += [words] if (words := memory_text(others)) else []
        return f"{content} ({'; '.join(asides)})" if asides else content
    if value.keys() >= _REFUSED_FIELD and str(value["pointer"]).startswith("/"):
        return memory_text({parse_pointer(str(value["pointer"]))[0]: value["value"]})
    only = _only_text(value)
    if only is not None and (only[0] in _SENTENCE_FIELDS or only[0] == "instructions"):
        return only[1]
    return memory_text(value)


def _is_fact(value: JsonObject) -> bool:
    return all(isinstance(value.get(name), str | int | float) for name in _FACT)


def _only_text(value: JsonObject) -> tuple[str, str] | None:
    """Return the name and text of the only field that is filled in; ``None`` if it is no text."""
    filled = [(name, field) for name, field in value.items() if field not in (None, "")]
    if len(filled) != 1:
        return None
    name, field = filled[0]
    return (name, field) if isinstance(field, str) else None


def _joined(parts: list[str]) -> str:
    """Join *parts* with spaces, except between two Chinese characters."""
    text = parts[0]
    for part in parts[1:]:
        is_close = has_chinese(text[-1:]) and has_chinese(part[:1])
        text += part if is_close else f" {part}"
    return text


def memory_sentence(value: JsonObject, text: str) -> str:
    """
    Return the value of a memory as a sentence; *text*, by which it is found, if that is empty.

    >>> memory_sentence({"content": "The boat is called Ida."}, "boat")
    'The boat is called Ida.'
    >>> memory_sentence({}, "a boat")
    'a boat'
    """
    return sentence_of(value) or text


def sentence_with_type(memory: Memory) -> str:
    """
    Return a memory as a sentence, after the name of its type if its fields need it to be read.

    "nuts", the value of ``{"substance": "nuts"}``, says nothing without its type, ``Allergy``; the
    type says enough of it. A document has a field for each of many things, and keeps its name.
    """
    sentence = memory_sentence(memory.value, memory.text)
    value = memory.value
    if _is_fact(value) or any(isinstance(value.get(name), str) for name in _SENTENCE_FIELDS):
        return sentence
    only = _only_text(value)
    is_document = memory.key == memory.type or memory.speaker is not None
    if only is not None and not is_document:
        sentence = only[1]
    return f"{memory.type}: {sentence}"


def day_of(moment: date, *, chinese: bool = False) -> str:
    """
    Return a date as people write it.

    >>> from datetime import UTC, datetime
    >>> day_of(datetime(2025, 4, 3, tzinfo=UTC)), day_of(datetime(2025, 4, 3), chinese=True)
    ('3 April 2025', '2025年4月3日')
    """
    if chinese:
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


# By date, not moment: equal moments in two zones are one key, but may be different days.
@lru_cache(maxsize=4_096)
def heading_of(day: date, *, chinese: bool = False) -> str:
    """
    Return a date with its short weekday, since the messages below it say "last Friday".

    >>> from datetime import date
    >>> heading_of(date(2025, 4, 3)), heading_of(date(2025, 4, 3), chinese=True)
    ('Thu 3 April 2025', '2025年4月3日 星期四')
    """
    # The month is written in full: a reader answers with these words.
    told = day_of(day, chinese=chinese)
    if chinese:
        # Not 周, which is 週 in traditional characters: 星期 is the same in both.
        return f"{told} 星期{'一二三四五六日'[day.weekday()]}"
    return f"{_WEEKDAYS[day.weekday()]} {told}"


def validity_of(memory: Memory, *, chinese: bool = False) -> str:
    """
    Return the time in which a memory is true, or else the day it was said; "" if unknown.

    One that a person wrote over what a message says was said when it was written.
    """
    since, until = memory.valid_from, memory.valid_until
    if since and until:
        first, last = day_of(since, chinese=chinese), day_of(until, chinese=chinese)
        return f"{first}至{last}" if chinese else f"{first} until {last}"
    if until:
        day = day_of(until, chinese=chinese)
        return f"至{day}" if chinese else f"until {day}"
    if since:
        day = day_of(since, chinese=chinese)
        return f"自{day}" if chinese else f"since {day}"
    said_at = memory.updated_at if is_written_over(memory.evidence) else memory.said_at
    return "" if said_at is None else day_of(said_at, chinese=chinese)


def origin_of(memory: Memory, *, chinese: bool = False) -> str:
    """
    Return a note that an agent found a memory, with the files; "" if it rests on messages.

    >>> from recollect import Evidence, FileLines, PutMemory, open_sync
    >>> found = Evidence(
    ...     thread="t", message="f1", kind="file", file=FileLines(path="Makefile", line=12)
    ... )
    >>> with open_sync("memory:", embedder="none") as memory:
    ...     (note,) = memory.apply(
    ...         "ada", [PutMemory(type="Note", key="n", value={}, evidence={"": [found]})]
    ...     )
    >>> origin_of(note), origin_of(note, chinese=True)
    ('found by an agent in Makefile:12', '由 agent 找出：Makefile:12')
    """
    if memory.trust != "agent":
        return ""
    cited = each_evidence(memory.evidence)
    every = list(dict.fromkeys(str(each.file) for each in cited if each.file is not None))
    places = every if len(every) <= PLACES_MAX else [*every[:PLACES_MAX], "…"]
    where = "、".join(places) if chinese else ", ".join(places)
    if chinese:
        return f"由 agent 找出：{where}" if where else "由 agent 找出"
    return f"found by an agent in {where}" if where else "found by an agent"


def label_with_origin(memory: Memory, *, chinese: bool = False) -> str:
    """
    Return the label of a memory, with the note of `origin_of` if an agent found it.

    In *chinese*, the ``User of ines`` is the "ines 的 User": a type has one name in all languages.
    """
    label = f"{memory.speaker} 的 {memory.type}" if chinese and memory.speaker else memory.label
    notes = filter(None, (label, origin_of(memory, chinese=chinese)))
    return "，".join(notes) if chinese else ", ".join(notes)
