"""Test tools for programs that use a memory, and the store contract as tests for backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.formation.rule_model import RuleModel
from recollect.testing.follower import FeedFollower
from recollect.testing.frozen_clock import NOON, FrozenClock
from recollect.testing.hashed_embedder import HashedEmbedder
from recollect.testing.reproducible_ids import CountingIds, SeededIds
from recollect.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    from recollect.testing.contract_durability import DurableContract
    from recollect.testing.store_contract import StoreContract

__all__ = (
    "NOON",
    "CountingIds",
    "DurableContract",
    "FeedFollower",
    "FrozenClock",
    "HashedEmbedder",
    "RuleModel",
    "ScriptedModel",
    "SeededIds",
    "StoreContract",
)


def __getattr__(name: str) -> object:
    """Import the contracts on first use: they need pytest, which the tools do not."""
    if name == "StoreContract":
        from recollect.testing.store_contract import StoreContract  # noqa: PLC0415

        return StoreContract
    if name == "DurableContract":
        from recollect.testing.contract_durability import DurableContract  # noqa: PLC0415

        return DurableContract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
