"""A speaker's document keeps what that speaker said, and leaves out what another said."""

from typing import Any

import pytest

from recollect.formation.operations import Citation, Insert
from recollect.formation.owned_parts import with_owned_parts
from recollect.formation.speakers import SpeakerDocuments
from recollect.formation.window import Window, WindowLine
from tests.harness.sample_contents import sample_message
from tests.unit.test_formation_speakers import NOON

SAID = {
    1: ("Verlene", "Verlene here. me, and Zsolt who bends the glass. No sayings for him"),
    2: ("Zsolt", "I am from Szeged. To me please write only metric"),
}
WHOSE = SpeakerDocuments(
    keys={"verlene": "@verlene", "zsolt": "@zsolt"},
    owners={"@verlene": frozenset({"verlene"}), "@zsolt": frozenset({"zsolt"})},
)
HOME = Citation(message=2, quote="I am from Szeged", path="/home")
GLASS = Citation(message=1, quote="Zsolt who bends the glass", path="/occupation")
SAYINGS = Citation(message=1, quote="No sayings for him", path="/conversation_preferences/0")
METRIC = Citation(message=2, quote="only metric", path="/conversation_preferences/1")
NAME = Citation(message=1, quote="Zsolt", path="/user_name")


def window() -> Window:
    """Return what Verlene and Zsolt said."""
    lines = tuple(
        WindowLine(
            number=number,
            message=sample_message(time=NOON, id=str(number), role="user", text=text, name=name),
            text=text,
            new=True,
        )
        for number, (name, text) in SAID.items()
    )
    return Window(scope=("shop",), lines=lines, watermarks={})


def kept(value: dict[str, Any], *because: Citation) -> tuple[Insert, tuple[str, ...]]:
    """Return what is kept of a profile, and the notes."""
    asked = Insert(call="call", type="User", key="User", value=value, because=because)
    found, notes = with_owned_parts(asked, window(), WHOSE)
    assert isinstance(found, Insert)
    return found, notes


def test_what_another_said_is_left_out_and_told() -> None:
    found, notes = kept(
        {"user_name": "Zsolt", "home": "Szeged", "occupation": "bends the glass"},
        NAME,
        HOME,
        GLASS,
    )

    assert {"user_name": "Zsolt", "home": "Szeged"} == found.value
    assert (HOME,) == found.because
    assert ("left out: /occupation: verlene said it",) == notes


def test_a_list_keeps_its_places() -> None:
    """What is said of the second element is said of the first one that is left."""
    found, notes = kept(
        {"user_name": "Zsolt", "conversation_preferences": ["no sayings", "metric"]},
        NAME,
        SAYINGS,
        METRIC,
    )

    assert ["metric"] == found.value["conversation_preferences"]
    assert ["/conversation_preferences/0"] == [each.path for each in found.because]
    assert ("left out: /conversation_preferences/0: verlene said it",) == notes


@pytest.mark.parametrize(
    ("value", "because"),
    [
        ({"user_name": "Zsolt", "occupation": "bends the glass"}, (NAME, GLASS)),
        ({"home": "Szeged", "occupation": "bends the glass"}, (HOME, GLASS)),
        ({"user_name": "Zsolt", "home": "Szeged"}, (HOME,)),
        ({"user_name": "Ilona", "home": "Szeged"}, (HOME, NAME)),
        ({"user_name": "Verlene Stucky", "partner": "Zsolt", "home": "Szeged"}, (NAME, HOME)),
        ({"user_name": "Zsolt", "home": {"town": "Szeged"}, "pets": ["cat"]}, (NAME, HOME)),
        ({"user_name": "Zsolt", "home": "Szeged", "pets": [{"kind": "cat"}]}, (NAME, HOME)),
    ],
)
def test_the_rest_is_left_to_the_model(value: dict[str, Any], because: tuple[Citation]) -> None:
    """
    Nothing but a name would be left, no speaker is named, or nobody else is cited.

    Whose partner Zsolt is, is not Zsolt; and of fields within fields nobody's words are told apart.
    """
    found, notes = kept(value, *because)

    assert value == found.value
    assert because == found.because
    assert notes == ()


def test_one_document_for_all_is_left_alone() -> None:
    asked = Insert(call="c", type="User", key="User", value={"home": "Szeged"}, because=(HOME,))

    assert (asked, ()) == with_owned_parts(asked, window(), None)
