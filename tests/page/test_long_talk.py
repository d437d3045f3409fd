"""A talk of 10,000 messages opens at its newest, and is read, linked to and answered in."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Final

import pytest

import recollect
from recollect import NewMessage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.page.conftest import Walks

MESSAGES: Final = 10_000
AT_ONCE: Final = 500
FIRST_VIEW_MS: Final = 1_000
TASK_MS_MAX: Final = 200
INPUT_MS_MAX: Final = 100


async def fill(folder: Path) -> None:
    """Keep a long talk."""
    async with recollect.open(str(folder / "page.db"), embedder="none", worker=False) as memory:
        for start in range(0, MESSAGES, AT_ONCE):
            said = [
                NewMessage(
                    role="assistant" if number % 2 else "user",
                    text=f"Of harbour {number}: the boat leaves **early**, and `comes` back late.",
                )
                for number in range(start, start + AT_ONCE)
            ]
            await memory.append(("default",), "long", said)


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_a_talk_of_ten_thousand_messages_is_quick(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """Opened within a second at its end; what is typed is seen at once, however much is shown."""
    asyncio.run(fill(tmp_path))
    with walks.serving(tmp_path, "--no-auth", after_s=600) as (address, _):
        story = walks.walked(address, extent="long talk", script="long_talk.mjs")
    facts = story.facts
    for name in ("waits_ms", "tasks"):
        record_testsuite_property(name, facts[name])
        sys.stdout.write(f"{MESSAGES} messages, {name}: {facts[name]}\n")

    assert dict.fromkeys(("opens", "typed", "linked"), "well") == story.chapters
    assert facts["opened"]["isNewestInSight"]
    assert facts["waits_ms"]["opened"] <= FIRST_VIEW_MS
    assert facts["sent"]
    assert facts["linked"]["isInSight"]
    shown = facts["between"]["shown"]
    far = next(at for at, number in enumerate(shown) if number > at)
    assert list(range(far)) == shown[:far]
    assert list(range(shown[far], MESSAGES)) == shown[far:]
    assert 60 < far < 200
    assert max(each["longest_task_ms"] for each in facts["tasks"].values()) <= TASK_MS_MAX
    assert max(each["input_ms"] for each in facts["tasks"].values()) <= INPUT_MS_MAX
    assert {"elsewhere": [], "violations": [], "errors": []} == facts["noted"]
