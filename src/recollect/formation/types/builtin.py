"""The memory types that come built in."""

from __future__ import annotations

from typing import Final

from recollect.formation.types.memory_type import MemoryType
from recollect.records import Json, JsonObject


def _text(description: str) -> JsonObject:
    return {"type": "string", "description": description}


def _texts(description: str) -> JsonObject:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _document(properties: dict[str, Json], *required: str) -> JsonObject:
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


USER: Final = MemoryType(
    name="User",
    description="Who the user is, in one profile.",
    update_mode="patch",
    parameters=_document(
        {
            "user_name": _text("What to call the user"),
            "age": {"type": "integer", "minimum": 0, "maximum": 150},
            "interests": _texts("What the user likes to do or follow, one each"),
            "home": {"type": "string"},
            "occupation": {"type": "string"},
            "conversation_preferences": _texts(
                "How to answer the user: style, length, pronouns, subjects to avoid"
            ),
        }
    ),
)

NOTE: Final = MemoryType(
    name="Note",
    description="Anything else to remember.",
    update_mode="insert",
    parameters=_document(
        {
            "context": _text("When it matters, and its limits"),
            "content": _text("What to remember, readable on its own"),
        },
        "content",
    ),
)

FACT: Final = MemoryType(
    name="Fact",
    description="One statement about a person or thing, as subject, predicate and object.",
    update_mode="insert",
    parameters=_document(
        {
            "subject": _text("Whom or what it is about, by name"),
            "predicate": _text("How the two belong together, in few words: 'lives in'"),
            "object": {
                "type": ["string", "number", "boolean"],
                "description": "The other person, thing or value",
            },
            "object_type": {
                "type": "string",
                "enum": ["text", "number", "boolean", "date", "time"],
                "description": "What the object is if it is a value, such as an age or a date "
                "(2026-03-31), and no person, place or thing with a name",
            },
            "several": {
                "type": "boolean",
                "description": "True if the subject can have several such objects at once",
            },
        },
        "subject",
        "predicate",
        "object",
    ),
    single_valued=("object",),
    several="several",
)

ENTITY: Final = MemoryType(
    name="Entity",
    description="A person, place, group or thing that is spoken of by name.",
    update_mode="insert",
    parameters=_document(
        {
            "name": _text("Its name, as it is mostly used"),
            "kind": _text("What it is, in a word or two: person, town, company"),
            "aliases": _texts("Other names for the same one"),
            "summary": _text("What is known of it"),
        },
        "name",
    ),
)

SUMMARY: Final = MemoryType(
    name="Summary",
    description="What a stretch of talk was about and what came of it.",
    update_mode="insert",
    parameters=_document(
        {
            "content": _text("The talk in a few sentences, with its names, dates and decisions"),
            "topics": _texts("What it was about, a word or two each"),
        },
        "content",
    ),
)

INSTRUCTIONS: Final = MemoryType(
    name="Instructions",
    description="How the assistant is to work, as the user has asked it to.",
    update_mode="patch",
    parameters=_document({"rules": _texts("One rule each, with the case that it is for")}, "rules"),
    # They belong to the assistant, regardless of who asked for them.
    per_speaker=False,
)

EXAMPLE: Final = MemoryType(
    name="Example",
    description="A task and how it was done well, to do the next one like it.",
    update_mode="insert",
    parameters=_document(
        {
            "input": _text("What was asked, with what matters of the situation"),
            "output": _text("The answer or deed that was right"),
            "reason": _text("Why it was right"),
            "score": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How good it was, only where the user gave a score",
            },
            "tags": _texts("The kind of task, a word or two each"),
        },
        "input",
        "output",
    ),
)

ITEM: Final = MemoryType(
    name="Item",
    description="A document of any form that a program keeps.",
    update_mode="insert",
    parameters={"type": "object"},
)

BUILTIN_TYPES: Final = (USER, NOTE, FACT, ENTITY, SUMMARY, INSTRUCTIONS, EXAMPLE, ITEM)
DEFAULT_TYPES: Final = (USER, NOTE)
"""The types that are formed by default."""
