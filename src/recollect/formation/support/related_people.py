"""Related people: whether a value makes one person of two, or takes one for their relative."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from recollect.formation.grounding.common_words import COMMON
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.subjects import KIN, KIN_HAN
from recollect.formation.support.told_clauses import (
    TEXT_CHARACTERS_MAX,
    OwnWords,
    text_clauses,
    words_of,
)
from recollect.formation.support.voices import SENTENCE_END
from recollect.stores.json_pointers import leaves
from recollect.text.analysis import fold
from recollect.text.chinese_scripts import simplified

PEOPLE_MAX: Final = 10
"""So many names beside words of kinship are looked up of one value."""
SAID_CHARACTERS_MAX: Final = 20_000
"""So much of all that was said is looked through for them."""
_NAME: Final = r"[A-Z][a-z]{2,20}"
_SOMEBODY: Final = re.compile(rf"(?<![A-Za-z]){_NAME}(?![A-Za-z])|[a-z]'s ")
_PET: Final = r"(?!(?:dog|cat|puppy|kitten|guest|baby|kid|child|friend)s?\b)"
_ROLE: Final = rf"{_PET}(?:{KIN}|mentor|manager|fella|fianc[eé]e?|tutor|coach|doctor)"
_OF: Final = (
    r"(?:the |his |her |their |my |(?:the )?user's |[A-Z][a-z]{1,20}'s |是(?:用户|使用者|我)?的? ?)"
)
_RELATED: Final = (
    re.compile(rf"\b(?P<kin>{_ROLE}),? (?:is |called |named )?(?P<name>{_NAME})\b"),
    re.compile(
        rf"(?<![A-Za-z])(?P<name>{_NAME}),? ?(?:(?:is|was) )?{_OF}(?:new |old )?(?P<kin>{_ROLE})\b"
    ),
)
_KIN_OF_HAN: Final = re.compile(rf"前?(?:{KIN_HAN})")
_HAN_NAME: Final = re.compile(r"[\u3400-\u9fff]{2,3}")
_CALLED: Final = re.compile(r"叫(?P<name>[\u3400-\u9fff]{2})")
_OF_SOMEBODY: Final = re.compile(
    rf"\b(?P<owner>{_NAME})'s (?:\w+ )?(?P<kin>{KIN})\b"
    rf"|(?P<han>[\u3400-\u9fff]{{2}})(?:家的?|的)(?P<han_kin>{KIN_HAN})"
)
_OWNED: Final = re.compile(
    rf"\b(?P<owner>user's|[a-z]{{2,12}}'s) (?:[a-z]{{2,12}} )?(?P<kin>{KIN}),? (?P<name>{_NAME})\b"
)
_OWNING: Final = ("'s", "家", "的")
_TWO_NAMES: Final = re.compile(r"\b(?P<one>[A-Z][a-z]{1,20}) (?=(?P<other>[A-Z][a-z]{1,20})\b)")


def relation_reasons(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield why *text* may make one of two people, or of a relative the person themselves."""
    text = text[:TEXT_CHARACTERS_MAX]
    yield from _related(text, heard)
    yield from _related_in_chinese(simplified(text), heard)
    yield from _joined_names(text, heard)
    yield from _of_another_owner(text, heard)
    own = [each for each in cited if each.trust == "user" and not each.citation.implied]
    yield from _without_owner(simplified(text), own)


def _said(heard: HeardWindow) -> list[str]:
    """Return the sentences of the talk, bounded, and the memories that are known."""
    whole = "\n".join(each.text for each in heard.by_trust)[:SAID_CHARACTERS_MAX]
    return [*SENTENCE_END.split(whole), *_known(heard)]


def _known(heard: HeardWindow) -> list[str]:
    return [each.source.text[:TEXT_CHARACTERS_MAX] for each in heard.remembered]


def _related(text: str, heard: HeardWindow) -> Iterator[str]:
    """Yield a name beside a word of kinship or office that was said of somebody else."""
    pairs = (match for pattern in _RELATED for match in pattern.finditer(text))
    for match in islice(pairs, PEOPLE_MAX):
        kin, name = match["kin"], match["name"]
        if fold(name) in COMMON:  # "The" of "The user's sister"
            continue
        said = _said(heard)
        with_name = [each for each in said if name in each]
        if not with_name or any(_has_kin(kin, each) for each in with_name):
            continue
        if any(_SOMEBODY.search(each) and _has_kin(kin, each) for each in said):
            yield f"{kin!r} was said of somebody else than {name}"
            return


def _related_in_chinese(text: str, heard: HeardWindow) -> Iterator[str]:
    """Yield the same, of names that are remembered or that somebody was called by."""
    found = list(islice(_KIN_OF_HAN.finditer(text), PEOPLE_MAX))
    names = _names_of(heard) if found else []
    for match in found:
        kin = match.group()
        name = next((each for each in names if text.startswith(each, match.end())), None)
        said = [simplified(each) for each in _said(heard)] if name else []
        with_kin = [each for each in said if kin in each]
        if name and with_kin and not any(name in each for each in with_kin):
            yield f"{kin!r} was said of somebody else than {name}"
            return


def _names_of(heard: HeardWindow) -> list[str]:
    known = (
        simplified(leaf)
        for memory in heard.offer.known.values()
        for _, leaf in leaves(memory.value)
        if isinstance(leaf, str)
    )
    short = (each for each in known if _HAN_NAME.fullmatch(each))
    called = (
        match["name"] for each in _said(heard) for match in _CALLED.finditer(simplified(each))
    )
    return list(dict.fromkeys((*short, *called)))


def _has_kin(kin: str, text: str) -> bool:
    """Return True if a text has a word of kinship, or a synonym of it."""
    if not kin.isascii():
        return kin in simplified(text)
    if kin.casefold() in text.casefold():
        return True
    said = OwnWords(words_of(text_clauses(text)))
    return any(map(said.has, words_of(text_clauses(kin))))


def _joined_names(text: str, heard: HeardWindow) -> Iterator[str]:
    """Yield a name that is made of two that nobody said together."""
    for match in islice(_TWO_NAMES.finditer(text), PEOPLE_MAX):
        one, other = match["one"], match["other"]
        if _are_said_apart(one, other, heard):
            yield f"nobody said {one} {other} as one name"
            return


def _are_said_apart(one: str, other: str, heard: HeardWindow) -> bool:
    """Return True if both were said, never together, and *other* as somebody else's name."""
    speakers = [each.source.speaker or "" for each in heard.speakers]
    said = "\n".join([*_said(heard), *speakers])
    # "European or Brazilian Portuguese" has both together.
    between = rf"(?:\W{{1,3}}|\W{{1,3}}(?:or|and) \w+ ){other}\b"
    together = re.search(rf"\b{one}{between}", said, re.IGNORECASE)
    titled = rf"(?:{KIN}|dr|mr|mrs|ms|doctor)\.? {other}"
    # After another name it is one only if it is written as one: "National car" names no Mr Car.
    theirs = re.search(rf"\b(?:(?i:{titled})|(?!{one}\b){_NAME} {other})\b", said)
    is_said = re.search(rf"\b{one}\b", said, re.IGNORECASE)
    return bool(is_said and theirs and not together)


def _of_another_owner(text: str, heard: HeardWindow) -> Iterator[str]:
    """Yield a relative of the user's who is told as somebody else's, or the other way round."""
    for match in islice(_OWNED.finditer(text), PEOPLE_MAX):
        kin, name = re.escape(match["kin"]), match["name"]
        mine = re.compile(rf"\bmy (?:\w+ )?{kin},? {name}\b", re.IGNORECASE)
        theirs = re.compile(rf"\b(?:his|her|their|\w+'s) (?:\w+ )?{kin},? {name}\b", re.IGNORECASE)
        is_users = match["owner"].casefold() == "user's"
        right, wrong = (mine, theirs) if is_users else (theirs, mine)
        said = [each.text[:SAID_CHARACTERS_MAX] for each in heard.voices if each.trust == "user"]
        if any(map(wrong.search, said)) and not any(map(right.search, said)):
            yield f"{name} was said to be the {match['kin']} of somebody else"
            return


def _without_owner(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield somebody of whom *text* says what was said of their child, partner or the like."""
    for each in cited:
        for match in islice(_OF_SOMEBODY.finditer(simplified(each.text)), PEOPLE_MAX):
            owner, kin = match["owner"] or match["han"], match["kin"] or match["han_kin"]
            at = text.find(owner)
            is_owning = at >= 0 and text.startswith(_OWNING, at + len(owner))
            if at >= 0 and not is_owning and not _has_kin(kin, text):
                yield f"it was said of the {kin} of {owner}"
                return
