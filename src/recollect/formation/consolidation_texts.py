"""The texts of a consolidation's requests: in English and both scripts of Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from recollect.formation.prompt_texts import LANGUAGE_TEXTS, PromptLanguage


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationTexts:
    """
    All texts of a consolidation's requests in one language.

    *instructions* name the tools as ``{merge}``, ``{derive}`` and ``{leave}``, *group* its
    ``{number}``; *derived* introduces the memories that were already derived from a group.
    """

    language: PromptLanguage
    instructions: str
    group: str
    derived: str
    merge_tool: str
    derive_tool: str
    leave_tool: str


CONSOLIDATION_TEXTS: Final[Mapping[PromptLanguage, ConsolidationTexts]] = MappingProxyType(
    {
        each: ConsolidationTexts(language=each, **texts["consolidation"])
        for each, texts in LANGUAGE_TEXTS.items()
    }
)
ENGLISH: Final = CONSOLIDATION_TEXTS["en"]
