"""Tools for testing a memory, and the contract as tests: shipped for backends and programs."""

from __future__ import annotations

from recollect.testing.clock import NOON, FrozenClock
from recollect.testing.embedder import HashedEmbedder
from recollect.testing.ids import CountingIds, SeededIds

__all__ = ("NOON", "CountingIds", "FrozenClock", "HashedEmbedder", "SeededIds")
