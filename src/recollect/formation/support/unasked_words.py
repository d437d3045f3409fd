"""
Unasked words: words of a value that come from the assistant or others, and no user accepted.

A paraphrase of a user's words contains some that the assistant happens to have said, scattered
over the sentence. Text taken over from others stands together, or is most of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from recollect.formation.support.authorship import told_passages
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.consideration import considers
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.judgement import JudgedLeaf, TracedLeaf
from recollect.formation.support.origins import TracedWord, trace
from recollect.text.analysis import fold
from recollect.text.numerals_chinese import NUMERAL

WORDS_MAX: Final = 2.0
"""Most such words in a row, or in a short sentence."""
SHARE_MAX: Final = 0.5
"""Largest share of such words in a longer value: at least half is the user's."""
_SENTENCE_END: Final = re.compile(r"[.!?;。！？；](?=\s|$|[^\x00-\x7f])|\n")


def unasked_reasons(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield why the contents of *leaves*, said as one, may say what no user took up."""
    # A tool answers what a user asked for.
    tools = (each for each in heard.voices if each.line.message.role == "tool")
    answered = fold("\n".join(each.text for each in tools))
    contents = [each.leaf for each in leaves if not each.leaf.is_label]
    labels = " ".join(each.leaf.text for each in leaves if each.leaf.is_label)
    sentences = [
        [(each.weight, _is_unasked(each, answered)) for each in sentence]
        for leaf in contents
        for sentence in _sentences_of(leaf, labels, heard)
    ]
    if _exceeds_share(list(chain.from_iterable(sentences))) or any(
        _longest_run(each) > WORDS_MAX or _exceeds_share(each) for each in sentences
    ):
        yield f"{contents[0].pointer}: it rests on words of others that no user took up"


def _sentences_of(leaf: JudgedLeaf, labels: str, heard: HeardWindow) -> Iterator[list[TracedWord]]:
    """
    Yield the words of each sentence, by what the cited users said or agreed to.

    A letter that the user shows counts as said where the value, or one of its *labels*, tells it
    as its author's, and an offer that the user will think about where the sentence says that it
    is being considered.
    """
    own = [each for each in leaf.sources.cited if each.trust == "user"]
    own += [each.accepted for each in own if each.is_accepting]
    own += told_passages(replace(leaf, text=f"{leaf.text}\n{labels}"), heard)
    words = trace(leaf.text, replace(leaf.sources, cited=own))
    weighed = [each.weighed for each in own if each.weighed]
    thought_over = (
        trace(leaf.text, replace(leaf.sources, cited=[*own, *weighed])) if weighed else []
    )
    start = 0
    for end in (*(each.end() for each in _SENTENCE_END.finditer(leaf.text)), len(leaf.text)):
        is_considered = weighed and considers(leaf.text[start:end])
        told = thought_over if is_considered else words
        sentence = [each for each in told if start <= each.start < end]
        if sentence:
            yield sentence
        start = end


def are_own(leaves: Sequence[JudgedLeaf], own: Sequence[Passage], heard: HeardWindow) -> bool:
    """
    Return True if nothing in *leaves* comes from others, though words of theirs are cited.

    Every number must be in what users say in *own* words, or have stood there before.
    """
    voices = heard.voices_of(own)
    for leaf in leaves:
        words = trace(leaf.text, replace(leaf.sources, cited=own))
        figures = [each.written for each in words if each.written[:1].isdigit()]
        if any(_is_of_others(words, at, leaf.text) for at in range(len(words))) or any(
            heard.lacks(voices, figure, leaf.before or None) for figure in figures
        ):
            return False
    return bool(own)


def _is_of_others(words: Sequence[TracedWord], at: int, text: str) -> bool:
    """Return True for a word of others, but not for the rest of a name that users say in part."""
    if words[at].origin != "external":
        return False
    beside = [*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]]
    is_name = text[words[at].start : words[at].start + 1].isupper()
    return not is_name or not any(
        each.origin in {"cited", "user"} and text[each.start : each.start + 1].isupper()
        for each in beside
    )


def are_chosen(leaves: Sequence[JudgedLeaf]) -> bool:
    """Return True if all words of the assistant in *leaves* are of what the cited users chose."""
    return all(not _unchosen(leaf) for leaf in leaves)


def _unchosen(leaf: JudgedLeaf) -> bool:
    own = [each for each in leaf.sources.cited if each.trust == "user"]
    own += [each.accepted for each in own if each.taken_up.is_choice]
    words = trace(leaf.text, replace(leaf.sources, cited=own))
    return any(each.origin == "assistant" for each in words)


def _is_unasked(word: TracedWord, answered: str) -> bool:
    return (
        word.origin in {"assistant", "external"}
        and not _is_number(word.written)
        and word.written not in answered
    )


def _is_number(written: str) -> bool:
    """Return True for digits and 壹仟伍佰: whether a number was said is checked as a number."""
    return written[:1].isdigit() or not written.strip(NUMERAL)


def _exceeds_share(words: Sequence[tuple[float, bool]]) -> bool:
    """Return True if more of *words*, by weight, are unasked than a retelling has by chance."""
    unasked = sum(weight for weight, is_unasked in words if is_unasked)
    told = sum(weight for weight, _ in words)
    return unasked > max(WORDS_MAX, SHARE_MAX * told)


def _longest_run(words: Sequence[tuple[float, bool]]) -> float:
    """Return the weight of the longest run of unasked words; those that say nothing end none."""
    longest = run = 0.0
    for weight, is_unasked in words:
        if is_unasked:
            run += weight
        elif weight:
            run = 0.0
        longest = max(longest, run)
    return longest
