"""Text is cut as the model was taught, whatever characters it holds."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.embedders import wordpiece
from recollect.embedders.minilm_install import REMEDY, VOCABULARY, installed
from recollect.embedders.wordpiece import WordPiece, read_vocabulary

SMALL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "play", "##ing", "##in", "##g", "cafe", "[", "]"]
SMALL += ["sep", "a", "##b", "b", ",", "\u6211"]
UNKNOWN, START, END = 1, 2, 3

# What the tokenizer published with the weights makes of our own sentences.
GOLDEN = [
    (
        "Ada's caf\u00e9 opened at 9:30, didn't it?",
        "15262 1005 1055 7668 2441 2012 1023 1024 2382 1010 2134 1005 1056 2009 1029",
    ),
    (
        (
            "\u0141\u00d3D\u0179, \u00c5ngstr\u00f6m & \u0130stanbul "
            "\u2014 na\u00efve r\u00e9sum\u00e9s"
        ),
        "17814 1010 17076 15687 1004 9960 1517 15743 13746 2015",
    ),
    (
        "many\tlines\r\nbroken\u2028here\x0band\x00there",
        "2116 3210 3714 2182 5685 12399 2063",
    ),
    (
        "price: $1,299.00 (\u2248\u20ac1.200) \u2260 \u00a35",
        "3976 1024 1002 1015 1010 25926 1012 4002 1006 1606 30102 2487 1012 3263 1007 1027 27813",
    ),
    (
        "\u6211\u660e\u5929\u8981\u53bb New York",
        "1855 1865 1811 100 100 2047 2259",
    ),
    (
        "love it \U0001f970\U0001f44d\U0001f3fd!!",
        "2293 2009 100 999 999",
    ),
    (
        "\uc548\ub155 \u041f\u0440\u0438\u0432\u0435\u0442 \u039f\u0394\u039f\u03a3 \u0645\u0631",
        (
            "1463 30006 30021 29992 30010 30025 1194 16856 10325 25529 15290 22919 1169 "
            "29722 29730 29733 1295 17149"
        ),
    ),
    (
        "https://example.org/a_b?c=d#e@f",
        (
            "16770 1024 1013 1013 2742 1012 8917 1013 1037 1035 1038 1029 1039 1027 1040 "
            "1001 1041 1030 1042"
        ),
    ),
    (
        "x" * 101 + " yyy",
        "100 1061 2100 2100",
    ),
    (
        "\ufb01ne \u00bd \u00b2 \u2163 \uff46\uff55",
        "1984 2638 1092 1082 100 100",
    ),
    (
        "soft\u00adhyphen zero\u200bwidth \ufeffmark \ufffdbad",
        "3730 10536 8458 2368 5717 9148 11927 2232 2928 2919",
    ),
    (
        "e\u0301clair E\u0301COLE",
        "14925 19771 2099 12431",
    ),
    (
        "supercalifragilisticexpialidocious",
        "3565 9289 10128 29181 24411 4588 10288 19312 21273 10085 6313",
    ),
    (
        "\u300c\u5f15\u300d\u3001\u3002\u2026 \u2018one\u2019 \u201ctwo\u201d",
        "1641 100 1642 1635 1636 1529 1520 2028 1521 1523 2048 1524",
    ),
    (
        "don't-stop_now ``code`` ~tilde^ |pipe|",
        (
            "2123 1005 1056 1011 2644 1035 2085 1036 1036 3642 1036 1036 1066 18681 3207 "
            "1034 1064 8667 1064"
        ),
    ),
]


@pytest.fixture(scope="module")
def published() -> WordPiece:
    """The vocabulary that belongs to the installed weights."""
    place = installed()
    if place is None and os.environ.get("CI"):
        pytest.fail(f"the embedder is not installed: {REMEDY}")
    if place is None:
        pytest.skip(f"the embedder is not installed: {REMEDY}")
    return WordPiece(read_vocabulary(place / VOCABULARY))


def cut(text: str) -> list[int]:
    """Return the pieces of *text* in the small vocabulary, without the ends."""
    return WordPiece(SMALL).encode(text, 64)[1:-1]


@pytest.mark.parametrize(("text", "pieces"), GOLDEN)
def test_pieces_are_those_of_the_published_tokenizer(
    published: WordPiece, text: str, pieces: str
) -> None:
    """The vectors mean something only if text is cut as it was in training."""
    assert [101, *map(int, pieces.split()), 102] == published.encode(text, 256)


def test_the_longest_known_piece_is_taken() -> None:
    """`##ing` goes before `##in` and `##g`."""
    assert [SMALL.index("play"), SMALL.index("##ing")] == cut("Playing")


def test_a_word_that_cannot_be_cut_is_one_unknown_piece() -> None:
    """What is known of its beginning does not count."""
    assert [UNKNOWN] == cut("playground")


def test_a_word_of_more_than_100_characters_is_unknown() -> None:
    """So its cost is bounded; one of 100 is still cut."""
    tokens = WordPiece(SMALL)

    assert [START, SMALL.index("a"), *[SMALL.index("##b")] * 99, END] == tokens.encode(
        "a" + "b" * 99, 200
    )
    assert [START, UNKNOWN, END] == tokens.encode("a" + "b" * 100, 200)


def test_pieces_beyond_the_limit_are_cut_off() -> None:
    """The limit counts both ends, and the end is still there."""
    a = SMALL.index("a")

    assert [START, a, a, END] == WordPiece(SMALL).encode("a " * 50, 4)


@pytest.mark.parametrize("text", ["ca\x00fe", "ca\x0bfe", "ca\ud800fe", "caf\u00e9", "CAFE\u0301"])
def test_marks_and_invisible_characters_leave_the_word_whole(text: str) -> None:
    """Control characters, lone surrogates and accents vanish; case is folded."""
    assert [SMALL.index("cafe")] == cut(text)


def test_an_ideograph_is_a_word() -> None:
    """Chinese is written without spaces."""
    assert [SMALL.index("a"), SMALL.index("\u6211"), SMALL.index("b")] == cut("a\u6211b")


def test_a_text_cannot_name_special_pieces() -> None:
    """`[SEP]` in a text is three pieces of text, not the end."""
    assert [SMALL.index("["), SMALL.index("sep"), SMALL.index("]")] == cut("[SEP]")


def test_a_vocabulary_without_special_pieces_is_refused() -> None:
    """It belongs to another model."""
    with pytest.raises(KeyError):
        WordPiece(["a", "b"])


def test_full_caches_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was cut before is only remembered up to a limit."""
    texts = ["playing a b", "caf\u00e9 b \u6211", "a, b \u2014 playing"] * 3
    expected = [cut(text) for text in texts]
    monkeypatch.setattr(wordpiece, "CACHED_WORDS_MAX", 2)
    monkeypatch.setattr(wordpiece, "CACHED_CHARACTERS_MAX", 2)
    tokens = WordPiece(SMALL)

    actual = [tokens.encode(text, 64)[1:-1] for text in texts]

    assert expected == actual


def test_a_vocabulary_is_read_line_by_line(tmp_path: Path) -> None:
    """Characters that only look like line ends are pieces of their own."""
    path = tmp_path / "vocab.txt"
    path.write_bytes("[UNK]\n\u2028\na\n".encode())

    assert ["[UNK]", "\u2028", "a"] == read_vocabulary(path)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_way_for_ascii_equals_the_way_for_all(text: str) -> None:
    """One ideograph sends the same text the long way round."""
    assert [*cut(text), SMALL.index("\u6211")] == cut(text + "\u6211")


@given(st.text(st.characters(exclude_categories=()), max_size=200), st.integers(2, 40))
def test_any_text_gives_pieces_between_the_ends(text: str, pieces_max: int) -> None:
    """No text breaks it, and none is longer than asked."""
    pieces = WordPiece(SMALL).encode(text, pieces_max)

    assert (START, END) == (pieces[0], pieces[-1])
    assert len(pieces) <= pieces_max
    assert START not in pieces[1:]
    assert END not in pieces[:-1]
