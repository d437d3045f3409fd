"""The base class of the contract tests, with the clock of the stores."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recollect.testing.frozen_clock import FrozenClock


def _show_compared_values() -> None:
    """Make pytest rewrite the contract's assertions, so that failures show compared values."""
    parts = [f"recollect.testing.{path.stem}" for path in Path(__file__).parent.glob("contract_*")]
    pytest.register_assert_rewrite(*(part for part in parts if part not in sys.modules))


_show_compared_values()


@pytest.mark.anyio
class Contract:
    """
    A part of the store contract as tests, run by AnyIO's pytest plugin.

    Subclass it, and define an async fixture ``store`` that yields an empty store made
    with the class's fixture ``clock``.
    """

    @pytest.fixture
    def clock(self) -> FrozenClock:
        """Return the clock of the store."""
        return FrozenClock()
