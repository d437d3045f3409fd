"""A recall returns as many entries as are asked for, where so many may be in its answer."""

import random
from collections.abc import Iterator

import pytest

import recollect
from recollect import SyncRecollect
from recollect.recall import ranking, recall_walk
from recollect.records import Evidence, PutMemory

_WORDS = "boat red leaks harbour Lagos sails Ada oars mast winter paint old".split()
_QUERY = "Is my red boat in the harbour of Lagos?"


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    """Yield a memory that searches by words alone."""
    with recollect.open_sync("memory:", embedder="none") as memory:
        yield memory


def test_repetitions_take_no_place(memory: SyncRecollect) -> None:
    """A hundred memories of one sentence come before the others."""
    said = memory.append("ada", "chat", "The boat is red.")
    cited = {"/text": [Evidence(thread="chat", message=said[0].id, quote="The boat is red.")]}
    same = [
        PutMemory(type="Note", key=f"k{at}", value={"text": "boat is red"}, evidence=cited)
        for at in range(100)
    ]
    memory.apply("ada", same)
    others = {memory.remember("ada", f"A boat of {at} oars").key for at in range(5)}

    found = memory.recall("ada", "boat is red", limit=7)

    assert others < {each.content.key for each in found.entries if hasattr(each.content, "key")}
    assert 7 == len(found.entries)


def _tell(memory: SyncRecollect, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (of a test)
    texts = [" ".join(chance.choices(_WORDS, k=chance.randint(1, 9))) for _ in range(40)]
    memory.append("ada", "chat", texts)


def _missing(memory: SyncRecollect, seed: int) -> int:
    """Return how many relevant entries a recall of three leaves out, at any least relevance."""
    _tell(memory, seed)
    every = memory.recall("ada", _QUERY, limit=100).entries
    left_out = 0
    for least in sorted({each.relevance for each in every} - {0.0}):
        wanted = [each.content for each in every if each.relevance >= least][:3]
        found = memory.recall("ada", _QUERY, limit=3, min_score=least)
        left_out += len(wanted) - sum(each.content in wanted for each in found.entries)
    return left_out


def test_less_relevant_entries_take_no_place(memory: SyncRecollect) -> None:
    """Scores and relevances differ in their order."""
    assert 0 == _missing(memory, seed=1)


def test_a_search_of_as_many_as_are_asked_for_is_noticed(
    memory: SyncRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant reads no candidate more, and searches no deeper."""
    monkeypatch.setattr(ranking, "_candidates", lambda *given: given[-1])
    monkeypatch.setattr(recall_walk, "deeper", lambda *_: None)

    assert _missing(memory, seed=1) > 0


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I can't stand coriander, and I'm not keen on durian.", "What can't I stand?"),
        ("我讨厌香菜，也不喜欢吃榴莲。", "我讨厌什么？"),
        ("我討厭香菜，也不喜歡吃榴槤。", "我討厭什麼？"),
    ],
)
@pytest.mark.parametrize("limit", [1, 3])
def test_a_question_that_was_asked_before_takes_no_place(
    memory: SyncRecollect, said: str, asked: str, limit: int
) -> None:
    """It is lowered after the ranking, and what it kept out of the candidates is better."""
    memory.append("ada", "chat", [said, *[asked] * 4, "It rains.", "下雨了。"])

    best = memory.recall("ada", asked, limit=100).entries
    found = memory.recall("ada", asked, limit=limit).entries

    assert said == found[0].text
    assert [each.text for each in best[:limit]] == [each.text for each in found]
