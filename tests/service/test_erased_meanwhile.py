"""What is erased while a decision reads a memory's past does not come back by its write."""

from collections.abc import Callable
from typing import Any, Final

import httpx
import pytest

from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import USER
from recollect.server.testing import Served
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMessages

SCOPE: Final = {"scope": "ada"}
UNDO: Final = {
    "act": "undo",
    "memories": [{"type": "User", "key": "User", "version": 2}],
    "because": {"thread": "t", "message": "m2"},
}
DECISIONS: Final = {
    "restore": ("/v1/memories/User/User/restore", {"version": 1}),
    "undo of a message": ("/v1/memories/change", UNDO),
}


@pytest.fixture
def web(starting: Callable[..., Served], connect: Callable[..., httpx.Client]) -> httpx.Client:
    """Return a client of a service that has formed two homes, one after the other."""
    assistants = Assistants(default=FormationSettings(types=(USER,)))
    client = connect(starting(model=RuleModel(), assistants=assistants))
    for id_, town in [("m1", "Madrid"), ("m2", "Lima")]:
        said = {"messages": [{"role": "user", "text": f"I live in {town} now.", "id": id_}]}
        client.post("/v1/threads/t/messages", params=SCOPE, json=said)
        assert client.post("/v1/form", params=SCOPE).is_success
    return client


def erased_meanwhile(web: httpx.Client, decision: str) -> str:
    """Erase the first message once its memory's past was read; return all that is kept then."""
    path, body = DECISIONS[decision]
    read, waiting = Store.history, [EraseMessages(thread="t", messages=["m1"])]

    async def history(self: Store, scope: tuple[str, ...], *address: Any) -> Any:
        found = await read(self, scope, *address)
        if waiting:
            await self.erase(scope, waiting.pop())
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "history", history)
        web.post(path, params=SCOPE, json=body)
    assert not waiting
    return web.get("/v1/export", params=SCOPE).text


@pytest.mark.parametrize("decision", DECISIONS)
def test_what_is_erased_meanwhile_does_not_come_back(web: httpx.Client, decision: str) -> None:
    kept = erased_meanwhile(web, decision)

    assert "Madrid" not in kept


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_on_what_was_read_before_the_erase_is_noticed(
    web: httpx.Client, decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant trusts the version that it expects."""
    monkeypatch.setattr(Store, "since", lambda self, *_: self)

    assert "Madrid" in erased_meanwhile(web, decision)
