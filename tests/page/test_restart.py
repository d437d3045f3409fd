"""`recollect serve --open` is started anew: the browser goes on, without being asked for a key."""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from tests.page.conftest import Story, Walks

TYPED: Final = "Typed before the restart."


def free_port() -> int:
    """Return a port that is free now: a tab keeps its key for one address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def story(walks: Walks, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Open the page, restart the service twice, and open the address that it shows each time."""
    store = tmp_path_factory.mktemp("restart") / "page.db"
    command = [sys.executable, "-u", "-m", "recollect", "serve", "--open", "--store", str(store)]
    command += ["--port", str(free_port()), "--embedder", "none", "--log-level", "error"]
    return walks.walked(json.dumps(command), extent="restart", script="restart.mjs")


def test_every_chapter_ends_well(story: Story) -> None:
    """No step fails, nothing fails that is not told, and what is shown is accessible."""
    assert {"well"} == set(story.chapters.values()), story.chapters
    assert [] == story.facts["noted"]["errors"]
    assert [] == story.serious


def test_the_page_opens_signed_in(story: Story) -> None:
    """No key is asked for, and none stays in the address."""
    assert {"questions": 0, "hash": "#/chat/talk"} == story.facts["opened"]


def test_a_tab_goes_on_once_the_restart_has_opened_another(story: Story) -> None:
    """Until then it says what to do; it is where it was, with what was typed."""
    told = story.facts["another_tab"]

    assert "open the address that its terminal shows now" in told["asked"]
    assert 0 == told["questions"]
    assert (TYPED, "#/chat/talk") == (told["draft"], told["hash"])


def test_the_address_signs_in_the_tab_that_shows_the_page_already(story: Story) -> None:
    """It is where it was, with what was typed."""
    assert {"draft": TYPED, "hash": "#/chat/talk"} == story.facts["same_tab"]


def test_a_key_that_was_given_up_does_not_come_back(story: Story) -> None:
    """Another tab has it, and this one asks for one."""
    assert 1 == story.facts["without_key"]["left"]
