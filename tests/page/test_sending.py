"""Saying something on the page over a bad network: nothing is lost, doubled, or taken for sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from recollect.errors import ModelUnavailableError
from recollect.ports import ModelRequest
from recollect.server.testing import serving
from recollect.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

UNSURE = "It is not known whether this was sent. Sent again, it is kept once."
NOT_SENT = "Not sent: the service did not answer."
UNANSWERED = "Your message is kept, but was not answered."


def answering() -> ScriptedModel:
    """Return a model that fails once where it is asked to, and waits where it is asked to."""
    failed: list[str] = []
    go_on: list[anyio.Event] = []

    async def answer(request: ModelRequest) -> str:
        said = request.turns[-1].text
        if "FAIL" in said and not failed:
            failed.append(said)
            msg = "the model is busy: try again in a minute"
            raise ModelUnavailableError(msg)
        if "SLOWLY" in said:
            go_on.append(anyio.Event())
            await go_on[-1].wait()
        if "GO ON" in said:
            go_on[-1].set()
        return "This is the whole answer to it, in more words than a piece of the network holds."

    return ScriptedModel(answer, identity="script/sending")


@pytest.fixture(scope="module")
def story(walks: Walks) -> Story:
    """Talk while the network, the service and the model fail."""
    with serving(model=answering(), auth=False) as served:
        return walks.walked(served.url, extent="sending", script="sending.mjs")


def messages(*texts: str) -> list[str]:
    """Return the messages of a thread: what was said, each with the answer to it."""
    answer = "This is the whole answer to it, in more words than a piece of the network holds."
    return [line for text in texts for line in (f"user: {text}", f"assistant: {answer}")]


def test_the_whole_story_can_be_walked(story: Story) -> None:
    """No step fails, and nothing fails that is not told."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == [each for each in story.facts["noted"]["errors"] if "uncaught" in each]
    assert [] == story.serious
    assert {0} == set(story.overflows.values())


def test_a_message_that_was_not_sent_says_so(story: Story) -> None:
    """It is marked, says why and what to do, and is there after a look elsewhere and a reload."""
    refused = story.facts["refused"]

    assert "not sent" == refused["badge"]
    assert NOT_SENT in refused["told"]
    assert "Send again" in refused["told"]
    assert "Typed, and not sent." == refused["draft"] == refused["after"]["draft"]
    assert NOT_SENT in refused["after"]["alert"]


def test_a_service_that_stopped_is_told_once(story: Story) -> None:
    """The bar says it for the threads, the talk and the panel; the message says what it is."""
    away = story.facts["stopped"]["away"]

    assert ["does not answer"] == away["sayings"]
    assert 1 == away["boxes"]
    assert UNSURE in away["told"]


def test_nothing_says_that_the_service_is_away_once_it_is_back(story: Story) -> None:
    """The message is known not to be sent, and one click sends it."""
    back = story.facts["stopped"]["back"]

    assert 0 == back["alerts"]
    assert "not sent" == back["badge"]
    assert [NOT_SENT, "Send again", "Edit"] == [*filter(None, back["told"].splitlines())]
    assert messages("I moor in Faro.") == story.facts["stopped"]["kept"]
    assert 2 == story.facts["stopped"]["shown"]


def test_a_message_that_is_sent_again_is_sent_under_the_same_key(story: Story) -> None:
    """Over three attempts and a reload it is one message with one answer."""
    refused = story.facts["refused"]

    assert refused["tries"] >= 3
    assert 1 == refused["keys"]
    assert messages("My boat is blue.") == refused["kept"]
    assert 2 == refused["shown"]


def test_a_message_whose_answer_was_lost_is_not_doubled(story: Story) -> None:
    """The service had kept and answered it; the page shows and keeps both once."""
    lost = story.facts["lost"]

    assert UNSURE in lost["told"]
    assert messages("I keep bees.") == lost["kept"]
    assert lost["tries"] >= 3
    assert 1 == lost["keys"]
    assert 2 == lost["shown"]


def test_a_message_that_has_arrived_is_found(story: Story) -> None:
    """Its answer was lost, but the thread can be read: nothing is to be sent again."""
    assert {"kept": messages("I play chess."), "shown": 2} == story.facts["found"]


def test_an_answer_that_breaks_off_is_had_again(story: Story) -> None:
    """The message is known to be kept, so it is not marked as unsent; the answer comes whole."""
    cut = story.facts["cut"]

    assert 0 == cut["badges"]
    assert UNANSWERED in cut["told"]
    assert messages("My cat is called Tom.") == cut["kept"]
    assert 2 == cut["shown"]


def test_a_message_that_is_refused_goes_back_into_the_field(story: Story) -> None:
    """Why is told in the service's words; what was typed meanwhile stays behind it."""
    denied = story.facts["denied"]

    assert "not sent" == denied["badge"]
    assert "Not sent. The quota of today is used up" in denied["told"]
    assert "I sail on Sundays.\nAnd on Mondays." == denied["field"]
    assert 0 == denied["shown"]
    assert [] == denied["kept"]


def test_what_a_proxy_answers_is_no_answer(story: Story) -> None:
    """A bare status and another page are told as what they are; sent again it is kept once."""
    garbled = story.facts["garbled"]

    assert "502" in garbled["told"]
    assert messages("I live in Porto.") == garbled["kept"]


def test_a_message_that_the_model_does_not_answer_is_kept(story: Story) -> None:
    """It is told as kept and not answered, over a reload too; tried again it is answered."""
    unanswered = story.facts["unanswered"]

    assert UNANSWERED in unanswered["told"]
    assert "busy" in unanswered["told"]
    assert ["user: FAIL once, please."] == unanswered["before"]
    assert messages("FAIL once, please.") == unanswered["kept"]


def test_a_question_without_an_answer_is_had_again_in_another_window(story: Story) -> None:
    """It says so there as well; the question is not doubled, and no words of it stay behind."""
    unanswered = story.facts["unanswered"]

    assert UNANSWERED in unanswered["elsewhere"]
    assert "Try again" in unanswered["elsewhere"]
    assert "left" not in unanswered["elsewhere"], "why is not known in another window"
    assert 2 == unanswered["shownThere"]
    assert 0 == unanswered["left"]["alerts"]
    assert "FAIL" not in unanswered["left"]["browser"]


def test_a_look_at_another_screen_cuts_no_answer_short(story: Story) -> None:
    """The answer is given to its end, and shown to who comes back."""
    away = story.facts["away"]

    assert messages("SLOWLY, please.") == away["kept"]
    assert 0 == away["interrupted"]
    assert 2 == away["shown"]
