"""
Judgement: whether the cited words support a value.

See docs/decisions/0027-support.md and 0044-contradiction-not-overlap.md for the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.consideration import considers
from recollect.formation.support.grave_words import is_grave_word, is_said_otherwise
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.languages import SAMPLE_CHARACTERS, WITH_RULES, language_of
from recollect.formation.support.natural_causes import is_killed_by_nature
from recollect.formation.support.origins import Sources, TracedWord, trace
from recollect.formation.support.polarity import TEXT_CHARACTERS_MAX, stance_reasons, turned_reasons
from recollect.formation.support.settled_debts import is_settled_debt
from recollect.text.analysis import STOP_WORDS

NOWHERE_WORDS_MIN: Final = 3
NOWHERE_SHARE_MAX: Final = 0.85
"""Largest share of a value's words that may come from nowhere."""
EXPOSED_WORDS_MIN: Final = 2
EXPOSED_SHARE_MAX: Final = 0.5
"""The same for each clause, where words of others are in the window."""
LOOSE_SHARE_MAX: Final = 0.6
"""The same for languages without rules."""
ACCEPTED_SHARE_MIN: Final = 0.3
"""Least share of a value that an offer must contain for a short "yes, that one" to accept it."""
NEUTRAL_WORDS_MIN: Final = 2
TOLD_WORDS_MAX: Final = 5
PREFERENCE_FIELDS: Final = frozenset({"conversation_preferences", "rules", "instructions"})
"""Fields that tell the assistant how to answer and to work."""
_FIGURE: Final = re.compile(r"\d+(?:[.:]\d+)*")
_OF_YOU: Final = re.compile(
    r"\b(?:you|your|u|ur|answers?|repl(?:y|ies)|please|pls|talk|explain|write|du|dich|dir|sie"
    r"|bitte|antwort\w*"
    r"|tu|usted|por favor|respond\w*|respuest\w*|vous|toi|voce|rispo\w*)\b|你|您|妳|回答|回复|请"
    r"|别|说话"
    r"|答え|返事|話し|대답|답변",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    r"[,;.:()\n，。；：（）、]|\b(?:and|but|who|which|that|because|so|while|und|aber|der|die|y|que"
    r"|et|mais|e|mas)\b|并且|而且|并|且|但是|但|和|及|与|因为|所以",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLeaf:
    """
    A text of a value with what it rests on.

    *before* is the text that it replaces. With *is_label* it only classifies the rest, as the
    context of a note does.
    """

    pointer: str
    text: str
    sources: Sources
    before: str = ""
    is_label: bool = False


@dataclass(frozen=True, slots=True)
class TracedLeaf:
    """A leaf with its words and their origins."""

    leaf: JudgedLeaf
    words: tuple[TracedWord, ...]

    def weight(self, *origins: str) -> float:
        """Return the number of words with one of these origins."""
        return sum(each.weight for each in self.words if each.origin in origins)

    @property
    def told(self) -> float:
        """Return the number of words that need support."""
        return self.weight("cited", "user", "assistant", "external", "nowhere")


def traced(leaf: JudgedLeaf) -> TracedLeaf:
    """Return *leaf* with the origins of its words."""
    return TracedLeaf(leaf, tuple(trace(leaf.text, leaf.sources)))


def content_of(leaves: Sequence[TracedLeaf]) -> str:
    """Return the contents of *leaves* as one text, without their labels if there are others."""
    contents = [each for each in leaves if not each.leaf.is_label] or leaves
    return " ".join(each.leaf.text for each in contents)


def unsupported_reasons(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield inventions in *leaves*, read as one text, and words whose denial may be lost."""
    joined = _joined(leaves)
    yield from _invented(joined.leaves, heard)
    if any(each.weight("nowhere") for each in joined.leaves):
        # "Held up" may be told as "without trouble", unless others speak of it.
        yield from _turned(joined, is_exposed=heard.is_exposed_to(content_of(leaves)))


def contradicted_reasons(
    leaves: Sequence[TracedLeaf], heard: HeardWindow, told: Sequence[Passage] = ()
) -> Iterator[str]:
    """
    Yield contradictions between *leaves*, read as one text, and their citations.

    *told* are words of others that *leaves* tell as theirs: they are read as users' words are.
    """
    joined = _joined(leaves)
    if told:
        joined = replace(joined, cited=[*joined.cited, *(replace(e, trust="user") for e in told)])
    spoken = [e.text for e in heard.voices if e.trust == "user" and not heard.is_exposed]
    for reason in stance_reasons(joined.text, joined.before, joined.cited, spoken):
        yield f"{joined.place}: {reason}"
    if not heard.is_exposed and any(
        _is_grave(word, each.leaf.text, joined.cited)
        for each in joined.leaves
        for word in each.words
    ):
        yield _not_said(joined.place, [word for each in joined.leaves for word in each.words])
    # Who paraphrases may deny in one word ("was turned down"). In the speaker's own words a
    # denial that is missing is lost.
    if not any(each.weight("nowhere") for each in joined.leaves):
        yield from _turned(joined, is_exposed=heard.is_exposed)


def _is_grave(word: TracedWord, text: str, cited: Sequence[Passage]) -> bool:
    """Return True for a grave word from nowhere that users' cited words do not mean either."""
    if word.origin != "nowhere" or not is_grave_word(word.written):
        return False
    said = [f"{each.text}\n{each.question}" for each in cited if each.trust == "user"]
    return not any(
        is_said_otherwise(word.written, each)
        or is_killed_by_nature(text, word.start, each)
        or is_settled_debt(text, word.start, each)
        for each in said
    )


def _turned(joined: _Joined, *, is_exposed: bool) -> Iterator[str]:
    # What is only implied was looked up for its words: it turns nothing round, unless words of
    # others may have caused the value.
    given = [each for each in joined.cited if is_exposed or not each.citation.implied]
    for reason in turned_reasons(joined.text, joined.before, given, is_exposed=is_exposed):
        yield f"{joined.place}: {reason}"


@dataclass(frozen=True, slots=True)
class _Joined:
    """The contents of leaves, joined to one text."""

    leaves: Sequence[TracedLeaf]
    text: str
    before: str
    cited: Sequence[Passage]
    place: str


def _joined(leaves: Sequence[TracedLeaf]) -> _Joined:
    contents = [each for each in leaves if not each.leaf.is_label] or leaves
    cited = dict.fromkeys(passage for each in contents for passage in each.leaf.sources.cited)
    return _Joined(
        leaves=contents,
        text=" ".join(each.leaf.text for each in contents)[:TEXT_CHARACTERS_MAX],
        before=" ".join(each.leaf.before for each in contents),
        cited=list(cited),
        place=(contents[0].leaf.pointer if len(contents) == 1 else "") or "/",
    )


def contributes(leaves: Sequence[TracedLeaf], causes: Sequence[Passage]) -> bool:
    """Return True if some of what *leaves* say was said in *causes*, or accepted there."""
    leaves = [each for each in leaves if not each.leaf.is_label] or leaves
    heard = leaves[0].leaf.sources.heard
    is_exposed = heard.is_exposed_to(content_of(leaves))
    is_read = set(pair_of(leaves)) <= {*WITH_RULES, ""}
    is_others = any(each.weight("assistant", "external") for each in leaves)
    is_beyond = not (is_read or is_others or is_exposed)
    if is_beyond or not any(each.told for each in leaves):
        return True
    own = [each.own for each in causes]
    traced_anew = [
        word
        for each in leaves
        for word in trace(each.leaf.text, replace(each.leaf.sources, cited=own))
    ]
    # A name that only the assistant's question says may be the speaker's, which is known.
    is_known = all(not each.weight or each.origin == "known" for each in traced_anew)
    words = [each for each in traced_anew if each.origin == "cited"]
    # Numbers were checked against the cited words already.
    if (causes and is_known) or any(not word.is_neutral for word in words):
        return True
    if any(map(_has_figures, leaves)) and (not is_exposed or _says_figures(leaves, causes)):
        return True
    plain = {word.written for word in words if word.written not in STOP_WORDS}
    needed = NEUTRAL_WORDS_MIN if is_exposed else 1
    if len(plain) >= needed or any(len(each) > 1 and not each.isascii() for each in plain):
        return True
    taken = [each.accepted for each in causes if each.is_accepting]
    if considers(content_of(leaves)):
        taken += [each.weighed for each in causes if each.weighed]
    if any(_is_answered(leaves, each) for each in taken):
        return True
    return not is_exposed and not is_others and _are_wishes(leaves, causes)


def _has_figures(leaf: TracedLeaf) -> bool:
    return any(each.written[:1].isdigit() for each in leaf.words)


def _says_figures(leaves: Sequence[TracedLeaf], causes: Sequence[Passage]) -> bool:
    """Return True if *causes* say a number that a leaf has now and had not before."""
    heard = leaves[0].leaf.sources.heard
    voices = heard.voices_of(causes)
    return any(
        not heard.lacks(voices, figure, None)
        for each in leaves
        for figure in set(_FIGURE.findall(each.leaf.text)) - set(_FIGURE.findall(each.leaf.before))
    )


def _are_wishes(leaves: Sequence[TracedLeaf], causes: Sequence[Passage]) -> bool:
    """Return True if all are preferences and the user speaks of how to be answered."""
    fields = [not PREFERENCE_FIELDS.isdisjoint(each.leaf.pointer.split("/")) for each in leaves]
    return all(fields) and any(_OF_YOU.search(each.text) for each in causes)


def _is_answered(leaves: Sequence[TracedLeaf], offer: Passage) -> bool:
    """Return True if an *offer* that a user takes up has enough of the words of *leaves*."""
    told = [
        word
        for each in leaves
        for word in trace(each.leaf.text, replace(each.leaf.sources, cited=[offer]))
        if word.weight and word.origin not in {"known", "neutral", "user"}
    ]
    accepted = sum(word.weight for word in told if word.origin == "cited")
    return accepted >= ACCEPTED_SHARE_MIN * sum(word.weight for word in told)


def pair_of(leaves: Sequence[TracedLeaf]) -> tuple[str, str]:
    """
    Return the languages of a value and of its citations; an unknown one counts as the other.

    Beside a user's words in the language of the value, words of others may be in any.
    """
    passages = [passage for each in leaves for passage in each.leaf.sources.cited]
    said = language_of("\n".join(each.text for each in passages)[:SAMPLE_CHARACTERS])
    written = language_of("\n".join(each.leaf.text for each in leaves)[:SAMPLE_CHARACTERS])
    if _family(written) != _family(said):
        own = (language_of(e.text[:SAMPLE_CHARACTERS]) for e in passages if e.trust == "user")
        said = next((each for each in own if _family(each) == _family(written)), said)
    return written or said, said or written


def _is_invention(words: Sequence[TracedWord]) -> bool:
    """Return True if nearly all is from nowhere."""
    nowhere = _weight(words, "nowhere")
    return nowhere >= NOWHERE_WORDS_MIN and _share(words) > NOWHERE_SHARE_MAX


def _family(language: str) -> str:
    """Return the family of a language; languages that share function words are one family."""
    return language if language in {"en", "zh", "ja", "ko"} else "" if not language else "other"


def _invented(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield the unsupported words if there are too many of them."""
    written, said = pair_of(leaves)
    place = leaves[0].leaf.pointer or "/" if leaves else "/"
    words = [word for each in leaves for word in each.words]
    if _family(written) != _family(said):
        content = " ".join(each.leaf.text for each in leaves)
        if heard.is_strict_on(content) and _weight(words, "nowhere"):
            yield f"{place}: it is in another language than its citation; say it in that one"
    elif not heard.is_exposed:
        if written in {*WITH_RULES, ""} and _is_invention(words):
            yield _not_said(place, words)
    elif written not in {*WITH_RULES, ""}:
        if _share(words) > LOOSE_SHARE_MAX:
            yield _not_said(place, words)
    else:
        cited = [passage for each in leaves for passage in each.leaf.sources.cited]
        for text, clause in ((e.leaf.text, clause) for e in leaves for clause in _clauses_of(e)):
            nowhere = _weight(clause, "nowhere")
            is_grave = any(_is_grave(each, text, cited) for each in clause)
            if is_grave or (_share(clause) > EXPOSED_SHARE_MAX and nowhere >= EXPOSED_WORDS_MIN):
                yield _not_said(place, clause)


def _weight(words: Sequence[TracedWord], origin: str) -> float:
    return sum(each.weight for each in words if each.origin == origin)


def _share(words: Sequence[TracedWord]) -> float:
    """Return the share of words from nowhere among those that were said or had to be."""
    nowhere = _weight(words, "nowhere")
    told = sum(each.weight for each in words if each.origin not in {"neutral", "known"})
    retold = sum(1.0 for each in words if each.is_neutral and each.origin == "cited")
    return nowhere / (told + retold) if nowhere else 0.0


def _clauses_of(each: TracedLeaf) -> Iterator[Sequence[TracedWord]]:
    ends = [match.start() for match in _CLAUSE_END.finditer(each.leaf.text)]
    clause: list[TracedWord] = []
    for word in each.words:
        if clause and any(clause[-1].start < end <= word.start for end in ends):
            yield clause
            clause = []
        clause.append(word)
    if clause:
        yield clause


def _not_said(place: str, words: Sequence[TracedWord]) -> str:
    missing = [each.written for each in words if each.origin == "nowhere" and each.weight]
    told = ", ".join(dict.fromkeys(missing[:TOLD_WORDS_MAX]))
    return f"{place}: the cited words say nothing of {told!r}: say only what was said"
