"""What a value takes from the talk around its citations is cited as well, and nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.formation.grounding.implied_citations import NEAR_LINES, completed
from recollect.formation.offer import Offer, offer_of
from recollect.formation.operations import Citation, Insert, Patch, PatchChange
from recollect.formation.support import HeardWindow
from recollect.formation.types import NOTE, USER
from recollect.formation.window import Window, WindowLine
from recollect.records import Json, JsonObject, Role
from tests.harness.sample_contents import sample_memory, sample_message

BEGAN = datetime(2026, 5, 1, 12, tzinfo=UTC)


FLAT = "We looked at a flat in Bergen."


def window(*said: str | tuple[Role, str], new: int | None = None) -> Window:
    """Return a talk of these messages, of which the last *new* are to be formed."""
    lines = []
    spoken: list[tuple[Role, str]] = [("user", s) if isinstance(s, str) else s for s in said]
    for number, (role, text) in enumerate(spoken, start=1):
        message = sample_message(
            id=f"m{number}",
            position=number,
            role=role,
            text=text,
            name="Ada" if role == "user" else None,
            time=BEGAN + timedelta(minutes=number),
        )
        is_new = new is None or number > len(said) - new
        lines.append(WindowLine(number=number, message=message, text=text, new=is_new))
    return Window(scope=("ada",), lines=tuple(lines), watermarks={"talk": len(lines)})


def note(value: JsonObject, *cited: tuple[int, str]) -> Insert:
    """Return a note that cites messages."""
    because = tuple(Citation(message=number, quote=quote) for number, quote in cited)
    return Insert(call="c", type="Note", value=value, because=because)


def offer(**value: Json) -> Offer:
    """Return an offer of one known profile."""
    profile = sample_memory(scope=("ada",), type="User", key="User", value=value, at=BEGAN)
    return offer_of((USER, NOTE), (profile,), "")


def added(operation: Insert, talk: Window) -> list[tuple[int, str, str]]:
    """Return the citations that completing adds: message, quote, pointer."""
    after = completed(operation, HeardWindow(talk, offer()))
    assert isinstance(after, Insert)
    assert operation.because == after.because[: len(operation.because)]
    new = after.because[len(operation.because) :]
    assert all(each.implied for each in new)
    return [(each.message, each.quote, each.path) for each in new]


def test_a_name_is_found_where_it_was_said() -> None:
    """With the shortest sentence that says it, for the field that needs it."""
    talk = window("We got a dog. His name is Toby.", "I take him to the lake every day.")
    told = note({"content": "Ada takes Toby to the lake"}, (2, "I take him to the lake"))

    assert [(1, "His name is Toby.", "/content")] == added(told, talk)


def test_what_the_citations_say_needs_no_other() -> None:
    """Nor does the name of who speaks."""
    talk = window("Toby likes Ada's boat.", "Toby swims.")

    assert [] == added(note({"content": "Toby likes Ada"}, (1, "Toby likes")), talk)


def test_what_nobody_said_stays_uncited() -> None:
    """So that grounding finds fault with it."""
    talk = window("We got a dog.", "I take him to the lake.")

    assert [] == added(note({"content": "Rex loves the lake"}, (2, "the lake")), talk)


def test_a_number_counts_only_near_by() -> None:
    """Far away it is of something else; a name still is the same."""
    between = ["And so on."] * NEAR_LINES
    talk = window("Toby is 7 months old.", *between, "He weighs a lot.")
    last = len(talk.lines)
    near = window("Toby is 7 months old.", "He weighs a lot.")

    far_number = note({"content": "he is 7 months old"}, (last, "He weighs a lot"))
    far_name = note({"content": "the dog Toby is heavy"}, (last, "He weighs a lot"))
    near_number = note({"content": "he is 7 months old"}, (2, "He weighs a lot"))

    assert [] == added(far_number, talk)
    assert [1] == [number for number, _, _ in added(far_name, talk)]
    assert [1] == [number for number, _, _ in added(near_number, near)]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_whoever_says_a_word_is_cited_for_it(role: Role) -> None:
    """So a value is trusted no more than the words that it takes from others."""
    talk = window((role, "The Bergen ferry leaves at 8."), "Yes, book it.")

    found = added(note({"content": "wants the Bergen ferry"}, (2, "Yes, book it")), talk)

    assert [(1, "The Bergen ferry leaves at 8.", "/content")] == found


def test_a_citation_that_is_added_can_be_found() -> None:
    """Of a long sentence whole words are quoted, around the word that is needed."""
    talk = window("and " * 200 + "the ferry Tarantella " + "then " * 200, "I take it daily.")

    found = added(note({"content": "takes the Tarantella daily"}, (2, "I take it daily")), talk)

    assert [1] == [number for number, _, _ in found]
    assert "Tarantella" in found[0][1]
    assert talk.lines[0].find(found[0][1])


def test_a_field_of_an_entry_without_a_citation_rests_on_the_others() -> None:
    """An entry is one statement."""
    talk = window("I take the ferry.")
    cited = Citation(message=1, quote="I take the ferry", path="/content")
    told = Insert(
        call="c", type="Note", value={"context": "travel", "content": "takes the ferry"},
        because=(cited,),
    )  # fmt: skip

    assert [(1, "I take the ferry", "/context")] == added(told, talk)


def test_users_are_cited_before_the_assistant() -> None:
    """A memory is as trusted as the least trusted message it rests on."""
    talk = window("Bergen is lovely.", ("assistant", "Bergen it is."), "Yes, book it.")

    found = added(note({"content": "wants Bergen"}, (3, "Yes, book it")), talk)

    assert [1] == [number for number, _, _ in found]


def test_a_change_cites_besides() -> None:
    """What a patch brings is completed alike; its own citation stays the first."""
    talk = window("We looked at a flat in Bergen.", "We took it!")
    own = Citation(message=2, quote="We took it")
    change = PatchChange(operation={"op": "add", "path": "/home", "value": "Bergen"}, because=own)

    after = completed(Patch(call="c", target="m1", changes=(change,)), HeardWindow(talk, offer()))

    assert isinstance(after, Patch)
    assert own == after.changes[0].because
    assert [1] == [each.message for each in after.changes[0].besides]


@pytest.mark.parametrize(
    ("said", "home", "value", "cited"),
    [
        ((FLAT, "It has a balcony!"), "near Bergen", "near Bergen, with a balcony", []),
        ((FLAT, "It has a balcony!"), "near Oslo", "near Bergen, with a balcony", [1]),
        (("房子有85平米。", "还有阳台！"), "85平米的房子", "85平米的房子，有阳台", []),
        (("房子有85平米。", "还有阳台！"), "苏州的房子", "85平米的房子，有阳台", [1]),
    ],
)
def test_what_the_document_says_already_needs_no_citation(
    said: tuple[str, ...], home: str, value: str, cited: list[int]
) -> None:
    """A change that keeps a name rests on what the document rested on, not on chance finds."""
    talk = window(*said)
    own = Citation(message=2, quote=said[1])
    change = PatchChange(operation={"op": "replace", "path": "/home", "value": value}, because=own)
    patch = Patch(call="c", target="m1", changes=(change,))

    after = completed(patch, HeardWindow(talk, offer(home=home)))

    assert isinstance(after, Patch)
    assert cited == [each.message for each in after.changes[0].besides]
