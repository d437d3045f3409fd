"""Drafts of cases, and writing them to a case file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import tomli_w

from recollect.errors import UsageError
from recollect.evaluation.case_entries import Entry
from recollect.evaluation.case_files import read_cases
from recollect.formation.types import BUILTIN_TYPES, MemoryType
from recollect.records import JsonObject, Message

_HEADING: Final = (
    "# Drafted from what was formed: loosen what may be said in other words (contains)."
)
BUILTIN: Final = {each.name: each for each in BUILTIN_TYPES}


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadExcerpt:
    """The *new* messages of a thread that a case forms, and those *before* them."""

    thread: str
    before: tuple[Message, ...]
    new: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDraft:
    """A case to write, with the fields of a case file."""

    name: str
    types: tuple[MemoryType, ...]
    excerpts: tuple[ThreadExcerpt, ...]
    memories: tuple[Entry, ...] = ()
    expectations: Mapping[str, Sequence[Entry]] = field(default_factory=dict)

    @property
    def messages(self) -> list[Message]:
        """All messages; message number n of the case is at index n - 1."""
        before = [each for excerpt in self.excerpts for each in excerpt.before]
        return [*before, *(each for excerpt in self.excerpts for each in excerpt.new)]


def append_case(path: Path, draft: CaseDraft) -> str:
    """
    Append *draft* to a case file, which is created if necessary; return the case's name.

    Nothing is written if the resulting file would be invalid.

    Raises:
        UsageError: The file, or the result, is invalid.
    """
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        names = {each.name for each in read_cases(text, path.name)} if text.strip() else set()
        named = replace(draft, name=_free(draft.name, names))
        added = case_text(named)
        joined = f"{text.rstrip()}\n\n{added}" if text.strip() else added
        read_cases(joined, path.name)
        path.write_text(joined, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read or written: {error}") from error
    return named.name


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def case_text(draft: CaseDraft) -> str:
    """
    Return *draft* as TOML.

    Raises:
        UsageError: A value cannot be written as TOML, such as null.
    """
    case: dict[str, object] = {
        "name": draft.name,
        "tags": ["added"],
        "types": [_type_entry(each) for each in draft.types],
        "memories": list(draft.memories),
        "talks": list(_talk_entries(draft.excerpts)),
        **draft.expectations,
    }
    filled = {name: each for name, each in case.items() if each}
    try:
        text = tomli_w.dumps({"case": [filled]})
    except TypeError as error:
        msg = f"the case {draft.name!r} cannot be written as TOML: {error}; leave the field out"
        raise UsageError(msg) from None
    return f"{_HEADING}\n{text}"


def _type_entry(type_: MemoryType) -> str | JsonObject:
    return type_.name if type_ == BUILTIN.get(type_.name) else type_.as_config()


def _talk_entries(excerpts: Sequence[ThreadExcerpt]) -> Iterator[dict[str, object]]:
    """Yield the earlier messages, which are not formed, then the new ones, formed together."""
    for each in excerpts:
        if each.before:
            yield {
                "thread": each.thread,
                "formed": "none",
                "messages": [_message_entry(message) for message in each.before],
            }
    for number, each in enumerate(excerpts, 1):
        forming = {} if number == len(excerpts) else {"formed": "next"}
        messages = [_message_entry(message) for message in each.new]
        yield {"thread": each.thread, **forming, "messages": messages}


def _message_entry(message: Message) -> dict[str, object]:
    named = {"name": message.name} if message.name else {}
    return {"role": message.role, **named, "time": message.time, "text": message.text}
