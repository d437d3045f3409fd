"""The first five minutes: what is believed of Mira's home, why, since when; corrected, and used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from tests.harness.played_demo import play_demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Walks


@pytest.mark.parametrize(
    ("browser", "language", "why", "question"),
    [
        ("en-GB", "en", "no message says it so", "Where do I live?"),
        ("zh-TW", "zh-Hant", "沒有訊息這樣說", "我住在哪裡？"),
    ],
)
def test_who_has_never_seen_it_finds_and_corrects_a_belief(
    walks: Walks, tmp_path: Path, *, browser: str, language: str, why: str, question: str
) -> None:
    """From the overview by clicks alone, to an answer that has the correction."""
    anyio.run(play_demo, tmp_path)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(tmp_path, *options, after_s=600) as (address, _):
        story = walks.walked(address, extent=f"first_minutes_{browser}", script="first_minutes.mjs")
    facts = story.facts

    assert dict.fromkeys(("find", "correct", "begin", "look_again"), "well") == story.chapters
    assert "Porto" in facts["believed"]
    assert "Porto, third floor, Rua das Amoreiras 18" in facts["believed"]
    assert "Mira lives in Utrecht" in facts["believed"]
    assert facts["said"] in facts["why"]
    assert "2025" in facts["since"]
    assert language == facts["language"]
    assert why in facts["why_now"]
    assert [question] == facts["beginnings"]
    assert "Braga" in facts["answer"]
    assert "Rua das Amoreiras" not in facts["answer"]
    assert "Braga" in facts["believed_now"]
    assert "third floor" not in facts["believed_now"]
    assert facts["clicks"] <= 4
    assert facts["minutes"] < 1
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
