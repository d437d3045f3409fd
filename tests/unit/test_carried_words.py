"""What one text adds to others, and what it drops, by its content words."""

import pytest

from recollect.formation.carried_words import words_beyond


@pytest.mark.parametrize(
    ("text", "others", "beyond"),
    [
        ("drinks 3 cups of tea in Bergen", ["drinks tea in Bergen", "3 cups"], []),
        ("the user says they are drinking tea", ["drinks tea"], []),
        ("drinks herbal tea", ["drinks tea"], ["herbal"]),
        ("works at the clinic", ["left the hospital", "works at the clinic"], []),
        ("left the hospital", ["works at the hospital"], ["left"]),
        ("学古典吉他", ["周二学吉他"], ["古典"]),
        ("學古典吉他", ["週二學吉他"], ["古典"]),
        ("用户周二学吉他", ["學吉他", "週二"], []),
        ("有两个孩子，乐乐和安安", ["有两个孩子"], ["乐乐", "安安"]),
        ("", [], []),
        ("🙂", ["tea"], []),
    ],
)
def test_words_that_nobody_else_says(text: str, others: list[str], beyond: list[str]) -> None:
    """Forms, both scripts and neutral words count as said."""
    assert beyond == words_beyond(text, others)
