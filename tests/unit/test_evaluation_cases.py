"""A case file is read strictly: what is wrong in it is told with its place."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from recollect.errors import LimitError, NotFoundError, UsageError
from recollect.evaluation import case_params, chosen, load_cases, shipped_cases
from recollect.evaluation.case_files import read_cases
from recollect.evaluation.oracle_script import deeds_of, pattern_of
from recollect.formation.types.loader import FILE_BYTES_MAX

CASE = """
[[case]]
name = "a case"
tags = ["first"]

[[case.memories]]
type = "User"
value = { user_name = "Ada" }

[[case.talks]]
thread = "morning"
at = 2024-05-06T08:00:00Z
messages = ["I live in Oslo.", { role = "assistant", text = "Nice." }]

[[case.talks]]
messages = [{ text = "I moved to Bergen.", name = "Ada", time = "2024-06-01" }]

[[case.must]]
type = "User"
path = "/home"
equals = ["Bergen", "Bergen, Norway"]
message = 3
quote = "moved to Bergen"
"""
WRONG = [
    ("[[case]]\nname = 1", "case[0].name: must be text, not 1"),
    ("case = 3", "case: must be a list of tables"),
    ("", "there is no case in it"),
    ("[[case]]\nname = 'x'\nages = 1", "case[0].talks: there must be some"),
    (CASE.replace('tags = ["first"]', "tags = [1]"), "case[0].tags: must be a text or a list"),
    (CASE.replace("name =", "nam ="), "case[0].name: is missing"),
    (CASE.replace('tags = ["first"]', "x = 1"), "case[0].x: there is no such field"),
    (CASE.replace('tags = ["first"]', 'types = ["Usr"]'), "there is no type 'Usr'; there are"),
    (
        CASE.replace('tags = ["first"]', 'types = [{ name = "A B" }]'),
        "case[0].types[0].",
    ),
    (CASE.replace('user_name = "Ada"', "age = -1"), "case[0].memories[0].value: it does not fit"),
    (CASE.replace("message = 3", "message = 4"), "must[0].message: must be the number of a"),
    (CASE.replace("message = 3", "message = 1"), "must[0].quote: message 1 does not say"),
    (CASE.replace("/home", "/hometown"), "must[0].path: User has no 'hometown'; it has"),
    (CASE.replace("/home", "home"), "must[0].path: "),
    (CASE.replace('type = "User"\npath', 'type = "Note"\npath'), "must[0].path: Note has no"),
    (CASE.replace("message = 3", "after = 3\nmessage = 3"), "must[0].after: talk 3 is not formed"),
    (CASE.replace("message = 3", "absent = true\ncount = 1\nmessage = 3"), "does not go with"),
    (CASE.replace("message = 3", "at = 2024-01-01\nmessage = 3"), "at: goes with ended alone"),
    (CASE.replace("message = 3", "tried = true\nmessage = 3"), "tried: goes with must_not alone"),
    (CASE.replace("case.must]", "case.may]"), "may[0].message: a may is not answered"),
    (CASE.replace("case.must]", "case.must_not]").replace("equals", "count = 1 #"), "count: goes"),
    (CASE.replace('equals = ["Bergen", "Bergen, Norway"]', ""), "must[0].value: is missing"),
    (CASE.replace('path = "/home"\n', 'value = "Bergen"\n'), "must[0].path: is missing"),
    (CASE.replace("equals = [", "value = 2024-01-01\nequals = ["), "value: has a date or time"),
    (CASE.replace('role = "assistant"', 'role = "robot"'), "messages[1].role: must be one of"),
    (CASE.replace('"2024-06-01"', '"June"'), "messages[0].time: 'June' is no date or time"),
    (CASE.replace('thread = "morning"', 'formed = "later"'), "talks[0].formed: must be one of"),
    (CASE.replace("messages = [{", 'formed = "next"\nmessages = [{'), "the last must be formed"),
    (CASE.replace('"I live in Oslo."', '{ text = "a", time = 2025-01-01 }').replace(
        '{ role = "assistant", text = "Nice." }', '{ text = "b", time = 2024-01-01 }'),
     "talks[0].messages: must come in the order of their times"),
    (CASE.replace("[[case.must]]", "[case.must]"), "case[0].must: must be a list of tables"),
    (CASE + CASE.replace("[[case]]", "[[case]]  "), "two cases are called 'a case'"),
    ("[[case]", "it is not TOML"),
]  # fmt: skip


def read(text: str, folder: Path) -> None:
    """Load *text* as a case file."""
    file = folder / "mine.toml"
    file.write_text(text, "utf-8")
    load_cases(file)


def test_a_case_is_read_whole(tmp_path: Path) -> None:
    """Messages are numbered through the case, dated a minute apart, and the user's by default."""
    file = tmp_path / "mine.toml"
    file.write_text(CASE, "utf-8")

    (case,) = load_cases(file)

    assert ("a case", ("first",), "en") == (case.name, case.tags, case.language)
    assert ["morning", "talk-2"] == [talk.thread for talk in case.talks]
    assert ["user", "assistant", "user"] == [each.role for each in case.messages]
    assert [
        datetime(2024, 5, 6, 8, tzinfo=UTC),
        datetime(2024, 5, 6, 8, 1, tzinfo=UTC),
        datetime(2024, 6, 1, tzinfo=UTC),
    ] == [each.time for each in case.messages]
    (expectation,) = case.expectations
    assert ("must", "User", "/home", 2) == (
        expectation.kind,
        expectation.type,
        expectation.path,
        expectation.after,
    )
    assert "mine.toml" == case.source


def test_what_equals_first_is_what_an_oracle_writes() -> None:
    (case,) = read_cases(CASE, "mine.toml")

    (deed,) = deeds_of(case)

    assert ("write", "Bergen", "I moved to Bergen.") == (
        deed.action,
        deed.value,
        deed.because[0].text,
    )


@pytest.mark.parametrize(("text", "told"), WRONG)
def test_what_is_wrong_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    """The sentence names the file and the place in it."""
    with pytest.raises(UsageError) as raised:
        read(text, tmp_path)

    assert told in str(raised.value)
    assert "mine.toml" in str(raised.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no file"):
        load_cases(tmp_path / "no.toml")


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """The size is looked at before anything is read."""
    file = tmp_path / "large.toml"
    with file.open("wb") as opened:
        opened.truncate(FILE_BYTES_MAX + 1)

    with pytest.raises(LimitError, match="FILE_BYTES_MAX"):
        load_cases(file)


def test_cases_become_pytest_params(tmp_path: Path) -> None:
    """Each is called by its name; tags and languages choose."""
    file = tmp_path / "mine.toml"
    file.write_text(CASE, "utf-8")

    params = case_params(file)

    assert ["a case"] == [each.id for each in params]
    assert [] == case_params(file, tags=["second"])
    assert {"zh"} == {case.language for case in chosen(shipped_cases(), ["zh"])}


def test_dates_of_a_case_are_days() -> None:
    text = CASE.replace("message = 3", "since = 2024-06-01\nmessage = 3")

    ((expectation,),) = [case.expectations for case in read_cases(text, "mine.toml")]

    assert date(2024, 6, 1) == expectation.since
    assert "must User /home = 'Bergen' or 'Bergen, Norway' since 2024-06-01 after talk 2" == str(
        expectation
    )


@pytest.mark.parametrize(
    ("value", "is_met"),
    [
        ({"home": "Bergen"}, True),
        ({"home": "BERGEN!"}, True),
        ({"home": "Bergen, Norway"}, True),
        ({"home": "Oslo"}, False),
        ({"user_name": "Bergen"}, False),
        ({}, False),
    ],
)
def test_a_pattern_compares_words_and_not_marks(value: dict[str, str], *, is_met: bool) -> None:
    (case,) = read_cases(CASE, "mine.toml")

    assert is_met == pattern_of(case.expectations[0]).matches(value)
