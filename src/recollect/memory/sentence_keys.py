"""The keys of sentences that a program stores, by which the same sentence is stored once."""

from __future__ import annotations

from recollect.formation.value_identity import normalised
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.contract.base import Store


async def find_sentence(
    store: Store, scope: Scope, type_: str, text: str
) -> tuple[str, Memory | None]:
    """
    Return the key of the sentence *text* in a scope, and the memory that says it, if there is one.

    Where the memory at a sentence's key was changed to say something else, the sentence has the
    next key: it would otherwise replace that, or pass for stored.
    """
    number = 1
    while True:
        key = await sentence_key(store, type_, text, number)
        found = await store.get(scope, type_, key)
        if found is None or is_said_by(found.value, text):
            return key, found
        number += 1


async def sentence_key(store: Store, type_: str, text: str, number: int = 1) -> str:
    """
    Return the key of a sentence, or the one of that *number* among several.

    It is a digest under the store's own secret: with a plain one, anyone who sees a logged key
    could confirm a guessed sentence.
    """
    # Punctuation alone normalises to nothing, so it is kept.
    more = [] if number == 1 else [str(number)]
    return await store.keyed(type_, normalised(text) or text, *more)


def is_said_by(value: JsonObject, text: str) -> bool:
    """Return True if the content of a memory is *text*, but for case, spaces and punctuation."""
    content = value.get("content")
    if not isinstance(content, str):
        return False
    return (normalised(content) or content) == (normalised(text) or text)
