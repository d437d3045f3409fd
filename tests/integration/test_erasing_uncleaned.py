"""What was erased is erased, and has its receipt, whatever becomes of the cleaning after it."""

from pathlib import Path

import pytest

from recollect import EraseScope, NewMessage, Recollect
from recollect.errors import StoreCorruptError, StoreError, StoreFullError, StoreUnavailableError
from recollect.lifecycle.store_copy import copy_store
from recollect.records import Scope
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.locator import open_store
from recollect.stores.sqlite import vacuum as cleaning

ADA: Scope = ("users", "ada")
SAID = [NewMessage(role="user", text="my canary", id="m1")]


class Uncleaned(InProcessStore):
    """A store whose bytes cannot be removed now."""

    failure: StoreError = StoreError()

    async def _clean(self) -> None:
        raise self.failure


@pytest.mark.parametrize(
    "failure", [StoreFullError, StoreCorruptError, StoreUnavailableError, StoreError]
)
async def test_an_erase_has_its_receipt_when_cleaning_fails(failure: type[StoreError]) -> None:
    """It says that the bytes are not gone; whoever cleans himself learns why."""
    async with Recollect(store := Uncleaned(), embedder="none") as memory:
        store.failure = failure("no")
        await memory.append(ADA, "talk", SAID)

        receipt = await memory.erase(ADA, EraseScope())

        assert (1, None) == (receipt.messages, receipt.clean_at)
        assert [receipt] == await memory.receipts(unclean=True)
        assert () == (await memory.threads(ADA)).rows
        with pytest.raises(failure):
            await memory.clean()


async def test_a_file_that_is_not_cleaned_is_cleaned_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt of the erase is the one that becomes clean."""
    async with Recollect(open_store(tmp_path / "memory.db"), embedder="none") as memory:
        await memory.append(ADA, "talk", SAID)
        with monkeypatch.context() as patched:
            patched.setattr(cleaning, "PAGES_MAX", 1)
            receipt = await memory.erase(ADA, EraseScope())
        cleaned = await memory.clean()

        assert receipt.clean_at is None
        assert [receipt.id] == [each.id for each in cleaned]


async def test_a_copy_is_one_when_cleaning_fails() -> None:
    """The destination says that its bytes wait."""
    async with InProcessStore() as source, Uncleaned() as destination:
        await source.append(ADA, "talk", SAID)
        await copy_store(source, destination)
        await source.erase(ADA, EraseScope())

        done = await copy_store(source, destination)

        assert done.is_verified
        assert 1 == len(await destination.receipts(unclean=True))
