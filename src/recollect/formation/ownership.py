"""Check that a change to one speaker's document rests on that speaker's words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.formation.offer import Offer
from recollect.formation.operations import Citation, Fault, Insert, Operation, Patch, cited_by
from recollect.formation.speakers import Speaker, SpeakerDocuments, speaker_of
from recollect.formation.window import Window
from recollect.stores.json_pointers import covers, leaves
from recollect.text.chinese_scripts import simplified

_FOR_ALL: Final = re.compile(
    r"\b(?:our|ours|us all|all of us|we all|we're all|everyone here)\b"
    r"|咱们?|我们|大家|本[楼群组院]",
    re.IGNORECASE,
)


def attributed(operation: Operation, window: Window, offer: Offer) -> Operation:
    """
    Return *operation* for the document of the speaker it cites, with one per speaker.

    Implied evidence from other users' words is dropped: a name that another user said is then
    unsupported, and needs a review.
    """
    whose = documents_of(operation, offer)
    if whose is None:
        return operation
    if isinstance(operation, Insert):
        keys = {whose.keys[each] for each in _cited_speakers(operation.because, window)}
        if len(keys) != 1:
            return operation
        (key,) = keys
        because = _without_others(operation.because, whose.owners[key], window)
        return replace(operation, key=key, because=because)
    if isinstance(operation, Patch):
        owners = _owners(operation, offer, whose)
        changes = tuple(
            replace(each, besides=_without_others(each.besides, owners, window))
            for each in operation.changes
        )
        return replace(operation, changes=changes)
    return operation


def speaker_faults(operation: Operation, window: Window, offer: Offer) -> list[Fault]:
    """Return the faults of an operation that mixes one user's words into another's document."""
    whose = documents_of(operation, offer)
    if whose is None:
        return []
    reasons: Iterator[str] = iter(())
    if isinstance(operation, Insert):
        reasons = _insert_reasons(operation, window, whose)
    elif isinstance(operation, Patch):
        reasons = _patch_reasons(operation, window, offer, whose)
    return [Fault(call=operation.call, kind="quote", reason=each) for each in reasons]


def _insert_reasons(operation: Insert, window: Window, whose: SpeakerDocuments) -> Iterator[str]:
    cited = _cited_speakers(operation.because, window)
    if len({whose.keys[each] for each in cited}) > 1:
        names = " and ".join(sorted(map(_speaker_name, cited)))
        yield (
            f"it cites {names}, each of whom has a {operation.type}: make a call for each, with "
            "the words of that user alone"
        )
        return
    own_names = {_speaker_name(each).casefold() for each in cited}
    for pointer, value in leaves(operation.value):
        if isinstance(value, str) and value.casefold() in own_names:
            continue  # the name at the head of the user's own lines, which no words need tell
        about = [each for each in operation.because if covers(each.path, pointer)]
        if not _cited_speakers(about, window):
            yield f"{pointer} cites no user: cite the user whose {operation.type} it is"


def _patch_reasons(
    operation: Patch, window: Window, offer: Offer, whose: SpeakerDocuments
) -> Iterator[str]:
    owners = _owners(operation, offer, whose)
    for change in operation.changes:
        cited = _cited_speakers(cited_by(change), window)
        others = sorted(map(_speaker_name, cited - owners))
        if others or not cited:
            said = f"the words of {others[0]}" if others else "no user"
            whom = " or ".join(sorted(map(_speaker_name, owners))) or "another"
            yield (
                f"{change.operation.get('path')} cites {said}, and {operation.target} belongs to "
                f"{whom}: cite the owner's own words, or make a document of the user who spoke"
            )


def documents_of(operation: Operation, offer: Offer) -> SpeakerDocuments | None:
    """Return the speakers' documents of an operation's type; ``None`` if all share one."""
    if isinstance(operation, Insert):
        return offer.whose.get(operation.type)
    return offer.whose.get(offer.known[operation.target].type)


def _owners(operation: Patch, offer: Offer, whose: SpeakerDocuments) -> frozenset[Speaker]:
    return whose.owners.get(offer.known[operation.target].key, frozenset())


def _cited_speakers(cited: Sequence[Citation], window: Window) -> frozenset[Speaker]:
    """Return the users whose messages are cited, and not only implied."""
    lines = [window.line(each.message) for each in cited if not each.implied]
    return frozenset(
        speaker_of(line.message) for line in lines if line and line.message.role == "user"
    )


def _without_others(
    cited: Sequence[Citation], owners: frozenset[Speaker], window: Window
) -> tuple[Citation, ...]:
    """
    Return *cited* without evidence from users who are not among *owners*.

    What one says for all ("our building is no. 7, I'm in 601") is said for each of them.
    """
    return tuple(
        each
        for each in cited
        if not each.implied
        or (line := window.line(each.message)) is None
        or line.message.role != "user"
        or speaker_of(line.message) in owners
        or _FOR_ALL.search(simplified(line.text))
    )


def _speaker_name(speaker: Speaker) -> str:
    return "the user without a name" if speaker is None else speaker
