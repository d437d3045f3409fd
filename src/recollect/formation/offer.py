"""The offer: which tools a model gets, and which memories it is shown under short ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from recollect.formation.document_excerpts import hidden_fields
from recollect.formation.past_plans import passed_day
from recollect.formation.prompt_texts import ENGLISH, PromptLanguage, PromptTexts
from recollect.formation.speakers import SpeakerDocuments
from recollect.formation.tool_names import END, NOTHING, PATCH
from recollect.formation.type_texts import description_in, schema_in
from recollect.formation.types import MemoryType
from recollect.ports import Tool
from recollect.records import Json, JsonObject, Memory

_TEXT: Final[JsonObject] = {"type": "string"}
_BECAUSE: Final[JsonObject] = {"type": "array", "items": _TEXT}
_CHANGES: Final[JsonObject] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"op": _TEXT, "path": _TEXT, "value": {}, "because": _BECAUSE},
        "required": ["path", "because"],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """
    The contents of one request to the model.

    *known* maps short ids to the memories that may be patched, *hidden* to the omitted fields of
    large ones. *inserts* are the types that may be inserted, *described* those whose schema is in
    the prompt because no tool has it. *whose* maps types to the owners of their documents, if
    several users speak. *past* are the known plans whose day has passed. *texts* are the texts of
    the prompt in its language. *seen_at* is when the known memories were read.
    """

    types: Mapping[str, MemoryType]
    known: Mapping[str, Memory]
    hidden: Mapping[str, frozenset[str]]
    inserts: tuple[MemoryType, ...]
    described: tuple[MemoryType, ...]
    tools: tuple[Tool, ...]
    whose: Mapping[str, SpeakerDocuments] = field(default_factory=dict)
    past: frozenset[str] = frozenset()
    texts: PromptTexts = ENGLISH
    seen_at: datetime | None = None


def offer_of(
    types: Sequence[MemoryType],
    existing: Sequence[Memory],
    words: str,
    whose: Mapping[str, SpeakerDocuments] | None = None,
    *,
    today: date | None = None,
    texts: PromptTexts = ENGLISH,
) -> Offer:
    """
    Return the offer for *types*, with the known memories *existing*.

    Of large documents only the fields related to *words*, those of the new messages, are shown.

    An existing document of a patched type may only be patched. A collection has an insert tool; its
    known entries may be patched and ended as well. With one document per speaker (*whose*), a new
    one may be inserted while a speaker has none.
    """
    documents = {memory.type for memory in existing}
    complete = {name for name in documents if not _lacks(name, existing, whose or {})}
    inserts = tuple(
        each for each in types if each.update_mode == "insert" or each.name not in complete
    )
    described = tuple(each for each in types if each not in inserts)
    collections = {each.name for each in types if each.update_mode == "insert"}
    tools = [_insert_tool(each, texts.language) for each in inserts]
    if existing:
        tools.append(_patch_tool(texts.patch_tool))
    if documents & collections:
        tools.append(_end_tool(texts.end_tool))
    tools.append(_tool(NOTHING, texts.nothing_tool, {}, []))
    named = {each.name: each for each in types}
    known = {f"m{number}": memory for number, memory in enumerate(existing, start=1)}
    return Offer(
        types=named,
        known=known,
        hidden={
            id_: hidden_fields(memory.value, words, named[memory.type].section_bytes_max)
            for id_, memory in known.items()
        },
        inserts=inserts,
        described=described,
        tools=tuple(tools),
        whose=whose or {},
        past=frozenset(
            id_ for id_, memory in known.items() if today and passed_day(memory, today) is not None
        ),
        texts=texts,
    )


def _lacks(type_: str, existing: Sequence[Memory], whose: Mapping[str, SpeakerDocuments]) -> bool:
    """Return True if one of several speakers has no document of a type yet."""
    if type_ not in whose:
        return False
    standing = {each.key for each in existing if each.type == type_}
    return any(key not in standing for key in whose[type_].keys.values())


def _insert_tool(type_: MemoryType, language: PromptLanguage) -> Tool:
    value = schema_in(language, type_.parameters)
    properties: dict[str, Json] = {"value": value, "because": _BECAUSE}
    if type_.update_mode == "insert":
        properties |= {"since": _TEXT, "until": _TEXT}
    about = description_in(language, type_.description)
    return _tool(type_.name, about, properties, ["value", "because"])


def _patch_tool(about: str) -> Tool:
    return _tool(PATCH, about, {"id": _TEXT, "changes": _CHANGES}, ["id", "changes"])


def _end_tool(about: str) -> Tool:
    return _tool(END, about, {"id": _TEXT, "because": _BECAUSE, "at": _TEXT}, ["id", "because"])


def _tool(
    name: str, description: str, properties: Mapping[str, Json], required: Sequence[str]
) -> Tool:
    parameters: JsonObject = {"type": "object", "properties": properties}
    if required:
        parameters = {**parameters, "required": required}
    return Tool(name=name, description=description, parameters=parameters)
