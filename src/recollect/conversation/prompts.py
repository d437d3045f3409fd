"""The prompts of conversation memories, read from ``prompts.toml``."""

from __future__ import annotations

from typing import Final

from recollect.text.data_files import read_texts

TRIPLE_DELIMITER: Final = "<|>"
"""The separator of two facts, and of a name and its facts."""
NOTHING: Final = "NONE"
"""The model's answer if it finds nothing."""

_TEXTS: Final = read_texts(__package__, "prompts.toml")
SUMMARY: Final = _TEXTS["summary"]
"""Asks to extend a running summary by new lines."""
ENTITIES: Final = _TEXTS["entities"]
"""Asks for the names of entities in the last line."""
ENTITY_SUMMARY: Final = _TEXTS["entity_summary"]
"""Asks for the updated summary of one entity."""
ENTITY_SUMMARIES: Final = _TEXTS["entity_summaries"]
"""Asks for the updated summaries of several entities."""
TRIPLES: Final = _TEXTS["triples"]
"""Asks for the facts in the last line."""
FACTS: Final = _TEXTS["facts"]
"""Asks for the facts in several lines, with signs for the assistant's, listed and denied ones."""
