"""The words of others in a window: whether they could have caused a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from recollect.formation.grounding.injection import instructs
from recollect.formation.support.content_words import WordIndex, tokens_in
from recollect.formation.support.languages import SAMPLE_CHARACTERS, language_of
from recollect.formation.support.vocabulary import (
    groups_of,
    groups_said,
    is_neutral,
    neutral_length,
)
from recollect.text.chinese_scripts import simplified

_OF_MEMORIES: Final = re.compile(
    r"\b(?:assistants?|agents?|bots?|memor(?:y|ies)|remember\w*|profiles?|records?|notes?|on file"
    r"|entry|entries|preferences?|(?:the|this|that) (?:user|customer|client))\b"
    r"|助手|助理|用户|使用者|客户|记忆|记住|记录|备注|资料|档案|偏好",
    re.IGNORECASE,
)
"""Words in which others speak to an assistant, or of what it remembers."""


class OthersWords:
    """The words of tools and of pasted texts in one window."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self._texts = texts

    @cached_property
    def gives_orders(self) -> bool:
        """Whether they instruct an assistant, or speak of what it remembers."""
        return any(
            _OF_MEMORIES.search(simplified(each)) is not None or instructs(each)
            for each in self._texts
        )

    @cached_property
    def _index(self) -> WordIndex:
        index = WordIndex()
        for each in self._texts:
            index.add(each)
        return index

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(language_of(each[:SAMPLE_CHARACTERS]) for each in self._texts)

    @cached_property
    def _groups(self) -> frozenset[int]:
        return groups_said(self._index)

    def shares(self, text: str) -> bool:
        """
        Return True if a word of *text* that says something, or a synonym, is among theirs.

        In another language they may say it in words that cannot be compared.
        """
        own = language_of(text[:SAMPLE_CHARACTERS]) or ("en" if text.isascii() else "")
        if self._languages - {"", own}:
            return True
        for token in tokens_in(text):
            if not token.is_run:
                is_known = self._index.has(token) or not self._groups.isdisjoint(groups_of(token))
                if not is_neutral(token) and is_known:
                    return True
                continue
            pairs = (token.key[at : at + 2] for at in range(len(token.key) - 1))
            if any(each in self._index.pairs and not _is_plain(each) for each in pairs):
                return True
        return False


def _is_plain(pair: str) -> bool:
    """Return True for two characters that say nothing by themselves."""
    return neutral_length(pair, 0) == len(pair) or all(neutral_length(pair, at) for at in (0, 1))
