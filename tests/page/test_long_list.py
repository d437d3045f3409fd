"""A list of 100,000 memories: quick to come, to sort, to walk through, and to change."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.page.test_page import fill

if TYPE_CHECKING:
    from tests.page.conftest import Walks

FIRST_ROWS_MS: Final = 1_000
TASK_MS_MAX: Final = 200
INPUT_MS_MAX: Final = 100


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_a_hundred_thousand_memories_are_listed_and_changed(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """Rows within a second, no task over 200 ms, an answer in sight within 100 ms, one undo."""
    asyncio.run(fill(tmp_path))
    with walks.serving(tmp_path, "--no-auth", after_s=600) as (address, _):
        story = walks.walked(address, extent="long", script="long.mjs")
    facts = story.facts
    for name in ("waits_ms", "tasks"):
        record_testsuite_property(name, facts[name])
        sys.stdout.write(f"100,000 memories, {name}: {facts[name]}\n")

    assert dict.fromkeys(("rows", "sorted", "keyed", "many"), "well") == story.chapters
    assert "99,996 memories · 2 to review · 2 rejected" == facts["total"]
    assert facts["in_the_page"] < 100
    assert "100000" == facts["end"]
    assert "type" == facts["kept"]
    assert facts["waits_ms"]["first rows"] <= FIRST_ROWS_MS
    assert max(each["longest_task_ms"] for each in facts["tasks"].values()) <= TASK_MS_MAX
    assert max(each["input_ms"] for each in facts["tasks"].values()) <= INPUT_MS_MAX
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
