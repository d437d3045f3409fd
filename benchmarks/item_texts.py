"""Texts of made-up items: twelve everyday words each, the same in every run."""

from __future__ import annotations

import random
from typing import Final

WORDS: Final = tuple(
    """
morning evening garden kitchen school office station bicycle bridge river lake mountain forest
beach island village market restaurant coffee bread cheese apple dinner breakfast recipe birthday
wedding holiday journey ticket hotel camera photo guitar piano concert library letter poem computer
project meeting manager dentist hospital sister brother daughter cousin neighbour teacher flower
""".split()
)


def text_of(number: int) -> str:
    """Return an item's text."""
    return " ".join(random.Random(number).choices(WORDS, k=12))  # noqa: S311 (no secret)
