"""Erasing by way of the client: previewed, confirmed, with what quotes it."""

from collections.abc import Iterator

import pytest

from recollect import EraseMessages, EraseScope, EraseThread, NewMessage
from recollect.client import SyncClient
from recollect.errors import ConflictError
from recollect.server.testing import Served

pytestmark = pytest.mark.timeout(240)
SAID = [NewMessage(role="user", text="My boat is called Penelope", id="m1", name="Ada")]


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[SyncClient]:
    """Yield a client with the first key."""
    with SyncClient(served.url, served.key) as found:
        yield found


def test_a_preview_lists_the_messages_that_quote_what_goes(client: SyncClient) -> None:
    """They can be erased with it, in one target."""
    scope = ("users", "echo")
    said, noted = client.append(
        scope,
        "t",
        [
            {"role": "user", "content": "My garage code is 4711, tell nobody"},
            {"role": "assistant", "content": "Noted: garage code is 4711"},
        ],
    )
    preview = client.preview_erase(scope, EraseMessages(thread="t", messages=[said.id]))

    assert [(noted.id, "garage code is 4711")] == [(e.message, e.quote) for e in preview.quoted_in]
    both = EraseMessages(thread="t", messages=[said.id, noted.id])
    receipt = client.confirm_erase(scope, client.preview_erase(scope, both))
    assert 2 == receipt.messages
    assert () == client.messages(scope, "t").rows


def test_erasing_is_previewed_and_confirmed(client: SyncClient) -> None:
    """The preview counts what the receipt counts; a preview that is old by then is refused."""
    scope = ("erased",)
    client.append(scope, "t", SAID)
    preview = client.preview_erase(scope, EraseThread(thread="t"))
    receipt = client.confirm_erase(scope, preview)

    assert (1, 1) == (preview.messages, receipt.messages)
    with pytest.raises(ConflictError):
        client.confirm_erase(scope, preview)
    client.append(scope, "u", SAID)
    second = client.erase(scope, EraseScope())
    assert [receipt, second] == client.receipts(scope)
    both = EraseMessages(thread="t", messages=["a", "b"])
    assert (0, 0) == (
        client.erase(scope, both).messages,
        client.preview_erase(scope, both).messages,
    )
