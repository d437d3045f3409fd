"""A question is no answer to itself, for a caller that asks for that."""

from typing import Any

import httpx
import pytest

from recollect.text.token_estimate import estimated_tokens

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


def say(client: httpx.Client, scope: str, *texts: str) -> None:
    """Keep what a user says in a thread of a scope."""
    messages = [{"role": "user", "text": each} for each in texts]
    client.post("/v1/threads/talk/messages", params={"scope": scope}, json={"messages": messages})


def recalled(
    web: httpx.Client, query: str, *, scope: str = "ada", **more: object
) -> dict[str, Any]:
    """Return what a recall answers."""
    told: dict[str, Any] = web.post(
        "/v1/recall", params={"scope": scope}, json={"query": query, "budget_tokens": 500, **more}
    ).json()
    return told


def texts(entries: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in entries]


def test_a_question_is_dropped_where_that_is_asked(web: httpx.Client) -> None:
    """In any case and without its mark, with what it costs; the others stay in their order."""
    usual, skipping = recalled(web, QUESTION), recalled(web, QUESTION, skip_question=True)

    assert ANSWER == texts(usual["entries"])[0]
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


def test_what_tells_nothing_is_dropped_with_the_question(client: httpx.Client) -> None:
    """The user's other questions and a greeting; the answer and a question that tells stay."""
    empty = ("Where do I live?", "Hello!", "我的船停在哪里？", "Where does Bea keep her boat?")
    telling = "Where do I keep the oars, since my sister has the shed now?"
    say(client, "bea", ANSWER, *empty, telling)

    skipping = recalled(client, QUESTION, scope="bea", skip_question=True)

    assert {ANSWER, telling} == set(texts(skipping["entries"]))
    assert set(empty) == {e["text"] for e in skipping["dropped"] if e["reason"] == "empty"}
    assert "Where do I live?" in texts(recalled(client, QUESTION, scope="bea")["entries"])


def test_who_types_the_words_of_a_message_finds_it(client: httpx.Client) -> None:
    """Also of one that tells nothing."""
    say(client, "cleo", "Hello!", ANSWER)

    assert "Hello!" in texts(recalled(client, "hello", scope="cleo", skip_question=True)["entries"])


def test_as_many_are_found_as_are_asked_for(client: httpx.Client) -> None:
    """What is dropped takes no place of what tells something; what comes after is told, too."""
    boats = [f"My boat number {at} lies in the harbour." for at in range(6)]
    say(client, "dora", *boats, *(f"Where do I keep my boat {at}?" for at in range(6)))

    found = recalled(client, QUESTION, scope="dora", skip_question=True, limit=4)

    assert 4 == len(found["entries"])
    assert set(texts(found["entries"])) < set(boats)
    assert sum(each["tokens"] for each in found["entries"]) == found["tokens"]
    assert "limit" in {each["reason"] for each in found["dropped"]}


def test_what_the_limit_cut_is_not_told_as_over_the_budget(client: httpx.Client) -> None:
    """More is searched than is returned: what comes after the limit is not counted."""
    boats = [f"My boat number {at} lies in the harbour." for at in range(12)]
    long = "My boat lies in the harbour " + "of a town with a very long name " * 12
    say(client, "edda", *boats, long)
    most = 3 * estimated_tokens(boats[0]) + 30

    found = recalled(
        client, QUESTION, scope="edda", skip_question=True, limit=3, budget_tokens=most
    )

    reasons = {each["text"]: each["reason"] for each in found["dropped"]}
    assert 3 == len(found["entries"])
    assert {"limit"} == set(reasons.values())


def test_what_the_budget_cut_is_told_as_over_the_budget(client: httpx.Client) -> None:
    """The limit was not reached."""
    boats = [f"My boat number {at} lies in the harbour." for at in range(6)]
    say(client, "fay", *boats)
    most = 3 * estimated_tokens(boats[0])

    found = recalled(client, QUESTION, scope="fay", skip_question=True, budget_tokens=most)

    assert 3 == len(found["entries"])
    assert {"budget"} == {each["reason"] for each in found["dropped"]}


def test_the_tokens_of_the_prompt_are_told_beside_those_of_the_texts(web: httpx.Client) -> None:
    """The budget is for the texts: the block has a line of its own around each."""
    found = recalled(web, QUESTION)

    assert estimated_tokens(found["rendered"]) == found["rendered_tokens"] > found["tokens"]
    assert recalled(web, QUESTION, render=False)["rendered_tokens"] is None


@pytest.mark.parametrize("asked", [{"roles": ["user"]}, {"thread": "here"}])
def test_what_is_filtered_out_uses_neither_limit_nor_budget(
    client: httpx.Client, asked: dict[str, Any]
) -> None:
    """However many better ones there are, of other roles or in the caller's own thread."""
    boats = [f"Once we sailed a boat to the island {at}." for at in range(5)]
    noise = [f"My boat, boat {at}!" for at in range(100)]
    say(client, "gil", *boats)
    told = [{"role": "assistant", "text": each} for each in noise]
    client.post("/v1/threads/here/messages", params={"scope": "gil"}, json={"messages": told})
    enough = 5 * estimated_tokens(boats[0])
    query: dict[str, Any] = {"query": "my boat", "scope": "gil", "limit": 5}
    query["budget_tokens"] = enough

    found = recalled(client, **query, **asked)
    usual = recalled(client, **query)

    assert not set(texts(usual["entries"])).intersection(boats)
    assert set(boats) == set(texts(found["entries"]))
    assert enough == found["tokens"]
    assert not set(noise).intersection(texts(found["dropped"]))
