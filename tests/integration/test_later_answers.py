"""Answers written after the checks: right ones are kept, and some wrong ones are stopped."""

from pathlib import Path

import pytest

from benchmarks.formation_corpus import Case, played, read_corpus

pytestmark = pytest.mark.anyio
CORPUS = Path(__file__).parents[1] / "corpus"
LATER = "later_answers"
LANGUAGES = ("en", "zh-hans", "zh-hant")
STILL_STOPPED = {"r4-e14", "r4-t17", "r6-t06", "r7-t11"}
"""Right answers of rounds 4, 6 and 7 that are asked again or wait for a person."""
WRONG_MOST = 0.66
"""Of the wrong answers, so many come into force at most: one believable detail is false in each."""


def cases(language: str) -> list[Case]:
    """Return the talks of one language, each with a right answer and wrong calls."""
    return [each for each in read_corpus(CORPUS, LATER) if each["language"] == language]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_right_answers_are_kept_at_once(language: str) -> None:
    stopped = {}
    for case in cases(language):
        done = await played(case, case["calls"])
        if not done.passes:
            stopped[case["id"]] = done.stopped or "asked again"
    assert stopped.keys() == {each["id"] for each in cases(language)} & STILL_STOPPED, stopped


async def test_some_wrong_answers_are_stopped() -> None:
    wrong = [(case, each["call"]) for case in read_corpus(CORPUS, LATER) for each in case["wrong"]]
    active = [case["id"] for case, call in wrong if (await played(case, [call])).active]
    assert len(active) <= WRONG_MOST * len(wrong)
