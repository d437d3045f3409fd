"""The searchable text of a message or memory: what is split into terms and embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recollect.records import Json, JsonObject


def message_text(text: str, name: str | None, content: Sequence[Json] | None) -> str:
    """
    Return the text of a message: its speaker's name if it has one, its words, and its captions.

    >>> message_text("Look!", "Ada", [{"type": "image", "caption": "a red kite"}])
    'Ada: Look! [shares a red kite]'
    """
    if not content:
        return f"{name}: {text}" if name else text
    captions = [f"[shares {caption}]" for caption in _captions(content)]
    words = " ".join([text, *captions] if text else captions)
    return f"{name}: {words}" if name else words


def _captions(content: Sequence[Json]) -> Iterator[str]:
    for block in content:
        if isinstance(block, Mapping):
            caption = block.get("caption")
            if isinstance(caption, str) and caption:
                yield caption


def memory_text(value: JsonObject) -> str:
    """
    Return the words of a memory's value: each text and number, in order, after its field's name.

    >>> memory_text({"city": "Oslo", "pets": ["a cat", "a dog"]})
    'city: Oslo; pets: a cat, a dog'
    """
    return "; ".join(
        _join(name, ": ", words) for name, field in value.items() if (words := _words(field))
    )


def _words(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping):
        return ", ".join(
            _join(name, " ", words) for name, each in value.items() if (words := _words(each))
        )
    return ", ".join(words for each in value if (words := _words(each)))


def _join(*parts: str) -> str:
    # Formatting would give the member of an enumeration of texts as its name, not as its text.
    return "".join(parts)
