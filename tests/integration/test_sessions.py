"""Talks of months: what readers answered after each session is kept, moved and withdrawn."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from benchmarks.formation_corpus import Case, read_corpus
from benchmarks.session_replay import SESSIONS, PlayedSession, PlayedTalk, played_talk
from recollect.formation import document_updates, reconciliation, support
from recollect.records import Memory

CORPUS = Path(__file__).parents[1] / "corpus"
STILL_STOPPED = {
    *(("r9-e2", 1), ("r11-t2", 1), ("r12-s2", 2)),
    *(("r12-e1", 4), ("r12-e2", 3), ("r13-e1", 4), ("r14-e4", 2)),
    *(("r17-e3", 4), ("r17-e4", 3), ("r17-e6", 2)),
    *(("r20-s2", 4), ("r20-t2", 4)),
    *(("r21-e2", 1), ("r21-e3", 2), ("r21-e4", 1), ("r21-t1", 1), ("r21-t2", 2)),
    ("r23-e4", 4),
    ("r24-e5", 2),
    *(("r25-e1", 3), ("r25-e2", 1), ("r25-e4", 4), ("r25-e5", 3), ("r25-t1", 4)),
    *(("r26-e1", 3), ("r26-e2", 3), ("r26-e2", 4), ("r26-e4", 1), ("r26-e4", 2), ("r26-t1", 4)),
    *(("r27-e1", 1), ("r27-e2", 4), ("r27-e3", 4), ("r27-e5", 3)),
    *(("r27-s2", 2), ("r27-s2", 3), ("r27-s2", 4), ("r27-t1", 2), ("r27-t1", 4)),
    *(("r28-e1", 3), ("r28-e1", 4), ("r28-e4", 2), ("r28-e4", 4), ("r28-e5", 3), ("r28-e6", 2)),
    *(("r28-t1", 2), ("r28-t2", 1), ("r29-e2", 4), ("r29-t2", 3)),
    *(("r30-e1", 4), ("r30-e2", 3), ("r30-t1", 2), ("r30-t3", 2)),
    *(("r31-e2", 1), ("r31-e2", 3), ("r31-e3", 3), ("r31-s1", 2), ("r31-t1", 4)),
    *(("r32-e2", 2), ("r32-e3", 1), ("r32-e4", 1), ("r32-t2", 2)),
    *(("r33-e4", 3), ("r34-e1", 4), ("r35-e3", 4), ("r35-e4", 4), ("r35-s1", 4)),
    *(("r36-e4", 1), ("r36-e4", 4), ("r36-t1", 3)),
    *(("r37-e1", 2), ("r37-e1", 3), ("r37-s1", 1), ("r37-s1", 4)),
    *(("r39-e1", 3), ("r39-e1", 4), ("r39-t1", 1)),
    *(("r40-e2", 1), ("r40-e3", 2), ("r40-s2", 1), ("r41-e2", 2), ("r41-s2", 1)),
    *(("r42-e1", 1), ("r42-e1", 2), ("r42-t2", 1)),
    *(("r43-e3", 4), ("r43-e4", 4), ("r43-e6", 2)),
    *(("r44-e1", 3), ("r44-e2", 2), ("r44-e2", 4), ("r44-e3", 1), ("r44-e3", 2)),
    *(("r44-e4", 1), ("r44-e4", 3), ("r44-t1", 4)),
    *(("r45-e1", 1), ("r45-e1", 4), ("r45-e2", 1), ("r45-e2", 2), ("r45-e3", 4)),
    *(("r45-e4", 1), ("r45-e4", 3), ("r45-e4", 4), ("r45-s1", 2)),
}
"""
A profile that cites the subject of a pasted mail; what one tells of another in a profile; the end
of what follows from a move, by the move; a month that follows from "closing, end of January"; an
age with the month of an older version; an employer's letter that changes a profile; what an
assistant said, and the user takes up in other words ("they're done", "I'll ask her about that");
what another speaker does, kept from an older version; savings that the assistant advised and the
user has begun ("在攒了"); a change of a note that is kept in other words by now; a name that
another speaker said, in a profile; a boss's "ok" told as settled; two notes of a pasted letter
that name no author; running as an interest, for a race that was entered; the name of an exam that
only an earlier request told; a photographer whom a long message names among much else, so that he
is not offered; a name by which a pasted mail addresses the user; where somebody works, told beside
what she thinks; a name by which another speaker introduces one; an age of before, and an order in
a message without a full stop; what a sister says of her dog, told as so; words of two messages
cited as of one; a question told as not knowing; the number of a letter that another memory tells;
a dog that "stole"; a name and a denial that only follow; an end that a letter tells and the user
takes up with "leave it"; a jest told as a doubt; "sometimes" for "if not"; a size that a stale
note tells; sums of an assistant's; a wish that is denied; the end of a plan whose day was moved; a
price of before; a gift for "her"; an order behind a sister's words; what a repair had added; a new
job by its letter; a day that a fire inspector's letter made tight; hearsay that the landlord's
letter ends; a red "stole"; a call that a booking made needless; a day that nobody said; a rise
that the user calls robbery; a tragedy told as a weak spot; a day that another memory tells; a day
and a price of before that another memory tells; a preference that is "scrapped" by the name of the
shifts it was for; a rise that the user grumbles at, told as averse to it; a lorry's tonnes, which
another memory tells; an occupation told by a colleague; a label's month after "end of nov"; the
title of a talk in quotation marks; an operation that only another memory tells; a home that the
partner tells; a hospital's letter that ends a plan; the name that a letter addresses; a station
that a colleague names; a pilgrimage that was walked for two days, told as over; a threat in jest
told as a wish; a dome that another speaker leaves; what ends with a show that did not happen; a
country, and a day of before, that another memory tells; an address that only the landlord's letter
gives; a day that the partner names; a second end of what the first one ended; a test that only
another memory names; wages that are owed, by words that a quote leaves out; the end of a memory
by the name alone that is in it; that nobody knows what a landlady said; the number of a flat that
another message tells; the landlord's name in the head of a letter, and what that letter forbids; a
list to pack that a letter gives; a day that a remembered letter gives; other words than those that
were said; the day of the month that is the day before; the bill of a pasted letter, of which the
user takes up the sum; a sport that a race was entered for; what a letter asks of its reader, told
behind whose letter it is; lessons, for a note of who learns to drive with whom; what was answered
beside a note that has ended by now as its text told; a job that "went to somebody's nephew"; a
place "not" used any more, told as that of before; what a conductor says of the user and of his own
mind; a letter's threat about a pension; a charging point that a house lacks, and that its owner
allows; a day that the assistant names; sums that a request before told; "he" behind another man's
name; a shop that a memory does not name; "an 09 micra" told as of 2009; the address and the names
at the head of a letter; wishes for a supervisor who leaves; a flight that does not go, told as the
reason of the next; and what a notice orders all to send.
"""
HIKE = "改2025-11-08出發"
WITHDRAWN = ("用户已戒烟", "飯前血糖168", "爬小山有高山症", "同意给买电吉他", "要退股")
"""Jokes, mistakes, and a wish: said once, and never true."""
QUESTIONS_MAX: Final = 1
"""Later questions asked of each talk here, of eight; `python -m benchmarks replay` asks all."""


@cache
def talks() -> dict[str, Case]:
    """Return the talks by their names."""
    return {each["id"]: each for each in read_corpus(CORPUS, SESSIONS)}


async def replayed(name: str) -> PlayedTalk:
    """Play one talk with the checks as they are now."""
    talk = talks()[name]
    return await played_talk({**talk, "questions": talk["questions"][:QUESTIONS_MAX]})


def talk_saying(words: str) -> str:
    """Return the name of the one talk with *words* in what was said or answered."""
    (name,) = [
        each for each, talk in talks().items() if words in json.dumps(talk, ensure_ascii=False)
    ]
    return name


def stopped(sessions: tuple[PlayedSession, ...]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return the sessions of which something was asked again or waits, and why."""
    return {
        (each.talk, each.number): (*each.asked_again, *each.stopped)
        for each in sessions
        if not each.passes
    }


def memories(talk: PlayedTalk, words: str) -> list[Memory]:
    """Return the memories that say *words*."""
    return [each for each in talk.memories if words in str(each.value)]


# Each talk has a test of its own, so that the workers of a run share them.
@pytest.mark.parametrize("name", talks())
async def test_what_is_right_is_kept_at_once(name: str) -> None:
    """A session that is newly stopped fails, and so does one that no longer is."""
    talk = await replayed(name)

    found = stopped(talk.sessions)
    assert found.keys() == {each for each in STILL_STOPPED if each[0] == name}, found
    assert 4 == len(talk.sessions)
    assert all(each.text for each in talk.contexts.values())


def test_the_corpus_has_the_sessions_that_are_told_of() -> None:
    """A talk left out would leave its sessions untested."""
    sessions = {
        (name, number)
        for name, talk in talks().items()
        for number in range(1, len(talk["sessions"]) + 1)
    }

    assert (317, 1268) == (len(talks()), len(sessions))
    assert sessions >= STILL_STOPPED


@pytest.mark.parametrize("words", WITHDRAWN)
async def test_what_was_never_true_is_not_told_as_past(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = talk_saying(words)

    assert {"rejected"} == {each.state for each in memories(await replayed(name), words)}

    monkeypatch.setattr(reconciliation, "is_withdrawn", lambda _quotes: False)

    assert {"active"} == {each.state for each in memories(await replayed(name), words)}


async def test_a_plan_that_is_put_off_ends_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async def until() -> str:
        (hike,) = memories(await replayed(talk_saying(HIKE)), HIKE)
        return f"{hike.valid_until:%Y-%m-%d}"

    assert "2025-11-10" == await until()

    keep: Callable[..., object] = lambda memory, _value: memory.valid_until  # noqa: E731
    monkeypatch.setattr(document_updates, "moved_end", keep)

    assert "2025-10-20" == await until()


async def test_the_name_of_who_speaks_needs_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter beside the talk has it too, but it stands at the head of that user's own lines."""
    name = talk_saying("67 and retired from the transit shop")

    assert (name, 1) not in stopped((await replayed(name)).sessions)

    monkeypatch.setattr(support, "_names_speaker", lambda *_: False)

    assert (name, 1) in stopped((await replayed(name)).sessions)
