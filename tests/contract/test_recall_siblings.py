"""Memories citing one message are all recalled, on every backend, with and without a budget."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from recollect import NewMessage
from recollect.memory.facade import Recollect
from recollect.recall.query import Where
from recollect.recall.results import Recall
from recollect.records import Evidence, Memory, PutMemory, Trust
from recollect.testing import FrozenClock, SeededIds
from tests.harness.store_opener import Opener

ADA = ("users", "ada")
SENTENCE = "I live in Oslo, keep a cat called Tom and work as a nurse."


@pytest.fixture
async def memory(open_empty: Opener) -> AsyncIterator[Recollect]:
    clock = FrozenClock()
    store = open_empty(clock, SeededIds(1))
    async with Recollect(store, embedder="none", worker=False) as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", text=SENTENCE, id="m1")])
        clock.advance(timedelta(days=300).total_seconds())
        yield memory


def note(key: str, content: str, trust: Trust = "user", **fields: str) -> PutMemory:
    """Return a note of what the sentence says."""
    evidence = {"": [Evidence(thread="talk", message="m1", quote=SENTENCE)]}
    value = {"content": content}
    return PutMemory(type="Note", key=key, value=value, evidence=evidence, trust=trust, **fields)  # type: ignore[arg-type]


def names(found: Recall) -> set[str]:
    """Return the keys of the memories and the ids of the messages in an answer."""
    contents = [each.content for each in found.entries]
    return {each.key if isinstance(each, Memory) else each.id for each in contents}


@pytest.mark.anyio
@pytest.mark.parametrize("budget", [None, 1_000])
@pytest.mark.parametrize("messages", [True, False])
async def test_facts_of_one_sentence_are_all_recalled(
    memory: Recollect, budget: int | None, *, messages: bool
) -> None:
    """None of them hides another, nor does their message."""
    writes = [note("home", "lives in Oslo"), note("cat", "has a cat Tom"), note("job", "is nurse")]
    await memory.apply(ADA, writes)

    query = "Does the nurse Tom live in Oslo?"
    where = Where(messages=messages)
    found = await memory.recall(ADA, query, budget_tokens=budget, where=where)

    assert {"home", "cat", "job"} | ({"m1"} if messages else set()) == names(found)
    assert () == found.dropped


@pytest.mark.anyio
@pytest.mark.parametrize("budget", [None, 1_000])
async def test_what_is_still_so_is_recalled(memory: Recollect, budget: int | None) -> None:
    """Two messages name two homes; the profile says which one it is now."""
    said = ["I moved to Bergen", "I live in Oslo"]
    messages = await memory.append(ADA, "home", [NewMessage(role="user", text=e) for e in said])
    cited = [Evidence(thread="home", message=e.id, quote=e.text) for e in messages]
    profile = PutMemory(type="User", key="User", value={"home": "Bergen"}, evidence={"": cited})
    await memory.apply(ADA, [profile])

    found = await memory.recall(ADA, "Is it Oslo or Bergen?", budget_tokens=budget)

    assert {"User", *(each.id for each in messages)} <= names(found)


@pytest.mark.anyio
@pytest.mark.parametrize("budget", [None, 1_000])
async def test_a_forged_note_hides_no_honest_one(memory: Recollect, budget: int | None) -> None:
    """Both cite the message; the forged one has more of the query's words, and ranks first."""
    forged = note("forged", "lives in Oslo? No, the home of Ada is in Rome", "external")
    await memory.apply(ADA, [forged, note("honest", "lives in Oslo")])

    query = "Is the home of Ada in Oslo or in Rome?"
    found = await memory.recall(ADA, query, budget_tokens=budget)

    assert found.entries[0].source == "Note/forged"
    assert {"forged", "honest"} <= names(found)


@pytest.mark.anyio
@pytest.mark.parametrize("budget", [None, 1_000])
async def test_a_copy_of_a_message_is_dropped(memory: Recollect, budget: int | None) -> None:
    """A memory that only repeats its message, word for word, would take the place of another."""
    copied = note("copied", "I live in Oslo", text="I live in Oslo")
    more = note("more", "I live in Oslo since May", text="I live in Oslo since May")
    await memory.apply(ADA, [copied, more])

    query = f"{SENTENCE} Where do I live?"
    found = await memory.recall(ADA, query, budget_tokens=budget)

    assert {"m1", "more"} == names(found)
    assert [("Note/copied", "repeats")] == [(e.entry.source, e.reason) for e in found.dropped]


@pytest.mark.anyio
async def test_siblings_reach_the_prompt(memory: Recollect) -> None:
    """A rendered block has a line for each of them."""
    await memory.apply(ADA, [note("home", "lives in Oslo"), note("cat", "has a cat Tom")])

    block = (await memory.recall(ADA, "Does Tom live in Oslo?", budget_tokens=1_000)).render()

    assert ["Note/cat", "Note/home"] == sorted(
        each for each in ("Note/home", "Note/cat") if f'"{each}"' in block
    )
