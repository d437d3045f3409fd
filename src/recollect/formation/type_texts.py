"""
Descriptions of the built-in types for the model: shorter, in the language of the messages.

A description is known by its English text, so that a type of one's own keeps its words, and a
built-in one that was changed does too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect.formation.prompt_texts import LANGUAGE_TEXTS, PromptLanguage
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list

UNTOLD: Final = "-"
"""Marks a field whose name needs no description in a language."""
_CLOSED: Final = ("additionalProperties", False)
_OF_SCHEMAS: Final = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_OF_VALUES: Final = frozenset({"enum", "const", "default", "examples"})


def description_in(language: PromptLanguage, description: str) -> str:
    """
    Return a type's description as a model sees it.

    >>> description_in("zh-hant", "Anything else to remember."), description_in("zh", "A trip")
    ('其他。', 'A trip')
    """
    return LANGUAGE_TEXTS[language]["types"].get(description, description)


def schema_in(language: PromptLanguage, schema: JsonObject) -> JsonObject:
    """
    Return a type's schema as a model sees it.

    That no other field is allowed goes without saying: a model writes the fields that it is shown.
    """
    told = {name: each for name, each in schema.items() if (name, each) != _CLOSED}
    return _localised(language, told)


def _localised(language: PromptLanguage, schema: JsonObject) -> JsonObject:
    found: dict[str, Json] = {}
    for name, each in schema.items():
        if name == "description" and isinstance(each, str):
            if (worded := description_in(language, each)) != UNTOLD:
                found[name] = worded
        elif name in _OF_SCHEMAS and isinstance(each, Mapping):
            found[name] = {
                key: _localised(language, inner) if isinstance(inner, Mapping) else inner
                for key, inner in each.items()
            }
        elif isinstance(each, Mapping) and name not in _OF_VALUES:
            found[name] = _localised(language, each)
        elif is_list(each) and name not in _OF_VALUES:
            found[name] = [_localised(language, e) if isinstance(e, Mapping) else e for e in each]
        else:
            found[name] = each
    return found
