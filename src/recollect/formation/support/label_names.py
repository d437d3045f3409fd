"""Things that the label of a memory names, and no other memory: "when buying a camera"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.leaves import is_label
from recollect.formation.support.told_clauses import OwnWords, text_clauses, words_of
from recollect.stores.json_pointers import leaves
from recollect.text.searchable import memory_text


def labelled_clauses(cited: Sequence[Passage], heard: HeardWindow, target: str) -> Iterator[str]:
    """
    Yield the quoted clauses that name what the label of *target* names.

    What another memory names as well does not tell which of them is meant.
    """
    memory = heard.offer.known.get(target)
    if memory is None:
        return
    labels = [str(leaf) for pointer, leaf in leaves(memory.value) if is_label(pointer)]
    others = [memory_text(each.value) for id_, each in heard.offer.known.items() if id_ != target]
    known = OwnWords(word for text in others for word in words_of(text_clauses(text)))
    named = OwnWords(
        word for text in labels for word in words_of(text_clauses(text)) if not known.has(word)
    )
    for each in cited:
        for clause in text_clauses(each.citation.quote):
            if named.among(clause.words):
                yield clause.text
