"""
The part of the store contract that is decided above the rows, and so is alike on every backend.

A backend of a user is tested by `StoreContract` alone; ours run the `WholeContract`.
"""

from pathlib import Path

import pytest

# Failures show the compared values only in modules that pytest rewrites.
pytest.register_assert_rewrite(
    *(f"{__name__}.{each.stem}" for each in Path(__file__).parent.glob("[a-z]*.py"))
)
