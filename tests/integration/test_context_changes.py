"""The days of a change in a context: when it was so, not when the memory was written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import recollect
from recollect.formation.remembered_lines import remembered_in
from recollect.formation.rule_model import RuleModel
from recollect.memory import context_sources
from recollect.records import Evidence, EvidenceMap, NewMessage, PutMemory, Scope
from recollect.stores import kept_evidence
from recollect.stores.validation import to_datetime
from recollect.testing import FrozenClock

ADA: Scope = ("ada",)
LISBON = datetime(2021, 3, 5, 10, tzinfo=UTC)
VIENNA = datetime(2023, 4, 10, 10, tzinfo=UTC)
GRAZ = datetime(2025, 6, 20, 22, 30, tzinfo=UTC)
TODAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOMES = {"I live in Lisbon.": LISBON, "I moved to Vienna.": VIENNA, "I moved to Graz.": GRAZ}
BEFORE = "Where did I live before?"


def open_memory() -> recollect.Recollect:
    clock = FrozenClock(TODAY)
    return recollect.open("memory:", embedder="none", model=RuleModel(), worker=False, clock=clock)


async def say(memory: recollect.Recollect, id_: str, text: str, time: datetime) -> None:
    await memory.append(ADA, "talk", [NewMessage(id=id_, role="user", text=text, time=time)])


async def tell_homes(memory: recollect.Recollect) -> None:
    """Say and form one sentence of years ago after another, today."""
    for at, (text, time) in enumerate(HOMES.items()):
        await say(memory, f"m{at}", text, time)
        await memory.form(ADA)


async def home(memory: recollect.Recollect, query: str = BEFORE, **asked: datetime) -> str:
    """Return the line of the profile that tells the home."""
    context = await memory.context(ADA, query, **asked)  # type: ignore[arg-type]
    lines = [each for document in context.profile for each in document.fields]
    return next(each for each in lines if each.startswith("- home"))


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (BEFORE, "- home: Graz (until 20 June 2025: Vienna)"),
        ("What changed since January 2026?", "- home: Graz (until 20 June 2025: Vienna)"),
        ("我以前住在哪里？", "- home: Graz (至2025年6月20日: Vienna)"),
        ("我以前住在哪裡？", "- home: Graz (至2025年6月20日: Vienna)"),
    ],
)
async def test_a_former_value_ended_when_the_new_one_was_said(query: str, told: str) -> None:
    """Not on the day on which an old conversation was formed."""
    async with open_memory() as memory:
        await tell_homes(memory)

        assert told == await home(memory, query)
        assert told == await home(memory, query, asked_at=GRAZ + timedelta(days=9))


async def test_the_day_comes_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant, to which a change is of the day of its write."""
    monkeypatch.setattr(context_sources, "changes_of", lambda *_: {})
    async with open_memory() as memory:
        await tell_homes(memory)

        assert "- home: Graz (until 29 November 2026: Vienna)" == await home(memory)


async def test_the_day_is_that_of_whoever_asks() -> None:
    """An hour before midnight in one zone is the next day in another."""
    async with open_memory() as memory:
        await tell_homes(memory)
        there = TODAY.astimezone(timezone(timedelta(hours=5)))

        assert "- home: Graz (until 21 June 2025: Vienna)" == await home(memory, asked_at=there)


async def test_the_day_that_was_given_for_a_change_counts() -> None:
    """As long as it was given for this change, and not for an earlier one."""
    async with open_memory() as memory:
        await memory.put(ADA, "User", "User", {"home": "Lisbon"}, valid_from=LISBON)
        await memory.put(ADA, "User", "User", {"home": "Graz"}, valid_from=GRAZ)

        assert "- home: Graz (since 20 June 2025; before: Lisbon)" == await home(memory)
        told = "- home: Graz (自2025年6月20日；之前: Lisbon)"
        assert told == await home(memory, "我以前住在哪里？")
        now, was = remembered_in(str(await memory.context(ADA, BEFORE)))
        assert ("home: Graz", "since", GRAZ.date()) == (now.text, now.tense, now.day)
        assert ("home: Lisbon", "until", GRAZ.date()) == (was.text, was.tense, was.day)
        assert "- home: Graz" == await home(memory, "Where do I live?")

        await memory.put(ADA, "User", "User", {"home": "Oslo"}, valid_from=GRAZ)
        assert "- home: Oslo (until 29 November 2026: Graz)" == await home(memory)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("I moved to Graz in May.", "- home: Graz (since 1 May 2025; before: Vienna)"),
        ("I moved to Graz yesterday.", "- home: Graz (since 19 June 2025; before: Vienna)"),
        ("我去年十月搬到了格拉茨。", "- home: 格拉茨 (since 1 October 2024; before: Vienna)"),
        ("我五月搬到了格拉茨。", "- home: 格拉茨 (since 1 May 2025; before: Vienna)"),
        ("I moved to Graz last week.", "- home: Graz (until 20 June 2025: Vienna)"),
        ("I moved to Graz in 2024.", "- home: Graz (until 20 June 2025: Vienna)"),
        ("I moved to Graz.", "- home: Graz (until 20 June 2025: Vienna)"),
    ],
)
async def test_a_former_value_ended_on_the_day_that_the_words_name(words: str, told: str) -> None:
    """Not on that of saying so; a stretch without a first day is left as it is."""
    async with open_memory() as memory:
        await say(memory, "m1", "I moved to Vienna.", VIENNA)
        await memory.form(ADA)
        await say(memory, "m2", words, GRAZ)
        await memory.form(ADA)

        assert told == await home(memory)


async def test_a_former_value_that_was_ended_keeps_its_end() -> None:
    async with open_memory() as memory:
        await memory.put(ADA, "User", "User", {"home": "Lisbon"}, valid_until=VIENNA)
        await memory.put(ADA, "User", "User", {"home": "Graz"}, valid_from=GRAZ)

        told = "- home: Graz (since 20 June 2025; until 10 April 2023: Lisbon)"
        assert told == await home(memory)


async def test_a_correction_by_hand_is_of_the_day_of_its_write() -> None:
    """Also if it keeps a word of the old message, and with it that message as evidence."""
    async with open_memory() as memory:
        await tell_homes(memory)
        await memory.put(ADA, "User", "User", {"home": "a village by Graz"})

        told = "- home: a village by Graz (until 29 November 2026: Graz)"
        assert told == await home(memory)


def resting(*messages: str, group: int = 0) -> EvidenceMap:
    return {"/home": [Evidence(thread="talk", message=each, group=group) for each in messages]}


@pytest.mark.parametrize(
    ("evidence", "cause", "told"),
    [
        (resting("m1", "m2"), "formed", "until 10 April 2023"),
        (resting("m1", "m2", group=1), "formed", "until 20 June 2025"),
        (resting("m0", "m2"), "formed", "until 20 June 2025"),
        (resting("m0"), "formed", "before"),
        (resting("gone"), "formed", "before"),
        (resting("m0"), "put", "until 29 November 2026"),
        ({}, "put", "until 29 November 2026"),
    ],
    ids=["said twice", "together", "a new one", "no new one", "unknown", "by hand", "none"],
)
async def test_which_words_count(evidence: EvidenceMap, cause: str, told: str) -> None:
    """The first new ones that suffice; where formed words have no known time, no day is told."""
    async with open_memory() as memory:
        for at, (text, time) in enumerate(HOMES.items()):
            await say(memory, f"m{at}", text, time)
        old = PutMemory(type="User", key="User", value={"home": "xyz"}, evidence=resting("m0"))
        new = PutMemory(
            type="User", key="User", value={"home": "abc"}, evidence=evidence, cause=cause
        )
        await memory.apply(ADA, [old])
        await memory.apply(ADA, [new])

        assert f"- home: abc ({told}: xyz)" == await home(memory)


async def test_older_words_that_were_formed_later_ended_nothing() -> None:
    """It is unknown when what was said last stopped to be so."""
    async with open_memory() as memory:
        await say(memory, "m0", "I moved to Graz.", GRAZ)
        await say(memory, "m1", "I live in Lisbon.", LISBON)
        for at, place in enumerate(("Graz", "Lisbon")):
            write = PutMemory(
                type="User",
                key="User",
                value={"home": place},
                evidence=resting(f"m{at}"),
                cause="formed",
            )
            await memory.apply(ADA, [write])

        assert "- home: Lisbon (before: Graz)" == await home(memory)


async def note_by_hand(memory: recollect.Recollect) -> str:
    """Correct a note formed of old words by hand; return what the context says of both."""
    said = "my monstera gets water every 7 days"
    await say(memory, "m1", said, LISBON)
    await memory.apply(
        ADA,
        [
            PutMemory(
                type="Note",
                key="fern",
                value={"content": "Monstera: water every 7 days"},
                evidence={"/content": [Evidence(thread="talk", message="m1", quote=said)]},
            )
        ],
    )
    await memory.put(ADA, "Note", "fern", {"content": "Monstera: water every 12 days"})
    return str(await memory.context(ADA, "How often does the monstera get water?"))


async def test_a_corrected_note_was_said_when_it_was_corrected() -> None:
    """And stands before the message that it corrects, which is told as no longer so."""
    async with open_memory() as memory:
        told = await note_by_hand(memory)

    note = "Monstera: water every 12 days (29 November 2026)\n"
    message = "user: my monstera gets water every 7 days (no longer holds)\n"
    assert 0 < told.find(note) < told.find(message)


async def test_the_day_of_a_correction_is_that_of_its_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant, to which the note was said with the words that it corrects."""
    monkeypatch.setattr(kept_evidence, "as_origin", lambda found, *_: found)
    async with open_memory() as memory:
        told = await note_by_hand(memory)

    assert "Monstera: water every 12 days (5 March 2021)\n" in told
    assert "no longer holds" not in told


async def test_words_that_hold_again_are_not_told_as_over() -> None:
    async with open_memory() as memory:
        await say(memory, "m1", "I live in Oslo.", LISBON)
        await memory.form(ADA)
        await memory.put(ADA, "User", "User", {"home": "Bergen"})
        corrected = str(await memory.context(ADA, "Where do I live?"))
        await say(memory, "m2", "I live in Oslo, by the way.", to_datetime(memory.store.now()))
        await memory.form(ADA)
        again = str(await memory.context(ADA, "Where do I live?"))

    assert "user: I live in Oslo. (no longer holds)\n" in corrected
    assert "- home: Oslo\n" in again
    assert "user: I live in Oslo.\n" in again
