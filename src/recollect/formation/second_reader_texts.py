"""The texts of a second reading's request: in English and both scripts of Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from recollect.formation.prompt_texts import LANGUAGE_TEXTS, PromptLanguage


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReadingTexts:
    """
    All texts of a second reading's request in one language.

    *instructions* name the tool as ``{judge}``; *notes* is the heading of what is to be judged,
    *judge_tool* describes the tool.
    """

    instructions: str
    notes: str
    judge_tool: str


SECOND_READING_TEXTS: Final[Mapping[PromptLanguage, SecondReadingTexts]] = MappingProxyType(
    {
        language: SecondReadingTexts(**texts["second_reading"])
        for language, texts in LANGUAGE_TEXTS.items()
    }
)


def texts_of_reading(language: PromptLanguage, instructions: str | None) -> SecondReadingTexts:
    """Return the texts in a language, with custom *instructions* in place of its own."""
    texts = SECOND_READING_TEXTS[language]
    return texts if instructions is None else replace(texts, instructions=instructions)
