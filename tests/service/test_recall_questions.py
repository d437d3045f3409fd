"""A question is no answer to itself, for a caller that asks for that."""

from typing import Any

import httpx
import pytest

QUESTION = "Where do I keep my boat?"
AGAIN = "where do I keep  my BOAT"
ANSWER = "My boat lies in the harbour of Lagos."
SCOPE = {"scope": "ada"}


@pytest.fixture
def web(client: httpx.Client) -> httpx.Client:
    """Keep a talk with an answer, its question, and the question once more."""
    texts = (ANSWER, QUESTION, "In Lagos, you said.", AGAIN)
    messages = [{"id": f"m{at}", "role": "user", "text": each} for at, each in enumerate(texts)]
    client.post("/v1/threads/boats/messages", params=SCOPE, json={"messages": messages})
    return client


def recalled(web: httpx.Client, query: str, **more: object) -> dict[str, Any]:
    """Return what a recall answers."""
    told: dict[str, Any] = web.post(
        "/v1/recall", params=SCOPE, json={"query": query, "budget_tokens": 500, **more}
    ).json()
    return told


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in entries]


def test_a_question_is_dropped_where_that_is_asked(web: httpx.Client) -> None:
    """In any case and without its mark, with what it costs; the others stay in their order."""
    usual, skipping = recalled(web, QUESTION), recalled(web, QUESTION, skip_question=True)

    assert texts(usual["entries"])[0] in {QUESTION, AGAIN}
    others = [each for each in texts(usual["entries"]) if each not in {QUESTION, AGAIN}]
    assert others == texts(skipping["entries"])
    assert ANSWER in others
    assert {QUESTION, AGAIN} <= set(texts(skipping["dropped"]))
    assert {"repeats"} == {each["reason"] for each in skipping["dropped"]}
    assert QUESTION not in skipping["rendered"]
    assert sum(each["tokens"] for each in skipping["entries"]) == skipping["tokens"]


def test_a_sentence_finds_itself(web: httpx.Client) -> None:
    """Whoever types the words of a message looks for it."""
    assert ANSWER == texts(recalled(web, ANSWER, skip_question=True)["entries"])[0]
