"""Whose document is whose: by whose words it rests on, and by name for everybody else."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.formation.speakers import (
    NAME_CHARACTERS_MAX,
    SpeakerDocuments,
    documents_of_speakers,
    has_speakers,
    speaker_key,
    speaker_of,
)
from recollect.formation.types import NOTE, USER, load_types
from recollect.formation.types.builtin import INSTRUCTIONS
from recollect.formation.value_identity import normalised, refusing_keys
from recollect.records import SPEAKER_MARK, Evidence, Memory, Message, Scope
from recollect.stores.proposal_names import proposed_for
from recollect.stores.validation import ID_CHARACTERS_MAX, check_id
from tests.harness.sample_contents import sample_memory, sample_message

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUSE: Scope = ("households", "h7")


def said(name: str | None, role: str = "user") -> Message:
    """Return a message of somebody's."""
    return sample_message(time=NOON, id=f"{role} {name}", role=role, text="hi", name=name)


def document(key: str, *authors: str | None) -> Memory:
    """Return a profile that rests on what *authors* said."""
    cited = [Evidence(thread="talk", message=said(each).id) for each in authors]
    return sample_memory(
        at=NOON,
        scope=HOUSE,
        type="User",
        key=key,
        value={"home": "Oslo"},
        text="home: Oslo",
        evidence={"/home": cited} if cited else {},
    )


def found(
    heard: list[str | None], *standing: Memory, scope: Scope = HOUSE
) -> Mapping[str | None, str] | None:
    """Return the keys of the speakers' documents, ``None`` if there is one for all."""
    names = ["Ada", "Ines", "Leo", None]
    authors = {("talk", said(each).id): speaker_of(said(each)) for each in names}
    whose = documents_of_speakers(USER, scope, standing, [said(e) for e in heard], authors)
    return None if whose is None else whose.keys


@pytest.mark.parametrize(
    ("heard", "standing", "keys"),
    [
        ([None], [], None),
        (["Ada"], [], None),
        (["Ada", None, "ADA"], [], None),
        (["Ada"], [document("User", "Ada")], None),
        (["Ada"], [document("User", None)], None),
        (["Ada"], [document("User")], None),
        (["Ada", "Ines"], [], {"ada": "@ada", "ines": "@ines"}),
        (["Ada", "Ines"], [document("User", "Ada")], {"ada": "User", "ines": "@ines"}),
        (["Ines"], [document("User", "Ada")], {"ines": "@ines"}),
        (["Ines"], [document("User", "Ada", None)], {"ines": "@ines"}),
        (["Ada", "Ines"], [document("User", None)], {"ada": "@ada", "ines": "@ines"}),
        (["Ada"], [document("User", "Ada", "Ines")], {"ada": "@ada"}),
        (["Leo"], [document("@ada", "Ada")], {"leo": "@leo"}),
        (["Ada"], [document("@ada", "Ada")], {"ada": "@ada"}),
    ],
)
def test_each_speaker_has_a_key(
    heard: list[str | None], standing: list[Memory], keys: dict[str, str] | None
) -> None:
    """The main document stays with those whose words it rests on; one speaker has no other."""
    own = found(heard, *standing)

    assert keys == (None if own is None else {each: own[each] for each in own if each})
    assert own is None or "User" == own[None]


def test_a_scope_named_after_a_speaker_is_that_ones() -> None:
    """Unless it has a document under the name already, from when the main one was another's."""
    mine: Scope = ("users", "ADA")

    assert {None: "User", "ada": "User", "ines": "@ines"} == found(["Ada", "Ines"], scope=mine)
    kept = document("@ada", "Ada")
    assert {None: "User", "ada": "@ada", "ines": "@ines"} == found(
        ["Ada", "Ines"], kept, scope=mine
    )
    others = document("User", "Ines")
    assert {None: "User", "ada": "@ada", "ines": "User"} == found(
        ["Ada", "Ines"], others, scope=mine
    )


def test_an_assistant_is_no_speaker() -> None:
    """Named agents and tools are none of the users."""
    messages = [said("Ada"), said("Otto", "assistant"), said("search", "tool")]

    assert documents_of_speakers(USER, HOUSE, [], messages, {}) is None


def test_the_owner_of_a_document_is_named() -> None:
    """What is known of a main document without named words is no name."""
    whose = SpeakerDocuments(
        keys={None: "User", "ines": "@ines"},
        owners={"User": frozenset({None}), "@ines": frozenset({"ines"})},
    )

    assert ["", "ines", ""] == [whose.owner_of(each) for each in ("User", "@ines", "@leo")]


NAMES = st.text(min_size=1).map(normalised).filter(bool)


@given(NAMES, NAMES)
def test_no_two_speakers_share_a_key(one: str, other: str) -> None:
    """A key is an id, belongs to one speaker, and reads as nothing else."""
    keys = [speaker_key(each) for each in (one, other)]

    assert (one == other) == (keys[0] == keys[1])
    assert keys[0] == check_id(keys[0], "a key")
    assert keys[0].startswith(SPEAKER_MARK)
    assert proposed_for(keys[0]) is None


def test_long_names_and_those_like_proposals_have_own_keys() -> None:
    """What is cut, or written in another way, is told apart by a digest."""
    long = ["a" * (NAME_CHARACTERS_MAX + more) for more in range(3)]
    names = [*long, "ada~3~5f1c", "ada-3-5f1c"]
    keys = [speaker_key(each) for each in names]

    assert len(set(keys)) == len(names)
    assert max(map(len, keys)) < ID_CHARACTERS_MAX / 2
    assert all(proposed_for(each) is None for each in keys)


def test_what_is_erased_of_a_speaker_is_refused_of_that_one() -> None:
    """The digests of one speaker's fields are none of another's, and none of the main user's."""
    value = {"home": "Oslo"}
    main, ada, ines = (refusing_keys("User", key, value) for key in ("User", "@ada", "@ines"))

    assert main.isdisjoint(ada)
    assert "@ada" not in ines


def test_types_say_whether_each_speaker_has_a_document() -> None:
    """A document is a speaker's own, unless its type says otherwise, or no user may cause it."""
    shared = replace(USER, per_speaker=False)
    heard = replace(USER, roles=("assistant",))

    assert [True, False, False, False, False] == [
        has_speakers(each) for each in (USER, shared, heard, NOTE, INSTRUCTIONS)
    ]
    (loaded,) = load_types([shared.as_config()])
    assert shared == loaded
    assert "per_speaker" not in USER.as_config()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"per_speaker": "no"}, "must be true or false"),
        ({"per_speaker": False, "update_mode": "insert"}, "is for documents"),
    ],
)
def test_a_wrong_word_on_speakers_is_refused(given: dict[str, object], reason: str) -> None:
    """The error names the key, and says what it must be."""
    with pytest.raises(UsageError, match=f"per_speaker: {reason}"):
        load_types([{**USER.as_config(), **given}])
