"""Text becomes the same terms at write time and at query time, in every language."""

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.analysis import (
    ANALYSER_VERSION,
    FUNCTION_CHARACTERS,
    STOP_WORDS,
    UNSPACED,
    WORD_CHARACTERS_MAX,
    fold,
    is_first_person,
    terms_of,
    word_terms,
)

# Everything but halves of surrogate pairs, which no store accepts.
TEXTS = st.text(max_size=80)
# The dotless i is a letter of its own, whose capital is the common I.
LETTERS = st.characters(
    categories=["Ll", "Lu", "Lt"], max_codepoint=0x24F, exclude_characters="\u0131"
)
WORDS = st.text(LETTERS, min_size=1)

ENGLISH = [
    ("The cats were running quickly", "cat run quick"),
    ("Where did you put my keys?", "put key"),
    ("Ada's sisters' kites", "ada sister kite"),
    ("It\u2019s Ada\u2019S", "ada"),
    ("a rock'n'roll band's drummer", "rock n roll band drummer"),
    ("", ""),
    ("   \n\t", ""),
]
ACCENTS = [
    ("caf\u00e9s, Zo\u00eb, na\u00efve", "cafe zoe naiv"),
    ("\u00c5ngstr\u00f6m", "angstrom"),
    ("STRASSE stra\u00dfe", "strass strass"),
    ("e\u0301clair", "eclair"),
    (
        "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
        "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    ),
    ("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c3"),
]
NUMBERS = [
    ("1,000 and 1,250,000", "1000 1250000"),
    ("Python 3.11", "python 3.11 3 11"),
    ("3.5% of 12", "3.5 3 5 12"),
    ("192.168.0.1", "192.168.0.1 192 168 0 1"),
    ("1,00", "1,00 1 00"),
    ("v1.2.3", "v1 2.3 2 3"),
    ("3rd of 2x4", "3rd 2x4"),
    ("1,000km", "1000 km"),
]
IDENTIFIERS = [
    ("max_retries", "max retri max_retries"),
    ("getUserName()", "get user name getusername"),
    ("snake_CaseMix", "snake casemix snake_casemix"),
    ("config.max_size", "config max size max_size"),
    ("node.js", "node js"),
    ("_private", "privat"),
    ("__init__", "init"),
    ("McDonald's iPhone", "mcdonald iphon"),
    ("c_d", "c d c_d"),
]
UNSPACED_TEXTS = [
    ("\u6211\u517b\u732b", "我养 养 养猫 猫"),
    ("\u732b\u7684\u540d", "猫 猫的 的名 名"),
    ("\u6211\u5728Google\u5de5\u4f5c", "我在 googl 工 工作 作"),
    ("Tom\u559c\u6b22\u732b", "tom 喜 喜欢 欢 欢猫 猫"),
    ("\u732b\uff0c\u72d7", "猫 狗"),
    ("\u6211\u9418\u610f\u8c93", "我喜 喜 喜欢 欢 欢猫 猫"),
    ("\u65e5\u672c\u8a9e_test", "日 日本 本 本语 语 test"),
    ("2024\u5e745\u6708", "2024 年 5 月"),
    ("\u30ab\u30d5\u30a7", "カ カフ フ フェ ェ"),
    ("\uff76\uff8c\uff6a", "カ カフ フ フェ ェ"),
    ("\u732b\u304c\u597d\u304d", "猫 猫が が が好 好き き"),
    ("\uc548\ub155 \uc138\uacc4", "안 안녕 녕 세 세계 계"),
    ("\u0e41\u0e21\u0e27", "แ แม ม มว ว"),
]
ODD = [
    ("\U0001f44d\U0001f3fd great \U0001f389", "great"),
    ("\U0001f98a", ""),
    ("\ufb01ne \u00bd \u00b2 \u2163", "fine 1 2 2 iv"),
    ("\uff21\uff24\uff21 \uff11\uff0c\uff10\uff10\uff10", "ada 1000"),
    ("zero\u200bwidth soft\u00adhyphen", "zero width soft hyphen"),
    ("a\u202eb\u2066c", "b c"),
    ("nul\x00nul", "nul nul"),
    ("\ufffd\ufeff\u2028", ""),
]


@pytest.mark.parametrize(
    ("text", "terms"), [*ENGLISH, *ACCENTS, *NUMBERS, *IDENTIFIERS, *UNSPACED_TEXTS, *ODD]
)
def test_text_becomes_these_terms(text: str, terms: str) -> None:
    """Each language, number, identifier and oddity gives the terms that it is found by."""
    assert terms.split() == terms_of(text)


@pytest.mark.parametrize(
    "word", ["\u0939\u093f\u0928\u094d\u0926\u0940", "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd"]
)
def test_a_word_with_vowel_signs_is_one_term(word: str) -> None:
    """Hindi and Tamil put spaces between words, so that a word is one term."""
    assert len(terms_of(word)) == 1


def test_stop_words_say_nothing() -> None:
    """No word of the stop list becomes a term, however it is written."""
    words = [shown for word in STOP_WORDS for shown in (word, word.upper(), word.title())]

    assert terms_of(" ".join(words)) == []


def test_function_characters_count_only_in_pairs() -> None:
    """A function character alone says nothing; beside another character it does."""
    alone = [term for character in FUNCTION_CHARACTERS for term in terms_of(character)]

    assert alone == []
    assert terms_of("\u7684\u732b") == ["\u7684\u732b", "\u732b"]


def test_forms_of_a_word_are_one_term() -> None:
    """Singular, plural and the forms of a verb meet."""
    forms = {term for form in ("paint", "paints", "painted", "painting") for term in terms_of(form)}

    assert {"paint"} == forms


def test_a_long_run_counts_by_its_beginning() -> None:
    """Keys and encoded files leave one short term each."""
    run = "Q" * 100_000

    assert ["q" * WORD_CHARACTERS_MAX] == terms_of(run)


def test_a_long_run_is_not_kept_in_memory() -> None:
    """What the cache of words keeps is as short as a word."""
    run = "k" * 5_000
    terms_of(run)
    before = word_terms.cache_info().hits

    word_terms(run)

    assert before == word_terms.cache_info().hits


@given(TEXTS)
def test_any_text_has_terms(text: str) -> None:
    """No text breaks the analyser, and no term is empty or has spaces in it."""
    found = terms_of(text)

    assert all(term and not term.isspace() for term in found)


@given(TEXTS, TEXTS)
def test_the_terms_of_two_lines_are_those_of_each(one: str, other: str) -> None:
    """Nothing is joined or lost where lines meet, so that an entry's parts are found alike."""
    assert terms_of(one) + terms_of(other) == terms_of(f"{one}\n{other}")


@given(st.text(st.characters(codec="ascii"), max_size=60) | st.text("abXYZ019_.,' s", max_size=40))
def test_ascii_has_the_terms_that_it_has_beside_other_text(text: str) -> None:
    # What is ASCII takes a shorter way.
    assert terms_of(f"{text}\n\u00f1and\u00fa") == [*terms_of(text), "nandu"]


@given(WORDS)
def test_case_does_not_matter(word: str) -> None:
    """A word folds alike in capitals, and what is folded stays as it is."""
    folded = fold(word)

    assert folded == fold(word.upper())
    assert folded == fold(folded)


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=30))
def test_a_part_of_an_unspaced_run_is_found_in_it(run: str) -> None:
    """Every stretch of a Chinese text has all its terms in the whole text."""
    whole = set(terms_of(run))

    assert set(terms_of(run[len(run) // 3 : len(run) // 3 * 2])) <= whole


def test_every_unspaced_script_is_named() -> None:
    """Characters and pairs are for Han, kana, Hangul, Thai, Lao, Myanmar and Khmer."""
    pairs = {each: len(terms_of(each)) for each in ("猫犬", "かな", "한글", "ไท", "ລາ", "မြ", "ខម")}

    assert set(pairs.values()) == {3}
    assert len(UNSPACED) > 0


@pytest.mark.parametrize(
    ("text", "is_personal"),
    [
        ("I've sold my car", True),
        ("We\u2019re moving", True),
        ("That one is MINE.", True),
        ("\u6211\u517b\u732b", True),
        ("Cars are sold here", False),
        ("your mileage in myriad mines", False),
        ("iPhone wei", False),
        ("", False),
    ],
)
def test_who_speaks_of_himself_is_seen(text: str, is_personal: bool) -> None:  # noqa: FBT001
    """English and Chinese words for oneself count as whole words."""
    assert is_personal == is_first_person(text)


def test_other_terms_need_another_version() -> None:
    """Stored terms carry the version: whoever changes terms raises it, with this digest."""
    texts = [text for text, _ in (*ENGLISH, *ACCENTS, *NUMBERS, *IDENTIFIERS, *UNSPACED_TEXTS)]
    terms = "\n".join(" ".join(terms_of(text)) for text in texts)

    digest = blake2b(terms.encode(), digest_size=8).hexdigest()

    assert (6, "d9d886fe8f7ae2b2") == (ANALYSER_VERSION, digest)
