"""The usual fields of a profile are said by the same names in answers and on the page."""

import re
from pathlib import Path

import pytest

from recollect.formation.field_names import FIELD_NAMES, AnswerLanguage, spoken_field

WORDS = Path(__file__).parents[2] / "web" / "src" / "words"


@pytest.mark.parametrize(
    ("language", "page"), [("zh", "zh_types.ts"), ("zh-hant", "zh_hant_types.ts")]
)
def test_a_field_has_one_name_in_a_script(language: AnswerLanguage, page: str) -> None:
    """Whoever reads "住处" in an answer finds it under this name in the profile."""
    on_page = dict(re.findall(r'\["(.+?)", "(.+?)"\]', WORDS.joinpath(page).read_text("utf-8")))

    names = FIELD_NAMES[language]

    assert names == {each: on_page[each.replace("_", " ")] for each in names}
    assert FIELD_NAMES["zh"].keys() == FIELD_NAMES["zh-hant"].keys()


@pytest.mark.parametrize(
    "text", ["Remember: buy tea", "I live in Oslo.", "住处: 成都", "home:成都"]
)
def test_other_words_stay(text: str) -> None:
    """What is no usual field may be the user's own words, which are quoted as they are."""
    assert [text] * 3 == [spoken_field(text, each) for each in FIELD_NAMES]
