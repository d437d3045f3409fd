"""The first view of a browser that has nothing of the page yet: how soon, and at which cost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import pytest

from tests.page.test_pictures import filled

if TYPE_CHECKING:
    from tests.page.conftest import Walks

SCREENS: Final = ("overview", "chat", "memories")
LANGUAGES: Final = {"zh-CN": "zh-Hans", "zh-TW": "zh-Hant"}
"""The page's language by the browser's; its words are files of their own."""
FIRST_VIEW_MS: Final = 1_000
THROTTLED_MS: Final = 4_000
"""On a processor four times slower: what a phone of some years ago takes."""
BYTES_MAX: Final = 150_000
"""Scripts, styles and the answers of ``/v1`` as they are sent, compressed, with their headers."""
SHIFT_MAX: Final = 0.1
"""Beyond this a layout shift is felt, by the Web Vitals."""


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_the_first_view_is_soon_there(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """Painted and whole within a second, few bytes, nothing that moves away under a pointer."""
    anyio.run(filled, tmp_path)
    options = ("--no-auth", "--scope", "demo", "--model", "rules")
    with walks.serving(tmp_path, *options, after_s=600) as (address, _):
        story = walks.walked(address, extent="first", script="first.mjs")
    for screen in SCREENS:
        for rate in (1, 4):
            measured = story.facts[f"{screen} {rate}"]
            record_testsuite_property(f"{screen} at {rate}x", measured)
            sys.stdout.write(f"{screen}, processor {rate}x slower: {measured}\n")

    assert {"well"} == set(story.chapters.values()), story.chapters
    for screen in SCREENS:
        usual = story.facts[f"{screen} 1"]
        slow = story.facts[f"{screen} 4"]
        assert 0 < usual["first_ms"] <= usual["largest_ms"] <= FIRST_VIEW_MS, usual
        assert usual["whole_ms"] <= FIRST_VIEW_MS, usual
        assert usual["bytes"] <= BYTES_MAX, usual
        assert slow["whole_ms"] <= THROTTLED_MS, slow
        assert max(usual["shift"], slow["shift"]) <= SHIFT_MAX
        for locale, language in LANGUAGES.items():
            there = story.facts[f"{screen} {locale}"]
            sys.stdout.write(f"{screen} in {language}: {there}\n")
            assert language == there["language"]
            assert there["bytes"] <= BYTES_MAX, there
    assert {"elsewhere": [], "violations": [], "errors": []} == story.facts["noted_once"]
