"""The first five minutes: what is believed of Mira's home, why, since when; corrected, and used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from tests.page.test_demonstration import _played as filled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Walks


def test_who_has_never_seen_it_finds_and_corrects_a_belief(walks: Walks, tmp_path: Path) -> None:
    """From the overview by clicks alone, to an answer that has the correction."""
    anyio.run(filled, tmp_path)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(tmp_path, *options, after_s=600) as (address, _):
        story = walks.walked(address, extent="first_minutes", script="first_minutes.mjs")
    facts = story.facts

    assert {"find": "well", "correct": "well"} == story.chapters
    assert "Porto" in facts["believed"]
    assert facts["said"] in facts["why"]
    assert "2025" in facts["since"]
    assert "no message says it so" in facts["why_now"]
    assert "Braga" in facts["answer"]
    assert "Rua das Amoreiras" not in facts["answer"]
    assert facts["clicks"] <= 4
    assert facts["minutes"] < 1
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
