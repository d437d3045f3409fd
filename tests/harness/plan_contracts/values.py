"""Decisions on values: which JSON values a memory returns, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import UsageError
from recollect.records import EndMemory, Evidence, PutMemory, Write
from recollect.stores.contract.base import Store
from recollect.stores.validation import INTEGER_BITS_MAX
from recollect.testing.contract_base import ADA, Contract, fact, seconds
from recollect.testing.contract_memories import put
from recollect.testing.frozen_clock import NOON

WRONG_WRITES: list[Any] = [
    fact("home", expected=-1),
    put(value=["a"]),
    put(value={"a": float("inf")}),
    put(value={"a": "\ud83d"}),
    put(value={"a\0": 1}),
    put(value={1: "a"}),
    put(value={"a": 2**INTEGER_BITS_MAX}),
    put(value={"a": "x" * 1_000_001}),
    put(value={"a": b"x"}),
    put(text="\0"),
    put(cause="\0"),
    put(trust="nobody"),
    put(state="lost"),
    put(evidence={"home": []}),
    put(expires_at=NOON.replace(tzinfo=None)),
    put(valid_from=NOON, valid_until=NOON - seconds(1)),
    EndMemory(type="Fact", key="home", at=NOON.replace(tzinfo=None)),
    "put",
]


class ValuePlanContract(Contract):
    """The values of memories."""

    @pytest.mark.parametrize("write", WRONG_WRITES, ids=lambda write: ascii(write)[-60:])
    async def test_a_write_may_be_refused(self, store: Store, write: Write) -> None:
        """A write that is not allowed is refused, and nothing of the batch is stored."""
        with pytest.raises(UsageError):
            await store.apply(ADA, [fact("work"), write])

        assert await store.scope_id(ADA) is None

    @pytest.mark.parametrize("quote", [5, ["x"], {"x": 1}], ids=str)
    async def test_a_quote_is_text(self, store: Store, quote: Any) -> None:
        """Evidence quotes text, or nothing."""
        evidence = {"": [Evidence(thread="t", message="m1", quote=quote)]}

        with pytest.raises(UsageError):
            await store.apply(ADA, [PutMemory(type="Item", key="k", value={}, evidence=evidence)])
