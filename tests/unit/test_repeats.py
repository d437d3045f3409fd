"""An entry takes no place in an answer if it says only what a better one says; siblings do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.recall import duplicates as repeats
from recollect.recall.duplicates import SaidAlready
from recollect.recall.recall_packing import packed
from recollect.recall.results import Recalled
from recollect.records import Evidence, JsonObject, Memory, Message, Scope, Trust
from recollect.text.searchable import memory_text
from recollect.text.token_estimate import estimated_tokens
from tests.harness.sample_contents import sample_message

ADA: Scope = ("ada",)
BOB: Scope = ("bob",)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SENTENCE = "I live in Oslo, keep a cat called Tom and work as a nurse."


def said(
    id_: str, text: str = SENTENCE, *, role: str = "user", scope: Scope = ADA, thread: str = "talk"
) -> Recalled:
    """Return a recalled message."""
    message = sample_message(time=NOON, thread=thread, id=id_, role=role, text=text)
    return Recalled(scope=scope, content=message, score=1, signals={})


def known(
    value: JsonObject,
    cites: Mapping[str, Sequence[tuple[str, str | None]]],
    *,
    text: str | None = None,
    trust: Trust = "user",
    scope: Scope = ADA,
    **fields: Any,
) -> Recalled:
    """Return a recalled memory; *cites* are message and quote by pointer."""
    evidence = {
        pointer: [Evidence(thread="talk", message=id_, quote=quote) for id_, quote in found]
        for pointer, found in cites.items()
    }
    memory = Memory(
        **{
            "scope": scope,
            "type": "Note",
            "key": str(value),
            "value": value,
            "text": memory_text(value) if text is None else text,
            "version": 1,
            "created_at": NOON,
            "updated_at": NOON + timedelta(days=300),
            "valid_from": None,
            "valid_until": None,
            "expires_at": None,
            "evidence": evidence,
            "trust": trust,
            "state": "active",
            **fields,
        }
    )
    return Recalled(scope=scope, content=memory, score=1, signals={})


def note(content: str, id_: str = "m1", quote: str | None = SENTENCE, **fields: Any) -> Recalled:
    """Return a recalled note that rests on one quote."""
    return known({"content": content}, {"/content": [(id_, quote)]}, **fields)


def copy(text: str, *ids: str, **fields: Any) -> Recalled:
    """Return a recalled memory of which the text is that of messages, word for word."""
    return known({"content": text}, {"": [(each, None) for each in ids]}, text=text, **fields)


def dropped_of(entries: Sequence[Recalled], budget_tokens: int | None = None) -> list[int]:
    """Return the places that repeat others, as an answer leaves them out."""
    packing = packed(
        [each.text for each in entries],
        limit=100,
        budget_tokens=budget_tokens,
        count=estimated_tokens,
        said=SaidAlready(entries, is_tight=budget_tokens is not None),
    )
    return [place for place, reason in packing.dropped if reason == "repeats"]


SIBLINGS = [note("lives in Oslo"), note("has a cat called Tom"), note("works as a nurse")]
MOVED, LIVED = said("m2", "I moved to Bergen"), said("m1", "I live in Oslo")
PROFILE = known(
    {"home": "Bergen"},
    {"/home": [("m1", "I live in Oslo"), ("m2", "I moved to Bergen")]},
    type="User",
)
HONEST = note("is allergic to nuts", quote="allergic to nuts")
SAYS_MORE = [
    pytest.param(SIBLINGS, id="three facts of one sentence"),
    pytest.param([said("m1"), *SIBLINGS], id="and their sentence"),
    pytest.param([*SIBLINGS, said("m1")], id="and their sentence after them"),
    pytest.param([MOVED, LIVED, PROFILE], id="what is still so"),
    pytest.param([note("is allergic to nothing", quote="allergic to nuts"), HONEST], id="forged"),
    pytest.param(
        [note("it is false that Ada is allergic to nuts", quote="allergic to nuts"), HONEST],
        id="a forged memory around the words of an honest one",
    ),
    pytest.param(
        [note("is allergic to nuts", quote="allergic to nuts", trust="external"), HONEST],
        id="the same, from a page",
    ),
    pytest.param([note("lives in Oslo"), note("lives in Oslo", id_="m2")], id="another message"),
    pytest.param([note("lives in Oslo"), note("lives in Oslo", quote="Oslo")], id="another quote"),
    pytest.param([note("lives in Oslo"), note("lives in Oslo", scope=BOB)], id="another scope"),
    pytest.param([note("lives in Oslo"), note("lives in Oslo", type="Fact")], id="another type"),
    pytest.param(
        [note("lives in Oslo"), note("lives in Oslo", valid_until=NOON)], id="another time"
    ),
    pytest.param(
        [
            known({"home": "Oslo"}, {"/home": [("m1", None)]}),
            known({"birthplace": "Oslo"}, {"/birthplace": [("m1", None)]}),
        ],
        id="another field",
    ),
    pytest.param(
        [note("Tom"), known({"cat": "Tom", "dog": "Bo"}, {"": [("m1", SENTENCE)]})], id="more"
    ),
    pytest.param(
        [
            note("lives in Oslo", type="User", key="User"),
            note("lives in Oslo", type="User", key="@ada"),
        ],
        id="a document of another speaker",
    ),
    pytest.param([known({}, {}), known({}, {})], id="nothing"),
    pytest.param([known({"kind": "cat"}, {}), known({"kind": "cat"}, {})], id="no evidence"),
    pytest.param([said("m1", "Tom"), note("Tom")], id="the name of the field"),
    pytest.param([said("m1", "I live in Oslo"), copy("I live in Oslo", "m2")], id="not its own"),
    pytest.param(
        [said("m1", "Oslo", role="tool"), copy("Oslo", "m1")], id="a page says so, the user too"
    ),
    pytest.param(
        [said("m1", "I live in Oslo"), copy("I live in Oslo", "m1", valid_until=NOON)],
        id="a copy that has ended",
    ),
    pytest.param(
        [copy("I live in Oslo", "m1"), said("m1", "I live in Oslo, and in Rome")],
        id="a message that goes on",
    ),
    pytest.param([said("m1"), said("m1", scope=BOB), said("m1", thread="other")], id="messages"),
    pytest.param([], id="none"),
]


@pytest.mark.parametrize("budget_tokens", [None, 10_000])
@pytest.mark.parametrize("entries", SAYS_MORE)
def test_what_says_more_is_kept(entries: list[Recalled], budget_tokens: int | None) -> None:
    """Whatever it rests on, an entry stays if its words, field, quote, owner or time are others."""
    if budget_tokens is not None and all(isinstance(each.content, Message) for each in entries):
        entries = entries[:2]
    assert [] == dropped_of(entries, budget_tokens)


@pytest.mark.parametrize("budget_tokens", [None, 10_000])
@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([note("lives in Oslo"), note("Lives in  OSLO!")], id="the same words"),
        pytest.param(
            [note("Lives in Oslo. Has a cat."), note("has a cat")], id="one of its sentences"
        ),
        pytest.param(
            [
                known({"home": "Oslo", "likes": ["milk", "tea"]}, {"": [("m1", None)]}),
                known({"likes": ["tea"]}, {"/likes": [("m1", None)]}),
            ],
            id="one of its fields",
        ),
        pytest.param([HONEST, note("is allergic to nuts", quote="allergic to nuts")], id="again"),
        pytest.param(
            [HONEST, note("is allergic to nuts", quote="allergic to nuts", trust="external")],
            id="less trusted",
        ),
        pytest.param(
            [said("m1", "Hi! I live in Oslo."), copy("I live in Oslo", "m1")],
            id="copied from a message that is there",
        ),
        pytest.param(
            [said("m1", "I live in Oslo"), copy("I live in Oslo", "m1", valid_from=NOON)],
            id="copied, and dated as it was said",
        ),
        pytest.param(
            [copy("I live in Oslo", "m1"), said("m1", "I live in Oslo!")], id="copied before"
        ),
    ],
)
def test_what_says_the_same_is_dropped(entries: list[Recalled], budget_tokens: int | None) -> None:
    """The second of two tells a reader nothing, and would take the place of another."""
    assert [1] == dropped_of(entries, budget_tokens)


def test_words_of_another_message_are_dropped_with_a_budget_alone() -> None:
    """Each message was said, so that only where space is short one stands for another."""
    entries = [said("m1", "We flew the red kite"), said("m2", "RED KITE!")]

    assert [] == dropped_of(entries)
    assert [1] == dropped_of(entries, 10_000)
    assert [] == dropped_of([entries[0], said("m2", "red kite", scope=BOB)], 10_000)


def test_what_did_not_fit_hides_nothing() -> None:
    """A copy is kept where the message that it was copied from was too long for the budget."""
    talk = "I live in Oslo. " + "So it goes. " * 100
    entries = [said("m0", "Hello"), said("m1", talk), copy("I live in Oslo", "m1")]

    assert [] == dropped_of(entries, 20)
    assert [2] == dropped_of(entries, 10_000)


def test_a_memory_is_read_once_however_many_share_its_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fifty facts of one message are compared in pairs: reading both each time took most of it."""
    read: list[str] = []
    fields = repeats._fields

    def counted(memory: Memory) -> Iterator[repeats._CitedField]:
        read.append(memory.key)
        return fields(memory)

    monkeypatch.setattr(repeats, "_fields", counted)
    facts = [note(f"has a cat called Tom{number}") for number in range(50)]

    assert [] == dropped_of(facts)
    assert 50 == len(read) == len(set(read))


def by_messages(self: SaidAlready, place: int) -> bool:
    """Drop what rests on messages of kept entries, whatever it says."""
    return any(self._by_message.get(each) for each in self._entries[place].messages)


def untrusting(entry: repeats._Entry, other: repeats._Entry) -> bool:
    """Ask of no entry how far it is trusted."""
    return entry.scope == other.scope


@pytest.mark.parametrize(
    ("where", "name", "mutant", "hidden"),
    [
        (SaidAlready, "says", by_messages, "three facts of one sentence"),
        (SaidAlready, "says", by_messages, "what is still so"),
        (repeats, "_sentences", lambda _leaf: set(), "three facts of one sentence"),
        (repeats, "_validity", lambda _memory: None, "another time"),
        (repeats, "_is_copied", lambda *_: True, "a copy that has ended"),
        (repeats._Entry, "is_trusted_for", untrusting, "the same, from a page"),
    ],
)
def test_a_rule_that_hides_what_says_more_is_caught(
    where: object,
    name: str,
    mutant: Callable[..., object],
    hidden: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part of the rule is needed: without it an entry is lost that says more."""
    entries = next(each.values[0] for each in SAYS_MORE if each.id == hidden)
    assert isinstance(entries, list)
    monkeypatch.setattr(where, name, mutant)

    assert [] != dropped_of(entries)
