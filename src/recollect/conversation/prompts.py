"""Prompts for the models of conversation memories, in our own wording: ``prompts.toml``."""

from __future__ import annotations

from typing import Final

from recollect.text.data_files import read_texts

TRIPLE_DELIMITER: Final = "<|>"
"""The separator of two facts, and of a name and its facts."""
NOTHING: Final = "NONE"
"""The model's answer where it has nothing to return."""

_TEXTS: Final = read_texts(__package__, "prompts.toml")
SUMMARY: Final = _TEXTS["summary"]
"""Asks for a running summary, extended by new lines."""
ENTITIES: Final = _TEXTS["entities"]
"""Asks for the names that the last line speaks of."""
ENTITY_SUMMARY: Final = _TEXTS["entity_summary"]
"""Asks for what is known of one name."""
ENTITY_SUMMARIES: Final = _TEXTS["entity_summaries"]
"""Asks for what is known of several names."""
TRIPLES: Final = _TEXTS["triples"]
"""Asks for the facts of the last line."""
FACTS: Final = _TEXTS["facts"]
"""Asks for the facts of several lines, with signs for doubt, lists and denials."""
ENTITY_CONVERSATION: Final = _TEXTS["entity_conversation"]
"""Asks for an answer that uses what is known of the names."""
