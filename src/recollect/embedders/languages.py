"""The languages that an embedder supports."""

from __future__ import annotations

import re
from typing import Final

ENGLISH: Final = "English"
UNKNOWN: Final = "not known here: see what its makers say"

# As documented by the models' authors, by a pattern of the name; the first match counts.
_KNOWN: Final = (
    (r"text-embedding-3", "many, among them Chinese, Japanese, Arabic and Hindi"),
    (r"text-embedding-ada", "many; best in English"),
    (r"bge-m3", "more than 100"),
    (r"embeddinggemma", "more than 100"),
    (r"qwen3-embedding", "more than 100"),
    (r"multilingual-e5", "about 100"),
    (r"jina-embeddings-v3", "89"),
    (r"snowflake-arctic-embed2|arctic-embed-l-v2", "74; trained most on English, French, Spanish"),
    (r"paraphrase-multilingual", "more than 50"),
    (r"granite-embedding[:-](?:107|278)m", "12"),
    (r"nomic-embed-text-v2|nomic-embed-text:v2", "about 100"),
    (r"bge-(?:small|base|large)-zh|-zh\b", "Chinese"),
    (r"minilm|bge-(?:small|base|large)|mxbai-embed|nomic-embed-text|gte-(?:base|large)", ENGLISH),
    (r"[-_]en\b|snowflake-arctic-embed\b|potion|paraphrase-minilm", ENGLISH),
)

_DESCRIBED: Final = re.compile(
    r"\b(?:Multilingual|Multi-lingual|English|Chinese|German|Spanish)\b(?: \([^)]*\))?"
)


def known_languages(name: str) -> str:
    """
    Return the languages that the embedder *name* supports, looked up by its name.

    >>> known_languages("minilm"), known_languages("ollama/bge-m3")
    ('English', 'more than 100')
    """
    found = (said for pattern, said in _KNOWN if re.search(pattern, name, re.IGNORECASE))
    return next(found, UNKNOWN)


def described_languages(description: str, name: str) -> str:
    """
    Return the languages in FastEmbed's *description* of the model *name*.

    >>> described_languages("Text embeddings, Unimodal (text), Chinese, 512 input tokens", "x")
    'Chinese'
    """
    found = _DESCRIBED.search(description)
    return found[0] if found else known_languages(name)
