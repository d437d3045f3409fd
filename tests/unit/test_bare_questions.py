"""Questions about somebody by name, which a list of few entries leaves out."""

import pytest

from recollect.recall.empty_turns import is_bare_question
from tests.harness.sample_contents import sample_message


@pytest.mark.parametrize(
    ("text", "is_bare"),
    [
        ("Where does Mira work?", True),
        ("Since when does Mira work at the Museu do Sal?", True),
        ("what did Mira do before the museum?", True),
        ("Does Mira's cat still scratch the piano?", True),
        ("Where do I work?", False),  # of oneself: told by `is_empty_turn`
        ("What if Mira moves to Porto?", False),
        ("What should Mira cook?", False),
        ("Where does Mira work? I moved to Porto.", False),
        ("Mira works at the museum.", False),
        ("What is a cello?", False),
    ],
)
def test_a_question_about_somebody_is_told_by_its_form(text: str, *, is_bare: bool) -> None:
    assert is_bare == is_bare_question(sample_message(text=text))
    assert not is_bare_question(sample_message(text=text, role="assistant"))
