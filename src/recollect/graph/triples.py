"""Parse triples and names in a model's answers, leniently or exactly like LangChain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

KG_TRIPLE_DELIMITER: Final = "<|>"

_NONE: Final = re.compile(r"(?:output\s*[:：])?\s*none[.。]?", re.IGNORECASE)
_OPENING: Final = "([（【"
_CLOSING: Final = ")]）】"
_SEPARATOR: Final = re.compile(r"\s*[,，、]\s*")
_QUOTES: Final = "\"'“”‘’「」"


class KnowledgeTriple(NamedTuple):
    """A relation between two entities, by name."""

    subject: str
    predicate: str
    object_: str

    @classmethod
    def from_string(cls, triple_string: str) -> KnowledgeTriple:
        """
        Return the triple in a text of exactly the form ``(subject, predicate, object)``.

        Raises:
            ValueError: It does not have three parts separated by ", ".
        """
        subject, predicate, object_ = triple_string.strip().split(", ")
        return cls(subject[1:], predicate, object_[:-1])


def parse_triples(knowledge_str: str, *, strict_original: bool = False) -> list[KnowledgeTriple]:
    """
    Return the triples in a model's answer, in order, without repeated ones.

    Text around the brackets, dots after them, quotes, missing delimiters and missing spaces are
    tolerated. Further commas belong to the object. Triples with fewer than three parts, or an empty
    part, are left out.

    Args:
        strict_original: Parse like LangChain's function of this name: only triples of exactly three
            parts separated by ", ", whose first and last characters are dropped whatever they are,
            including repeated ones.

    >>> parse_triples("Output: (Sam, likes, tea).<|>(茶，产自，福建)")
    [KnowledgeTriple(subject='Sam', predicate='likes', object_='tea'), \
KnowledgeTriple(subject='茶', predicate='产自', object_='福建')]
    """
    if strict_original:
        return list(_read_strictly(knowledge_str))
    return list(dict.fromkeys(triple for _, triple in marked_triples(knowledge_str)))


def marked_triples(text: str) -> list[tuple[str, KnowledgeTriple]]:
    """
    Return the triples in a model's answer, each with the text before its bracket.

    >>> marked_triples("~+(Sam, likes, tea)<|>Yes: (Sam, likes, milk)")
    [('~+', KnowledgeTriple(subject='Sam', predicate='likes', object_='tea')), \
('Yes: ', KnowledgeTriple(subject='Sam', predicate='likes', object_='milk'))]
    """
    found = ((before, _triple(inside)) for before, inside in _bracketed(text))
    return [(before, triple) for before, triple in found if triple is not None]


def _read_strictly(text: str) -> Iterator[KnowledgeTriple]:
    text = text.strip()
    if not text or text == "NONE":
        return
    for each in text.split(KG_TRIPLE_DELIMITER):
        parts = each.strip().split(", ")
        if len(parts) == 3:
            yield KnowledgeTriple.from_string(each)


def _bracketed(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and inside each outermost bracket, or between bare delimiters."""
    for part in text.split(KG_TRIPLE_DELIMITER):
        found, depth, start, end = False, 0, 0, 0
        for at, character in enumerate(part):
            if character in _OPENING:
                depth += 1
                if depth == 1:
                    start = at + 1
            elif character in _CLOSING and depth:
                depth -= 1
                if depth == 0:
                    found = True
                    yield part[end : start - 1], part[start:at]
                    end = at + 1
        if depth:
            # The answer was cut, or a bracket is missing: take everything after the first one.
            yield part[end : start - 1], part[start:]
        elif not found:
            yield "", re.sub(r"^\s*output\s*[:：]", "", part, flags=re.IGNORECASE)


def _triple(text: str) -> KnowledgeTriple | None:
    if not text.strip() or _NONE.fullmatch(text.strip()):
        return None
    parts = _SEPARATOR.split(text.strip(), maxsplit=2)
    named = [each.strip().strip(_QUOTES).strip() for each in parts]
    if len(named) != 3:
        return None
    subject, predicate, object_ = named
    object_ = object_.rstrip(".。").strip()
    return KnowledgeTriple(subject, predicate, object_) if all(named) and object_ else None


def get_entities(entity_str: str, *, strict_original: bool = False) -> list[str]:
    """
    Return the names in a model's answer, a list with commas or ``NONE``.

    Names are returned once, without quotes, bullets and empty ones.

    Args:
        strict_original: Only split at commas and strip spaces, like LangChain.

    >>> get_entities("Output: Sam, 张伟、 sam,."), get_entities("NONE.")
    (['Sam', '张伟', 'sam'], [])
    """
    if strict_original:
        if entity_str.strip() == "NONE":
            return []
        return [each.strip() for each in entity_str.split(",")]
    text = re.sub(r"^\s*output\s*[:：]", "", entity_str, flags=re.IGNORECASE).strip()
    if _NONE.fullmatch(text):
        return []
    parts = re.split(r"[,，、;；\n]", text.strip("[]"))
    named = (re.sub(r"^(?:[-*•]|\d+[.)])\s+", "", each.strip()) for each in parts)
    bare = (each.strip().strip(_QUOTES).rstrip("。").strip() for each in named)
    return list(dict.fromkeys(each for each in bare if each.strip(".")))
