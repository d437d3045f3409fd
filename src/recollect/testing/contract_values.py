"""Contract tests for values: which JSON values a memory returns, and which are refused."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.errors import LimitError
from recollect.records import Evidence, JsonObject, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.validation import INTEGER_BITS_MAX, JSON_DEPTH_MAX
from recollect.testing.contract_base import ADA, Contract, existing, seconds
from recollect.testing.frozen_clock import NOON


def put(**fields: Any) -> PutMemory:
    """Return a write of a fact, with fields of any type."""
    return PutMemory(type="Fact", key="home", **({"value": {}} | fields))


class ValueContract(Contract):
    """The values of memories."""

    @pytest.mark.parametrize(
        "value",
        [
            {},
            {"": ""},
            {"é": "🙂", "e\u0301": "\uffff"},
            {"n": [0, -1, 2**53 + 1, 2**63 - 1, 0.1, 1e300, -0.0, 5e-324, 1.0]},
            {"deep": [None, True, False, {"a": [[], {}]}], "b": 1, "a": 2},
            {"text": "\t\r\n\x01\x7f\u2028\u200b  "},
        ],
        ids=lambda value: ascii(value)[:20],
    )
    async def test_values_survive(self, store: Store, value: JsonObject) -> None:
        """JSON values come back exactly as they went in, fields in their order."""
        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])

        found = await store.get(ADA, "Item", "k")

        assert found is not None
        assert repr(value) == repr(found.value)

    async def test_the_smallest_integer_survives(self, store: Store) -> None:
        """Every integer of ``INTEGER_BITS_MAX`` bits comes back, the smallest too."""
        value = {"n": -(2 ** (INTEGER_BITS_MAX - 1))}

        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])

        found = existing(await store.get(ADA, "Item", "k"))
        assert value == found.value

    async def test_every_field_survives(self, store: Store) -> None:
        """Text, times, evidence, trust and state come back as they were written."""
        put = PutMemory(
            type="Fact",
            key="home",
            value={"city": "Oslo"},
            text="Ada lives in Oslo",
            valid_from=NOON - seconds(0.000001),
            valid_until=NOON + seconds(5),
            expires_at=NOON + seconds(9),
            evidence={
                "": [Evidence(thread="t", message="m1")],
                "/city": [
                    Evidence(thread="t", message="m2", quote="I ❤ Oslo"),
                    Evidence(thread="u", message="m1"),
                ],
            },
            trust="external",
            state="quarantined",
        )

        (stored,) = await store.apply(ADA, [put])

        assert stored is not None
        fields = (
            "type",
            "key",
            "value",
            "text",
            "valid_from",
            "valid_until",
            "expires_at",
            "trust",
        )
        assert [getattr(put, each) for each in fields] == [getattr(stored, each) for each in fields]
        assert {k: tuple(v) for k, v in put.evidence.items()} == dict(stored.evidence)
        assert "quarantined" == stored.state

    async def test_depth_has_a_limit(self, store: Store) -> None:
        """A value has ``JSON_DEPTH_MAX`` levels at most."""
        value: JsonObject = {"n": 1}
        for _ in range(JSON_DEPTH_MAX - 2):
            value = {"n": value}

        await store.apply(ADA, [PutMemory(type="Item", key="k", value=value)])
        with pytest.raises(LimitError, match="JSON_DEPTH_MAX"):
            await store.apply(ADA, [PutMemory(type="Item", key="k", value={"n": value})])

        found = existing(await store.get(ADA, "Item", "k"))
        assert value == found.value
