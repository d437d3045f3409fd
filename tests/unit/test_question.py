"""What a question asks for: whom it names, whose answers, and the words that it leaves."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.query_analysis import days_of, names_in, read_question, without_names
from recollect.text.terms import query_hashes

ASKED_AT = date(2024, 5, 15)
NAMES = ["Ada Lovelace", "Bob", "Bo", "Zo\u00eb", "\u5c0f\u660e", "C++ (bot)"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Ada's sister say to Bob?", ["Ada Lovelace", "Bob"]),
        ("ada lovelace", ["Ada Lovelace"]),
        ("BOB\u2019S boat", ["Bob"]),
        ("a bobcat in Adana", []),
        ("Lovelace", []),
        ("What does Zo\u00eb eat?", ["Zo\u00eb"]),
        ("\u5c0f\u660e\u517b\u4e86\u4ec0\u4e48", ["\u5c0f\u660e"]),
        ("", []),
    ],
)
def test_a_name_is_found_as_a_whole_word(text: str, named: list[str]) -> None:
    """A participant is named by his whole name or its first word, in any case."""
    assert named == names_in(text, NAMES)


@pytest.mark.parametrize(
    ("text", "name"),
    [("What did Jos\u00e9phine paint?", "Jos\u00e9"), ("the \u00d8rsted satellite", "\u00d8rst")],
)
def test_a_name_with_an_accent_is_found_as_a_whole_word_only(text: str, name: str) -> None:
    """A longer word that begins like a name names nobody, in any alphabet with spaces."""
    assert names_in(text, [name]) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Will it rain?", []),
        ("It may rain. Will it?", []),
        ("\u201cWill it rain?\u201d", []),
        ("What will Bob do?", []),
        ("WHAT WILL IT DO", []),
        ("The cat, a cat and an owl", []),
        ("A cat", []),
        ("What did Will say?", ["Will Lee"]),
        ("Will Lee's boat", ["Will Lee"]),
        ("What did A answer?", ["A"]),
        ("what did the doctor say", ["The Doctor"]),
        ("What did I say?", []),
    ],
)
def test_a_function_word_is_a_name_only_where_it_is_written_as_one(
    text: str, named: list[str]
) -> None:
    """Capitalised, and not because a sentence begins with it."""
    assert named == names_in(text, ["Will Lee", "The Doctor", "An Ng", "A", "I"])


def test_a_function_word_that_is_no_name_stays_in_the_query() -> None:
    """Only the words that name somebody are taken out."""
    assert "Will come?" == without_names("Will Will come?", ["Will Lee"])


def test_names_are_found_among_thousands_in_their_order() -> None:
    """As they would be one by one, whatever signs and scripts they are written in."""
    many = [f"Speaker{n} No{n}" for n in range(5_000)]
    names = [*many[:9], "\u5c0f\u660e", "@bob", "++", *many[9:], "Zo\u00eb", "Wei\u00df"]
    text = "Did speaker7, @Bob, ++ and ZO\u00cb meet \u5c0f\u660e\u4eec or Speaker4321 No4321?"

    found = names_in(text, names)

    assert [name for name in names if names_in(text, [name])] == found
    assert 6 == len(found)


@pytest.mark.parametrize("name", ["J.R.", "Yahoo!"])
def test_a_name_that_ends_in_a_sign_is_found(name: str) -> None:
    """A name is found as it is written, whatever it ends in."""
    assert [name] == names_in(f"What did Anna tell {name} about it?", [name])


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did Ada's sister paint?", "What did sister paint?"),
        ("What did Ada Lovelace say to Bob?", "What did say to ?"),
        ("Bob", "Bob"),
        ("Ada, Bob!", "Ada, Bob!"),
        ("nobody  here", "nobody here"),
    ],
)
def test_names_leave_the_query(text: str, rest: str) -> None:
    """Names go with their possessive; a query of names alone stays as it was."""
    assert rest == without_names(text, ["Ada Lovelace", "Bob"])


@given(
    st.text(max_size=30),
    st.lists(st.text(min_size=1, max_size=8), max_size=4),
)
def test_no_name_breaks_a_query(text: str, names: list[str]) -> None:
    """Names with signs that mean something in patterns are names like others."""
    rest = without_names(text, names_in(text, names))

    assert rest == text or any(map(str.isalnum, rest))


@pytest.mark.parametrize(
    "text",
    [
        "What did you recommend?",
        "Remind me of the recipe",
        "in our previous chat",
        "your list of books",
        "you told me a joke",
        "\u4f60\u63a8\u8350\u4e86\u4ec0\u4e48",
        "\u63d0\u9192\u6211",
        "What did you tell me about the flat?",
        "\u4f60\u4e0a\u6b21\u7ed9\u6211\u63a8\u8350\u7684\u4e66\u53eb\u4ec0\u4e48\uff1f",
        "\u60a8\u4e4b\u524d\u7d66\u6211\u5217\u7684\u6e05\u55ae",
    ],
)
def test_a_question_for_the_assistants_words_is_seen(text: str) -> None:
    """It refers to what was said, in the past tense."""
    assert read_question(text, ASKED_AT).asks_for_answers


@pytest.mark.parametrize(
    "text",
    [
        *("Can you tell me a joke?", "Where do I live?", "\u6211\u517b\u4e86\u4ec0\u4e48"),
        "\u4f60\u7ed9\u6211\u63a8\u8350\u4e00\u672c\u4e66",
    ],
)
def test_a_question_for_the_users_words_is_not_taken_for_one(text: str) -> None:
    """A request in the present tense asks for something new."""
    assert not read_question(text, ASKED_AT).asks_for_answers


def test_a_question_is_read_once() -> None:
    """Its terms, its kind and its day of asking are what the signals need."""
    found = read_question("When did the red red kite fly yesterday?", ASKED_AT)

    assert query_hashes(["red", "red", "kite", "fli", "yesterday"]) == found.terms
    assert found.asks_when
    assert [date(2024, 5, 13)] == [days.first for days in days_of(found, [])]


def test_the_same_words_asked_on_another_day_are_another_question() -> None:
    """A question that was read before is not answered with that day's dates."""
    early = read_question("yesterday", date(2024, 1, 1))
    late = read_question("yesterday", date(2024, 3, 1))

    assert days_of(early, []) != days_of(late, [])
