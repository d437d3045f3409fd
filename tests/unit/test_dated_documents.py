"""The fields of a document on a past day: what was said later is not asserted of it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recollect.records import Evidence, JsonObject, Revision
from recollect.server.dated_documents import value_at

MARCH, APRIL, MAY, JUNE = (datetime(2025, month, 10, tzinfo=UTC) for month in (3, 4, 5, 6))
SAID = {("t", "march"): MARCH, ("t", "april"): APRIL, ("t", "may"): MAY}


def written(
    version: int,
    value: JsonObject,
    at: datetime = JUNE,
    **words: str,
) -> Revision:
    """Return a version of a document, of which some fields rest on messages."""
    evidence = {
        f"/{name.replace('_', '/')}": [Evidence(thread="t", message=each)]
        for name, each in words.items()
    }
    return Revision(
        version=version, value=value, text="", valid_from=None, valid_until=None,
        evidence=evidence, trust="user", state="active", cause="formed",
        believed_from=at, believed_until=None,
    )  # fmt: skip


def between(one: datetime, other: datetime) -> datetime:
    return one + (other - one) / 2


@pytest.mark.parametrize(
    ("at", "known"),
    [
        (between(MARCH, APRIL), {"name": "Mira"}),
        (between(APRIL, MAY), {"name": "Mira", "home": "Oslo"}),
        (between(MAY, JUNE), {"name": "Mira", "home": "Oslo"}),
    ],
)
def test_a_field_is_known_from_when_it_was_said(at: datetime, known: JsonObject) -> None:
    """Although the document is older, and although all was written later, by an import."""
    first = written(1, {"name": "Mira"}, name="march")
    second = written(2, {"name": "Mira", "home": "Oslo"}, name="march", home="april")

    assert known == value_at([first, second], SAID, at)


def test_a_former_value_is_asserted_only_until_the_time_that_was_given() -> None:
    """Without that the later words may have corrected it: then none of the two is told."""
    former = written(1, {"home": "Utrecht"}, home="march")
    now = written(2, {"home": "Porto"}, home="may")
    ended = replace(former, version=2, valid_until=APRIL)

    assert {} == value_at([former, now], SAID, between(MARCH, APRIL))
    dated = [former, ended, replace(now, version=3)]
    assert {"home": "Utrecht"} == value_at(dated, SAID, between(MARCH, APRIL))
    assert {"home": "Porto"} == value_at(dated, SAID, between(APRIL, MAY))


def test_of_a_list_those_elements_are_told_that_were_said_by_then() -> None:
    """Each has its own time, wherever it stands later."""
    first = written(1, {"likes": ["tea"]}, likes_0="march")
    second = written(2, {"likes": ["jazz", "tea"]}, likes_0="may", likes_1="march")

    assert {"likes": ["tea"]} == value_at([first, second], SAID, APRIL)
    assert {"likes": ["jazz", "tea"]} == value_at([first, second], SAID, JUNE)
    assert {} == value_at([second], SAID, between(MARCH, MARCH) - (APRIL - MARCH))


def test_what_rests_on_no_words_is_known_from_when_it_was_written() -> None:
    """A field that somebody typed in, say."""
    typed = written(1, {"home": "Oslo"}, MAY)

    assert {} == value_at([typed], SAID, APRIL)
    assert {"home": "Oslo"} == value_at([typed], SAID, JUNE)
