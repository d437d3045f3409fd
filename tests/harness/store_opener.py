"""The type of the fixture that opens stores for the tests of every backend."""

from collections.abc import Callable
from typing import TypeAlias

from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store

Opener: TypeAlias = Callable[[Clock, Ids], Store]
"""Opens an empty store."""
