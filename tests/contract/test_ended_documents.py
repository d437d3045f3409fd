"""A document that a person ended stays as it was; what is said since begins it anew."""

from typing import Final

import pytest

from recollect.formation.config import Assistants
from recollect.formation.rule_model import RuleModel
from recollect.memory.facade import Recollect
from recollect.server.mcp.callers import local_caller
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")


async def told(memory: Recollect) -> list[object]:
    """Return the profile as a prompt and an MCP client get it."""
    context = await memory.context(ADA, "What do you know of me?", recent=9, thread="talk")
    profile = await RecollectTools(b"secret" * 6).profile(local_caller(memory, ADA, Assistants()))
    return [[dict(each.memory.value) for each in context.profile], profile]


@pytest.mark.anyio
async def test_what_is_said_since_is_told_alone(open_empty: Opener) -> None:
    """In no door is the ended part told as true; history has all of it."""
    clock = FrozenClock()
    store = open_empty(clock, SeededIds(1))
    async with Recollect(store, embedder="none", model=RuleModel(), worker=False) as memory:
        await memory.append(ADA, "talk", ["My name is Mira. I live in Porto."])
        await memory.form(ADA)
        clock.advance(60)
        await memory.end(ADA, "User", "User", clock.now())
        clock.advance(60)
        ended = await told(memory)
        await memory.append(ADA, "talk", ["I am 34 years old."])
        await memory.form(ADA)
        since = await told(memory)
        history = await memory.history(ADA, "User", "User")

    assert [[], {}] == ended
    assert [[{"age": 34}], {"User": {"age": 34}}] == since
    former = {"user_name": "Mira", "home": "Porto"}
    assert [former, former, {"age": 34}] == [dict(each.value) for each in history]
    assert [False, True, False] == [each.valid_until is not None for each in history]
