"""Documents per speaker: where several people speak, each has a document of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, TypeAlias

from recollect.formation.types import MemoryType
from recollect.formation.value_identity import normalised
from recollect.records import SPEAKER_MARK, Memory, Message, Scope

Speaker: TypeAlias = "str | None"
"""A user's name, as names are compared; ``None`` for the user who speaks without one."""
Cited: TypeAlias = tuple[str, str]
"""A thread and a message in it, as evidence names them."""

NAME_CHARACTERS_MAX: Final = 100
_DIGEST_BYTES: Final = 6


def speaker_of(message: Message) -> Speaker:
    """Return the speaker of a user message; different spellings of a name are one speaker."""
    return normalised(message.name or "") or None


def speaker_key(speaker: str) -> str:
    """
    Return the key of a speaker's documents.

    For a name that is too long or contains "~", which separates the parts of a key, the key has as
    much as fits and a digest of the whole name, so that no two speakers share a key.

    >>> speaker_key("ines lópez")
    '@ines lópez'
    """
    fitting = speaker.replace("~", "-")[:NAME_CHARACTERS_MAX]
    if fitting != speaker:
        fitting += f"#{blake2b(speaker.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"
    return f"{SPEAKER_MARK}{fitting}"


def has_speakers(type_: MemoryType) -> bool:
    """Return True if each speaker has a document of the type."""
    return type_.update_mode == "patch" and type_.per_speaker and "user" in type_.roles


def named_speakers(messages: Iterable[Message]) -> frozenset[str]:
    """Return the users who speak under a name."""
    found = (speaker_of(each) for each in messages if each.role == "user")
    return frozenset(each for each in found if each is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerDocuments:
    """
    The speakers of a window, and their documents of one type.

    *keys* maps each speaker to the key of the document, written or not; *owners* maps each of
    these keys to the speakers who may change that document. Words without a name are the main
    user's, whose document has the type's name as its key.
    """

    keys: Mapping[Speaker, str]
    owners: Mapping[str, frozenset[Speaker]]

    def owner_of(self, key: str) -> str:
        """Return the name of the owner of the document at *key*; ``""`` if it is not known."""
        named = sorted(each for each in self.owners.get(key, ()) if each is not None)
        return named[0] if named else ""


def documents_of_speakers(
    type_: MemoryType,
    scope: Scope,
    standing: Sequence[Memory],
    messages: Sequence[Message],
    authors: Mapping[Cited, Speaker],
) -> SpeakerDocuments | None:
    """
    Assign the documents of *type_* to speakers; ``None`` without a second named user.

    The main document belongs to the user whose messages it cites; without evidence, to the user
    whose name is the last segment of the scope. Every other name has its own document.

    Args:
        standing: The active documents of the type.
        messages: The messages of the window.
        authors: The speakers of the user messages that the main document cites.
    """
    main = next((each for each in standing if each.key == type_.name), None)
    taken = frozenset(each.key for each in standing) - {type_.name}
    heard = named_speakers(messages)
    said = _authors_of(main, authors) if main else frozenset()
    if len(heard | said) < 2 and not taken:
        return None
    main_owner = _main_owner(said, scope, heard, taken)
    own = {type_.name: frozenset({None, main_owner})}
    keys: dict[Speaker, str] = {None: type_.name}
    for name in sorted(heard):
        keys[name] = type_.name if name == main_owner else speaker_key(name)
        own.setdefault(keys[name], frozenset({name}))
    return SpeakerDocuments(keys=keys, owners=own)


def _authors_of(main: Memory, authors: Mapping[Cited, Speaker]) -> frozenset[str]:
    cited = {(e.thread, e.message) for found in main.evidence.values() for e in found}
    return frozenset(name for each in cited if (name := authors.get(each)) is not None)


def _main_owner(
    said: frozenset[str], scope: Scope, heard: frozenset[str], taken: frozenset[str]
) -> Speaker:
    """Return the named user who owns the main document, ``None`` if no one does."""
    if said:
        # A document that several were merged into belongs to none of their speakers.
        return next(iter(said)) if len(said) == 1 else None
    mine = normalised(scope[-1]) if scope else ""
    is_mine = mine in heard and speaker_key(mine) not in taken
    return mine if is_mine else None
