"""Test tools for programs that use a memory, and the store contract as tests for backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.formation.rule_model import RuleModel
from recollect.lazy_exports import lazy_exports
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


# The contracts need pytest, which the tools do not.
__getattr__ = lazy_exports(
    __name__,
    {
        "recollect.testing.contract_durability": "DurableContract",
        "recollect.testing.store_contract": "StoreContract",
    },
)
