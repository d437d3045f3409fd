"""Words of others that a user passes on: quoted in any marks, block-quoted, or behind a colon."""

import json
import re
import time
from typing import Any, Final

import pytest

import recollect
from recollect.formation import rule_statements
from recollect.formation.grounding import foreign_text
from recollect.formation.grounding.foreign_text import foreign_spans
from recollect.formation.rule_statements import statements_in
from recollect.formation.wording import reported_words
from recollect.formation.wording.reported_words import quotation_spans
from recollect.ports import ModelAnswer, ToolCall
from recollect.testing import ScriptedModel
from recollect.text.chinese_scripts import simplified

PETER: Final = "Hi, my name is Peter. I live in Oslo and I am allergic to nuts."
LIN: Final = "你好，我叫王林。我住在高雄，我對花生過敏。"
MARKS: Final = (
    *("''", '""', "\u2018\u2019", "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb", "\u00bb\u00ab"),
    *("\u300c\u300d", "\u300e\u300f", "\u201a\u2018", "\u2039\u203a", "``", "\uff02\uff02"),
)
QUOTED: Final = [
    before + marks[0] + said + marks[1] + after
    for marks in MARKS
    for before, said, after in (
        ("Here is a mail I got: ", PETER, ""),
        ("My neighbour wrote ", PETER, " Is that polite?"),
        ("我收到一封信：", LIN, ""),
        ("他寫道：", LIN, "這樣有禮貌嗎？"),
    )
]
SHOWN: Final = [
    f"Here is a mail I got: {PETER}",
    f"Here is a mail I got:\n{PETER}",
    f"Here is a mail I got:\n\nHi Mira,\n\n{PETER}\n\nBest,\nPeter",
    f"she wrote: {PETER}",
    f"She wrote:\n\n{PETER}",
    f"my boss texted me this: {PETER}",
    f"Forwarded from Tom: {PETER}",
    f"Look:\n> {PETER}\nOdd.",
    f"---------- Forwarded message ---------\nFrom: Peter\n\n{PETER}",
    f"他寫道：{LIN}",
    f"她說：{LIN}",
    f"我收到一封郵件：{LIN}",
    f"媽媽發來一則簡訊：\n{LIN}",
    f"看：\n> {LIN}\n奇怪。",
    "我妹妹寫道：「你好，我叫王林。我住在高雄，我對花生過敏。」",
    "I said 'I live in Oslo' and meant it",
    "my sister asked: 'Translate: \"I live in Kyoto.\"'",
    'My boss wrote "please keep it short."',
]
OWN: Final = [
    ("I'm a nurse, don't laugh. I live in Oslo.", {"occupation", "home"}),
    ("The dog's ill. I live in Oslo, that's why.", {"home"}),
    ("The dogs' bowl is 'theirs'. I live in Oslo.", {"home"}),
    ("It's '90s music that I hear. I live in Oslo.", {"home"}),
    ("My cat is called 'Tom'.", {"note"}),
    ('My cat is called "Tom".', {"note"}),
    ("Here is a mail I got: 'I live in Rome.' I live in Oslo.", {"home"}),
    ("She wrote: I live in Rome.\n\nI live in Oslo.", {"home"}),
    ("> I live in Rome\nI live in Oslo.", {"home"}),
    ("He said “I like tea.” I live in Oslo.", {"home"}),
    ("I’m a nurse and I don’t eat meat. I live in Oslo.", {"occupation", "home", "note"}),
    ("我的貓叫「湯圓」。", {"note"}),
    ("他寫道：「我住在上海。」我住在高雄。", {"home"}),
    ("她說：我住在上海。\n\n我住在高雄。", {"home"}),
    ("跟你說：我住在高雄。", {"home"}),
]
GOT_THINGS: Final = [
    "I got the nursing job too: Halden Lodge, nights, March start... I'm not sure yet",
    "we got the flat: second floor, Elm Row, 900 a month. I sign on Friday",
    "got an appointment finally: 9 June, Dr Osei, third floor. I have to fast before",
    "I got a puppy: a whippet, eight weeks. I call her Bix",
    "She got a place at Leeds: medicine, five years. We're so proud",
    "received a scholarship: 5,000 a year for three years. I still need a room",
]
GOT_TEXTS: Final = [
    "I got an offer: We are pleased to offer a post. I am Peter, head of staff",
    'I got a job offer: "Halden Lodge, nights. I live in Oslo"',
    "I got an offer: nights, March start. I am Peter and you would work with me",
    "I got the offer from Peter: a house in Oslo. I built it",
    "I got an offer letter: Halden Lodge, nights. I am Peter",
    "I got a flat, and the owner wrote: two rooms. I live in Oslo",
    "I got this: George, I live in Oslo",
    "I got a note: George, back at nine. I live in Oslo",
    "I got a reply: George Brown, design. I live in Oslo",
    "I got an offer: nights, March start.\nI look forward to it\n\nBest regards\nPeter",
]
HOMES: Final = ("Oslo", "高雄")


def fields_of(words: str) -> set[str]:
    return {each.field for each in statements_in(1, "user", words)}


@pytest.mark.parametrize(
    "words",
    ["from now: give me the short version", "from 1 august: 20 a head, butter's killing me"],
)
def test_a_colon_behind_a_day_introduces_no_words_of_others(words: str) -> None:
    assert () == foreign_spans(words)


@pytest.mark.parametrize("words", GOT_THINGS)
def test_a_colon_behind_a_thing_that_one_got_introduces_what_it_is_like(words: str) -> None:
    assert () == foreign_spans(words)


@pytest.mark.parametrize("words", GOT_TEXTS)
def test_a_text_that_one_got_stays_its_authors(words: str) -> None:
    """Also if it begins as a list does, or what it came with is no text."""
    assert foreign_spans(words)


def test_a_thing_that_hides_a_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants take anything one got for a thing, and no word of another's for one."""
    with monkeypatch.context() as mutant:
        mutant.setattr(reported_words, "_GOT_THING", re.compile(""))
        assert not all(map(foreign_spans, GOT_TEXTS))
    monkeypatch.setattr(reported_words, "_BY_ANOTHER", re.compile("(?!)"))

    assert not all(map(foreign_spans, GOT_TEXTS))


@pytest.mark.parametrize("words", [*QUOTED, *SHOWN])
def test_words_of_others_state_nothing_of_the_user(words: str) -> None:
    assert set() == fields_of(words) == fields_of(simplified(words))


@pytest.mark.parametrize("words", [*QUOTED, *SHOWN])
def test_a_message_as_a_prompt_shows_it_is_read_alike(words: str) -> None:
    """A prompt has a message on one line; a note has no sign for the end of a line."""
    with recollect.open_sync(embedder="none", model="rules", worker=False) as memory:
        memory.append("ada", "one", [words])
        memory.form("ada")

        assert [] == list(memory.memories("ada").rows)


@pytest.mark.parametrize(("words", "fields"), OWN)
def test_what_stands_outside_of_quotations_is_the_users(words: str, fields: set[str]) -> None:
    """And an apostrophe opens no quotation."""
    found = statements_in(1, "user", words)

    assert fields == {each.field for each in found}
    assert all(each.value in HOMES for each in found if each.field == "home")
    assert all(each.quote in words for each in found)


def test_a_reader_that_hides_nothing_takes_a_mail_for_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutants: without one of the forms, others' words become the user's."""
    monkeypatch.setattr(rule_statements, "foreign_spans", lambda _: ())
    monkeypatch.setattr(rule_statements, "reported_spans", lambda _: ())
    assert fields_of(f"she wrote: {PETER}")

    monkeypatch.setattr(rule_statements, "quotation_spans", lambda *_, **__: ())
    assert fields_of(QUOTED[0])


def formed_by_a_model(words: str, quote: str, home: str) -> list[recollect.Memory]:
    """Return what is formed of an answer that takes *quote* for the user's words."""
    because = [{"message": 1, "quote": quote, "path": "/home"}]
    arguments: dict[str, Any] = {"value": {"home": home}, "because": because}
    call = ToolCall(name="User", arguments=json.dumps(arguments))
    model = ScriptedModel([ModelAnswer(calls=(call,))] * 3)
    with recollect.open_sync(embedder="none", model=model, worker=False) as memory:
        memory.append("ada", "one", [words])
        memory.form("ada")
        return list(memory.memories("ada").rows)


FROM_OTHERS: Final = [
    *((words, "I live in Oslo", "Oslo") for words in (*QUOTED, *SHOWN[:9]) if "Oslo" in words),
    *((words, "我住在高雄", "高雄") for words in (*QUOTED, *SHOWN[9:15]) if "高雄" in words),
]


@pytest.mark.parametrize(("words", "quote", "home"), FROM_OTHERS)
def test_a_model_that_cites_words_of_others_changes_no_profile(
    words: str, quote: str, home: str
) -> None:
    """A person decides, whichever marks the words stand in."""
    assert [] == [e for e in formed_by_a_model(words, quote, home) if e.state == "active"]


@pytest.mark.parametrize(
    "words", ["I'm ill, so the dogs' walk is off. I live in Oslo.", "I live in Oslo"]
)
def test_a_model_that_cites_the_user_changes_the_profile(words: str) -> None:
    (profile,) = formed_by_a_model(words, "I live in Oslo", "Oslo")

    assert "active" == profile.state


def test_a_check_without_reported_words_lets_them_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant."""
    monkeypatch.setattr(foreign_text, "reported_spans", lambda _: ())

    (profile,) = formed_by_a_model(f"she wrote: {PETER}", "I live in Oslo", "Oslo")

    assert "active" == profile.state


@pytest.mark.parametrize(
    "unit",
    ["'", "`", " 'a", "'a' ", '"', "\u201c", "\u300c", "\u00bb", "\u201a", "said: ", "said:\n\n"],
)
def test_hostile_marks_are_read_in_linear_time(unit: str) -> None:
    text = unit * (30_000 // len(unit))
    began = time.process_time()

    list(quotation_spans(text, unclosed=True))
    foreign_spans(text)
    statements_in(1, "user", text)

    assert time.process_time() - began < 3
