"""The controls search plainly, and exactly as their formulas say."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.search_controls import (
    K1,
    B,
    PlainBm25,
    PlainCosine,
    dated_text,
    spoken_text,
)
from recollect.ports import Vector


def message_of(text: str, seq: int = 0, **known: str) -> BenchmarkMessage:
    """Make one message of a user."""
    return BenchmarkMessage(
        message_id=f"m{seq}",
        session_id="s",
        seq=seq,
        time=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        speaker=known.get("speaker", "user"),
        role=known.get("role", "user"),
        text=text,
        image_caption=known.get("caption"),
    )


def conversation_of(*texts: str) -> BenchmarkConversation:
    """Make a conversation of messages m0, m1, …."""
    messages = tuple(message_of(text, seq) for seq, text in enumerate(texts))
    return BenchmarkConversation(conversation_id="c", messages=messages)


def ask(text: str) -> BenchmarkQuestion:
    """Make a question of that conversation."""
    return BenchmarkQuestion(
        question_id="q", conversation_id="c", text=text, category="any", evidence=("m0",)
    )


def words(text: str) -> list[str]:
    """Split at spaces."""
    return text.split()


def reckoned_scores(texts: Sequence[str], query: str) -> list[float]:
    """Reckon BM25 document by document, as the formula is written."""
    documents = [Counter(words(text)) for text in texts]
    mean = sum(document.total() for document in documents) / len(documents) or 1.0
    scores = []
    for document in documents:
        norm = K1 * (1 - B + B * document.total() / mean)
        score = 0.0
        for term in words(query):
            held = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - held + 0.5) / (held + 0.5))
            score += idf * document[term] * (K1 + 1) / (document[term] + norm)
        scores.append(score)
    return scores


texts = st.lists(st.text("ab ", max_size=12).map(str.strip), min_size=1, max_size=6)


@given(texts, st.text("abc ", max_size=6))
async def test_bm25_ranks_as_the_formula_says(held: list[str], query: str) -> None:
    """The index gives the order of scores reckoned one by one, earlier first among equals."""
    control = PlainBm25(words, spoken_text)
    await control.load(conversation_of(*held))

    ranked = await control.rank(ask(query))

    scores = [round(score, 9) for score in reckoned_scores(held, query)]
    expected = sorted(range(len(held)), key=lambda at: (-scores[at], at))
    assert [f"m{at}" for at in expected] == ranked


async def test_bm25_forgets_the_conversation_before() -> None:
    """A second load leaves nothing of the first."""
    control = PlainBm25(words, spoken_text)
    await control.load(conversation_of("tea", "sun", "rain"))

    await control.load(conversation_of("sun", "tea"))

    assert ["m1", "m0"] == await control.rank(ask("tea"))


async def test_bm25_uses_the_text_that_it_is_given() -> None:
    """With the date in the text, a date finds a message."""
    control = PlainBm25(words, dated_text)
    await control.load(conversation_of("sun", "tea"))

    assert ["m0", "m1"] == await control.rank(ask("8 May 2023"))


class Compass:
    """An embedder that knows four words, and no text without one of them."""

    identity = "compass/1"
    dimensions = 2

    def embed(self, texts: Sequence[str]) -> Sequence[Vector | None]:
        known = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "northeast": (0.6, 0.8)}
        return [
            np.array(known[text], dtype=np.float32) if text in known else None for text in texts
        ]


async def test_cosine_ranks_by_angle_and_puts_messages_without_a_vector_last() -> None:
    """Of north: northeast .8, east 0, south -1, then those that the embedder does not know."""
    control = PlainCosine(Compass(), spoken_text)
    await control.load(conversation_of("?", "south", "east", "northeast", "!"))

    assert ["m3", "m2", "m1", "m0", "m4"] == await control.rank(ask("north"))


async def test_cosine_of_a_query_without_a_vector_keeps_the_order() -> None:
    """Messages with a vector first, each kind in its order."""
    control = PlainCosine(Compass(), spoken_text)
    await control.load(conversation_of("?", "south", "north"))

    assert ["m1", "m2", "m0"] == await control.rank(ask("up"))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (message_of("Hi!"), "Hi!"),
        (message_of("Hi!", role="speaker_a", speaker="Ada"), "Ada: Hi!"),
        (
            message_of("Look!", role="speaker_b", speaker="Bo", caption="a red kite"),
            "Bo: Look! [shares a red kite]",
        ),
    ],
)
def test_named_people_are_named_and_roles_are_not(message: BenchmarkMessage, expected: str) -> None:
    """The speaker is part of the text between people; a user's and an assistant's are not."""
    assert expected == spoken_text(message)
