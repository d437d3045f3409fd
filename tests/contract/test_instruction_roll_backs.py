"""Instructions that are rolled back, on every backend, while their source is erased."""

from typing import Any

import pytest

from recollect import Evidence, NewMessage
from recollect.agents.instructions import Instructions
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages
from tests.contract.test_instructions import AGENT


async def _rules_after_a_roll_back(memory: Recollect) -> tuple[str, ...]:
    """Roll back to rules of which one is erased as soon as they have been read."""
    await memory.append(AGENT, "talk", [NewMessage(id="m1", role="user", text="No greetings!")])
    found = {"/rules/1": [Evidence(thread="talk", message="m1", quote="No greetings!")]}
    for rules in (["Be brief", "Sam hates greetings"], ["Be brief"]):
        kept = found if rules[1:] else {}
        value: JsonObject = {"rules": [*rules]}
        put = PutMemory(type="Instructions", key="bot", value=value, evidence=kept, cause="ada: x")
        await memory.apply(AGENT, [put])
    read, waiting = Store.history, [EraseMessages(thread="talk", messages=("m1",))]

    async def history(self: Store, *address: Any) -> Any:
        past = await read(self, *address)
        if waiting:
            await memory.erase(AGENT, waiting.pop())
        return past

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "history", history)
        edit = await Instructions(memory, AGENT, "bot").aroll_back(1, by="ada", why="better")
    return edit.rules


async def test_a_roll_back_brings_no_rule_back_that_is_erased_meanwhile(memory: Recollect) -> None:
    assert ("Be brief",) == await _rules_after_a_roll_back(memory)


async def test_a_roll_back_to_what_was_read_before_the_erase_is_noticed(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant trusts the version that it expects."""
    monkeypatch.setattr(Store, "since", lambda self, *_: self)

    assert "Sam hates greetings" in await _rules_after_a_roll_back(memory)
