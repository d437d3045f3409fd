"""Later questions about talks: their contexts hold what a right answer needs, and cost little."""

from collections.abc import Collection
from itertools import groupby
from pathlib import Path
from statistics import mean

import pytest

from benchmarks.formation_corpus import played, read_corpus
from recollect.recall import context_packing, context_selection
from recollect.recall.context import Context

pytestmark = pytest.mark.anyio
CORPUS = Path(__file__).parents[1] / "corpus"
# What readers lacked who saw the contexts of a version before, which left room unused.
NEEDED = {
    "r7-e14-q2": "£52",
    "r7-e14-q3": "no. 1.5 am, 1 pm",
    "r7-t07-q2": "3500",
    "r7-s01-q3": "8k qps",
    "r7-t10-q3": "志工",
}
TOKENS_MOST = 600
"""The average cost of a context, of a budget of 2,000."""


async def contexts(names: Collection[str] = ()) -> dict[str, Context]:
    """Return the context of each question by its id, or those of *names*."""
    cases = {each["id"]: each for each in read_corpus(CORPUS, "later_answers")}
    found = dict[str, Context]()
    for talk, rows in groupby(read_corpus(CORPUS, "talk_questions"), lambda each: each["talk"]):
        questions = [each for each in rows if not names or each["id"] in names]
        if not questions:
            continue
        done = await played(cases[talk], cases[talk]["calls"], questions)
        asked = zip(questions, done.contexts, strict=True)
        found |= {each["id"]: context for each, context in asked}
    return found


async def test_contexts_hold_what_the_answers_need() -> None:
    found = await contexts()

    assert 108 == len(found)
    assert not [name for name, context in found.items() if not context.text]
    assert not [name for name, words in NEEDED.items() if words not in found[name].text]
    assert mean(each.tokens for each in found.values()) <= TOKENS_MOST


@pytest.mark.parametrize("broken", ["worth_adding", "replies_among"])
async def test_a_context_without_what_stands_beside_is_caught(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hasattr(context_selection, broken)
    monkeypatch.setattr(context_packing, broken, lambda *_: [])

    found = await contexts(NEEDED)

    assert [name for name, words in NEEDED.items() if words not in found[name].text]
