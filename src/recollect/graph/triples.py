"""Triples as language models write them: read strictly as the well-known reader does, or kindly."""

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
        Return the triple that is written ``(subject, predicate, object)``, exactly so.

        Raises:
            ValueError: It has not three parts, with ", " between them.
        """
        subject, predicate, object_ = triple_string.strip().split(", ")
        return cls(subject[1:], predicate, object_[:-1])


def parse_triples(knowledge_str: str, *, strict_original: bool = False) -> list[KnowledgeTriple]:
    """
    Return the triples in a model's answer, in order, each once.

    Words around the brackets, dots after them, quotes, missing delimiters and missing spaces
    are no matter. Of more than three parts the first is the subject and the second the
    predicate: commas after them belong to the object. What has fewer, or an empty part, is
    left out.

    Args:
        strict_original: Read as LangChain's function of this name does: only triples of
            exactly three parts with ", " between them, whose first and last character are
            dropped whatever they are, repeated ones too.

    >>> parse_triples("Output: (Sam, likes, tea).<|>(茶，产自，福建)")
    [KnowledgeTriple(subject='Sam', predicate='likes', object_='tea'), \
KnowledgeTriple(subject='茶', predicate='产自', object_='福建')]
    """
    if strict_original:
        return list(_read_strictly(knowledge_str))
    return list(dict.fromkeys(triple for _, triple in marked_triples(knowledge_str)))


def marked_triples(text: str) -> list[tuple[str, KnowledgeTriple]]:
    """
    Return the triples in a model's answer, each with what stands before its bracket.

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
    """Yield what stands before and in outermost brackets, or between delimiters without any."""
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
            # The answer was cut, or a bracket forgotten: what follows the first is meant.
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
    Return the names in a model's answer: a list with commas, or ``NONE``.

    Each is there once, without quotes, bullets and empty ones.

    Args:
        strict_original: Split at commas and strip spaces, nothing else.

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
