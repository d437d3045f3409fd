"""Where a quote stands in a text, and whether doubt is kept."""

import time
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.grounding.quotes import find_quote, hedges_in, keeps_hedge

# Quote, text, and the words of the text that it stands for.
FOUND: Final = [
    ("I like tea", "Well, I like tea.", "I like tea"),
    ("i LIKE Tea", "Well, I like tea.", "I like tea"),
    ("I  like\n tea", "Well, I like tea.", "I like tea"),
    ("I like tea", "Well, I\n\tlike   tea.", "I\n\tlike   tea"),
    ('"I like tea."', "Well, I like tea!", "I like tea"),
    ("“I like ‘tea’”", 'Well, I like "tea"', 'I like "tea'),
    ("I don't like tea", "I don’t like tea", "I don’t like tea"),
    ("...I like tea...", "Well, I like tea.", "I like tea"),
    ("I like … tea", "I like black or green tea", None),
    ("I really … black tea", "I really like black tea", "I really like black tea"),
    ("my cat ... is ill", "My cat Kit, I fear, is ill.", "My cat Kit, I fear, is ill"),
    ("my cat [...] is ill", "My cat Kit is ill.", "My cat Kit is ill"),
    ("Well... I like tea", "Well... I like tea", "Well... I like tea"),
    ("I paid $1,200", "I paid $1,200 then", "I paid $1,200"),
    ("I paid \uff04\uff11\uff12\uff10\uff10", "I paid $1200 then", "I paid $1200"),
    ("at 7:30", "Come at 7:30.", "at 7:30"),
    ("我喜欢喝茶", "其实，我喜欢喝茶。", "我喜欢喝茶"),
    ("我喜欢喝茶。", "其实，我喜欢喝茶！", "我喜欢喝茶"),
    ("「我喜欢喝茶」", "其实，我 喜欢 喝茶", "我 喜欢 喝茶"),
    ("我今年\uff13\uff10岁", "我今年30岁了", "我今年30岁"),
    ("我喜欢……喝茶", "我喜欢在早上喝茶", "我喜欢在早上喝茶"),
    ("用Python写", "我用 python 写代码", "用 python 写"),
    ("café", "the cafe\u0301 is open", "cafe\u0301"),
    ("STRASSE", "die Straße", "Straße"),
    ("tea", "tea", "tea"),
    ("C++", "I write C++ and C", "C++"),
    ("I like tea, not coffee", "I like tea not coffee", "I like tea not coffee"),
    ("great news", "great 🎉 news", "great 🎉 news"),
]  # fmt: skip
NOT_FOUND: Final = [
    ("I like te", "I like tea"),
    ("like cat", "I like cats"),
    ("I like coffee", "I like tea"),
    ("I love tea", "I like tea"),
    ("I like tea", "I don't like. Tea is fine"),
    ("I am 3", "I am 30"),
    ("I paid 200", "I paid 1,200"),
    ("3.1", "3.11"),
    ("5%", "5"),
    ("-", "a - b"),
    ("", "anything"),
    ("...", "well..."),
    ("“”", "“”"),
    ("I … Bergen", "I hate Oslo. My brother loves Bergen"),
    ("I like … my brother", "My brother said I like tea"),
    ("I like … loves it", "I like tea." + " filler" * 60 + " she loves it"),
    ("我喜欢喝咖啡", "我喜欢喝茶"),
    ("我不喜欢喝茶", "我喜欢喝茶"),
    ("tea", ""),
]


@pytest.mark.parametrize(("quote", "text", "said"), FOUND)
def test_a_quote_is_found_in_another_dress(quote: str, text: str, said: str | None) -> None:
    """Case, space, width, quotation marks, punctuation and gaps do not count; words do."""
    span = find_quote(quote, text)

    assert said == (text[slice(*span)] if span else None)


@pytest.mark.parametrize(("quote", "text"), NOT_FOUND)
def test_other_words_are_no_quote(quote: str, text: str) -> None:
    """A word more, less or other, or a part of one, is not what was said."""
    assert find_quote(quote, text) is None


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_what_stands_in_a_text_is_found(before: str, quote: str, after: str) -> None:
    """A quote between other lines is found, if it has a word; its span lies in the text."""
    text = f"{before}\n{quote}\n{after}"

    span = find_quote(quote, text)

    if any(each.isascii() and each.isalnum() for each in quote):
        assert span is not None
    if span:
        assert 0 <= span[0] < span[1] <= len(text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("a" * 50_000, "a" * 100_000),
        ("a " * 20_000, "a " * 50_000),
        ("a b … " * 7 + "c c", "a b " * 25_000),
        ("a a … b b", "a " * 50_000),
        ("我我……你你", "我" * 100_000),
        ("x", "\n" * 16_000),
        ("…" * 100_000, "…" * 100_000),
        ("\u0301" * 100_000, "e" + "\u0301" * 100_000),
        ("\ud800", "\ud800\x00"),
    ],
)
def test_a_hostile_quote_is_looked_for_in_linear_time(quote: str, text: str) -> None:
    """Repetition does not make the search quadratic."""
    started = time.process_time()

    find_quote(quote, text)

    assert time.process_time() - started < 4


HEDGES: Final = [
    ("I think he lives in Oslo", ("I think",)),
    ("Maybe I'll move", ("Maybe",)),
    ("I'm not sure, perhaps in June", ("not sure", "perhaps")),
    ("My brother says it's closed", ("My brother says",)),
    ("I heard they moved", ("I heard",)),
    ("According to Anna it is", ("According to",)),
    ("it seems to rain", ("it seems",)),
    ("可能下周去", ("可能",)),
    ("听说他搬家了", ("听说",)),
    ("好像是周三", ("好像",)),
    ("我妈说他搬家了", ("我妈说",)),
    ("I think hiking is great", ()),
    ("I live in Oslo", ()),
    ("I moved in May", ()),
    ("This is unsurely put", ()),
    ("我住在北京", ()),
    ("我觉得很好", ()),
]
KEPT: Final = [
    ("lives in Oslo now", "I live in Oslo", True),
    ("probably lives in Oslo", "I think he lives in Oslo", True),
    ("thinks he lives in Oslo", "I think he lives in Oslo", True),
    ("lives in Oslo now", "I think he lives in Oslo", False),
    ("the shop is closed", "my brother says the shop is closed", False),
    ("the shop is closed, says her brother", "my brother says the shop is closed", True),
    ("Oslo", "I think he lives in Oslo", True),
    ("他已经搬到北京去了", "听说他搬到北京了", False),
    ("据说他搬到了北京", "听说他搬到北京了", True),
    ("可能下周去北京出差", "可能下周去北京", True),
    ("下周要去北京出差", "可能下周去北京", False),
    ("北京", "可能下周去北京", True),
]


@pytest.mark.parametrize(("text", "hedges"), HEDGES)
def test_doubt_and_hearsay_are_seen(text: str, hedges: tuple[str, ...]) -> None:
    """Words of doubt and of hearsay are told from opinions and plain words."""
    assert hedges == hedges_in(text)


@pytest.mark.parametrize(("value", "quote", "kept"), KEPT)
def test_a_value_keeps_the_doubt_of_its_quote(value: str, quote: str, *, kept: bool) -> None:
    """A sentence must say it in some way; one or two words have no room for it."""
    assert kept is keeps_hedge(value, quote)


@pytest.mark.parametrize("unit", ["i think ", "my ", "a b c says ", "可能", "我觉得", "\n", "not "])
def test_hostile_hedges_are_read_in_linear_time(unit: str) -> None:
    """Repetition does not hold it up."""
    started = time.process_time()

    keeps_hedge(unit * (100_000 // len(unit)), unit * (100_000 // len(unit)))

    assert time.process_time() - started < 4
